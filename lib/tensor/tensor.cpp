#include "tensor/tensor.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "base/error.h"
#include "base/hash.h"
#include "tensor/compute.h"
#include "tensor/convert.h"
#include "tensor/reach.h"
#include "tensor/strided.h"

namespace whittle {
namespace {

constexpr std::size_t kAlignment = 64;  // a cache line, and what vector code likes

/// Bytes that the machine can give now, swap included; nothing where the system does not say.
std::optional<std::size_t> available_memory() {
    std::ifstream file("/proc/meminfo");  // man 5 proc
    std::size_t kilobytes = 0;
    bool found = false;
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string key;
        std::size_t value = 0;
        words >> key >> value;
        if (key == "MemAvailable:") found = true;
        if (key == "MemAvailable:" || key == "SwapFree:") kilobytes += value;
    }
    if (!found) return std::nullopt;
    return kilobytes * 1024;
}

std::size_t byte_count(std::int64_t numel, DType dtype, const Sizes& sizes) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(static_cast<std::size_t>(numel), size_of(dtype), &bytes))
        throw Error("found " + std::string(name(dtype)) + to_string(sizes) +
                    ", expected a tensor of fewer than 2^64 bytes");
    return bytes;
}

const std::byte* aligned(const std::byte* block) {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    return block + (kAlignment - address % kAlignment) % kAlignment;
}

/// Few bytes in one block with what describes them: a small tensor is one allocation instead of three.
struct SmallStorage : Storage {
    static constexpr std::size_t kLargest = 64;
    std::array<std::byte, kLargest + kAlignment> memory{};
};

}  // namespace

void Storage::check_size(std::size_t bytes) {
    // The kernel promises more than it has, and ends somebody when that is used. Small tensors are not worth a look.
    constexpr std::size_t kLarge = std::size_t(64) << 20;
    if (bytes < kLarge) return;
    const std::optional<std::size_t> available = available_memory();
    if (!available || bytes <= *available) return;
    throw Error("found a tensor of " + std::to_string(bytes) + " bytes, expected a tensor that fits in memory",
                "free some memory: what counts as free is MemAvailable + SwapFree in /proc/meminfo");
}

std::shared_ptr<Storage> Storage::allocate(std::size_t bytes) {
    if (bytes <= SmallStorage::kLargest) {
        auto small = std::make_shared<SmallStorage>();
        small->writable_ = true;
        small->bytes_ = {aligned(small->memory.data()), bytes};
        return small;
    }
    check_size(bytes);
    // calloc, because large blocks then come zeroed from the kernel and cost nothing until touched.
    void* block = std::calloc(bytes + kAlignment, 1);
    if (!block) throw Error("cannot allocate a tensor of " + std::to_string(bytes) + " bytes");
    auto storage = std::make_shared<Storage>();
    storage->writable_ = true;
    storage->owner_ = std::shared_ptr<const void>(block, std::free);
    storage->bytes_ = {aligned(static_cast<const std::byte*>(block)), bytes};
    return storage;
}

std::shared_ptr<Storage> Storage::borrow(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
    auto storage = std::make_shared<Storage>();
    storage->bytes_ = bytes;
    storage->owner_ = std::move(owner);
    return storage;
}

Tensor::Tensor() : Tensor(DType::f32, Sizes{0}) {}

Tensor::Tensor(DType dtype, Sizes sizes)
    : dtype_(dtype), sizes_(std::move(sizes)), strides_(contiguous_strides(sizes_)), numel_(element_count(sizes_)) {
    storage_ = Storage::allocate(byte_count(numel_, dtype_, sizes_));
}

Tensor::Tensor(std::shared_ptr<Storage> storage, DType dtype, Sizes sizes, Strides strides, std::int64_t offset)
    : storage_(std::move(storage)),
      dtype_(dtype),
      sizes_(std::move(sizes)),
      strides_(std::move(strides)),
      offset_(offset),
      numel_(element_count(sizes_)) {
    WHITTLE_CHECK(storage_ != nullptr, "a tensor needs a storage");
    if (strides_.size() != sizes_.size())
        throw Error("found " + std::to_string(strides_.size()) + " strides, expected " + std::to_string(sizes_.size()) +
                    ", one for each size");
    if (numel_ == 0) {
        offset_ = 0;  // nothing is reached, wherever it is
        return;
    }
    const std::span<const std::byte> bytes = storage_->bytes();
    const auto held = static_cast<std::int64_t>(bytes.size() / size_of(dtype_));
    const std::optional<Reach> reached = reach(sizes_, strides_);
    if (!reached || offset_ < 0 || offset_ >= held || offset_ + reached->first < 0 || reached->last >= held - offset_)
        throw Error("found sizes " + to_string(sizes_) + " with strides " + to_string(strides_) + " at offset " +
                    std::to_string(offset_) + ", expected a view inside the storage of " + std::to_string(held) + " " +
                    std::string(name(dtype_)) + " elements");
    if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment_of(dtype_) != 0)
        throw Error("found data at an unaligned address, expected an address divisible by " +
                    std::to_string(alignment_of(dtype_)) + " for " + std::string(name(dtype_)));
}

Tensor Tensor::with_requires_grad(bool value) const {
    Tensor result = *this;
    result.requires_grad_ = value;
    return result;
}

const void* Tensor::raw() const {
    return storage_->bytes().data() + offset_ * static_cast<std::int64_t>(size_of(dtype_));
}

void* Tensor::mutable_raw() {
    WHITTLE_CHECK(storage_->writable(), "writing to borrowed memory; clone() first");
    return const_cast<void*>(raw());
}

void Tensor::check_type(DType dtype) const {
    WHITTLE_CHECK(dtype == dtype_, "asked for " + std::string(name(dtype)) + " data of a " + std::string(name(dtype_)) +
                                       to_string(sizes_) + " tensor");
}

Tensor Tensor::as_strided(Sizes sizes, Strides strides, std::int64_t offset) const {
    Tensor result(storage_, dtype_, std::move(sizes), std::move(strides), offset);
    result.requires_grad_ = requires_grad_;
    return result;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

Tensor Tensor::clone() const {
    Tensor result(dtype_, sizes_);
    detail::convert_strided(raw(), dtype_, sizes_, strides_, result.mutable_raw(), dtype_);
    result.requires_grad_ = requires_grad_;
    return result;
}

Tensor Tensor::to(DType dtype) const {
    if (dtype == dtype_) return *this;
    Tensor result(dtype, sizes_);
    detail::convert_strided(raw(), dtype_, sizes_, strides_, result.mutable_raw(), dtype);
    result.requires_grad_ = requires_grad_ && whittle::is_inexact(dtype);
    return result;
}

template <class T>
std::vector<T> Tensor::values() const {
    return load_broadcast<T>(*this, sizes_);
}
template std::vector<double> Tensor::values() const;
template std::vector<float> Tensor::values() const;
template std::vector<std::int64_t> Tensor::values() const;
template std::vector<std::uint64_t> Tensor::values() const;
template std::vector<bool> Tensor::values() const;
template std::vector<Complex64> Tensor::values() const;
template std::vector<Complex128> Tensor::values() const;

Scalar Tensor::item() const {
    if (numel_ != 1) throw Error("found a tensor of sizes " + to_string(sizes_) + ", expected a tensor of one element");
    if (whittle::is_complex(dtype_))
        throw Error("found a complex number, expected a real number",
                    "read the real and the imaginary part separately");
    if (whittle::is_floating(dtype_)) return Scalar(values<double>()[0]);
    if (dtype_ == DType::boolean) return Scalar(static_cast<bool>(values<bool>()[0]));
    if (dtype_ == DType::u64) return Scalar(values<std::uint64_t>()[0]);
    return Scalar(values<std::int64_t>()[0]);
}

std::span<const std::byte> Tensor::contiguous_bytes() const {
    WHITTLE_CHECK(is_contiguous(), "found a strided tensor, expected the result of contiguous()");
    return {static_cast<const std::byte*>(raw()), static_cast<std::size_t>(numel_) * size_of(dtype_)};
}

template <class T>
Tensor Tensor::of(const std::vector<T>& values, Sizes sizes) {
    const std::int64_t count = element_count(sizes);
    if (static_cast<std::size_t>(count) != values.size())
        throw Error("found " + std::to_string(values.size()) + " values, expected " + std::to_string(count) +
                    " for sizes " + to_string(sizes));
    Tensor result(dtype_of<T>, std::move(sizes));
    T* data = result.mutable_data<T>();
    for (std::size_t i = 0; i < values.size(); ++i) data[i] = values[i];
    return result;
}
#define WHITTLE_DTYPE(dtype, aten, plugin, type, ...) template Tensor Tensor::of(const std::vector<type>&, Sizes);
#include "tensor/dtypes.def"

Tensor Tensor::of(const Scalar& value, DType dtype) {
    if (value.is_floating()) return of(std::vector<double>{value.to_double()}, {}).to(dtype);
    if (value.is_boolean()) return of(std::vector<bool>{value.to_bool()}, {}).to(dtype);
    if (value.is_integer() && value.to_double() >= 0x1p63)  // or rounded up to it: the same number in both types
        return of(std::vector<std::uint64_t>{static_cast<std::uint64_t>(value.to_integer())}, {}).to(dtype);
    return of(std::vector<std::int64_t>{value.to_integer()}, {}).to(dtype);
}

Tensor Tensor::copy_of(const void* data, DType dtype, Sizes sizes, std::span<const std::int64_t> strides) {
    Tensor result(dtype, std::move(sizes));
    detail::convert_strided(data, dtype, result.sizes_, strides, result.mutable_raw(), dtype);
    return result;
}

bool same_bits(const Tensor& a, const Tensor& b) {
    if (a.dtype() != b.dtype() || a.sizes() != b.sizes()) return false;
    const Tensor x = a.contiguous(), y = b.contiguous();
    const auto xs = x.contiguous_bytes(), ys = y.contiguous_bytes();
    return xs.empty() || std::memcmp(xs.data(), ys.data(), xs.size()) == 0;
}

std::string content_hash(const Tensor& tensor) {
    const Tensor whole = tensor.contiguous();
    return content_hash(std::string(name(tensor.dtype())) + to_string(tensor.sizes()) + " " +
                        content_hash(whole.contiguous_bytes()));
}

std::int64_t Scalar::to_integer() const {
    if (const double* value = std::get_if<double>(&value_)) return truncate_to_int64(*value);
    return std::visit([](auto v) { return static_cast<std::int64_t>(v); }, value_);
}

std::string Scalar::integer_text() const {
    if (const auto* value = std::get_if<std::uint64_t>(&value_)) return std::to_string(*value);
    return std::to_string(to_integer());
}

}  // namespace whittle

#include "backends/libtorch/memory.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace whittle::aten {
namespace {

bool has_negative_stride(const Tensor& tensor) {
    return std::ranges::any_of(tensor.strides(), [](std::int64_t stride) { return stride < 0; });
}

}  // namespace

bool has(DType dtype) { return static_cast<at::ScalarType>(info_of(dtype).aten) < at::ScalarType::Undefined; }

at::ScalarType scalar_type(DType dtype) {
    const auto type = static_cast<at::ScalarType>(info_of(dtype).aten);
    if (!has(dtype)) throw Error("LibTorch has no element type " + std::string(name(dtype)));
    return type;
}

DType dtype_of(at::ScalarType type) {
    if (const auto dtype = dtype_from_aten(static_cast<std::int64_t>(type))) return *dtype;
    throw Error(std::string("found elements of type ") + c10::toString(type) + ", expected one of Whittle's dtypes");
}

bool Memory::writable(const Tensor& tensor) { return tensor.storage()->writable() && !has_negative_stride(tensor); }

at::Tensor Memory::lend(const Tensor& given) {
    const Tensor tensor = has_negative_stride(given) ? given.contiguous() : given;
    const std::shared_ptr<Storage>& storage = tensor.storage();
    auto found = lent_.find(storage.get());
    if (found == lent_.end()) {
        // A pointer to const memory that LibTorch must not write: callers ask writable() where an op would.
        void* data = const_cast<std::byte*>(storage->bytes().data());
        auto* owner = new std::shared_ptr<Storage>(storage);
        c10::DataPtr pointer(
            data, owner, [](void* context) { delete static_cast<std::shared_ptr<Storage>*>(context); }, at::kCPU);
        at::Storage lent(c10::Storage::use_byte_size_t(), storage->bytes().size(), std::move(pointer));
        found = lent_.emplace(storage.get(), lent).first;
        taken_.emplace(lent.unsafeGetStorageImpl(), storage);
    }
    at::Tensor result = at::empty({0}, at::TensorOptions().dtype(scalar_type(tensor.dtype())));
    result.set_(found->second, tensor.offset(), tensor.sizes(), tensor.strides());
    return result.set_requires_grad(tensor.requires_grad());
}

Tensor Memory::take(const at::Tensor& given) {
    if (given.layout() != at::kStrided || !given.device().is_cpu() || given.is_quantized())
        throw Error(std::string("found a LibTorch tensor that is ") + c10::str(given.layout()) + " on " +
                    given.device().str() + ", expected a strided tensor on the CPU that is not quantized");
    // A gradient that is zeros throughout has no memory there.
    const at::Tensor tensor =
        given._is_zerotensor() ? at::zeros(given.sizes(), given.dtype()) : given.resolve_conj().resolve_neg();
    const at::Storage& storage = tensor.storage();
    auto found = taken_.find(storage.unsafeGetStorageImpl());
    if (found == taken_.end()) {
        const std::shared_ptr<Storage> copy = Storage::allocate(storage.nbytes());
        if (storage.nbytes() > 0)
            std::memcpy(const_cast<std::byte*>(copy->bytes().data()), storage.data(), storage.nbytes());
        found = taken_.emplace(storage.unsafeGetStorageImpl(), copy).first;
        kept_.push_back(storage);
    }
    return Tensor(found->second, dtype_of(tensor.scalar_type()), tensor.sizes().vec(), tensor.strides().vec(),
                  tensor.storage_offset());
}

}  // namespace whittle::aten

#include "tensor/compute.h"

#include <memory>

#include "base/error.h"
#include "tensor/strided.h"

namespace whittle {

void reject_complex(DType dtype) { throw Error("found dtype " + std::string(name(dtype)) + ", expected a real dtype"); }

namespace {

/// How many T there are in `sizes`, if that is memory that anybody has.
template <class T>
std::size_t checked_count(const Sizes& sizes) {
    const auto count = static_cast<std::size_t>(element_count(sizes));
    std::size_t bytes = 0;
    Storage::check_size(__builtin_mul_overflow(count, sizeof(T), &bytes) ? ~std::size_t(0) : bytes);
    return count;
}

template <class T>
void load_into(T* memory, const Tensor& tensor, const Sizes& sizes) {
    detail::convert_strided(tensor.raw(), tensor.dtype(), sizes,
                            broadcast_strides(tensor.sizes(), tensor.strides(), sizes), memory, dtype_of<T>);
}

}  // namespace

template <class T>
std::shared_ptr<T[]> load_shared(const Tensor& tensor, const Sizes& sizes) {
    auto memory = std::make_shared_for_overwrite<T[]>(checked_count<T>(sizes));
    load_into(memory.get(), tensor, sizes);
    return memory;
}

template <class T>
std::vector<T> load_broadcast(const Tensor& tensor, const Sizes& sizes) {
    const std::size_t count = checked_count<T>(sizes);
    if constexpr (std::is_same_v<T, bool>) {
        const std::shared_ptr<bool[]> memory = load_shared<bool>(tensor, sizes);
        return std::vector<bool>(memory.get(), memory.get() + count);
    } else {
        std::vector<T> values(count);
        load_into(values.data(), tensor, sizes);
        return values;
    }
}
template std::vector<double> load_broadcast(const Tensor&, const Sizes&);
template std::shared_ptr<double[]> load_shared(const Tensor&, const Sizes&);
template std::vector<float> load_broadcast(const Tensor&, const Sizes&);
template std::shared_ptr<float[]> load_shared(const Tensor&, const Sizes&);
template std::vector<std::int64_t> load_broadcast(const Tensor&, const Sizes&);
template std::shared_ptr<std::int64_t[]> load_shared(const Tensor&, const Sizes&);
template std::vector<std::uint64_t> load_broadcast(const Tensor&, const Sizes&);
template std::shared_ptr<std::uint64_t[]> load_shared(const Tensor&, const Sizes&);
template std::vector<bool> load_broadcast(const Tensor&, const Sizes&);
template std::shared_ptr<bool[]> load_shared(const Tensor&, const Sizes&);
template std::vector<Complex64> load_broadcast(const Tensor&, const Sizes&);
template std::shared_ptr<Complex64[]> load_shared(const Tensor&, const Sizes&);
template std::vector<Complex128> load_broadcast(const Tensor&, const Sizes&);
template std::shared_ptr<Complex128[]> load_shared(const Tensor&, const Sizes&);

template <class T>
Tensor store(const std::vector<T>& values, DType dtype, Sizes sizes) {
    WHITTLE_CHECK(static_cast<std::size_t>(element_count(sizes)) == values.size(),
                  std::to_string(values.size()) + " values for sizes " + to_string(sizes));
    if constexpr (std::is_same_v<T, bool>) {
        return Tensor::of(values, std::move(sizes)).to(dtype);
    } else {
        Tensor result(dtype, std::move(sizes));
        const auto count = static_cast<std::int64_t>(values.size());
        if (count) detail::convert_row(dtype_of<T>, dtype)(values.data(), 1, result.mutable_raw(), count);
        return result;
    }
}
template Tensor store(const std::vector<double>&, DType, Sizes);
template Tensor store(const std::vector<float>&, DType, Sizes);
template Tensor store(const std::vector<std::int64_t>&, DType, Sizes);
template Tensor store(const std::vector<std::uint64_t>&, DType, Sizes);
template Tensor store(const std::vector<bool>&, DType, Sizes);
template Tensor store(const std::vector<Complex64>&, DType, Sizes);
template Tensor store(const std::vector<Complex128>&, DType, Sizes);

}  // namespace whittle

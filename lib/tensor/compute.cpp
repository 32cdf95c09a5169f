#include "tensor/compute.h"

#include <memory>

#include "base/error.h"
#include "tensor/strided.h"

namespace whittle {

void reject_complex(DType dtype) { throw Error("found " + std::string(name(dtype)) + ", expected real numbers"); }

template <class T>
std::vector<T> load_broadcast(const Tensor& tensor, const Sizes& sizes) {
    const auto count = static_cast<std::size_t>(element_count(sizes));
    std::size_t bytes = 0;
    Storage::check_size(__builtin_mul_overflow(count, sizeof(T), &bytes) ? ~std::size_t(0) : bytes);
    const Strides strides = broadcast_strides(tensor.sizes(), tensor.strides(), sizes);
    if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no memory to convert into
        const auto bytes = std::make_unique<bool[]>(count);
        detail::convert_strided(tensor.raw(), tensor.dtype(), sizes, strides, bytes.get(), DType::boolean);
        return std::vector<bool>(bytes.get(), bytes.get() + count);
    } else {
        std::vector<T> values(count);
        detail::convert_strided(tensor.raw(), tensor.dtype(), sizes, strides, values.data(), dtype_of<T>);
        return values;
    }
}
template std::vector<double> load_broadcast(const Tensor&, const Sizes&);
template std::vector<float> load_broadcast(const Tensor&, const Sizes&);
template std::vector<std::int64_t> load_broadcast(const Tensor&, const Sizes&);
template std::vector<std::uint64_t> load_broadcast(const Tensor&, const Sizes&);
template std::vector<bool> load_broadcast(const Tensor&, const Sizes&);
template std::vector<Complex64> load_broadcast(const Tensor&, const Sizes&);
template std::vector<Complex128> load_broadcast(const Tensor&, const Sizes&);

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

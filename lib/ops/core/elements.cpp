#include "ops/core/elements.h"

#include <limits>

#include "base/error.h"
#include "ops/core/integer.h"

namespace whittle {

void copy_into(Tensor& to, const Strides& to_strides, std::int64_t to_offset, const Tensor& from) {
    const auto width = static_cast<std::int64_t>(size_of(to.dtype()));
    auto* target = static_cast<std::byte*>(to.mutable_raw()) + to_offset * width;
    const auto* source = static_cast<const std::byte*>(from.raw());
    // Where both lie row by row, a row is one copy.
    Sizes sizes = from.sizes();
    std::int64_t row = 1;
    if (!sizes.empty() && from.strides().back() == 1 && to_strides.back() == 1) row = std::exchange(sizes.back(), 1);
    if (row == 0) return;
    for_each_index(sizes, [&](const std::vector<std::int64_t>& index) {
        std::memcpy(target + element_offset(index, to_strides) * width,
                    source + element_offset(index, from.strides()) * width, static_cast<std::size_t>(row * width));
    });
}

Sizes at_least_1d(const Sizes& sizes) { return sizes.empty() ? Sizes{1} : sizes; }

Tensor at_least_1d(const Tensor& tensor) {
    return tensor.rank() > 0 ? tensor : tensor.as_strided({1}, {1}, tensor.offset());
}

expr::Value at_least_1d(const expr::Value& value) {
    if (value.rank() > 0) return value;
    return expr::Value(value.dtype(), {1}, [value](const expr::Index&) { return value({}); });
}

Tensor checked_number(const Scalar& value, DType dtype, const std::string& op) {
    const bool holds = is_floating(dtype) || dtype == DType::boolean || visit_dtype(dtype, [&]<class T>(T) {
                           if constexpr (std::is_integral_v<T>) {
                               // An integer may wrap below 0 where the dtype has no sign, as c10::overflows lets it.
                               const double most = static_cast<double>(std::numeric_limits<T>::max());
                               const double least = std::is_signed_v<T>
                                                        ? static_cast<double>(std::numeric_limits<T>::min())
                                                    : value.is_floating() ? 0
                                                                          : -most;
                               return value.to_double() >= least && value.to_double() <= most;
                           } else {
                               return true;
                           }
                       });
    if (!holds)
        throw Error(op + ": found the number " + number_text(value) + ", expected a number that " +
                    std::string(name(dtype)) + " can represent");
    return Tensor::of(value, dtype);
}

std::int64_t checked_index(std::int64_t index, std::int64_t size, bool negatives, const std::string& op) {
    if (index >= size || index < (negatives ? -size : 0))
        throw Error(op + ": found index " + std::to_string(index) + " for a dimension of size " + std::to_string(size) +
                    ", expected an index from " + std::to_string(negatives ? -size : 0) + " to " +
                    std::to_string(size - 1));
    return index < 0 ? index + size : index;
}

void check_index_dtype(DType dtype, const std::string& op) {
    if (dtype != DType::i64 && dtype != DType::i32)
        throw Error(op + ": found an index of dtype " + std::string(name(dtype)) + ", expected i64 or i32");
}

void require_elements(std::int64_t size, const std::string& op) {
    if (size == 0) throw Error(op + ": found indices into a dimension of size 0, expected a dimension with elements");
}

expr::Expr clamp_index(const expr::Expr& index, std::int64_t extent) {
    return expr::max(expr::min(index, expr::index(extent - 1)), expr::index(0));
}

expr::Expr data_index(const expr::Expr& element, std::int64_t extent, bool negatives) {
    expr::Expr index = expr::cast(DType::i32, element);
    if (negatives) index = expr::select(index < expr::index(0), index + expr::index(extent), index);
    return clamp_index(index, extent);
}

expr::Value empty_value(DType dtype, const Sizes& sizes) {
    return expr::Value(dtype, sizes, [dtype](const expr::Index&) { return expr::constant(dtype, Scalar(0)); });
}

expr::Expr comparable(const expr::Expr& element) {
    if (element->dtype == DType::boolean) return expr::cast(DType::u8, element);
    if (is_reduced(element->dtype)) return expr::cast(DType::f32, element);
    return element;
}

}  // namespace whittle

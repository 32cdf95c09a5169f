#include "tensor/scalars.h"

#include <cmath>
#include <cstring>

#include "base/number_text.h"

namespace whittle {
namespace {

std::string seven_digits(double value) {
    if (value == std::trunc(value) && std::fabs(value) < 1e10) return std::to_string(static_cast<long>(value));
    return significant(value, 7);
}

}  // namespace

Tensor element_of(const Tensor& contiguous, std::int64_t element) {
    return contiguous.as_strided({}, {}, contiguous.offset() + element);
}

std::vector<Scalar> scalars_of(const Tensor& tensor) {
    const auto of = [](const auto& values) { return std::vector<Scalar>(values.begin(), values.end()); };
    if (is_floating(tensor.dtype())) return of(tensor.values<double>());
    if (tensor.dtype() == DType::boolean) return of(tensor.values<bool>());
    if (tensor.dtype() == DType::u64) return of(tensor.values<std::uint64_t>());
    if (is_complex(tensor.dtype())) element_of(tensor.contiguous(), 0).item();  // which refuses it
    return of(tensor.values<std::int64_t>());
}

std::string short_number(const Scalar& value) {
    if (value.is_boolean()) return value.to_bool() ? "true" : "false";
    return value.is_integer() ? value.integer_text() : seven_digits(value.to_double());
}

std::string short_number_at(const Tensor& contiguous, std::int64_t element) {
    const Tensor one = element_of(contiguous, element);
    if (!is_complex(one.dtype())) return short_number(one.item());
    const Complex128 value = one.values<Complex128>().at(0);
    const bool negative = std::signbit(value.imag());
    return seven_digits(value.real()) + (negative ? "-" : "+") + seven_digits(std::fabs(value.imag())) + "j";
}

bool all_alike(const Tensor& tensor) {
    const Tensor contiguous = tensor.contiguous();
    const auto bytes = contiguous.contiguous_bytes();
    const std::size_t width = size_of(tensor.dtype());
    return bytes.size() <= width || std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
}

}  // namespace whittle

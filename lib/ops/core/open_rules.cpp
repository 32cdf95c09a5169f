#include "ops/core/open_rules.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

#include "base/number_text.h"
#include "ops/core/pointwise.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

/// Calls f(a, b) with each pair of the whole numbers that the operands promote and broadcast to, until it returns a
/// reason. Nothing where they promote to another dtype.
Reason first_pair(const std::variant<Tensor, Scalar>& left, const std::variant<Tensor, Scalar>& right,
                  const std::function<Reason(std::int64_t, std::int64_t, DType)>& f) {
    const std::vector<OperandInfo> infos = {operand_info(left), operand_info(right)};
    const DType common = result_type(infos);
    if (!is_integer(common)) return std::nullopt;
    const Sizes sizes = broadcast_all(infos);
    const auto a = read<std::int64_t>(left, sizes, common), b = read<std::int64_t>(right, sizes, common);
    for (std::size_t i = 0; i < a.size(); ++i)
        if (Reason reason = f(a[i], b[i], common)) return reason;
    return std::nullopt;
}

/// Of integers 2^k or -2^k: one beyond the largest, and the least, both exact as doubles.
double above(DType dtype) { return std::ldexp(1, static_cast<int>(8 * size_of(dtype)) - (is_unsigned(dtype) ? 0 : 1)); }
double least(DType dtype) { return is_unsigned(dtype) ? 0 : -above(dtype); }

}  // namespace

std::int64_t extent(const Tensor& tensor, std::int64_t dim) {
    const std::int64_t wrapped = wrap_dim(dim, tensor.rank());
    return tensor.rank() == 0 ? 1 : tensor.sizes()[static_cast<std::size_t>(wrapped)];
}

Reason out_of_range(std::string_view op, std::string_view what, const Tensor& integers, std::int64_t low,
                    std::int64_t high, std::optional<std::int64_t> ignored) {
    for (const std::int64_t value : integers.values<std::int64_t>())
        if ((value < low || value > high) && value != ignored)
            return std::string(what) + " " + std::to_string(value) + " of " + std::string(op) + " is out of range: " +
                   (low > high ? "the dimension is empty"
                               : "expected " + std::to_string(low) + " to " + std::to_string(high));
    return std::nullopt;
}

Reason bad_index(std::string_view op, const Tensor& indices, std::int64_t size, bool negatives) {
    return out_of_range(op, "index", indices, negatives ? -size : 0, size - 1);
}

Reason written_twice(std::string_view op, const std::vector<std::int64_t>& targets, const Tensor& written,
                     const std::function<std::string(std::size_t)>& text) {
    if (targets.empty()) return std::nullopt;
    const Tensor parts = written.contiguous();
    const std::span<const std::byte> bytes = parts.contiguous_bytes();
    const std::size_t width = bytes.size() / targets.size();
    std::unordered_map<std::int64_t, std::size_t> first;
    for (std::size_t k = 0; k < targets.size(); ++k) {
        const auto [known, added] = first.try_emplace(targets[k], k);
        if (!added && std::memcmp(bytes.data() + known->second * width, bytes.data() + k * width, width) != 0)
            return std::string(op) + " writes index " + text(k) + " twice, without a reduction";
    }
    return std::nullopt;
}

Reason written_twice(std::string_view op, const std::vector<std::int64_t>& targets, const Tensor& written,
                     const Tensor& indices) {
    const std::vector<std::int64_t> values = indices.values<std::int64_t>();
    return written_twice(op, targets, written, [&](std::size_t k) { return std::to_string(values.at(k)); });
}

Reason bad_division(std::string_view op, const std::variant<Tensor, Scalar>& dividend,
                    const std::variant<Tensor, Scalar>& divisor) {
    return first_pair(dividend, divisor, [&](std::int64_t a, std::int64_t b, DType dtype) -> Reason {
        if (b == 0) return std::string(op) + " divides an integer by 0";
        const bool trapping = dtype == DType::i32 || dtype == DType::i64;  // narrower ones are divided as int
        if (b != -1 || !trapping || a != lowest(dtype).to_integer()) return std::nullopt;
        return std::string(op) + " divides " + std::to_string(a) + " by -1: " + std::string(name(dtype)) +
               " does not hold the quotient";
    });
}

Reason bad_shift(std::string_view op, const std::variant<Tensor, Scalar>& value,
                 const std::variant<Tensor, Scalar>& amount) {
    return first_pair(value, amount, [&](std::int64_t, std::int64_t by, DType dtype) -> Reason {
        const auto bits = static_cast<std::int64_t>(8 * size_of(dtype));
        if (by >= 0 && by < bits) return std::nullopt;
        return std::string(op) + " shifts " + std::string(name(dtype)) + " by " + std::to_string(by) +
               " bits: expected 0 to " + std::to_string(bits - 1);
    });
}

Reason negative_exponent(std::string_view op, const Tensor& base, const Tensor& exponent) {
    return first_pair(base, exponent, [&](std::int64_t, std::int64_t power, DType dtype) -> Reason {
        if (power >= 0 || is_unsigned(dtype)) return std::nullopt;
        return std::string(op) + " raises an integer to the negative integer " + std::to_string(power);
    });
}

bool holds_whole(DType integers, double value) {
    const double whole = std::trunc(value);
    return whole >= least(integers) && whole < above(integers);
}

Reason bad_conversion(std::string_view op, const Tensor& from, DType to) {
    if (!is_floating(from.dtype()) || !is_integer(to)) return std::nullopt;
    for (const double value : from.values<double>()) {
        if (holds_whole(to, value)) continue;
        return std::string(op) + " converts " + (std::isnan(value) ? "NaN" : shortest(value)) + " to " +
               std::string(name(to)) + ", which holds " + lowest(to).integer_text() + " to " +
               greatest(to).integer_text();
    }
    return std::nullopt;
}

Reason zero_scale(std::string_view op, const Tensor& scale) {
    const std::vector<double> values = scale.values<double>();
    if (std::ranges::find(values, 0.0) == values.end()) return std::nullopt;
    return std::string(op) + " has a scale of 0";
}

namespace {

Reason first_of(bool (*bad)(double), std::string_view op, std::string_view what, const Tensor& values) {
    const std::vector<double> all = values.values<double>();
    const auto found = std::ranges::find_if(all, bad);
    if (found == all.end()) return std::nullopt;
    return "the " + std::string(what) + " of " + std::string(op) + " is " +
           (std::isnan(*found) ? "NaN" : shortest(*found));
}

}  // namespace

Reason not_a_number(std::string_view op, std::string_view what, const Tensor& values) {
    if (!is_floating(values.dtype())) return std::nullopt;
    return first_of([](double value) { return std::isnan(value); }, op, what, values);
}

Reason not_finite(std::string_view op, std::string_view what, const Tensor& values) {
    return first_of([](double value) { return !std::isfinite(value); }, op, what, values);
}

}  // namespace whittle

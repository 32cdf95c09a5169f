#include "tensor/compare.h"

#include <cmath>
#include <cstdio>

#include "tensor/compute.h"

namespace whittle {
namespace {

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

/// "nan", "3", "true": an element of T as the descriptions show it.
template <class T>
std::string element_text(T value) {
    if constexpr (std::is_same_v<T, bool>)
        return value ? "true" : "false";
    else if constexpr (std::is_same_v<T, std::int64_t>)
        return std::to_string(value);
    else
        return number(value);
}

/// Row-major position as indices: "[1, 2]".
std::string index_text(std::int64_t position, const Sizes& sizes) {
    std::vector<std::int64_t> index(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 0; position /= sizes[d]) index[d] = position % sizes[d];
    return to_string(index);
}

template <class T>
struct Closeness {
    bool close;
    bool finite;       // the two can be subtracted
    double error = 0;  // |got - expected|, when finite
};

template <class T>
Closeness<T> closeness(T got, T expected, const Tolerance& tolerance) {
    if constexpr (std::is_same_v<T, bool>) {
        return {got == expected, true, got == expected ? 0.0 : 1.0};
    } else if constexpr (std::is_same_v<T, std::int64_t>) {
        // As unsigned the difference of any two fits, and no bit is lost to double before it is known to be 0.
        const std::uint64_t error = got > expected
                                        ? static_cast<std::uint64_t>(got) - static_cast<std::uint64_t>(expected)
                                        : static_cast<std::uint64_t>(expected) - static_cast<std::uint64_t>(got);
        const double allowed = tolerance.atol + tolerance.rtol * std::fabs(static_cast<double>(expected));
        return {error == 0 || static_cast<double>(error) <= allowed, true, static_cast<double>(error)};
    } else {
        if (std::isnan(got) || std::isnan(expected)) return {std::isnan(got) && std::isnan(expected), false};
        if (std::isinf(got) || std::isinf(expected)) return {got == expected, false};
        // In double: two large floats of opposite sign may be more than FLT_MAX apart.
        const double error = std::fabs(static_cast<double>(got) - static_cast<double>(expected));
        return {error <= tolerance.atol + tolerance.rtol * std::fabs(static_cast<double>(expected)), true, error};
    }
}

template <class T>
std::optional<Difference> compare_values(const Tensor& got, const Tensor& expected, const Tolerance& tolerance) {
    const std::vector<T> xs = got.values<T>(), ys = expected.values<T>();
    Difference difference{Difference::Kind::value, {}, 0, 0, 0};
    std::int64_t first = -1, worst = -1;
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const T x = xs[i], y = ys[i];
        const Closeness<T> result = closeness<T>(x, y, tolerance);
        if (result.finite && result.error > difference.max_abs_error) {
            difference.max_abs_error = result.error;
            worst = static_cast<std::int64_t>(i);
        }
        if (result.finite && result.error > 0 && y != T(0))
            difference.max_rel_error =
                std::max(difference.max_rel_error, result.error / std::fabs(static_cast<double>(y)));
        if (result.close) continue;
        if (first < 0) first = static_cast<std::int64_t>(i);
        ++difference.differing;
        if (!result.finite) difference.kind = Difference::Kind::nan_or_inf;
    }
    if (first < 0) return std::nullopt;
    const auto at = static_cast<std::size_t>(first);
    difference.description = index_text(first, got.sizes()) + ": got " + element_text<T>(xs[at]) + ", expected " +
                             element_text<T>(ys[at]) + "; " + std::to_string(difference.differing) + " of " +
                             std::to_string(xs.size()) + " values differ";
    if (worst >= 0)
        difference.description +=
            ", largest error " + number(difference.max_abs_error) + " at " + index_text(worst, got.sizes());
    return difference;
}

}  // namespace

Tolerance default_tolerance(DType dtype) {
    switch (dtype) {
        case DType::f64:
            return {1e-7, 1e-9};
        case DType::f32:
            return {1e-4, 1e-5};
        case DType::f16:
            return {1e-2, 1e-3};
        case DType::bf16:
            return {2e-2, 1e-2};
        default:
            return {0, 0};
    }
}

std::optional<Difference> compare(const Tensor& got, const Tensor& expected, const Tolerance& tolerance) {
    if (got.dtype() != expected.dtype())
        return Difference{
            Difference::Kind::dtype,
            "got dtype " + std::string(name(got.dtype())) + ", expected " + std::string(name(expected.dtype())), 0, 0,
            0};
    if (got.sizes() != expected.sizes())
        return Difference{Difference::Kind::sizes,
                          "got sizes " + to_string(got.sizes()) + ", expected " + to_string(expected.sizes()), 0, 0, 0};
    return visit_compute(got.dtype(),
                         [&](auto element) { return compare_values<decltype(element)>(got, expected, tolerance); });
}

}  // namespace whittle

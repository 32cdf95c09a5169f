#include "tensor/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/number_text.h"
#include "tensor/complex.h"
#include "tensor/compute.h"
#include "tensor/convert.h"

namespace whittle {
namespace {

std::string number(double value) { return significant(value, 9); }

/// "nan", "3", "true": an element of T as the descriptions show it.
template <class T>
std::string element_text(T value) {
    if constexpr (std::is_same_v<T, bool>)
        return value ? "true" : "false";
    else if constexpr (std::is_integral_v<T>)
        return std::to_string(value);
    else if constexpr (is_complex_type<T>)
        return number(value.real()) + (std::signbit(value.imag()) ? "-" : "+") + number(std::fabs(value.imag())) + "j";
    else
        return number(value);
}

/// Of a number, as a double.
template <class T>
double magnitude(T value) {
    if constexpr (is_complex_type<T>)
        return std::hypot(static_cast<double>(value.real()), static_cast<double>(value.imag()));
    else
        return std::fabs(static_cast<double>(value));
}

/// As unsigned the difference of any two fits.
template <std::integral T>
std::uint64_t integer_distance(T a, T b) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return a > b ? x - y : y - x;
}

/// |got - expected| with all digits of an integer.
template <class T>
std::string error_text(T got, T expected, double error) {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
        return std::to_string(integer_distance(got, expected));
    else
        return number(error);
}

template <class T>
struct Closeness {
    bool close;
    bool finite;       // the two can be subtracted
    double error = 0;  // |got - expected|: infinite where an infinity is one of two that are not equal, NaN with a NaN
};

/// What compare_values() is told beside the tolerance.
struct Rule {
    Tolerance tolerance;
    DType dtype;
    bool strict = false;  ///< a zero's sign counts
};

bool is_finite(const auto& value) { return std::isfinite(value.real()) && std::isfinite(value.imag()); }

/// The distance to the next number, of the larger part: what one step of a complex number is.
template <class T>
double step_at(const std::complex<T>& value) {
    const T largest = std::max(std::fabs(value.real()), std::fabs(value.imag()));
    return static_cast<double>(std::nextafter(largest, std::numeric_limits<T>::infinity()) - largest);
}

template <class T>
Closeness<T> closeness(T got, T expected, const Rule& rule) {
    const Tolerance& tolerance = rule.tolerance;
    if constexpr (std::is_same_v<T, bool>) {
        return {got == expected, true, got == expected ? 0.0 : 1.0};
    } else if constexpr (std::is_integral_v<T>) {
        // No bit is lost to double before it is known to be 0.
        const std::uint64_t error = integer_distance(got, expected);
        const double allowed = tolerance.atol + tolerance.rtol * std::fabs(static_cast<double>(expected));
        return {error == 0 || static_cast<double>(error) <= std::max(allowed, tolerance.ulp), true,
                static_cast<double>(error)};
    } else if constexpr (is_complex_type<T>) {
        const Closeness<typename T::value_type> parts[] = {closeness(got.real(), expected.real(), rule),
                                                           closeness(got.imag(), expected.imag(), rule)};
        if (!is_finite(got) || !is_finite(expected))
            return {parts[0].close && parts[1].close, false, std::hypot(parts[0].error, parts[1].error)};
        // By the magnitude: one part may be what is left of terms that cancel.
        const double error = magnitude(Complex128(got) - Complex128(expected));
        if (rule.strict && error == 0) return {parts[0].close && parts[1].close, true, error};
        const bool close = error <= tolerance.atol + tolerance.rtol * magnitude(expected);
        return {close || (tolerance.ulp > 0 && error <= tolerance.ulp * step_at(expected)), true, error};
    } else {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        if (std::isnan(got) || std::isnan(expected)) return {std::isnan(got) && std::isnan(expected), false, NAN};
        if (std::isinf(got) || std::isinf(expected)) return {got == expected, false, got == expected ? 0 : kInfinity};
        // In double: two large floats of opposite sign may be more than FLT_MAX apart.
        const double error = std::fabs(static_cast<double>(got) - static_cast<double>(expected));
        if (rule.strict && error == 0 && std::signbit(got) != std::signbit(expected)) return {false, true, error};
        const bool close = error <= tolerance.atol + tolerance.rtol * std::fabs(static_cast<double>(expected));
        return {close || (tolerance.ulp > 0 && ulp_distance(got, expected, real_of(rule.dtype)) <= tolerance.ulp), true,
                error};
    }
}

template <class T>
std::optional<Difference> compare_values(const Tensor& got, const Tensor& expected, const Rule& rule) {
    const std::vector<T> xs = got.values<T>(), ys = expected.values<T>();
    Difference difference{.kind = Difference::Kind::value};
    std::int64_t first = -1, worst = -1;
    for (std::size_t i = 0; i < xs.size(); ++i) {
        const T x = xs[i], y = ys[i];
        const Closeness<T> result = closeness<T>(x, y, rule);
        if (result.close) continue;
        if (result.error > difference.max_abs_error) {
            difference.max_abs_error = result.error;
            worst = static_cast<std::int64_t>(i);
        }
        if (result.error > 0 && y != T(0))
            difference.max_rel_error = std::max(difference.max_rel_error, result.error / magnitude(y));
        if (first < 0) first = static_cast<std::int64_t>(i);
        ++difference.differing;
        if (!result.finite) difference.kind = Difference::Kind::nan_or_inf;
    }
    if (first < 0) return std::nullopt;
    const auto at = static_cast<std::size_t>(first);
    difference.place = index_text(first, got.sizes());
    difference.got = element_text<T>(xs[at]), difference.expected = element_text<T>(ys[at]);
    difference.description = difference.place + ": got " + difference.got + ", expected " + difference.expected + "; " +
                             std::to_string(difference.differing) + " of " + std::to_string(xs.size()) +
                             " values differ";
    if (worst >= 0) {
        const auto most = static_cast<std::size_t>(worst);
        difference.description += ", largest error " + error_text<T>(xs[most], ys[most], difference.max_abs_error) +
                                  " at " + index_text(worst, got.sizes());
    }
    return difference;
}

std::optional<Difference> compare(const Tensor& got, const Tensor& expected, const Rule& rule) {
    const auto of_meta = [](Difference::Kind kind, const std::string& x, const std::string& y) {
        const std::string what(name(kind));
        return Difference{.kind = kind,
                          .description = "got " + what + " " + x + ", expected " + y,
                          .place = what,
                          .got = x,
                          .expected = y};
    };
    if (got.dtype() != expected.dtype())
        return of_meta(Difference::Kind::dtype, std::string(name(got.dtype())), std::string(name(expected.dtype())));
    if (got.sizes() != expected.sizes())
        return of_meta(Difference::Kind::sizes, to_string(got.sizes()), to_string(expected.sizes()));
    const auto values = [&](auto element) { return compare_values<decltype(element)>(got, expected, rule); };
    return is_complex(got.dtype()) ? visit_complex(got.dtype(), values) : visit_ordered(got.dtype(), values);
}

/// The bits of a value as a number that grows by one from each value to the next.
template <class T>
std::int64_t position(T value) {
    std::uint64_t bits = 0;  // little-endian, see safetensors.cpp
    std::memcpy(&bits, &value, sizeof value);
    const std::uint64_t sign = std::uint64_t{1} << (8 * sizeof value - 1);
    const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
    return bits & sign ? -magnitude : magnitude;
}

template <class T>
double steps(T a, T b) {
    static_assert(!is_complex_type<T>);
    const std::int64_t x = position(a), y = position(b);
    // As unsigned the difference of any two fits.
    const auto low = static_cast<std::uint64_t>(std::min(x, y)), high = static_cast<std::uint64_t>(std::max(x, y));
    return static_cast<double>(high - low);
}

/// The nearest value that the dtype has.
double rounded(double value, DType dtype) {
    return visit_dtype(dtype, [&](auto element) {
        using T = decltype(element);
        return cast_element<double>(nearest<T>(value));
    });
}

double root(double sum, std::int64_t count) { return count ? std::sqrt(sum / static_cast<double>(count)) : 0; }

}  // namespace

Tolerance default_tolerance(DType dtype) { return {info_of(dtype).rtol, info_of(dtype).atol}; }

Tolerance Accuracy::tolerance(DType dtype) const {
    const auto own = tolerances.find(dtype);
    Tolerance result = own == tolerances.end() ? default_tolerance(dtype) : own->second;
    if (wants_bits()) result.rtol = result.atol = 0;
    if (mode == Mode::exact) result.ulp = 0;
    return result;
}

std::string index_text(std::int64_t position, const Sizes& sizes) {
    std::vector<std::int64_t> index(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 0; position /= sizes[d]) index[d] = position % sizes[d];
    return to_string(index);
}

std::vector<std::int64_t> differing_elements(const Tensor& got, const Tensor& expected, const Tolerance& tolerance) {
    WHITTLE_CHECK(got.dtype() == expected.dtype() && got.sizes() == expected.sizes(),
                  "differing_elements() takes tensors of one dtype and equal sizes");
    std::vector<std::int64_t> positions;
    const auto find = [&](auto element) {
        using T = decltype(element);
        const std::vector<T> xs = got.values<T>(), ys = expected.values<T>();
        for (std::size_t i = 0; i < xs.size(); ++i)
            if (!closeness<T>(xs[i], ys[i], Rule{tolerance, expected.dtype()}).close)
                positions.push_back(static_cast<std::int64_t>(i));
    };
    is_complex(got.dtype()) ? visit_complex(got.dtype(), find) : visit_ordered(got.dtype(), find);
    return positions;
}

std::string_view name(Difference::Kind kind) {
    switch (kind) {
        case Difference::Kind::dtype:
            return "dtype";
        case Difference::Kind::sizes:
            return "sizes";
        case Difference::Kind::nan_or_inf:
            return "nan_or_inf";
        case Difference::Kind::value:
            return "value";
    }
    __builtin_unreachable();
}

std::string_view name(Accuracy::Mode mode) {
    switch (mode) {
        case Accuracy::Mode::close:
            return "close";
        case Accuracy::Mode::fp64:
            return "fp64";
        case Accuracy::Mode::strict:
            return "strict";
        case Accuracy::Mode::exact:
            return "exact";
    }
    __builtin_unreachable();
}

std::optional<Accuracy::Mode> accuracy_mode_from_name(std::string_view text) {
    for (const Accuracy::Mode mode :
         {Accuracy::Mode::close, Accuracy::Mode::fp64, Accuracy::Mode::strict, Accuracy::Mode::exact})
        if (name(mode) == text) return mode;
    return std::nullopt;
}

std::optional<Difference> compare(const Tensor& got, const Tensor& expected, const Tolerance& tolerance) {
    return compare(got, expected, Rule{tolerance, expected.dtype()});
}

std::optional<Difference> compare(const Tensor& got, const Tensor& expected, const Accuracy& accuracy,
                                  const ExactValue& exact) {
    const Tolerance tolerance = accuracy.tolerance(expected.dtype());
    auto difference =
        compare(got, expected, Rule{tolerance, expected.dtype(), accuracy.mode == Accuracy::Mode::strict});
    if (!difference || accuracy.mode == Accuracy::Mode::close || !is_inexact(expected.dtype())) return difference;
    if (difference->kind == Difference::Kind::dtype || difference->kind == Difference::Kind::sizes) return difference;
    const ErrorFigures between = measure(got, expected);
    if (accuracy.wants_bits()) {
        difference->description += " (" + number(between.max_ulp) + " ulp)";
        return difference;
    }
    const Tensor* truth = between.misplaced == 0 && exact ? exact() : nullptr;
    if (!truth || truth->sizes() != got.sizes()) return difference;
    const double own = measure(got, *truth).rmse, reference = measure(expected, *truth).rmse;
    if (own <= accuracy.multiplier * reference + tolerance.atol / 10) return std::nullopt;
    difference->description +=
        "; root mean square error against f64 " + number(own) + ", the reference's " + number(reference);
    return difference;
}

bool rounds_where_it_differs(const Tensor& got, const Tensor& expected, const Tensor& exact, const Accuracy& accuracy) {
    if (!is_inexact(got.dtype())) return true;  // there is no rule but equality
    const Rule rule{accuracy.tolerance(expected.dtype()), expected.dtype()};
    const auto rounds = [&](auto element) {
        using T = decltype(element);
        using Wide = std::conditional_t<is_complex_type<T>, Complex128, double>;
        const std::vector<T> xs = got.values<T>(), ys = expected.values<T>();
        const std::vector<Wide> truth = exact.values<Wide>();
        double own = 0, given = 0;
        std::int64_t differing = 0;
        for (std::size_t i = 0; i < xs.size(); ++i) {
            const Closeness<T> result = closeness<T>(xs[i], ys[i], rule);
            if (result.close || !result.finite) continue;
            ++differing;
            own += std::pow(magnitude(Wide(xs[i]) - truth[i]), 2);
            given += std::pow(magnitude(Wide(ys[i]) - truth[i]), 2);
        }
        const double slack = rule.tolerance.atol / 10;
        return root(own, differing) <= accuracy.multiplier * root(given, differing) + slack;
    };
    return is_complex(got.dtype()) ? visit_complex(got.dtype(), rounds) : visit_ordered(got.dtype(), rounds);
}

double ulp_distance(double a, double b, DType dtype) {
    if (!is_floating(dtype)) return std::fabs(a - b);
    return visit_dtype(dtype, [&]<class T>(T) -> double {
        if constexpr (is_complex_type<T>)
            return std::fabs(a - b);  // measured by its parts
        else
            return steps(nearest<T>(a), nearest<T>(b));
    });
}

namespace {

/// What of integers the difference of two doubles is not: exact.
ErrorFigures measure_integers(const Tensor& got, const Tensor& expected) {
    ErrorFigures figures;
    double squares = 0;
    visit_ordered(got.dtype(), [&](auto element) {
        using T = decltype(element);
        const std::vector<T> xs = got.values<T>(), ys = expected.values<T>();
        for (std::size_t i = 0; i < xs.size(); i++) {
            const double error = closeness<T>(xs[i], ys[i], Rule{{}, got.dtype()}).error;
            squares += error * error;
            figures.max_abs = figures.max_ulp = std::max(figures.max_abs, error);
            if (error > 0 && ys[i] != T(0)) figures.max_rel = std::max(figures.max_rel, error / magnitude(ys[i]));
        }
    });
    figures.rmse = root(squares, got.numel());
    return figures;
}

}  // namespace

ErrorFigures measure(const Tensor& got, const Tensor& expected) {
    WHITTLE_CHECK(got.sizes() == expected.sizes(), "measure() takes tensors of equal sizes");
    if (is_complex(got.dtype()) || is_complex(expected.dtype())) {
        const auto parts = [](const Tensor& tensor) {
            return as_real(is_complex(tensor.dtype()) ? tensor : tensor.to(DType::c128));
        };
        return measure(parts(got), parts(expected));
    }
    if (got.dtype() == expected.dtype() && !is_inexact(got.dtype())) return measure_integers(got, expected);
    const std::vector<double> xs = load_broadcast<double>(got, got.sizes()),
                              ys = load_broadcast<double>(expected, expected.sizes());
    ErrorFigures figures;
    double squares = 0;
    std::int64_t finite = 0;
    for (std::size_t i = 0; i < xs.size(); i++) {
        const double x = xs[i], y = ys[i];
        figures.nan += std::isnan(x);
        figures.inf += std::isinf(x);
        if (!std::isfinite(x) || !std::isfinite(y)) {
            // An infinity is also at its place where f64 holds a value that the narrower dtype does not.
            const double nearest = rounded(y, got.dtype());
            figures.misplaced += !((std::isnan(x) && std::isnan(y)) || x == nearest);
            continue;
        }
        const double error = std::fabs(x - y);
        finite++;
        squares += error * error;
        figures.max_abs = std::max(figures.max_abs, error);
        if (error > 0 && y != 0) figures.max_rel = std::max(figures.max_rel, error / std::fabs(y));
        figures.max_ulp = std::max(figures.max_ulp, ulp_distance(x, rounded(y, got.dtype()), got.dtype()));
    }
    figures.rmse = root(squares, finite);
    return figures;
}

}  // namespace whittle

#include "expr/fold.h"

#include "tensor/convert.h"

#include <cmath>

namespace whittle::expr {
namespace {

Scalar folded(bool value) { return Scalar(value); }
Scalar folded(double value) { return Scalar(value); }
Scalar folded(float value) { return Scalar(static_cast<double>(value)); }

template <class T>
std::optional<Scalar> fold_float(Op op, T a, T b) {
    switch (op) {
#define WHITTLE_EXPR_INFIX(op, symbol, ...)                                                       \
    case Op::op:                                                                                  \
        if constexpr (takes(Op::op, dtype_of<T>) && Op::op != Op::mod) return folded(a symbol b); \
        return {};
#include "expr/expr_ops.def"
        default:
            return {};
    }
}

/// T is std::uint64_t for u64, else std::int64_t.
template <class T>
std::optional<Scalar> fold_integer(Op op, T a, T b, T width) {
    const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
    const auto integer = [](std::uint64_t v) { return Scalar(static_cast<T>(v)); };
    const bool shifts = std::is_unsigned_v<T> ? b < width : 0 <= b && b < width;
    switch (op) {
        case Op::add:
            return integer(ua + ub);
        case Op::sub:
            return integer(ua - ub);
        case Op::mul:
            return integer(ua * ub);
        case Op::div:
            return Scalar(integer_div(a, b));
        case Op::mod:
            return Scalar(integer_mod(a, b));
        case Op::min:
            return Scalar(a < b ? a : b);
        case Op::max:
            return Scalar(a < b ? b : a);
        case Op::eq:
            return Scalar(a == b);
        case Op::ne:
            return Scalar(a != b);
        case Op::lt:
            return Scalar(a < b);
        case Op::le:
            return Scalar(a <= b);
        case Op::shl:
            if (!shifts) return {};
            return integer(ua << ub);
        case Op::shr:
            if (!shifts) return {};
            return Scalar(a >> b);
        case Op::bit_and:
            return integer(ua & ub);
        case Op::bit_or:
            return integer(ua | ub);
        case Op::bit_xor:
            return integer(ua ^ ub);
        default:
            return {};
    }
}

}  // namespace

Scalar normalized(DType dtype, const Scalar& value) {
    return visit_dtype(dtype, [&]<class T>(T) {
        if constexpr (std::is_same_v<T, bool>)
            return Scalar(value.to_bool());
        else if constexpr (std::is_same_v<T, std::uint64_t>)
            return Scalar(static_cast<T>(value.to_integer()));
        else if constexpr (std::is_integral_v<T>)  // modulo 2^n
            return Scalar(static_cast<std::int64_t>(static_cast<T>(value.to_integer())));
        else
            return Scalar(cast_element<double>(cast_element<T>(value.to_double())));
    });
}

std::optional<Scalar> fold_cast(DType to, DType from, const Scalar& a) {
    if (is_floating(from) && is_integer(to)) {
        // Defined only inside the range of the type; 2^31 and 2^63 are exact in double.
        const double limit = to == DType::i64 ? 9223372036854775808.0 : 2147483648.0, v = a.to_double();
        if (!(v > -limit && v < limit)) return {};
        return Scalar(static_cast<std::int64_t>(v));
    }
    if (from == DType::i64 && to == DType::f32)  // one rounding, not two over double
        return Scalar(static_cast<double>(static_cast<float>(a.to_integer())));
    if (from == DType::u64 && to == DType::f32)
        return Scalar(static_cast<double>(static_cast<float>(static_cast<std::uint64_t>(a.to_integer()))));
    return normalized(to, a);
}

std::optional<Scalar> fold_unary(Op op, DType dtype, const Scalar& a) {
    if (op == Op::logical_not) return Scalar(!a.to_bool());
    if (is_integer(dtype)) {
        const std::int64_t v = a.to_integer();
        if (op == Op::bit_not) return Scalar(~v);
        return Scalar(v < 0 ? static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(v)) : v);  // abs
    }
    const double v = a.to_double();
    switch (op) {
        case Op::is_nan:
            return Scalar(std::isnan(v));
        case Op::abs:
            return Scalar(std::fabs(v));
        case Op::floor:
            return Scalar(std::floor(v));
        case Op::ceil:
            return Scalar(std::ceil(v));
        case Op::trunc:
            return Scalar(std::trunc(v));
        case Op::sqrt:
            return Scalar(dtype == DType::f32 ? static_cast<double>(std::sqrt(static_cast<float>(v))) : std::sqrt(v));
        default:
            return {};
    }
}

std::optional<Scalar> fold_binary(Op op, DType dtype, const Scalar& a, const Scalar& b) {
    if (dtype == DType::f32)
        return fold_float(op, static_cast<float>(a.to_double()), static_cast<float>(b.to_double()));
    if (dtype == DType::f64) return fold_float(op, a.to_double(), b.to_double());
    if (is_integer(dtype))
        return dtype == DType::u64 ? fold_integer<std::uint64_t>(op, static_cast<std::uint64_t>(a.to_integer()),
                                                                 static_cast<std::uint64_t>(b.to_integer()), 64)
                                   : fold_integer<std::int64_t>(op, a.to_integer(), b.to_integer(),
                                                                static_cast<std::int64_t>(size_of(dtype)) * 8);
    switch (op) {
        case Op::eq:
            return Scalar(a.to_bool() == b.to_bool());
        case Op::ne:
            return Scalar(a.to_bool() != b.to_bool());
        case Op::logical_and:
            return Scalar(a.to_bool() && b.to_bool());
        case Op::logical_or:
            return Scalar(a.to_bool() || b.to_bool());
        default:
            return {};
    }
}

std::int64_t euclidean_div(std::int64_t a, std::int64_t b) {
    if (b == 0) return 0;
    if (b == -1) return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(a));
    const std::int64_t quotient = a / b;
    return a % b < 0 ? (b > 0 ? quotient - 1 : quotient + 1) : quotient;
}

std::int64_t euclidean_mod(std::int64_t a, std::int64_t b) {
    if (b == 0 || b == -1) return 0;
    const std::int64_t remainder = a % b;
    if (remainder >= 0) return remainder;
    const auto magnitude = b < 0 ? 0 - static_cast<std::uint64_t>(b) : static_cast<std::uint64_t>(b);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(remainder) + magnitude);
}

}  // namespace whittle::expr

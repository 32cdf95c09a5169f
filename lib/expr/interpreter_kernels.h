// What the interpreter of groups computes, one function for each operation and type.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/error.h"
#include "expr/expr.h"
#include "expr/fold.h"
#include "tensor/shape.h"

namespace whittle::expr::interpreter {

/// A value of any type: integers and bool widened to 64 bits, half types as the float they equal.
union Slot {
    std::int64_t i;
    double d;
    float f;
};

template <class T>
T get(const Slot& slot) {
    if constexpr (std::is_same_v<T, double>)
        return slot.d;
    else if constexpr (std::is_same_v<T, float>)
        return slot.f;
    else if constexpr (is_reduced_type<T>)
        return T(slot.f);
    else
        return static_cast<T>(slot.i);
}

template <class T>
void set(Slot& slot, T value) {
    if constexpr (std::is_same_v<T, double>)
        slot.d = value;
    else if constexpr (std::is_same_v<T, float>)
        slot.f = value;
    else if constexpr (is_reduced_type<T>)
        slot.f = static_cast<float>(value);
    else
        slot.i = static_cast<std::int64_t>(value);
}

/// An array that is loaded from or stored to.
struct Array {
    std::string name;
    Sizes sizes;
    Strides strides;
    const void* data = nullptr;
};

/// registers[result] = kernel(registers[operands]).
struct Instruction {
    void (*kernel)(Slot* registers, const Instruction& self) = nullptr;
    std::uint32_t result = 0;
    std::vector<std::uint32_t> operands = {};
    const Array* array = nullptr;  ///< loads
};

using Kernel = void (*)(Slot*, const Instruction&);

template <class T, class R, class F>
void apply1(Slot* r, const Instruction& in, F f) {
    set<R>(r[in.result], f(get<T>(r[in.operands[0]])));
}
template <class T, class R, class F>
void apply2(Slot* r, const Instruction& in, F f) {
    set<R>(r[in.result], f(get<T>(r[in.operands[0]]), get<T>(r[in.operands[1]])));
}
// A kernel that computes EXPRESSION from x (and y) of type T.
#define UNARY(R, EXPRESSION) \
    [](Slot* r, const Instruction& in) { apply1<T, R>(r, in, [](T x) -> R { return EXPRESSION; }); }
#define BINARY(R, EXPRESSION) \
    [](Slot* r, const Instruction& in) { apply2<T, R>(r, in, [](T x, T y) -> R { return EXPRESSION; }); }

template <class T>
Kernel float_kernel(Op op) {
    switch (op) {
#define FUNCTION_1(function) UNARY(T, std::function(x))
#define FUNCTION_2(function) BINARY(T, std::function(x, y))
#define WHITTLE_EXPR_EXACT(op, takes, function, ...) \
    case Op::op:                                     \
        return FUNCTION_1(function);
#define WHITTLE_EXPR_LIBRARY(op, operands) \
    case Op::op:                           \
        return FUNCTION_##operands(op);
#define WHITTLE_EXPR_INFIX(op, symbol, ...)                            \
    case Op::op:                                                       \
        if constexpr (takes(Op::op, dtype_of<T>) && Op::op != Op::mod) \
            return BINARY(decltype(T() symbol T()), x symbol y);       \
        break;
#include "expr/expr_ops.def"
#undef FUNCTION_1
#undef FUNCTION_2
        default:
            break;
    }
    if (op == Op::mod) return BINARY(T, std::fmod(x, y));
    if (op == Op::is_nan) return UNARY(bool, std::isnan(x));
    return nullptr;
}

/// What an integer is divided as.
template <class T>
using Dividend = std::conditional_t<std::is_same_v<T, std::uint64_t>, std::uint64_t, std::int64_t>;

/// Integers compute in 64 bits, unsigned where they may wrap; storing to T wraps.
template <class T>
Kernel integer_kernel(Op op) {
    using U = std::uint64_t;
    switch (op) {
        case Op::abs:
            return UNARY(T,
                         static_cast<T>(std::is_signed_v<T> && x < T(0) ? 0 - static_cast<U>(x) : static_cast<U>(x)));
        case Op::bit_not:
            return UNARY(T, static_cast<T>(~x));
        case Op::logical_not:
            return UNARY(bool, !x);
        case Op::add:
            return BINARY(T, static_cast<T>(static_cast<U>(x) + static_cast<U>(y)));
        case Op::sub:
            return BINARY(T, static_cast<T>(static_cast<U>(x) - static_cast<U>(y)));
        case Op::mul:
            return BINARY(T, static_cast<T>(static_cast<U>(x) * static_cast<U>(y)));
        case Op::div:
            return BINARY(T, static_cast<T>(integer_div(Dividend<T>(x), Dividend<T>(y))));
        case Op::mod:
            return BINARY(T, static_cast<T>(integer_mod(Dividend<T>(x), Dividend<T>(y))));
        case Op::min:
            return BINARY(T, x < y ? x : y);
        case Op::max:
            return BINARY(T, x < y ? y : x);
        case Op::eq:
            return BINARY(bool, x == y);
        case Op::ne:
            return BINARY(bool, x != y);
        case Op::lt:
            return BINARY(bool, x < y);
        case Op::le:
            return BINARY(bool, x <= y);
        case Op::logical_and:
            return BINARY(bool, x&& y);
        case Op::logical_or:
            return BINARY(bool, x || y);
        case Op::bit_and:
            return BINARY(T, static_cast<T>(x & y));
        case Op::bit_or:
            return BINARY(T, static_cast<T>(x | y));
        case Op::bit_xor:
            return BINARY(T, static_cast<T>(x ^ y));
        // Amounts outside the width are the caller's to avoid; masked, they are at least defined here.
        case Op::shl:
            return BINARY(T, static_cast<T>(static_cast<U>(x) << (static_cast<U>(y) & 63)));
        case Op::shr:
            return BINARY(T, static_cast<T>(x >> (static_cast<U>(y) & 63)));
        default:
            return nullptr;
    }
}
#undef UNARY
#undef BINARY

/// static_cast, with a defined result (x86's) where C++ has none.
template <class To, class From>
To convert(From value) {
    if constexpr (std::is_same_v<To, bool>) {
        return value != From(0);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
        const double limit = sizeof(To) == 8 ? 9223372036854775808.0 : 2147483648.0;
        if (!(value >= -limit && value < limit)) return std::numeric_limits<To>::min();
        return static_cast<To>(value);
    } else {
        return static_cast<To>(value);
    }
}

inline Kernel cast_kernel(DType to, DType from) {
    return visit_dtype(to, [&](auto t) {
        return visit_dtype(from, [&](auto f) -> Kernel {
            using To = decltype(t);
            using From = decltype(f);
            if constexpr (is_complex_type<To> || is_complex_type<From>) {
                return nullptr;
            } else if constexpr (is_reduced_type<To> || is_reduced_type<From>) {
                // Over f32, which is what a slot of a reduced float holds.
                if constexpr (std::is_same_v<From, float> || std::is_same_v<To, float>)
                    return
                        [](Slot* r, const Instruction& in) { set<To>(r[in.result], To(get<From>(r[in.operands[0]]))); };
                else
                    return nullptr;
            } else {
                return [](Slot* r, const Instruction& in) {
                    set<To>(r[in.result], convert<To>(get<From>(r[in.operands[0]])));
                };
            }
        });
    });
}

inline void select_kernel(Slot* r, const Instruction& in) {
    r[in.result] = r[in.operands[0]].i ? r[in.operands[1]] : r[in.operands[2]];
}

/// Offset of an element in its array. Throws Error when an index is out of bounds.
inline std::int64_t offset(const Slot* r, const Instruction& in) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < in.operands.size(); ++d) {
        const std::int64_t index = r[in.operands[d]].i;
        if (index < 0 || index >= in.array->sizes[d])
            throw Error("found index " + std::to_string(index) + " in dimension " + std::to_string(d) + " of " +
                        in.array->name + ", expected an index from 0 to " + std::to_string(in.array->sizes[d] - 1));
        at += index * in.array->strides[d];
    }
    return at;
}

template <class T>
void load_kernel(Slot* r, const Instruction& in) {
    set<T>(r[in.result], static_cast<const T*>(in.array->data)[offset(r, in)]);
}

template <class T>
void store_kernel(Slot* r, const Instruction& in) {
    const_cast<T*>(static_cast<const T*>(in.array->data))[offset(r, in)] = get<T>(r[in.result]);
}

inline Kernel store_of(DType dtype) {
    return visit_dtype(dtype, [](auto t) -> Kernel {
        if constexpr (is_complex_type<decltype(t)>)
            return nullptr;
        else
            return store_kernel<decltype(t)>;
    });
}

inline Kernel kernel_of(const Expr& e) {
    if (e->op == Op::load)
        return visit_dtype(e->dtype, [](auto t) -> Kernel {
            if constexpr (is_complex_type<decltype(t)>)
                return nullptr;
            else
                return load_kernel<decltype(t)>;
        });
    if (e->op == Op::select) return select_kernel;
    const DType from = e->operands[0]->dtype;
    if (e->op == Op::cast) return cast_kernel(e->dtype, from);
    if (from == DType::f32) return float_kernel<float>(e->op);
    if (from == DType::f64) return float_kernel<double>(e->op);
    if (from == DType::boolean) return integer_kernel<std::uint8_t>(e->op);  // 0 and 1
    return visit_dtype(from, [&](auto t) -> Kernel {
        if constexpr (std::is_integral_v<decltype(t)> && !std::is_same_v<decltype(t), bool>)
            return integer_kernel<decltype(t)>(e->op);
        return nullptr;
    });
}

}  // namespace whittle::expr::interpreter

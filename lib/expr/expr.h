// Tensor expressions: immutable trees (with sharing) over loop variables and loads, with exactly stated semantics, so
// that the interpreter, plain C++ loops, Halide objects and Halide text can all mean the same thing.
//
// Types are DTypes. Indices, loop variables and everything computed from them are i32. Arithmetic is done in f64, f32,
// the integers and bool; f16 and bf16 may only be loaded, cast and stored (ATen computes half types in f32).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/scalar.h"

namespace whittle::expr {

enum class Op : std::uint8_t {
    // Leaves.
    constant,  ///< `number`
    variable,  ///< loop variable `name`, i32
    load,      ///< element of input or stage `name` at the operands (one i32 index per dimension, outermost first)
    // One operand.
    cast,  ///< to `dtype`: C++ static_cast; float to integer of NaN or out-of-range values is the caller's to avoid; to
           ///< bool is != 0
    abs,
    floor,
    ceil,
    trunc,
    round_even,
    sqrt,
    exp,
    expm1,
    log,
    log1p,
    log2,
    log10,
    sin,
    cos,
    tan,
    asin,
    acos,
    atan,
    sinh,
    cosh,
    tanh,
    asinh,
    acosh,
    atanh,
    erf,
    erfc,
    lgamma,       ///< floats only (abs: also integers); IEEE and C99 on NaN, infinities and -0, as <cmath>
    is_nan,       ///< float -> bool
    logical_not,  ///< bool
    bit_not,      ///< integers
    // Two operands of one type.
    add,
    sub,
    mul,  ///< floats: IEEE, never contracted or reassociated here; integers wrap
    div,
    mod,  ///< floats: IEEE division; mod is C fmod. Integers: Euclidean (0 <= mod < |b|), x / 0 = 0, x mod 0 = 0
    min,
    max,  ///< integers and indices only: NaN and -0 make floats a matter for select()
    pow,
    atan2,  ///< floats, as <cmath>
    eq,
    ne,
    lt,
    le,  ///< -> bool; IEEE for floats
    logical_and,
    logical_or,  ///< bool, both sides evaluated
    bit_and,
    bit_or,
    bit_xor,
    shl,
    shr,  ///< integers; shr is arithmetic for signed types; shift amounts outside the width are the caller's to avoid
    // Three operands.
    select,  ///< bool ? a : b; the side not chosen may be evaluated, so its loads must be in bounds too
};

struct Node;
/// A shared, immutable node. Null only when default-constructed.
using Expr = std::shared_ptr<const Node>;

struct Node {
    Op op;
    DType dtype;
    std::string name = {};      ///< variable, load
    Scalar number = Scalar(0);  ///< constant: floating, integer or bool according to dtype
    std::vector<Expr> operands = {};
    std::size_t hash = 0;  ///< structural
};

/// Name of an operation in printed expressions: "add", "is_nan".
std::string_view name(Op op);

// Makers check operand counts and types (a mismatch is a bug) and fold what is exact: constants, x + 0, x * 1 on
// indices, casts to the same type. They never fold floats in a way that changes NaN, infinities or -0.
Expr constant(DType dtype, const Scalar& value);
/// Of the dtype that `like` has.
inline Expr constant(const Expr& like, const Scalar& value) { return constant(like->dtype, value); }
Expr index(std::int64_t value);  ///< an i32 constant; throws Error when it does not fit
Expr variable(const std::string& name);
Expr load(const std::string& from, DType dtype, std::vector<Expr> indices);
Expr cast(DType dtype, Expr value);
Expr unary(Op op, Expr a);
Expr binary(Op op, Expr a, Expr b);
Expr select(Expr condition, Expr if_true, Expr if_false);

inline Expr operator+(Expr a, Expr b) { return binary(Op::add, std::move(a), std::move(b)); }
inline Expr operator-(Expr a, Expr b) { return binary(Op::sub, std::move(a), std::move(b)); }
inline Expr operator*(Expr a, Expr b) { return binary(Op::mul, std::move(a), std::move(b)); }
inline Expr operator/(Expr a, Expr b) { return binary(Op::div, std::move(a), std::move(b)); }
inline Expr operator%(Expr a, Expr b) { return binary(Op::mod, std::move(a), std::move(b)); }
inline Expr operator<(Expr a, Expr b) { return binary(Op::lt, std::move(a), std::move(b)); }
inline Expr operator<=(Expr a, Expr b) { return binary(Op::le, std::move(a), std::move(b)); }
inline Expr operator>(Expr a, Expr b) { return binary(Op::lt, std::move(b), std::move(a)); }
inline Expr operator>=(Expr a, Expr b) { return binary(Op::le, std::move(b), std::move(a)); }
inline Expr operator&&(Expr a, Expr b) { return binary(Op::logical_and, std::move(a), std::move(b)); }
inline Expr operator||(Expr a, Expr b) { return binary(Op::logical_or, std::move(a), std::move(b)); }
inline Expr equal(Expr a, Expr b) { return binary(Op::eq, std::move(a), std::move(b)); }
inline Expr not_equal(Expr a, Expr b) { return binary(Op::ne, std::move(a), std::move(b)); }
/// Not operator!: `!expr` asks whether a shared pointer is null.
inline Expr logical_not(Expr a) { return unary(Op::logical_not, std::move(a)); }
inline Expr min(Expr a, Expr b) { return binary(Op::min, std::move(a), std::move(b)); }
inline Expr max(Expr a, Expr b) { return binary(Op::max, std::move(a), std::move(b)); }
/// 0 - x would lose the sign of zero: floats multiply by -1, integers subtract from 0.
Expr negate(Expr a);

/// Structural equality; pointers first, then hashes.
bool same(const Expr& a, const Expr& b);
/// Distinct nodes reachable from `root`: sharing counts once. What fusion limits are stated in.
std::size_t node_count(const Expr& root);
/// The same operation on other operands, through its maker, so that it folds again.
Expr rebuild(const Expr& e, std::vector<Expr> operands);
/// Bottom up, each distinct node once: `f` sees the node with its operands already rewritten and returns what replaces
/// it.
Expr rewrite(const Expr& root, const std::function<Expr(const Expr&)>& f);
/// "select(is_nan(x[i, j]), 0, x[i, j])".
std::string print(const Expr& expr);
/// Visits every distinct node once, operands before users.
void visit(const Expr& root, const std::function<void(const Expr&)>& f);

}  // namespace whittle::expr

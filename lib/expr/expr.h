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
#include <string_view>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/scalar.h"

namespace whittle::expr {

/// expr_ops.def says what each means.
enum class Op : std::uint8_t {
#define WHITTLE_EXPR_OP(op, ...) op,
#include "expr/expr_ops.def"
};

/// Types of operands. None but `any` has half types; `number`: integer or real; `computed`: all but half types.
enum class OperandClass : std::uint8_t { any, logical, integer, real, number, computed };
/// How strongly C++'s operators bind, ascending.
enum class Strength : std::uint8_t {
    ternary,
    either,
    both,
    bits,
    equality,
    relation,
    shift,
    sum,
    product,
    prefix,
    atom
};

struct OpInfo {
    enum class Result : std::uint8_t { same, logical };
    enum class Kind : std::uint8_t { exact, library, infix, other };

    std::string_view name;
    int operands;
    OperandClass takes;
    Result gives;
    std::string_view symbol;
    Strength strength;
    std::string_view function, halide;
    double work;
    Kind kind;
};

inline constexpr OpInfo kOps[] = {
#define WHITTLE_EXPR_OP(op, operands, takes, gives, symbol, strength, function, halide, work, kind)      \
    {#op,    operands, OperandClass::takes, OpInfo::Result::gives, symbol, Strength::strength, function, \
     halide, work,     OpInfo::Kind::kind},
#include "expr/expr_ops.def"
};

constexpr const OpInfo& info_of(Op op) { return kOps[static_cast<std::size_t>(op)]; }
/// Name of an operation in printed expressions: "add", "is_nan".
constexpr std::string_view name(Op op) { return info_of(op).name; }
/// Whether operands of the operation may have the type.
constexpr bool takes(Op op, DType dtype) {
    const bool real = is_floating(dtype) && !is_reduced(dtype), logical = dtype == DType::boolean;
    switch (info_of(op).takes) {
        case OperandClass::any:
            return true;
        case OperandClass::logical:
            return logical;
        case OperandClass::integer:
            return is_integer(dtype);
        case OperandClass::real:
            return real;
        case OperandClass::number:
            return is_integer(dtype) || real;
        case OperandClass::computed:
            return is_integer(dtype) || real || logical;
    }
    return false;
}
/// eq, ne, lt or le.
constexpr bool is_comparison(Op op) {
    return info_of(op).kind == OpInfo::Kind::infix && info_of(op).gives == OpInfo::Result::logical;
}

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

// Comparisons and logic of two operands, element by element; results are bool. Comparisons are IEEE's: everything but
// ne is false with NaN. Definitions: https://pytorch.org/docs/stable/torch.html#comparison-ops
#include "ops/aten/families.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

struct Eq : Predicate {
    static bool eval(auto a, auto b) { return a == b; }
    static Expr lower(const Expr& a, const Expr& b) { return expr::equal(a, b); }
};
struct Ne : Predicate {
    static bool eval(auto a, auto b) { return a != b; }
    static Expr lower(const Expr& a, const Expr& b) { return expr::not_equal(a, b); }
};

/// false < true.
template <bool kOrEqual>
Expr less(const Expr& a, const Expr& b) {
    if (a->dtype == DType::boolean) return kOrEqual ? expr::logical_not(a) || b : expr::logical_not(a) && b;
    return kOrEqual ? a <= b : a < b;
}
struct Lt : Predicate {
    static bool eval(Real auto a, Real auto b) { return a < b; }
    static Expr lower(const Expr& a, const Expr& b) { return less<false>(a, b); }
};
struct Le : Predicate {
    static bool eval(Real auto a, Real auto b) { return a <= b; }
    static Expr lower(const Expr& a, const Expr& b) { return less<true>(a, b); }
};
struct Gt : Predicate {
    static bool eval(Real auto a, Real auto b) { return a > b; }
    static Expr lower(const Expr& a, const Expr& b) { return less<false>(b, a); }
};
struct Ge : Predicate {
    static bool eval(Real auto a, Real auto b) { return a >= b; }
    static Expr lower(const Expr& a, const Expr& b) { return less<true>(b, a); }
};

/// Each operand is != 0 first, whatever its dtype.
struct Logic : Operands {
    static constexpr Bound bound = kBoundStep;
    static DType common(DType) { return DType::boolean; }
    static DType result(DType) { return DType::boolean; }
};
struct And : Logic {
    static bool eval(bool a, bool b) { return a && b; }
    static Expr lower(const Expr& a, const Expr& b) { return a && b; }
};
struct Or : Logic {
    static bool eval(bool a, bool b) { return a || b; }
    static Expr lower(const Expr& a, const Expr& b) { return a || b; }
};
struct Xor : Logic {
    static bool eval(bool a, bool b) { return a != b; }
    static Expr lower(const Expr& a, const Expr& b) { return expr::not_equal(a, b); }
};

/// What complex numbers have, too: they are in no order.
constexpr DTypeSet kEqual = kOrdered | kComplex;

constexpr OpDef kCompare[] = {
    binary_op<Eq>("eq.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor", "self == other", kEqual,
                  no_gradient),
    binary_op<Ne>("ne.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor", "self != other; true with NaN",
                  kEqual, no_gradient),
    binary_op<Lt>("lt.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor", "self < other", kOrdered,
                  no_gradient),
    binary_op<Le>("le.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor", "self <= other", kOrdered,
                  no_gradient),
    binary_op<Gt>("gt.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor", "self > other", kOrdered,
                  no_gradient),
    binary_op<Ge>("ge.{Tensor|Scalar}(Tensor self, {Tensor|Scalar} other) -> Tensor", "self >= other", kOrdered,
                  no_gradient),
    binary_op<And>("logical_and(Tensor self, Tensor other) -> Tensor", "whether both operands are != 0", kOrdered,
                   no_gradient),
    binary_op<Or>("logical_or(Tensor self, Tensor other) -> Tensor", "whether an operand is != 0", kOrdered,
                  no_gradient),
    binary_op<Xor>("logical_xor(Tensor self, Tensor other) -> Tensor", "whether exactly one operand is != 0", kOrdered,
                   no_gradient),
};

}  // namespace

std::span<const OpDef> compare_ops() { return kCompare; }

}  // namespace whittle

// The one mapping from tensor expressions to Halide's operations. It is a template over the sink that receives them —
// Halide objects or C++ text — so that what runs and what a repro shows cannot drift apart.
//
// Halide 14 differs from expr.h in these places; each is worked around here, and listed for users in
// share/doc/how-to/halide.md:
//  - Comparisons of floats are compiled with LLVM's "no NaNs" flag even under StrictFloat, which only reaches
//    expressions of floating type: each is wrapped in strict_float(). And `a <= b` means !(b < a), `a != b` an ordered
//    comparison, both wrong for NaN: only < and == are used.
//  - Constants are compared by value: select(c, 0, -0) becomes 0, and NaN equals any number. Such constants are made
//    from their bits (`from_bits`).
//  - Conversion of a NaN to f16 gives infinity, to bf16 infinity or 0 for some NaNs: corrected by `to_half`.
//  - 32- and 64-bit signed arithmetic that overflows is undefined, and x + 1 > x is folded: done in unsigned types
//    where it can wrap. Narrower types wrap by themselves.
//  - abs of f64 is x < 0 ? 0 - x : x, so that abs(-0) is -0: the comparison is turned round.
//  - abs of a signed type is unsigned, and undefined of the lowest wide one; x << n of signed types may be turned into
//  a multiplication that overflows.
//  - A cast of a float to an integer and then to a narrower one is merged into one, which does not wrap: the bits that
//    remain are masked in between. So is one of the same width (https://github.com/halide/Halide/pull/9105): on
//    AVX-512 unsigned(int(-2.0f)) becomes a conversion that gives 2^32 - 1. Later versions make
//    such a cast of a reinterpretation, too; so a bit is flipped before the cast and after it.
//  - A division of floats by what turns out to be the constant 0, as a loop's variable in its first pass once the loop
//  is
//    unrolled, is refused: -0 is added to such divisors, as bits.
//  - A cast from bool can fail an internal assertion of the search for narrow multiplications: a select instead.
//  - exp, log, pow … of Halide are its own approximations, wrong for NaN and infinities: the C library's are called.
//  - Required regions are computed by interval arithmetic: an index it cannot bound as tightly as we do is given its
//    proven range (unsafe_promise_clamped), and one that depends on data is clamped. An index that is out of bounds,
//    which the interpreter reports, therefore reads the nearest element here.
// What its code generator gets wrong about loads and stores of vectors is with_workarounds after lowering:
// sound_accesses.h. Schedules still must not vectorize beyond an extent (test/backends/random_schedule.h says what was
// seen).
//
// Not worked around: of an index like i % n % 3, n being data and i < 3, Halide's simplifier drops what it proves to
// change nothing (the "% 3", and any clamp or promise in its place), and its bounds inference then takes i % n for
// anything below n. Such a kernel refuses to run with "is accessed at ..., which is beyond the max" where n is larger
// than the extent.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "expr/bounds.h"

namespace whittle::halide {

/// The name in the C library, with the suffix of the type: "expf", "exp".
inline std::string libm_name(expr::Op op, DType dtype) {
    return std::string(expr::info_of(op).function) + (dtype == DType::f32 ? "f" : "");
}

/// What the translator says to a sink. `E` is a Halide expression or a piece of text.
template <class E>
class Sink {
  public:
    virtual ~Sink() = default;
    virtual E variable(const std::string& name) = 0;
    virtual E literal(DType dtype, const Scalar& value) = 0;
    /// A constant, floating or i64, from its bits: Halide sees a reinterpretation, and no value.
    virtual E from_bits(DType dtype, std::uint64_t bits) = 0;
    /// cast to the type, or to the unsigned type of the same width.
    virtual E cast(DType dtype, bool as_unsigned, const E& a) = 0;
    /// The bits of a float as the integer type of the same width.
    virtual E signed_bits(DType dtype, const E& a) = 0;
    virtual E infix(expr::Op op, const E& a, const E& b) = 0;
    /// logical_not and bit_not.
    virtual E prefix(expr::Op op, const E& a) = 0;
    /// A function of Halide's.
    virtual E call(const std::string& function, const std::vector<E>& arguments) = 0;
    virtual E to_half(DType dtype, const E& a) = 0;
    /// The C library's function for elements of the type.
    virtual E libm(expr::Op op, DType dtype, const std::vector<E>& arguments) = 0;
    /// Element of an input or Func, indices outermost first.
    virtual E load(const std::string& name, const std::vector<E>& indices) = 0;
    /// Called once for each translated node: a chance to name it.
    virtual E share(const expr::Expr& node, E translated) = 0;
};

template <class E>
class Translator {
  public:
    /// Not careful: what NaN, -0 and overflow need is left out, for a kernel in which none of them occurs.
    /// Contracting: sums in the kernel are compiled under LLVM's "no NaNs" flag, so a comparison of a number with
    /// itself may be folded; NaN is told by its bits.
    Translator(Sink<E>& sink, const expr::Group& group, const std::vector<expr::LoopVar>& loops, bool careful = true,
               bool contracting = false)
        : sink_(sink), group_(group), bounds_(loops), careful_(careful), contracting_(contracting) {}

    E operator()(const expr::Expr& root) {
        expr::visit(root, [&](const expr::Expr& e) {
            if (!done_.contains(e)) done_.emplace(e, sink_.share(e, translate(e)));
        });
        return done_.at(root);
    }

    /// An index into a dimension of `extent` elements, in a form that Halide can bound.
    E bounded(const expr::Expr& index, std::int64_t extent) {
        // Not simplified where the extent is 1: Halide wants a stage's own variables in the same places of all its
        // loads, and finds a reduction's domain by the variables that are there.
        if (index->op == Op::variable && bounds_.of(index).within(0, extent - 1)) return (*this)(index);
        const E plain = (*this)(index);
        const bool proven = bounds_.of(index).within(0, extent - 1);
        if (proven && (is_affine(index) || is_clamped(index))) return plain;
        return sink_.call(proven ? "unsafe_promise_clamped" : "clamp",
                          {plain, sink_.literal(DType::i32, 0), sink_.literal(DType::i32, extent - 1)});
    }

    /// The right-hand side of an update, `element` being its left-hand side.
    E updated(const expr::Update& update, const std::vector<expr::LoopVar>& reduction, const E& element) {
        E value = (*this)(update.value);
        if (update.condition) value = sink_.call("select", {(*this)(update.condition), value, element});
        // Halide takes the domain from the variables that it finds, and would run an update that uses none only once.
        if (reduction.empty() || uses(update, reduction)) return value;
        const E first = sink_.variable(reduction[0].name);
        return sink_.call("select",
                          {sink_.infix(Op::lt, first, sink_.literal(DType::i32, reduction[0].extent)), value, element});
    }

  private:
    using Op = expr::Op;

    /// max(min(i, c), d), min(max(i, d), c) or i mod c: bounded by constants that Halide sees as well.
    static bool is_clamped(const expr::Expr& e) {
        const auto by_constant = [](const expr::Expr& x, Op op) {
            return x->op == op && x->operands[1]->op == Op::constant;
        };
        return by_constant(e, Op::mod) || (by_constant(e, Op::max) && by_constant(e->operands[0], Op::min)) ||
               (by_constant(e, Op::min) && by_constant(e->operands[0], Op::max));
    }

    static bool uses(const expr::Update& update, const std::vector<expr::LoopVar>& loops) {
        bool found = false;
        const auto look = [&](const expr::Expr& root) {
            if (!root) return;
            expr::visit(root, [&](const expr::Expr& e) {
                for (const expr::LoopVar& v : loops) found = found || (e->op == Op::variable && e->name == v.name);
            });
        };
        look(update.value);
        look(update.condition);
        for (const expr::Expr& index : update.where) look(index);
        return found;
    }

    /// A sum of multiples of distinct variables: for these, interval arithmetic is exact.
    static bool is_affine(const expr::Expr& e) {
        std::set<std::string> seen;
        return is_affine(e, seen);
    }
    static bool is_affine(const expr::Expr& e, std::set<std::string>& seen) {
        if (e->op == Op::constant) return true;
        if (e->op == Op::variable) return seen.insert(e->name).second;
        if (e->op == Op::mul && e->operands[1]->op != Op::constant) return false;
        if (e->op != Op::add && e->op != Op::sub && e->op != Op::mul) return false;
        return is_affine(e->operands[0], seen) && is_affine(e->operands[1], seen);
    }

    E translate(const expr::Expr& e) {
        std::vector<E> in;
        for (const expr::Expr& operand : e->operands) in.push_back(done_.at(operand));
        switch (e->op) {
            case Op::constant:
                return constant(*e);
            case Op::variable:
                return sink_.variable(e->name);
            case Op::load:
                return load(e);
            case Op::cast:
                return cast(e, in[0]);
            case Op::logical_not:
            case Op::bit_not:
                return sink_.prefix(e->op, in[0]);
            case Op::is_nan:
                if (contracting_ && e->operands[0]->dtype == DType::f32)
                    return sink_.infix(Op::lt, sink_.literal(DType::i32, Scalar(std::int64_t{0x7f800000})),
                                       sink_.infix(Op::bit_and, sink_.signed_bits(DType::i32, in[0]),
                                                   sink_.literal(DType::i32, Scalar(std::int64_t{0x7fffffff}))));
                break;
            case Op::abs:
                if (e->dtype == DType::f64) return absolute(in[0]);
                if (is_floating(e->dtype)) return sink_.call("abs", in);
                if (careful_ && !is_unsigned(e->dtype) && size_of(e->dtype) >= 4) return wrapping_absolute(e, in);
                return sink_.cast(e->dtype, false, sink_.call("abs", in));
            case Op::le:
            case Op::eq:
            case Op::ne:
            case Op::lt:
                if (is_floating(e->operands[0]->dtype)) return compare(e->op, in[0], in[1]);
                return sink_.infix(e->op, in[0], in[1]);
            case Op::logical_and:
            case Op::logical_or:
                return sink_.infix(e->op, in[0], in[1]);
            default:
                break;
        }
        if (const std::string_view function = expr::info_of(e->op).halide; !function.empty())
            return sink_.call(std::string(function), in);
        return is_floating(e->dtype) ? real(e, in) : integer(e, in);
    }

    /// Of floats.
    E compare(Op op, const E& a, const E& b) {
        if (!careful_) return sink_.infix(op, a, b);
        const auto strict = [&](Op plain) { return sink_.call("strict_float", {sink_.infix(plain, a, b)}); };
        if (op == Op::ne) return sink_.prefix(Op::logical_not, strict(Op::eq));
        if (op == Op::le) return sink_.infix(Op::logical_or, strict(Op::lt), strict(Op::eq));
        return strict(op);
    }

    /// Of an f64.
    E absolute(const E& x) {
        const E zero = literal(DType::f64, 0);
        return sink_.call("select", {compare(Op::lt, zero, x), x, sink_.infix(Op::sub, zero, x)});
    }

    /// Of a wide signed integer; of the lowest one Halide 14's own is undefined, and LLVM makes 0 of it.
    E wrapping_absolute(const expr::Expr& e, const std::vector<E>& in) {
        const E zero = sink_.literal(size_of(e->dtype) == 4 ? DType::u32 : DType::u64, Scalar(0));
        const E negated = sink_.infix(Op::sub, zero, unsigned_operand(e, 0, in));
        return sink_.call(
            "select", {sink_.infix(Op::lt, in[0], literal(e->dtype, 0)), sink_.cast(e->dtype, false, negated), in[0]});
    }

    E constant(const expr::Node& node) {
        if (node.dtype == DType::i64 && misleads_alignment(node.number.to_integer()))
            return sink_.from_bits(node.dtype, static_cast<std::uint64_t>(node.number.to_integer()));
        // min(x, lowest) is folded, and its negation or product then refused as an overflow.
        if (node.dtype == DType::i32 && node.number.to_integer() == std::numeric_limits<std::int32_t>::min())
            return sink_.from_bits(node.dtype, std::uint64_t{1} << 31);
        const double value = is_floating(node.dtype) ? node.number.to_double() : 0;
        const bool negative_zero = value == 0 && std::signbit(value), special = std::isnan(value) || negative_zero;
        switch (node.dtype) {
            case DType::f64:
                if (special)
                    return sink_.from_bits(node.dtype, negative_zero ? std::uint64_t{1} << 63 : 0x7ff8000000000000u);
                break;
            case DType::f32:
                if (special) return sink_.from_bits(node.dtype, negative_zero ? 0x80000000u : 0x7fc00000u);
                break;
            case DType::f16:
            case DType::bf16:
                if (!special) return sink_.to_half(node.dtype, sink_.literal(DType::f32, node.number));
                return sink_.from_bits(node.dtype, negative_zero              ? 0x8000u
                                                   : node.dtype == DType::f16 ? 0x7e00u
                                                                              : 0x7fc0u);
            default:
                break;
        }
        return sink_.literal(node.dtype, node.number);
    }

    /// Where two integers of a select lie 2^63 apart or more, Halide 14 takes the select for the constant 1 in its
    /// analysis of multiples and drops a `% 3` or a rounding after it (https://github.com/halide/Halide/pull/8221).
    static bool misleads_alignment(std::int64_t value) {
        constexpr std::int64_t half = std::int64_t{1} << 62;
        return value <= -half || half <= value;
    }

    E load(const expr::Expr& e) {
        const expr::Input* input = group_.input(e->name);
        const Sizes sizes = input ? input->sizes : group_.stage(e->name)->sizes();
        std::vector<E> indices;
        for (std::size_t d = 0; d < sizes.size(); ++d) indices.push_back(bounded(e->operands[d], sizes[d]));
        return sink_.load(e->name, indices);
    }

    E cast(const expr::Expr& e, const E& in) {
        const DType from = e->operands[0]->dtype;
        if (e->dtype == DType::boolean) {
            if (is_floating(from)) return compare(Op::ne, in, sink_.literal(from, Scalar(0.0)));
            return sink_.infix(Op::ne, in, sink_.literal(from, Scalar(0)));
        }
        if (is_reduced(e->dtype)) return sink_.to_half(e->dtype, in);
        if (from == DType::boolean) return sink_.call("select", {in, literal(e->dtype, 1), literal(e->dtype, 0)});
        const bool widens = size_of(from) < size_of(e->dtype);  // no bits to mask
        if (is_integer(from) && is_integer(e->dtype) && !widens && bounds_.may_wrap(e) &&
            comes_from_float(e->operands[0])) {
            if (size_of(from) == size_of(e->dtype))
                return is_unsigned(e->dtype) ? unsigned_bits(from, in) : sink_.cast(e->dtype, false, in);
            const std::int64_t mask = (std::int64_t{1} << (size_of(e->dtype) * 8)) - 1;
            return sink_.cast(e->dtype, false, sink_.infix(Op::bit_and, in, sink_.literal(from, Scalar(mask))));
        }
        return sink_.cast(e->dtype, false, in);
    }

    /// Whether a float is converted to an integer in it.
    static bool comes_from_float(const expr::Expr& root) {
        bool found = false;
        expr::visit(root, [&](const expr::Expr& e) {
            found = found || (e->op == Op::cast && is_integer(e->dtype) && is_floating(e->operands[0]->dtype));
        });
        return found;
    }

    E literal(DType dtype, int value) {
        return sink_.literal(dtype, is_floating(dtype) ? Scalar(static_cast<double>(value)) : Scalar(value));
    }

    E real(const expr::Expr& e, const std::vector<E>& in) {
        if (e->op == Op::div && careful_ && may_become_zero(e->operands[1]))
            return sink_.infix(e->op, in[0], sink_.infix(Op::add, in[1], negative_zero(e->dtype)));
        if (expr::info_of(e->op).function.empty()) return sink_.infix(e->op, in[0], in[1]);
        // LLVM makes of the library's pow(x, -1) a reciprocal that is wrong for infinities; this one is not.
        if (e->op == Op::pow && e->operands[1]->op == Op::constant && e->operands[1]->number.to_double() == -1)
            return sink_.infix(Op::div, sink_.literal(e->dtype, Scalar(1.0)), in[0]);
        return sink_.libm(e->op, e->dtype, in);
    }

    /// Whether Halide may find that the float is the constant 0: it depends on no data.
    bool may_become_zero(const expr::Expr& root) {
        if (root->op == Op::constant) return root->number.to_double() == 0;
        if (root->op == Op::cast && is_integer(root->operands[0]->dtype)) {
            constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
            if (bounds_.of(root->operands[0]).within(1, most)) return false;
        }
        bool depends = false;
        expr::visit(root, [&](const expr::Expr& e) { depends = depends || e->op == Op::load; });
        return !depends;
    }

    E negative_zero(DType dtype) {
        return sink_.from_bits(dtype, dtype == DType::f64 ? std::uint64_t{1} << 63 : 0x80000000u);
    }

    E integer(const expr::Expr& e, const std::vector<E>& in) {
        const bool is_signed = !is_unsigned(e->dtype);
        const bool wide = size_of(e->dtype) >= 4;
        const bool arithmetic = e->op == Op::add || e->op == Op::sub || e->op == Op::mul;
        if (careful_ && is_signed && ((arithmetic && wide && bounds_.may_wrap(e)) || e->op == Op::shl)) {
            const E a = unsigned_operand(e, 0, in), b = unsigned_operand(e, 1, in);
            return sink_.cast(e->dtype, false, sink_.infix(e->op, a, b));
        }
        return sink_.infix(e->op, in[0], in[1]);
    }

    E unsigned_operand(const expr::Expr& e, std::size_t i, const std::vector<E>& in) {
        return comes_from_float(e->operands[i]) ? unsigned_bits(e->dtype, in[i]) : sink_.cast(e->dtype, true, in[i]);
    }

    /// The bits of a signed integer of this type as the unsigned type of the same width.
    E unsigned_bits(DType dtype, const E& a) {
        const DType of_width[] = {DType::u8, DType::u16, DType::u32, DType::u64};
        const DType as = of_width[std::countr_zero(size_of(dtype))];
        const E flipped = sink_.infix(Op::bit_xor, a, literal(dtype, 1));
        return sink_.infix(Op::bit_xor, sink_.cast(dtype, true, flipped), literal(as, 1));
    }

    Sink<E>& sink_;
    const expr::Group& group_;
    expr::Bounds bounds_;
    const bool careful_, contracting_;
    expr::ExprMap<E> done_;
};

}  // namespace whittle::halide

// OpDef: everything about one op, in one place, but the samples that tests try (lib/ops/samples). Families
// (pointwise.cpp, reduction.cpp, …) are lists of these records.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "expr/builder.h"
#include "graph/graph.h"
#include "ops/core/arguments.h"
#include "ops/core/builder.h"
#include "ops/core/gradients.h"

namespace whittle {

/// A set of dtypes.
using DTypeSet = std::uint32_t;
constexpr DTypeSet set_of(DType dtype) { return DTypeSet{1} << static_cast<unsigned>(dtype); }
static_assert(std::size(kAllDTypes) < 32);
/// Those of the category that ops put to the use.
constexpr DTypeSet used_of(DTypeInfo::Category category, DTypeInfo::Use use = DTypeInfo::Use::computed) {
    DTypeSet set = 0;
    for (const DType dtype : kAllDTypes)
        if (info_of(dtype).use == use && info_of(dtype).category == category) set |= set_of(dtype);
    return set;
}
inline constexpr DTypeSet kFloating = used_of(DTypeInfo::Category::floating);
inline constexpr DTypeSet kIntegers = used_of(DTypeInfo::Category::integer);
inline constexpr DTypeSet kBool = used_of(DTypeInfo::Category::boolean);
/// u16, u32 and u64, which PyTorch and ONNX give to few ops: in none of the sets below but the last three.
inline constexpr DTypeSet kLimited = used_of(DTypeInfo::Category::integer, DTypeInfo::Use::limited);
/// In none of the sets below but the last two.
inline constexpr DTypeSet kComplex = used_of(DTypeInfo::Category::complex);
inline constexpr DTypeSet kNumbers = kFloating | kIntegers;
inline constexpr DTypeSet kAnyDType = kNumbers | kBool;
inline constexpr DTypeSet kOrdered = kAnyDType | kLimited;  ///< whose elements have an order
/// For ops that move elements.
inline constexpr DTypeSet kMoved = kOrdered | kComplex;
/// Every dtype, those too that are only kept: for ops that copy and convert.
inline constexpr DTypeSet kStored = (DTypeSet{1} << std::size(kAllDTypes)) - 1;

/// Of a contiguous result, of which a plan says the dtype and sizes.
ValueMeta result_meta(const auto& plan) { return ValueMeta::contiguous(plan.dtype, plan.sizes); }

using InferFn = std::vector<ValueMeta> (*)(const Arguments<ValueMeta>&);
using EvalFn = std::vector<Tensor> (*)(const Arguments<Tensor>&);
/// The call written in simpler ops.
using DecomposeFn = CallResults (*)(const Call&);
using LowerFn = std::vector<expr::Value> (*)(expr::GroupBuilder&, const Arguments<expr::Value>&);
/// Returns why the op's definition leaves the result open for these operands, or forbids them, as a sentence about
/// `op`, the call's target: "index 7 of onnx.Gather is out of range: expected -4 to 3". Nothing where it defines the
/// result: what IEEE 754 defines (1.0 / 0, the square root of -1) is defined.
using OpenFn = std::optional<std::string> (*)(std::string_view op, const Arguments<Tensor>&);

/// The largest number by which a call of the op divides, where all are powers of two; else 0.
using DivisorFn = std::int64_t (*)(const Arguments<Tensor>&);

/// Which calls of an op may have an open result. Its source is the text that `doc` names, unless the rule names
/// another.
struct OpenRule {
    OpenFn ask = nullptr;        ///< null: the definition covers every operand that infer accepts
    bool integers_only = false;  ///< only calls whose first result has an integer dtype
    bool if_different = false;   ///< only where results differ from the expected ones: most models have such calls
};

/// How far a correct implementation may round an op's results: what judge/interval.h makes of intervals of its
/// operands. An op without a rule is bounded through its parts or its decomposition; one that has none excuses nothing.
struct Bound {
    enum class Rule : std::uint8_t {
        none,
        exact,     ///< does not round, and no result falls where an operand rises: moves, maxima, sorted values
        sums,      ///< sums of products whose coefficients are not negative; a norm, which is one of magnitudes
        function,  ///< element by element; rounds by `ulps` of its result
        terms,     ///< as function, but by `ulps` of the largest result that other signs of its operands give: a
                   ///< result may be what is left of terms that cancel
        step,      ///< element by element, with jumps: comparisons, floor, remainders
        choice,    ///< as exact; integer results are positions along `dim`, which rounding may change
        quotient   ///< as function; by one ulp, to the nearest, where self is divided by powers of two
    };
    /// On which operands, exact themselves, every correct implementation gives the same exact results, in whatever
    /// order it computes. Results that their dtype does not have are never exact.
    enum class Exact : std::uint8_t {
        never,     ///< it may round inside, or it tells zeros by their signs: tanh, copysign
        always,    ///< it moves, selects or compares elements
        sums,      ///< it adds products, with an element of each operand at most: where all of their sums are numbers
        quotients  ///< where `other`, by which it divides, is of powers of two
    };
    Rule rule = Rule::none;
    std::uint8_t ulps = 0;        ///< distances to the next number of the result's dtype, measured, with a margin
    DecomposeFn parts = nullptr;  ///< the same in simpler ops, for the bound alone: in place of decompose
    Exact exact = Exact::never;
    DivisorFn divisor = nullptr;  ///< of exact sums that are then divided by a number of elements
    bool any_of_equal = false;    ///< of a choice: which of equal elements it finds is open, unless it is `stable`
};
inline constexpr Bound kBoundExact{.rule = Bound::Rule::exact, .exact = Bound::Exact::always},
    kBoundSums{.rule = Bound::Rule::sums, .exact = Bound::Exact::sums},
    kBoundStep{.rule = Bound::Rule::step, .exact = Bound::Exact::always},
    kBoundChoice{.rule = Bound::Rule::choice, .exact = Bound::Exact::always},
    kBoundAnyOfEqual{.rule = Bound::Rule::choice, .exact = Bound::Exact::always, .any_of_equal = true};
constexpr Bound rounds_by(std::uint8_t ulps, Bound::Rule rule = Bound::Rule::function) {
    const bool divides = rule == Bound::Rule::quotient || rule == Bound::Rule::step;
    return {.rule = rule,
            .ulps = ulps,
            .exact = ulps == 0 ? Bound::Exact::always
                     : divides ? Bound::Exact::quotients
                               : Bound::Exact::never};
}
constexpr Bound with_exact(Bound bound, Bound::Exact exact) {
    bound.exact = exact;
    return bound;
}
/// Of means, whose sums are divided.
constexpr Bound means_by(DivisorFn divisor) {
    Bound bound = kBoundSums;
    bound.divisor = divisor;
    return bound;
}

struct OpDef {
    /// One line, with the source of the definition; without it that is
    /// https://pytorch.org/docs/stable/generated/torch.NAME.html for ATen's NAME, Operators.md#NAME of the standard for
    /// ONNX's.
    std::string_view doc = {};
    /// "relu(Tensor self) -> Tensor", which names the op: aten.relu.default. It may stand for several overloads, see
    /// ops/core/schema_forms.h.
    std::string_view schema = {};
    DTypeSet dtypes = kAnyDType;  ///< of the main operand; infer throws Error for others
    InferFn infer = nullptr;  ///< metas of the results; throws Error for operands that do not fit. Composites may leave
                              ///< it out: it is inferred through decompose
    EvalFn eval = nullptr;    ///< reference kernel; optional for composites, where it is an independent cross-check
    DecomposeFn decompose = nullptr;  ///< composites: the same in simpler ops
    LowerFn lower =
        nullptr;  ///< primitives: as tensor expressions. An op with neither lower nor decompose is reported by name
    OpenRule open = {};           ///< operands for which the definition leaves the result open; see open.h
    GradientRule grad = nullptr;  ///< the vector-Jacobian product. Composites may leave it out: their parts are asked
    bool random = false;          ///< results are not a function of the arguments
    bool higher_order = false;    ///< its nested graphs were captured: no control flow of a model file that breaks
    Bound bound = {};             ///< how far its results may round
};

struct KernelFns {
    InferFn infer = nullptr;
    EvalFn eval = nullptr;
    LowerFn lower = nullptr;
};

/// An op that has kernels of its own. Without `lower` it is not lowered.
constexpr OpDef primitive(std::string_view schema, std::string_view doc, DTypeSet dtypes, const KernelFns& kernels,
                          GradientRule grad, const Bound& bound = {}, OpenRule open = {}) {
    return {.doc = doc,
            .schema = schema,
            .dtypes = dtypes,
            .infer = kernels.infer,
            .eval = kernels.eval,
            .lower = kernels.lower,
            .open = open,
            .grad = grad,
            .bound = bound};
}

/// An op that is written in simpler ones.
constexpr OpDef composite(std::string_view schema, std::string_view doc, DTypeSet dtypes, DecomposeFn decompose,
                          GradientRule grad = nullptr, OpenRule open = {}) {
    return {.doc = doc, .schema = schema, .dtypes = dtypes, .decompose = decompose, .open = open, .grad = grad};
}
constexpr OpDef composite(std::string_view schema, std::string_view doc, DTypeSet dtypes, DecomposeFn decompose,
                          OpenRule open) {
    return composite(schema, doc, dtypes, decompose, nullptr, open);
}

/// One with kernels, too, as an independent cross-check, or for what cannot be inferred through its parts.
constexpr OpDef composite(std::string_view schema, std::string_view doc, DTypeSet dtypes, DecomposeFn decompose,
                          const KernelFns& kernels, GradientRule grad = nullptr, OpenRule open = {}) {
    OpDef def = composite(schema, doc, dtypes, decompose, grad, open);
    def.infer = kernels.infer;
    def.eval = kernels.eval;
    return def;
}

/// The record with a rule for open results.
constexpr OpDef with_open(OpDef def, OpenRule open) {
    def.open = open;
    return def;
}

}  // namespace whittle

// ONNX's reductions: Reduce…, ArgMax, ArgMin.
#include <algorithm>

#include "ops/core/open_rules.h"
#include "ops/onnx/rewrite.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// Dimensions to reduce: all by default. An attribute, which became an operand at `operand_since`; with
/// noop_with_empty_axes and no axes there are none, and each element is reduced by itself: ReduceSumSquare squares it
/// (https://github.com/onnx/onnx/pull/7137).
Ints reduced_axes(const Call& c, const V& data, std::int64_t operand_since) {
    no_attribute(c, "axes", operand_since);
    const bool operand = opset(c) >= operand_since;
    Ints axes = operand ? known_ints_if(c, "axes_value").value_or(Ints()) : c.integers("axes");
    if (axes.empty() && operand && c.integer("noop_with_empty_axes") != 0) return {};
    return axes.empty() ? all_dims(data.rank()) : wrap_dims(axes, data.rank());
}

using Reduce = V (*)(const V& x, const Ints& axes, bool keep);

V sum_of(const V& x, const Ints& axes, bool keep) {
    if (axes.empty()) return x;
    // ATen sums narrow integers in i64; ONNX keeps the type.
    return cast(sum(x, axes, keep), x.dtype());
}

/// Integers: the exact sum divided towards zero.
V mean_of(const V& x, const Ints& axes, bool keep) {
    if (axes.empty()) return x;
    if (is_floating(x.dtype())) return mean(x, axes, keep);
    std::int64_t count = 1;
    for (const std::int64_t axis : axes) count *= size_of_dim(x, axis);
    const bool unsigned_sum = x.dtype() == DType::u64;  // may be beyond i64, in which others are summed
    const V total = unsigned_sum ? sum_of(x, axes, keep) : sum(x, axes, keep);
    return cast(div(total, count, "trunc"), x.dtype());
}

/// An extremum; of no elements, which ATen refuses, the value that every element would replace.
V extremum_of(Reduce extremum, const V& x, const Ints& axes, bool keep, const Scalar& of_nothing) {
    if (axes.empty()) return x;
    Sizes sizes;
    bool nothing = false;
    for (std::int64_t dim = 0; dim < x.rank(); ++dim) {
        const bool reduced = std::ranges::count(axes, dim) != 0;
        nothing |= reduced && size_of_dim(x, dim) == 0;
        if (!reduced || keep) sizes.push_back(reduced ? 1 : size_of_dim(x, dim));
    }
    return nothing ? full(*x.builder, sizes, of_nothing, x.dtype()) : extremum(x, axes, keep);
}

V max_of(const V& x, const Ints& axes, bool keep) { return extremum_of(amax, x, axes, keep, lowest(x.dtype())); }

V min_of(const V& x, const Ints& axes, bool keep) { return extremum_of(amin, x, axes, keep, greatest(x.dtype())); }

/// One dimension after another, the last first, so that positions stay.
V prod_of(const V& x, const Ints& axes, bool keep) {
    V result = x;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) result = cast(prod(result, *axis, keep), x.dtype());
    return result;
}

V l1_of(const V& x, const Ints& axes, bool keep) { return sum_of(abs(x), axes, keep); }

V sum_square_of(const V& x, const Ints& axes, bool keep) { return sum_of(x * x, axes, keep); }

V l2_of(const V& x, const Ints& axes, bool keep) { return cast(sqrt(sum_square_of(x, axes, keep)), x.dtype()); }

V log_sum_of(const V& x, const Ints& axes, bool keep) { return cast(log(sum_of(x, axes, keep)), x.dtype()); }

V log_sum_exp_of(const V& x, const Ints& axes, bool keep) {
    if (axes.empty()) return x;
    return cast(logsumexp(x, axes, keep), x.dtype());
}

template <Reduce F, std::int64_t OperandSince>
CallResults reduce(const Call& c) {
    const V data = c.tensor("data");
    return F(data, reduced_axes(c, data, OperandSince), c.integer("keepdims") != 0);
}

/// The position of the first extremum, or of the last.
template <V (*F)(const V&, std::optional<std::int64_t>, bool)>
CallResults arg_extremum(const Call& c) {
    const V data = c.tensor("data");
    const std::int64_t axis = wrap_dim(c.integer("axis"), data.rank());
    const bool keep = c.integer("keepdims") != 0;
    if (c.integer("select_last_index") == 0 || data.rank() == 0) return F(data, axis, keep);
    const V mirrored = F(flip(data, Ints{axis}), axis, keep);
    return rsub(mirrored, size_of_dim(data, axis) - 1);
}

/// Since opset 18: "Reduction over an empty set of values yields undefined"; earlier texts do not speak of it.
Reason open_mean(std::string_view op, const Arguments<Tensor>& a) {
    const Sizes sizes = a.tensor("data").sizes();
    const auto operand = a.optional_tensor("axes_value");
    Ints axes = operand ? operand->values<std::int64_t>() : a.integers("axes");
    if (axes.empty() && a.integer("noop_with_empty_axes") != 0) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(sizes.size());
    axes = axes.empty() ? all_dims(rank) : wrap_dims(axes, rank);
    bool averages_none = false;
    for (std::int64_t dim = 0; dim < rank; ++dim) {
        if (sizes[static_cast<std::size_t>(dim)] != 0) continue;
        if (std::ranges::count(axes, dim) == 0) return std::nullopt;  // there are no results
        averages_none = true;
    }
    return averages_none ? Reason(std::string(op) + " averages no elements") : std::nullopt;
}

/// The texts order numbers only, and compilers differ: onnx/onnx#4716, microsoft/onnxruntime#10514,
/// iree-org/iree#24503.
Reason open_extremum(std::string_view op, const Arguments<Tensor>& a) {
    return not_a_number(op, "data", a.tensor("data"));
}

/// The schema of a reduction, by its name: they differ in nothing else.
template <std::size_t N>
struct ReductionSchema {
    static constexpr std::string_view kRest =
        "(Tensor data, Tensor? axes_value=None, *, int[]? axes=None, int keepdims=1, int noop_with_empty_axes=0) "
        "-> Tensor";
    char text[N + kRest.size()] = {};

    constexpr ReductionSchema(const char (&name)[N]) { std::ranges::copy(kRest, std::copy_n(name, N - 1, text)); }
    constexpr operator std::string_view() const { return {text, N - 1 + kRest.size()}; }
};

template <ReductionSchema Schema, Reduce F, std::int64_t OperandSince = 18>
constexpr OpDef reduction(std::string_view doc, DTypeSet dtypes = kNumbers, OpenRule open = {}) {
    return composite(Schema, doc, dtypes, reduce<F, OperandSince>, open);
}

/// Also u32 and u64, but u16.
constexpr DTypeSet kSummed = kNumbers | set_of(DType::u32) | set_of(DType::u64);

constexpr OpDef kReduceOps[] = {
    reduction<"ReduceSum", sum_of, 13>("Sum over dimensions", kSummed),
    reduction<"ReduceMean", mean_of>("Mean over dimensions", kSummed, {.ask = open_mean}),
    reduction<"ReduceMax", max_of>("Largest over dimensions", kSummed | kBool,
                                   {.ask = open_extremum, .if_different = true}),
    reduction<"ReduceMin", min_of>("Smallest over dimensions", kSummed | kBool,
                                   {.ask = open_extremum, .if_different = true}),
    reduction<"ReduceProd", prod_of>("Product over dimensions", kSummed),
    reduction<"ReduceL1", l1_of>("Sum of magnitudes", kSummed),
    reduction<"ReduceL2", l2_of>("Euclidean norm"),
    reduction<"ReduceSumSquare", sum_square_of>("Sum of squares", kSummed),
    reduction<"ReduceLogSum", log_sum_of>("Logarithm of the sum"),
    reduction<"ReduceLogSumExp", log_sum_exp_of>("Logarithm of the sum of exponentials"),
    composite("ArgMax(Tensor data, *, int axis=0, int keepdims=1, int select_last_index=0) -> Tensor",
              "Position of the largest element", kNumbers | kLimited, arg_extremum<argmax>,
              {.ask = open_extremum, .if_different = true}),
    composite("ArgMin(Tensor data, *, int axis=0, int keepdims=1, int select_last_index=0) -> Tensor",
              "Position of the smallest element", kNumbers | kLimited, arg_extremum<argmin>,
              {.ask = open_extremum, .if_different = true}),
};

}  // namespace

std::span<const OpDef> onnx_reduce_ops() { return kReduceOps; }

}  // namespace whittle

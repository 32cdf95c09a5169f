// ONNX's reductions: Reduce…, ArgMax, ArgMin.
#include "ops/onnx/rewrite.h"
#include "tensor/limits.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// Dimensions to reduce: all by default. An attribute, which became an operand at `operand_since`; with
/// noop_with_empty_axes and no axes there are none, and each element is reduced by itself: ReduceSumSquare squares it
/// (https://github.com/onnx/onnx/pull/7137).
Ints reduced_axes(const Rewrite& op, const NodeValue& data, std::int64_t operand_since) {
    op.no_attribute("axes", operand_since);
    const Arguments<NodeValue>& arguments = op.arguments();
    const bool operand = op.opset() >= operand_since;
    Ints axes = operand ? op.known_ints_if("axes_value").value_or(Ints()) : arguments.integers("axes");
    if (axes.empty() && operand && op.integer("noop_with_empty_axes") != 0) return {};
    return axes.empty() ? all_dims(rank_of(data)) : wrap_dims(axes, rank_of(data));
}

using Reduce = NodeValue (*)(const Rewrite&, const NodeValue& x, const Ints& axes, bool keep);

NodeValue sum_of(const Rewrite& op, const NodeValue& x, const Ints& axes, bool keep) {
    if (axes.empty()) return x;
    // ATen sums narrow integers in i64; ONNX keeps the type.
    return op.cast(op("aten.sum.dim_IntList", x, axes, keep), x.meta.dtype);
}

/// Integers: the exact sum divided towards zero.
NodeValue mean_of(const Rewrite& op, const NodeValue& x, const Ints& axes, bool keep) {
    if (axes.empty()) return x;
    if (is_floating(x.meta.dtype)) return op("aten.mean.dim", x, axes, keep);
    std::int64_t count = 1;
    for (const std::int64_t axis : axes) count *= size_of_dim(x, axis);
    const bool unsigned_sum = x.meta.dtype == DType::u64;  // may be beyond i64, in which others are summed
    const NodeValue sum = unsigned_sum ? sum_of(op, x, axes, keep) : op("aten.sum.dim_IntList", x, axes, keep);
    const NodeValue mean =
        op.builder().call("aten.div.Tensor_mode", {arg(sum), Arg(count)}, {{"rounding_mode", "trunc"}});
    return op.cast(mean, x.meta.dtype);
}

/// An extremum; of no elements, which ATen refuses, the value that every element would replace.
NodeValue extremum_of(const Rewrite& op, std::string_view target, const NodeValue& x, const Ints& axes, bool keep,
                      const Scalar& of_nothing) {
    if (axes.empty()) return x;
    Sizes sizes;
    bool nothing = false;
    for (std::int64_t dim = 0; dim < rank_of(x); ++dim) {
        const bool reduced = std::ranges::count(axes, dim) != 0;
        nothing |= reduced && size_of_dim(x, dim) == 0;
        if (!reduced || keep) sizes.push_back(reduced ? 1 : size_of_dim(x, dim));
    }
    return nothing ? op.full(sizes, of_nothing, x.meta.dtype) : op(target, x, axes, keep);
}

NodeValue max_of(const Rewrite& op, const NodeValue& x, const Ints& axes, bool keep) {
    return extremum_of(op, "aten.amax.default", x, axes, keep, lowest(x.meta.dtype));
}

NodeValue min_of(const Rewrite& op, const NodeValue& x, const Ints& axes, bool keep) {
    return extremum_of(op, "aten.amin.default", x, axes, keep, greatest(x.meta.dtype));
}

/// One dimension after another, the last first, so that positions stay.
NodeValue prod_of(const Rewrite& op, const NodeValue& x, const Ints& axes, bool keep) {
    NodeValue result = x;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis)
        result = op.cast(op("aten.prod.dim_int", result, *axis, keep), x.meta.dtype);
    return result;
}

NodeValue l1_of(const Rewrite& op, const NodeValue& x, const Ints& axes, bool keep) {
    return sum_of(op, op("aten.abs.default", x), axes, keep);
}

NodeValue sum_square_of(const Rewrite& op, const NodeValue& x, const Ints& axes, bool keep) {
    return sum_of(op, op("aten.mul.Tensor", x, x), axes, keep);
}

NodeValue l2_of(const Rewrite& op, const NodeValue& x, const Ints& axes, bool keep) {
    return op.cast(op("aten.sqrt.default", sum_square_of(op, x, axes, keep)), x.meta.dtype);
}

NodeValue log_sum_of(const Rewrite& op, const NodeValue& x, const Ints& axes, bool keep) {
    return op.cast(op("aten.log.default", sum_of(op, x, axes, keep)), x.meta.dtype);
}

NodeValue log_sum_exp_of(const Rewrite& op, const NodeValue& x, const Ints& axes, bool keep) {
    if (axes.empty()) return x;
    return op.cast(op("aten.logsumexp.default", x, axes, keep), x.meta.dtype);
}

template <Reduce F, std::int64_t OperandSince>
Results reduce(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data");
    return {F(op, data, reduced_axes(op, data, OperandSince), op.integer("keepdims") != 0).ref};
}

/// The position of the first extremum, or of the last.
template <Name Target>
Results arg_extremum(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data");
    const std::int64_t axis = wrap_dim(op.integer("axis"), rank_of(data));
    const bool keep = op.integer("keepdims") != 0;
    if (op.integer("select_last_index") == 0 || rank_of(data) == 0) return {op(Target, data, axis, keep).ref};
    const NodeValue mirrored = op(Target, op("aten.flip.default", data, Ints{axis}), axis, keep);
    return {op("aten.rsub.Scalar", mirrored, size_of_dim(data, axis) - 1).ref};
}

template <Reduce F>
constexpr OpDef reduction(std::string_view name, std::string_view doc, std::string_view schema,
                          DTypeSet dtypes = kNumbers) {
    return {.name = name, .doc = doc, .schema = schema, .dtypes = dtypes, .decompose = reduce<F, 18>};
}

/// Also u32 and u64, but u16.
constexpr DTypeSet kSummed = kNumbers | set_of(DType::u32) | set_of(DType::u64);

constexpr OpDef kReduceOps[] = {
    {.name = "onnx.ReduceSum",
     .doc = "Sum over dimensions. onnx Operators.md#ReduceSum",
     .schema = "ReduceSum(Tensor data, Tensor? axes_value=None, *, int[]? axes=None, int keepdims=1, "
               "int noop_with_empty_axes=0) -> Tensor",
     .dtypes = kSummed,
     .decompose = reduce<sum_of, 13>},
    reduction<mean_of>("onnx.ReduceMean", "Mean over dimensions. onnx Operators.md#ReduceMean",
                       "ReduceMean(Tensor data, Tensor? axes_value=None, *, int[]? axes=None, int keepdims=1, "
                       "int noop_with_empty_axes=0) -> Tensor",
                       kSummed),
    reduction<max_of>("onnx.ReduceMax", "Largest over dimensions. onnx Operators.md#ReduceMax",
                      "ReduceMax(Tensor data, Tensor? axes_value=None, *, int[]? axes=None, int keepdims=1, "
                      "int noop_with_empty_axes=0) -> Tensor",
                      kSummed | kBool),
    reduction<min_of>("onnx.ReduceMin", "Smallest over dimensions. onnx Operators.md#ReduceMin",
                      "ReduceMin(Tensor data, Tensor? axes_value=None, *, int[]? axes=None, int keepdims=1, "
                      "int noop_with_empty_axes=0) -> Tensor",
                      kSummed | kBool),
    reduction<prod_of>("onnx.ReduceProd", "Product over dimensions. onnx Operators.md#ReduceProd",
                       "ReduceProd(Tensor data, Tensor? axes_value=None, *, int[]? axes=None, int keepdims=1, "
                       "int noop_with_empty_axes=0) -> Tensor",
                       kSummed),
    reduction<l1_of>("onnx.ReduceL1", "Sum of magnitudes. onnx Operators.md#ReduceL1",
                     "ReduceL1(Tensor data, Tensor? axes_value=None, *, int[]? axes=None, int keepdims=1, "
                     "int noop_with_empty_axes=0) -> Tensor",
                     kSummed),
    reduction<l2_of>("onnx.ReduceL2", "Euclidean norm. onnx Operators.md#ReduceL2",
                     "ReduceL2(Tensor data, Tensor? axes_value=None, *, int[]? axes=None, int keepdims=1, "
                     "int noop_with_empty_axes=0) -> Tensor"),
    reduction<sum_square_of>(
        "onnx.ReduceSumSquare", "Sum of squares. onnx Operators.md#ReduceSumSquare",
        "ReduceSumSquare(Tensor data, Tensor? axes_value=None, *, int[]? axes=None, int keepdims=1, "
        "int noop_with_empty_axes=0) -> Tensor",
        kSummed),
    reduction<log_sum_of>("onnx.ReduceLogSum", "Logarithm of the sum. onnx Operators.md#ReduceLogSum",
                          "ReduceLogSum(Tensor data, Tensor? axes_value=None, *, int[]? axes=None, int keepdims=1, "
                          "int noop_with_empty_axes=0) -> Tensor"),
    reduction<log_sum_exp_of>(
        "onnx.ReduceLogSumExp", "Logarithm of the sum of exponentials. onnx Operators.md#ReduceLogSumExp",
        "ReduceLogSumExp(Tensor data, Tensor? axes_value=None, *, int[]? axes=None, int keepdims=1, "
        "int noop_with_empty_axes=0) -> Tensor"),
    {.name = "onnx.ArgMax",
     .doc = "Position of the largest element. onnx Operators.md#ArgMax",
     .schema = "ArgMax(Tensor data, *, int axis=0, int keepdims=1, int select_last_index=0) -> Tensor",
     .dtypes = kNumbers | kLimited,
     .decompose = arg_extremum<"aten.argmax.default">},
    {.name = "onnx.ArgMin",
     .doc = "Position of the smallest element. onnx Operators.md#ArgMin",
     .schema = "ArgMin(Tensor data, *, int axis=0, int keepdims=1, int select_last_index=0) -> Tensor",
     .dtypes = kNumbers | kLimited,
     .decompose = arg_extremum<"aten.argmin.default">},
};

}  // namespace

std::span<const OpDef> onnx_reduce_ops() { return kReduceOps; }

}  // namespace whittle

// ONNX's functions along one dimension: Softmax, LogSoftmax, Hardmax, CumSum, TopK.
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// Until opset 12 these functions see a matrix: dimensions before the axis, and the rest as one. Since 13 they run
/// along the axis alone. `f(x, dim)` is the function along one dimension.
template <class F>
NodeValue apply_along_axis(const Rewrite& op, const F& f) {
    const NodeValue x = op.tensor("input");
    const std::int64_t rank = rank_of(x);
    const std::int64_t axis =
        wrap_dim(op.arguments().optional_integer("axis").value_or(op.opset() < 13 ? 1 : -1), rank);
    if (op.opset() >= 13 || axis == rank - 1) return f(x, axis);
    const Sizes& sizes = x.meta.sizes;
    const Sizes matrix = {element_count(Sizes(sizes.begin(), sizes.begin() + axis)),
                          element_count(Sizes(sizes.begin() + axis, sizes.end()))};
    return op.reshape(f(op.reshape(x, matrix), std::int64_t{1}), sizes);
}

template <Name Target>
Results softmax(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {apply_along_axis(op, [&](const NodeValue& x, std::int64_t dim) { return op(Target, x, dim, false); }).ref};
}

/// One at the first largest element, else zero.
Results hardmax(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {apply_along_axis(op, [&](const NodeValue& x, std::int64_t dim) {
                Sizes along(x.meta.sizes.size(), 1);
                along[static_cast<std::size_t>(dim)] = size_of_dim(x, dim);
                const NodeValue counted = builder.call(
                    "aten.arange.start_step", {Arg(0), Arg(size_of_dim(x, dim)), Arg(1)}, {{"dtype", Arg(DType::i64)}});
                const NodeValue first = op("aten.argmax.default", x, dim, true);
                return op.cast(op("aten.eq.Tensor", op.reshape(counted, along), first), x.meta.dtype);
            }).ref};
}

/// Sums of the elements up to each one, or before it; from the other end when reversed.
Results cumsum(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("x");
    const std::int64_t dim = wrap_dim(op.known("axis").item().to_integer(), rank_of(x));
    const bool reverse = op.integer("reverse") != 0;
    const NodeValue from = reverse ? op("aten.flip.default", x, Ints{dim}) : x;
    NodeValue sums = op.cast(op("aten.cumsum.default", from, dim), x.meta.dtype);
    if (op.integer("exclusive") != 0 && rank_of(x) > 0) {  // a zero first, and the last sum dropped
        Ints pads(static_cast<std::size_t>(2 * rank_of(x)), 0);
        pads[static_cast<std::size_t>(2 * (rank_of(x) - 1 - dim))] = 1;
        pads[static_cast<std::size_t>(2 * (rank_of(x) - 1 - dim) + 1)] = -1;
        sums = op("aten.constant_pad_nd.default", sums, pads, 0.0);
    }
    return {(reverse ? op("aten.flip.default", sums, Ints{dim}) : sums).ref};
}

/// The k largest or smallest elements and their positions; equal elements in order of position. k was an attribute
/// before opset 10.
Results topk(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    op.no_attribute("k", 10);
    const NodeValue x = op.tensor("X");
    const std::int64_t dim = wrap_dim(op.integer("axis"), rank_of(x)), size = size_of_dim(x, dim);
    const std::int64_t k =
        op.opset() < 10 ? arguments.optional_integer("k").value_or(-1) : op.known("K").item().to_integer();
    if (k < 0 || k > size) throw Error("found k=" + std::to_string(k) + ", expected 0 to " + std::to_string(size));
    const bool largest = op.integer("largest") != 0;
    const std::vector<NodeValue> sorted =
        builder.call_multi("aten.sort.stable", {arg(x)}, {{"stable", true}, {"dim", dim}, {"descending", largest}});
    return {op.slice(sorted[0], dim, 0, k).ref, op.slice(sorted[1], dim, 0, k).ref};
}

constexpr DTypeSet kScanned =
    kFloating | set_of(DType::i32) | set_of(DType::i64) | set_of(DType::u32) | set_of(DType::u64);

constexpr OpDef kSoftmaxOps[] = {
    {.name = "onnx.Softmax",
     .doc = "Exponentials normalized to sum 1. onnx Operators.md#Softmax, Changelog.md#Softmax-11",
     .schema = "Softmax(Tensor input, *, int? axis=None) -> Tensor",
     .dtypes = kFloating,
     .decompose = softmax<"aten._softmax.default">},
    {.name = "onnx.LogSoftmax",
     .doc = "Logarithm of Softmax. onnx Operators.md#LogSoftmax, Changelog.md#LogSoftmax-11",
     .schema = "LogSoftmax(Tensor input, *, int? axis=None) -> Tensor",
     .dtypes = kFloating,
     .decompose = softmax<"aten._log_softmax.default">},
    {.name = "onnx.Hardmax",
     .doc = "One at the first largest element. onnx Operators.md#Hardmax, Changelog.md#Hardmax-11",
     .schema = "Hardmax(Tensor input, *, int? axis=None) -> Tensor",
     .dtypes = kFloating,
     .decompose = hardmax},
    {.name = "onnx.CumSum",
     .doc = "Running sums. onnx Operators.md#CumSum",
     .schema = "CumSum(Tensor x, Tensor axis, *, int exclusive=0, int reverse=0) -> Tensor",
     .dtypes = kScanned,
     .decompose = cumsum},
    {.name = "onnx.TopK",
     .doc = "The k largest or smallest elements and their positions. onnx Operators.md#TopK",
     .schema = "TopK(Tensor X, Tensor? K=None, *, int axis=-1, int? k=None, int largest=1, int sorted=1) "
               "-> (Tensor, Tensor)",
     .dtypes = kNumbers | kLimited,
     .decompose = topk},
};

}  // namespace

std::span<const OpDef> onnx_softmax_ops() { return kSoftmaxOps; }

}  // namespace whittle

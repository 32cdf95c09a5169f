// ONNX's tensors out of little: ConstantOfShape, Range, EyeLike, OneHot, Trilu.
#include <cmath>

#include "ops/core/integer.h"
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

Results constant_of_shape(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const Ints sizes = op.known_ints("input");
    const Tensor value = op.has("value") ? op.known("value") : Tensor(DType::f32, {1});
    if (value.numel() != 1)
        throw Error("found 'value' with " + std::to_string(value.numel()) + " elements, expected one element");
    element_count(sizes);
    return {op.full(sizes, value.item(), value.dtype()).ref};
}

/// start, start + delta … before limit, each start + i * delta.
Results range(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const Tensor start = op.known("start"), limit = op.known("limit"), delta = op.known("delta");
    if (delta.item().to_double() == 0) throw Error("found delta=0, expected a nonzero delta");
    const double exact = (limit.item().to_double() - start.item().to_double()) / delta.item().to_double();
    if (!(exact < 1e15))
        throw Error("found a range of " + std::to_string(exact) + " elements, expected fewer than 10^15");
    const auto count = whole_number(std::max(std::ceil(exact), 0.0), "a range");
    const DType dtype = start.dtype();
    const NodeValue index =
        builder.call("aten.arange.start_step", {Arg(0), Arg(count), Arg(1)}, {{"dtype", Arg(dtype)}});
    return {op("aten.add.Tensor", op("aten.mul.Tensor", index, Arg(delta.item())), Arg(start.item())).ref};
}

/// Ones where column - row = k.
Results eye_like(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue input = op.tensor("input");
    if (rank_of(input) != 2)
        throw Error("found an input with " + std::to_string(rank_of(input)) + " dimensions, expected 2");
    const DType dtype = op.has("dtype") ? dtype_of_code(op.integer("dtype")) : input.meta.dtype;
    const auto counted = [&](std::int64_t size, std::int64_t first) {
        return builder.call("aten.arange.start_step", {Arg(first), Arg(first + size), Arg(1)},
                            {{"dtype", Arg(DType::i64)}});
    };
    const std::int64_t rows = size_of_dim(input, 0), columns = size_of_dim(input, 1);
    const std::int64_t k = std::clamp<std::int64_t>(op.integer("k"), -rows - 1, columns + 1);
    const NodeValue row = op.reshape(counted(rows, k), {rows, 1});
    return {op.cast(op("aten.eq.Tensor", row, counted(columns, 0)), dtype).ref};
}

/// A new dimension of `depth`: the second of `values` where it counts to the index, else the first. Negative indices
/// count from the end; those out of range have no second value.
Results one_hot(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue indices = op.tensor("indices"), values = op.tensor("values");
    const Tensor depth_value = op.known("depth");
    const std::int64_t depth = depth_value.item().to_integer();
    if (depth < 0) throw Error("found depth=" + std::to_string(depth) + ", expected at least 0");
    if (values.meta.sizes != Sizes{2})
        throw Error("found values of sizes " + to_string(values.meta.sizes) +
                    ", expected 2 elements: the off value and the on value");
    const std::int64_t rank = rank_of(indices), axis = wrap_dim(op.integer("axis"), rank + 1);
    const NodeValue whole = op.cast(indices, DType::i64);
    const NodeValue wrapped =
        op("aten.where.self", op("aten.lt.Scalar", whole, 0), op("aten.add.Tensor", whole, depth), whole);
    Sizes spread = indices.meta.sizes, along(static_cast<std::size_t>(rank + 1), 1);
    spread.insert(spread.begin() + axis, 1);
    along[static_cast<std::size_t>(axis)] = depth;
    const NodeValue counted =
        builder.call("aten.arange.start_step", {Arg(0), Arg(depth), Arg(1)}, {{"dtype", Arg(DType::i64)}});
    const NodeValue hot = op("aten.eq.Tensor", op.reshape(wrapped, spread), op.reshape(counted, along));
    return {op("aten.where.self", hot, op("aten.select.int", values, 0, 1), op("aten.select.int", values, 0, 0)).ref};
}

Results trilu(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const std::int64_t k = op.has("k") ? op.known("k").item().to_integer() : 0;
    return {op(op.integer("upper") != 0 ? "aten.triu.default" : "aten.tril.default", op.tensor("input"), k).ref};
}

constexpr DTypeSet kRanges =
    set_of(DType::f32) | set_of(DType::f64) | set_of(DType::i16) | set_of(DType::i32) | set_of(DType::i64);

constexpr OpDef kCreateOps[] = {
    {.name = "onnx.ConstantOfShape",
     .doc = "One value everywhere. onnx Operators.md#ConstantOfShape",
     .schema = "ConstantOfShape(Tensor input, *, Tensor? value=None) -> Tensor",
     .dtypes = set_of(DType::i64),
     .decompose = constant_of_shape},
    {.name = "onnx.Range",
     .doc = "Numbers in equal steps. onnx Operators.md#Range",
     .schema = "Range(Tensor start, Tensor limit, Tensor delta) -> Tensor",
     .dtypes = kRanges,
     .decompose = range},
    {.name = "onnx.EyeLike",
     .doc = "Ones on one diagonal. onnx Operators.md#EyeLike",
     .schema = "EyeLike(Tensor input, *, DataType? dtype=None, int k=0) -> Tensor",
     .decompose = eye_like},
    {.name = "onnx.OneHot",
     .doc = "One value at each index, another elsewhere. onnx Operators.md#OneHot",
     .schema = "OneHot(Tensor indices, Tensor depth, Tensor values, *, int axis=-1) -> Tensor",
     .dtypes = kNumbers,
     .decompose = one_hot},
    {.name = "onnx.Trilu",
     .doc = "Upper or lower triangle, else zero. onnx Operators.md#Trilu",
     .schema = "Trilu(Tensor input, Tensor? k=None, *, int upper=1) -> Tensor",
     .decompose = trilu},
};

}  // namespace

std::span<const OpDef> onnx_create_ops() { return kCreateOps; }

}  // namespace whittle

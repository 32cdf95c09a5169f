// ONNX's reads and writes at indices: Gather, GatherElements, GatherND, Scatter…, Compress, NonZero, ReverseSequence.
#include <algorithm>

#include "ops/core/data_sizes.h"
#include "ops/core/elements.h"
#include "ops/onnx/open_rules.h"
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// Indices as i64, negative ones counted from the end: of constants at once.
NodeValue wrapped(const Rewrite& op, const NodeValue& indices, std::int64_t size) {
    if (const std::optional<Tensor> known = op.builder().known(indices)) {
        Ints values = known->values<std::int64_t>();
        for (std::int64_t& value : values) value = value < 0 ? value + size : value;
        return op.constant(Tensor::of(values, indices.meta.sizes));
    }
    const NodeValue whole = op.cast(indices, DType::i64);
    return op("aten.where.self", op("aten.lt.Scalar", whole, 0), op("aten.add.Tensor", whole, size), whole);
}

/// data[…, indices, …]: the indices' dimensions in place of the axis.
Results gather(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data"), indices = op.tensor("indices");
    if (rank_of(data) == 0) throw Error("found a 0-d tensor as data, expected at least one dimension");
    const std::int64_t axis = wrap_dim(op.integer("axis"), rank_of(data));
    const NodeValue flat = op.reshape(wrapped(op, indices, size_of_dim(data, axis)), {indices.meta.numel()});
    Sizes sizes = data.meta.sizes;
    sizes.erase(sizes.begin() + axis);
    sizes.insert(sizes.begin() + axis, indices.meta.sizes.begin(), indices.meta.sizes.end());
    return {op.reshape(op("aten.index_select.default", data, axis, flat), sizes).ref};
}

Results gather_elements(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data");
    const std::int64_t axis = wrap_dim(op.integer("axis"), rank_of(data));
    return {op("aten.gather.default", data, axis, wrapped(op, op.tensor("indices"), size_of_dim(data, axis))).ref};
}

/// Tuples of indices into the dimensions `first` … of data, as positions in those dimensions flattened. The tuple is
/// the last dimension of `indices`.
NodeValue flat_positions(const Rewrite& op, const NodeValue& indices, const Sizes& sizes, std::int64_t first) {
    const Sizes tuples(indices.meta.sizes.begin(), indices.meta.sizes.end() - 1);
    const std::int64_t last = rank_of(indices) - 1, count = size_of_dim(indices, last);
    const auto size_at = [&](std::int64_t k) { return sizes[static_cast<std::size_t>(first + k)]; };
    if (const std::optional<Tensor> known = op.builder().known(indices)) {
        const Ints values = known->values<std::int64_t>();
        const std::string& name = op.arguments().schema().name;
        Ints positions(static_cast<std::size_t>(element_count(tuples)), 0);
        for (std::size_t i = 0; i < positions.size(); ++i)
            for (std::int64_t k = 0; k < count; ++k) {
                const std::int64_t index = values[i * static_cast<std::size_t>(count) + static_cast<std::size_t>(k)];
                positions[i] = positions[i] * size_at(k) + checked_index(index, size_at(k), true, name);
            }
        return op.constant(Tensor::of(positions, tuples));
    }
    if (count == 0) return op.full(tuples, Scalar(0), DType::i64);
    NodeValue position = wrapped(op, op("aten.select.int", indices, last, 0), size_at(0));
    for (std::int64_t k = 1; k < count; ++k) {
        const NodeValue index = wrapped(op, op("aten.select.int", indices, last, k), size_at(k));
        position = op("aten.add.Tensor", op("aten.mul.Tensor", position, size_at(k)), index);
    }
    return position;
}

/// Sizes first … first + count - 1 of data, for tuples of `count` indices.
void check_tuples(const NodeValue& data, const NodeValue& indices, std::int64_t first) {
    const std::int64_t rank = rank_of(data);
    if (rank_of(indices) <= first || size_of_dim(indices, rank_of(indices) - 1) > rank - first)
        throw Error("found indices of sizes " + to_string(indices.meta.sizes) + " for data of sizes " +
                    to_string(data.meta.sizes) + ", expected index tuples of at most " + std::to_string(rank - first) +
                    " elements in the last dimension");
}

/// Slices data[batch…, index tuple…]: the tuple's dimensions are flattened to one, and one index is selected in it.
Results gather_nd(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data"), indices = op.tensor("indices");
    const std::int64_t batch = op.integer("batch_dims");
    if (batch < 0 || batch >= std::max<std::int64_t>(rank_of(data), 1))
        throw Error("found batch_dims=" + std::to_string(batch) + ", expected 0 to " +
                    std::to_string(std::max<std::int64_t>(rank_of(data), 1) - 1));
    check_tuples(data, indices, batch);
    const Sizes &d = data.meta.sizes, &i = indices.meta.sizes;
    if (!std::equal(d.begin(), d.begin() + batch, i.begin()))
        throw Error("found data of sizes " + to_string(d) + " and indices of sizes " + to_string(i) +
                    ", expected equal sizes in the first batch_dims=" + std::to_string(batch) + " dimensions");
    const std::int64_t count = i.back();
    const std::int64_t batches = element_count(Sizes(d.begin(), d.begin() + batch));
    const std::int64_t inner = element_count(Sizes(d.begin() + batch, d.begin() + batch + count));
    const std::int64_t slice = element_count(Sizes(d.begin() + batch + count, d.end()));
    const std::int64_t reads = element_count(Sizes(i.begin() + batch, i.end() - 1));
    NodeValue position = op.reshape(flat_positions(op, indices, d, batch), {batches, reads});
    if (batch > 0) {
        const NodeValue start = builder.call("aten.arange.start_step", {Arg(0), Arg(batches * inner), Arg(inner)},
                                             {{"dtype", Arg(DType::i64)}});
        position = op("aten.add.Tensor", position, op.reshape(start, {batches, 1}));
    }
    const NodeValue rows = op("aten.index_select.default", op.reshape(data, {batches * inner, slice}), std::int64_t{0},
                              op.reshape(position, {batches * reads}));
    Sizes sizes(i.begin(), i.end() - 1);
    sizes.insert(sizes.end(), d.begin() + batch + count, d.end());
    return {op("aten.reshape.default", rows, sizes).ref};
}

/// aten.scatter with one of ONNX's reductions.
NodeValue scatter_along(const Rewrite& op, const NodeValue& data, std::int64_t axis, const NodeValue& indices,
                        const NodeValue& updates) {
    const std::string reduction = op.arguments().text("reduction");
    if (reduction == "none") return op("aten.scatter.src", data, axis, indices, updates);
    if (reduction == "add") return op("aten.scatter_add.default", data, axis, indices, updates);
    if (reduction == "mul") return op("aten.scatter_reduce.two", data, axis, indices, updates, "prod");
    if (op.opset() >= 18 && (reduction == "max" || reduction == "min"))
        return op("aten.scatter_reduce.two", data, axis, indices, updates, reduction == "max" ? "amax" : "amin");
    throw Error("found reduction '" + reduction + "', expected none, add, mul or, since opset 18, max or min");
}

Results scatter_elements(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data"), updates = op.tensor("updates"), indices = op.tensor("indices");
    const std::int64_t axis = wrap_dim(op.integer("axis"), rank_of(data));
    if (updates.meta.sizes != indices.meta.sizes)
        throw Error("found updates of sizes " + to_string(updates.meta.sizes) + ", expected " +
                    to_string(indices.meta.sizes) + ", the sizes of the indices");
    return {scatter_along(op, data, axis, wrapped(op, indices, size_of_dim(data, axis)), updates).ref};
}

/// Slices written at index tuples: rows of data with the tuple's dimensions flattened.
Results scatter_nd(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data"), indices = op.tensor("indices"), updates = op.tensor("updates");
    check_tuples(data, indices, 0);
    const Sizes &d = data.meta.sizes, &i = indices.meta.sizes;
    const std::int64_t count = i.back();
    Sizes expected(i.begin(), i.end() - 1);
    expected.insert(expected.end(), d.begin() + count, d.end());
    if (updates.meta.sizes != expected)
        throw Error("found updates of sizes " + to_string(updates.meta.sizes) + ", expected " + to_string(expected));
    const std::int64_t rows = element_count(Sizes(d.begin(), d.begin() + count));
    const std::int64_t slice = element_count(Sizes(d.begin() + count, d.end()));
    const std::int64_t writes = element_count(Sizes(i.begin(), i.end() - 1));
    const NodeValue position =
        op("aten.expand.default", op.reshape(flat_positions(op, indices, d, 0), {writes, 1}), Sizes{writes, slice});
    const NodeValue written =
        scatter_along(op, op.reshape(data, {rows, slice}), 0, position, op.reshape(updates, {writes, slice}));
    return {op("aten.reshape.default", written, d).ref};
}

/// Elements, or slices along the axis, where the condition holds: which must be known.
Results compress(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    NodeValue input = op.tensor("input");
    std::int64_t axis = 0;
    if (const auto given = arguments.optional_integer("axis"))
        axis = wrap_dim(*given, rank_of(input));
    else
        input = op.reshape(input, {input.meta.numel()});
    const std::vector<bool> condition = op.known("condition").values<bool>();
    if (static_cast<std::int64_t>(condition.size()) > size_of_dim(input, axis))
        throw Error("found a condition of " + std::to_string(condition.size()) + " elements, expected at most " +
                    std::to_string(size_of_dim(input, axis)));
    Ints kept;
    for (std::size_t i = 0; i < condition.size(); ++i)
        if (condition[i]) kept.push_back(static_cast<std::int64_t>(i));
    return {op("aten.index_select.default", input, axis, op.ints(kept)).ref};
}

/// Index tuples of nonzero elements, as columns: their number is data, so the input must be known.
Results nonzero(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const Tensor input = op.known("X");
    const std::vector<Ints> rows = nonzero_positions(input.rank() == 0 ? at_least_1d(input) : input);
    Ints all;
    for (const Ints& row : rows) all.insert(all.end(), row.begin(), row.end());
    const auto count = static_cast<std::int64_t>(rows.empty() ? 0 : rows[0].size());
    return {op.constant(Tensor::of(all, {static_cast<std::int64_t>(rows.size()), count})).ref};
}

/// Each batch's first sequence_lens[b] elements in reverse.
Results reverse_sequence(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue input = op.tensor("input"), lengths = op.tensor("sequence_lens");
    const std::int64_t batch_axis = op.integer("batch_axis"), time_axis = op.integer("time_axis");
    if (rank_of(input) < 2 || std::min(batch_axis, time_axis) != 0 || std::max(batch_axis, time_axis) != 1)
        throw Error("found batch_axis=" + std::to_string(batch_axis) + " and time_axis=" + std::to_string(time_axis) +
                    " for an input with " + std::to_string(rank_of(input)) +
                    " dimensions, expected axes 0 and 1 in either order, and at least two dimensions");
    const std::int64_t time = size_of_dim(input, time_axis), batch = size_of_dim(input, batch_axis);
    const Sizes over_time = time_axis == 0 ? Sizes{time, 1} : Sizes{1, time};
    const Sizes over_batch = time_axis == 0 ? Sizes{1, batch} : Sizes{batch, 1};
    const NodeValue step = op.reshape(
        builder.call("aten.arange.start_step", {Arg(0), Arg(time), Arg(1)}, {{"dtype", Arg(DType::i64)}}), over_time);
    const NodeValue length = op.reshape(op.cast(lengths, DType::i64), over_batch);
    const NodeValue mirrored = op("aten.sub.Tensor", op("aten.sub.Tensor", length, 1), step);
    NodeValue from = op("aten.where.self", op("aten.lt.Tensor", step, length), mirrored, step);
    Sizes spread = from.meta.sizes;
    spread.resize(input.meta.sizes.size(), 1);
    from = op("aten.expand.default", op.reshape(from, spread), input.meta.sizes);
    return {op("aten.gather.default", input, time_axis, from).ref};
}

constexpr OpDef kIndexOps[] = {
    {.name = "onnx.Gather",
     .doc = "Slices at indices along one dimension. onnx Operators.md#Gather",
     .schema = "Gather(Tensor data, Tensor indices, *, int axis=0) -> Tensor",
     .dtypes = kMoved,
     .decompose = gather,
     .open = {.ask = onnx_open::gathered}},
    {.name = "onnx.GatherElements",
     .doc = "Elements at indices along one dimension. onnx Operators.md#GatherElements",
     .schema = "GatherElements(Tensor data, Tensor indices, *, int axis=0) -> Tensor",
     .dtypes = kMoved,
     .decompose = gather_elements,
     .open = {.ask = onnx_open::gathered}},
    {.name = "onnx.GatherND",
     .doc = "Slices at tuples of indices. onnx Operators.md#GatherND",
     .schema = "GatherND(Tensor data, Tensor indices, *, int batch_dims=0) -> Tensor",
     .dtypes = kMoved,
     .decompose = gather_nd,
     .open = {.ask = onnx_open::gathered_tuples}},
    {.name = "onnx.Scatter",
     .doc = "ScatterElements before opset 11. onnx Changelog.md#Scatter-9",
     .schema = "Scatter(Tensor data, Tensor indices, Tensor updates, *, int axis=0, str reduction=\"none\") -> Tensor",
     .dtypes = kMoved,
     .decompose = scatter_elements,
     .open = {.ask = onnx_open::scattered}},
    {.name = "onnx.ScatterElements",
     .doc = "Writes elements at indices along one dimension. onnx Operators.md#ScatterElements",
     .schema = "ScatterElements(Tensor data, Tensor indices, Tensor updates, *, int axis=0, str reduction=\"none\") "
               "-> Tensor",
     .dtypes = kMoved,
     .decompose = scatter_elements,
     .open = {.ask = onnx_open::scattered}},
    {.name = "onnx.ScatterND",
     .doc = "Writes slices at tuples of indices. onnx Operators.md#ScatterND",
     .schema = "ScatterND(Tensor data, Tensor indices, Tensor updates, *, str reduction=\"none\") -> Tensor",
     .dtypes = kMoved,
     .decompose = scatter_nd,
     .open = {.ask = onnx_open::scattered_tuples}},
    {.name = "onnx.Compress",
     .doc = "Slices where a known condition holds. onnx Operators.md#Compress",
     .schema = "Compress(Tensor input, Tensor condition, *, int? axis=None) -> Tensor",
     .dtypes = kMoved,
     .decompose = compress},
    {.name = "onnx.NonZero",
     .doc = "Index tuples of nonzero elements of a known tensor. onnx Operators.md#NonZero",
     .schema = "NonZero(Tensor X) -> Tensor",
     .decompose = nonzero},
    {.name = "onnx.ReverseSequence",
     .doc = "The first elements of each batch in reverse. onnx Operators.md#ReverseSequence",
     .schema = "ReverseSequence(Tensor input, Tensor sequence_lens, *, int batch_axis=1, int time_axis=0) -> Tensor",
     .dtypes = kMoved,
     .decompose = reverse_sequence,
     .open = {.ask = onnx_open::reversed_lengths}},
};

}  // namespace

std::span<const OpDef> onnx_index_ops() { return kIndexOps; }

}  // namespace whittle

// ONNX's reads and writes at indices: Gather, GatherElements, GatherND, Scatter…, Compress, NonZero, ReverseSequence.
#include <algorithm>

#include "ops/core/data_sizes.h"
#include "ops/core/elements.h"
#include "ops/core/open_rules.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// Indices as i64, negative ones counted from the end: of constants at once.
V wrapped(const Call& c, const V& indices, std::int64_t size) {
    if (const std::optional<Tensor> known = c.builder().known(indices)) {
        Ints values = known->values<std::int64_t>();
        for (std::int64_t& value : values) value = value < 0 ? value + size : value;
        return c.constant(Tensor::of(values, indices.sizes()));
    }
    const V whole = cast(indices, DType::i64);
    return where(lt(whole, 0), whole + size, whole);
}

/// data[…, indices, …]: the indices' dimensions in place of the axis.
CallResults onnx_gather(const Call& c) {
    const V data = c.tensor("data"), indices = c.tensor("indices");
    if (data.rank() == 0) throw Error("found a 0-d tensor as data, expected at least one dimension");
    const std::int64_t axis = wrap_dim(c.integer("axis"), data.rank());
    const V flat = reshaped(wrapped(c, indices, size_of_dim(data, axis)), {indices.numel()});
    Sizes sizes = data.sizes();
    sizes.erase(sizes.begin() + axis);
    sizes.insert(sizes.begin() + axis, indices.sizes().begin(), indices.sizes().end());
    return reshaped(index_select(data, axis, flat), sizes);
}

CallResults gather_elements(const Call& c) {
    const V data = c.tensor("data");
    const std::int64_t axis = wrap_dim(c.integer("axis"), data.rank());
    return gather(data, axis, wrapped(c, c.tensor("indices"), size_of_dim(data, axis)));
}

/// Tuples of indices into the dimensions `first` … of data, as positions in those dimensions flattened. The tuple is
/// the last dimension of `indices`.
V flat_positions(const Call& c, const V& indices, const Sizes& sizes, std::int64_t first) {
    const Sizes tuples(indices.sizes().begin(), indices.sizes().end() - 1);
    const std::int64_t last = indices.rank() - 1, count = size_of_dim(indices, last);
    const auto size_at = [&](std::int64_t k) { return sizes[static_cast<std::size_t>(first + k)]; };
    if (const std::optional<Tensor> known = c.builder().known(indices)) {
        const Ints values = known->values<std::int64_t>();
        const std::string& name = c.schema().name;
        Ints positions(static_cast<std::size_t>(element_count(tuples)), 0);
        for (std::size_t i = 0; i < positions.size(); ++i)
            for (std::int64_t k = 0; k < count; ++k) {
                const std::int64_t index = values[i * static_cast<std::size_t>(count) + static_cast<std::size_t>(k)];
                positions[i] = positions[i] * size_at(k) + checked_index(index, size_at(k), true, name);
            }
        return c.constant(Tensor::of(positions, tuples));
    }
    if (count == 0) return full(c.builder(), tuples, 0, DType::i64);
    V position = wrapped(c, select(indices, last, 0), size_at(0));
    for (std::int64_t k = 1; k < count; ++k) {
        const V index = wrapped(c, select(indices, last, k), size_at(k));
        position = position * size_at(k) + index;
    }
    return position;
}

/// Sizes first … first + count - 1 of data, for tuples of `count` indices.
void check_tuples(const V& data, const V& indices, std::int64_t first) {
    const std::int64_t rank = data.rank();
    if (indices.rank() <= first || size_of_dim(indices, indices.rank() - 1) > rank - first)
        throw Error("found indices of sizes " + to_string(indices.sizes()) + " for data of sizes " +
                    to_string(data.sizes()) + ", expected indices of more than " + std::to_string(first) +
                    " dimensions, with a last size of at most " + std::to_string(rank - first));
}

/// Slices data[batch…, index tuple…]: the tuple's dimensions are flattened to one, and one index is selected in it.
CallResults gather_nd(const Call& c) {
    const V data = c.tensor("data"), indices = c.tensor("indices");
    const std::int64_t batch = c.integer("batch_dims");
    if (batch < 0 || batch >= std::max<std::int64_t>(data.rank(), 1))
        throw Error("found batch_dims=" + std::to_string(batch) + ", expected 0 to " +
                    std::to_string(std::max<std::int64_t>(data.rank(), 1) - 1));
    check_tuples(data, indices, batch);
    const Sizes &d = data.sizes(), &i = indices.sizes();
    if (!std::equal(d.begin(), d.begin() + batch, i.begin()))
        throw Error("found data of sizes " + to_string(d) + " and indices of sizes " + to_string(i) +
                    ", expected equal sizes in the first batch_dims=" + std::to_string(batch) + " dimensions");
    const std::int64_t count = i.back();
    const std::int64_t batches = element_count(Sizes(d.begin(), d.begin() + batch));
    const std::int64_t inner = element_count(Sizes(d.begin() + batch, d.begin() + batch + count));
    const std::int64_t slice = element_count(Sizes(d.begin() + batch + count, d.end()));
    const std::int64_t reads = element_count(Sizes(i.begin() + batch, i.end() - 1));
    V position = reshaped(flat_positions(c, indices, d, batch), {batches, reads});
    if (batch > 0) {
        const V start = arange(c.builder(), 0, batches * inner, inner, DType::i64);
        position = position + reshaped(start, {batches, 1});
    }
    const V rows = index_select(reshaped(data, {batches * inner, slice}), 0, reshaped(position, {batches * reads}));
    Sizes sizes(i.begin(), i.end() - 1);
    sizes.insert(sizes.end(), d.begin() + batch + count, d.end());
    return reshape(rows, sizes);
}

/// aten.scatter with one of ONNX's reductions.
V scatter_along(const Call& c, const V& data, std::int64_t axis, const V& indices, const V& updates) {
    const std::string reduction = c.text("reduction");
    if (reduction == "none") return scatter(data, axis, indices, updates);
    if (reduction == "add") return scatter_add(data, axis, indices, updates);
    if (reduction == "mul") return scatter_reduce(data, axis, indices, updates, "prod");
    if (opset(c) >= 18 && (reduction == "max" || reduction == "min"))
        return scatter_reduce(data, axis, indices, updates, reduction == "max" ? "amax" : "amin");
    throw Error("found reduction '" + reduction +
                "', expected 'none', 'add', 'mul' or, since opset 18, 'max' or 'min'");
}

CallResults scatter_elements(const Call& c) {
    const V data = c.tensor("data"), updates = c.tensor("updates"), indices = c.tensor("indices");
    const std::int64_t axis = wrap_dim(c.integer("axis"), data.rank());
    if (updates.sizes() != indices.sizes())
        throw Error("found updates of sizes " + to_string(updates.sizes()) + ", expected " +
                    to_string(indices.sizes()) + ", the sizes of the indices");
    return scatter_along(c, data, axis, wrapped(c, indices, size_of_dim(data, axis)), updates);
}

/// Slices written at index tuples: rows of data with the tuple's dimensions flattened.
CallResults scatter_nd(const Call& c) {
    const V data = c.tensor("data"), indices = c.tensor("indices"), updates = c.tensor("updates");
    check_tuples(data, indices, 0);
    const Sizes &d = data.sizes(), &i = indices.sizes();
    const std::int64_t count = i.back();
    Sizes expected(i.begin(), i.end() - 1);
    expected.insert(expected.end(), d.begin() + count, d.end());
    if (updates.sizes() != expected)
        throw Error("found updates of sizes " + to_string(updates.sizes()) + ", expected " + to_string(expected));
    const std::int64_t rows = element_count(Sizes(d.begin(), d.begin() + count));
    const std::int64_t slice = element_count(Sizes(d.begin() + count, d.end()));
    const std::int64_t writes = element_count(Sizes(i.begin(), i.end() - 1));
    const V position = expand(reshaped(flat_positions(c, indices, d, 0), {writes, 1}), Sizes{writes, slice});
    const V written = scatter_along(c, reshaped(data, {rows, slice}), 0, position, reshaped(updates, {writes, slice}));
    return reshape(written, d);
}

/// Elements, or slices along the axis, where the condition holds: which must be known.
CallResults compress(const Call& c) {
    V input = c.tensor("input");
    std::int64_t axis = 0;
    if (const auto given = c.optional_integer("axis"))
        axis = wrap_dim(*given, input.rank());
    else
        input = reshaped(input, {input.numel()});
    const std::vector<bool> condition = known_operand(c, "condition").values<bool>();
    if (static_cast<std::int64_t>(condition.size()) > size_of_dim(input, axis))
        throw Error("found a condition of " + std::to_string(condition.size()) + " elements, expected at most " +
                    std::to_string(size_of_dim(input, axis)));
    Ints kept;
    for (std::size_t i = 0; i < condition.size(); ++i)
        if (condition[i]) kept.push_back(static_cast<std::int64_t>(i));
    return index_select(input, axis, ints(c, kept));
}

/// Index tuples of nonzero elements, as columns: their number is data, so the input must be known.
CallResults onnx_nonzero(const Call& c) {
    const Tensor input = known_operand(c, "X");
    const std::vector<Ints> rows = nonzero_positions(input.rank() == 0 ? at_least_1d(input) : input);
    Ints all;
    for (const Ints& row : rows) all.insert(all.end(), row.begin(), row.end());
    const auto count = static_cast<std::int64_t>(rows.empty() ? 0 : rows[0].size());
    return c.constant(Tensor::of(all, {static_cast<std::int64_t>(rows.size()), count}));
}

/// Each batch's first sequence_lens[b] elements in reverse.
CallResults reverse_sequence(const Call& c) {
    const V input = c.tensor("input"), lengths = c.tensor("sequence_lens");
    const std::int64_t batch_axis = c.integer("batch_axis"), time_axis = c.integer("time_axis");
    if (input.rank() < 2 || std::min(batch_axis, time_axis) != 0 || std::max(batch_axis, time_axis) != 1)
        throw Error("found batch_axis=" + std::to_string(batch_axis) + " and time_axis=" + std::to_string(time_axis) +
                    " for an input with " + std::to_string(input.rank()) +
                    " dimensions, expected axes 0 and 1 in either order, and at least two dimensions");
    const std::int64_t time = size_of_dim(input, time_axis), batch = size_of_dim(input, batch_axis);
    const Sizes over_time = time_axis == 0 ? Sizes{time, 1} : Sizes{1, time};
    const Sizes over_batch = time_axis == 0 ? Sizes{1, batch} : Sizes{batch, 1};
    const V step = reshaped(arange(c.builder(), 0, time, 1, DType::i64), over_time);
    const V length = reshaped(cast(lengths, DType::i64), over_batch);
    const V mirrored = length - 1 - step;
    V from = where(lt(step, length), mirrored, step);
    Sizes spread = from.sizes();
    spread.resize(input.sizes().size(), 1);
    from = expand(reshaped(from, spread), input.sizes());
    return gather(input, time_axis, from);
}

/// Tuples of indices: the last dimension of `indices`.
struct Tuples {
    std::int64_t width = 0;
    Ints values;

    std::size_t count() const { return width == 0 ? 0 : values.size() / static_cast<std::size_t>(width); }
    std::int64_t at(std::size_t tuple, std::int64_t k) const {
        return values[tuple * static_cast<std::size_t>(width) + static_cast<std::size_t>(k)];
    }
};

Tuples tuples_of(const Tensor& indices) { return {extent(indices, -1), indices.values<std::int64_t>()}; }

/// Element k of each tuple is an index into dimension first + k of `data`.
Reason bad_tuple(std::string_view op, const Tensor& data, const Tuples& tuples, std::int64_t first) {
    for (std::size_t i = 0; i < tuples.count(); ++i)
        for (std::int64_t k = 0; k < tuples.width; ++k)
            if (const std::int64_t index = tuples.at(i, k), size = extent(data, first + k);
                index < -size || index >= size)
                return bad_index(op, Tensor::of({index}), size, true);
    return std::nullopt;
}

/// Of Gather and GatherElements: "It is an error if any of the index values are out of bounds".
Reason open_gathered(std::string_view op, const Arguments<Tensor>& a) {
    return bad_index(op, a.tensor("indices"), extent(a.tensor("data"), a.integer("axis")), true);
}

Reason open_gathered_tuples(std::string_view op, const Arguments<Tensor>& a) {
    return bad_tuple(op, a.tensor("data"), tuples_of(a.tensor("indices")), a.integer("batch_dims"));
}

/// Of ScatterElements and ScatterND, which also say: "indices should not have duplicate entries" without a reduction.
Reason open_scattered(std::string_view op, const Arguments<Tensor>& a) {
    if (Reason reason = open_gathered(op, a)) return reason;
    if (a.text("reduction") != "none") return std::nullopt;
    const Tensor data = a.tensor("data"), indices = a.tensor("indices");
    if (data.rank() != indices.rank()) return std::nullopt;  // the decomposition refuses it
    const std::int64_t axis = wrap_dim(a.integer("axis"), data.rank()), size = extent(data, axis);
    const Ints values = indices.values<std::int64_t>();
    const Strides strides = contiguous_strides(data.sizes());
    Ints places;
    for_each_index(indices.sizes(), [&](std::vector<std::int64_t> i) {
        const std::int64_t index = values[places.size()];
        i[static_cast<std::size_t>(axis)] = index < 0 ? index + size : index;
        places.push_back(element_offset(i, strides));
    });
    return written_twice(op, places, a.tensor("updates"), indices);
}

Reason open_scattered_tuples(std::string_view op, const Arguments<Tensor>& a) {
    const Tensor data = a.tensor("data");
    const Tuples tuples = tuples_of(a.tensor("indices"));
    if (Reason reason = bad_tuple(op, data, tuples, 0)) return reason;
    if (a.text("reduction") != "none") return std::nullopt;
    Ints places;
    for (std::size_t i = 0; i < tuples.count(); ++i) {
        std::int64_t place = 0;
        for (std::int64_t k = 0; k < tuples.width; ++k) {
            const std::int64_t size = extent(data, k), index = tuples.at(i, k);
            place = place * size + (index < 0 ? index + size : index);
        }
        places.push_back(place);
    }
    return written_twice(op, places, a.tensor("updates"), [&](std::size_t i) {
        Ints tuple;
        for (std::int64_t k = 0; k < tuples.width; ++k) tuple.push_back(tuples.at(i, k));
        return to_string(tuple);
    });
}

/// Of ReverseSequence, RNN, GRU and LSTM: no sequence is longer than the data.
Reason open_reversed_lengths(std::string_view op, const Arguments<Tensor>& a) {
    return out_of_range(op, "length", a.tensor("sequence_lens"), 0, extent(a.tensor("input"), a.integer("time_axis")));
}

constexpr OpDef kIndexOps[] = {
    composite("Gather(Tensor data, Tensor indices, *, int axis=0) -> Tensor", "Slices at indices along one dimension",
              kMoved, onnx_gather, {.ask = open_gathered}),
    composite("GatherElements(Tensor data, Tensor indices, *, int axis=0) -> Tensor",
              "Elements at indices along one dimension", kMoved, gather_elements, {.ask = open_gathered}),
    composite("GatherND(Tensor data, Tensor indices, *, int batch_dims=0) -> Tensor", "Slices at tuples of indices",
              kMoved, gather_nd, {.ask = open_gathered_tuples}),
    composite("Scatter(Tensor data, Tensor indices, Tensor updates, *, int axis=0, str reduction=\"none\") -> Tensor",
              "ScatterElements before opset 11. onnx Changelog.md#Scatter-9", kMoved, scatter_elements,
              {.ask = open_scattered}),
    composite(
        "ScatterElements(Tensor data, Tensor indices, Tensor updates, *, int axis=0, str reduction=\"none\") -> Tensor",
        "Writes elements at indices along one dimension", kMoved, scatter_elements, {.ask = open_scattered}),
    composite("ScatterND(Tensor data, Tensor indices, Tensor updates, *, str reduction=\"none\") -> Tensor",
              "Writes slices at tuples of indices", kMoved, scatter_nd, {.ask = open_scattered_tuples}),
    composite("Compress(Tensor input, Tensor condition, *, int? axis=None) -> Tensor",
              "Slices where a known condition holds", kMoved, compress),
    composite("NonZero(Tensor X) -> Tensor", "Index tuples of nonzero elements of a known tensor", kAnyDType,
              onnx_nonzero),
    composite("ReverseSequence(Tensor input, Tensor sequence_lens, *, int batch_axis=1, int time_axis=0) -> Tensor",
              "The first elements of each batch in reverse", kMoved, reverse_sequence, {.ask = open_reversed_lengths}),
};

}  // namespace

std::span<const OpDef> onnx_index_ops() { return kIndexOps; }

}  // namespace whittle

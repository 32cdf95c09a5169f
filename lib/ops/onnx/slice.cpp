// ONNX's joins and pieces: Concat, Split, Slice, Pad.
#include <algorithm>

#include "base/checked.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

CallResults concat(const Call& c) {
    const Vs inputs = c.tensors("inputs");
    if (inputs.empty()) throw Error("found no inputs, expected at least one");
    return cat(inputs, wrap_dim(c.integer("axis"), inputs[0].rank()));
}

/// Pieces of equal size unless their sizes are given: by an attribute before opset 13, then by an operand. Since opset
/// 18 the last piece may be smaller.
CallResults onnx_split(const Call& c) {
    no_attribute(c, "split", 13);
    const V input = c.tensor("input");
    const std::int64_t axis = wrap_dim(c.integer("axis"), input.rank()), whole = size_of_dim(input, axis);
    const std::int64_t count = c.integer("num_outputs");
    constexpr std::int64_t kMostPieces = 1 << 16;
    if (count > kMostPieces)
        throw Error("found num_outputs=" + std::to_string(count) + ", expected at most " + std::to_string(kMostPieces));
    std::optional<Ints> sizes = opset(c) < 13 ? c.optional_integers("split") : known_ints_if(c, "split_value");
    if (!sizes && opset(c) >= 18 && count > 0) {  // the last one takes what is left
        const std::int64_t piece = (whole + count - 1) / count;
        sizes = Ints();
        for (std::int64_t i = 0, left = whole; i < count; ++i, left -= sizes->back())
            sizes->push_back(std::min(piece, left));
    }
    if (!sizes) {
        if (count < 1 || whole % count != 0)
            throw Error("found size " + std::to_string(whole) + " of dimension " + std::to_string(axis) +
                        ", expected a multiple of " + std::to_string(count) + ", the number of pieces");
        sizes = Ints(static_cast<std::size_t>(count), whole / count);
    }
    std::int64_t total = 0;
    for (const std::int64_t size : *sizes)
        if (size < 0 || __builtin_add_overflow(total, size, &total)) total = -1;
    if (static_cast<std::int64_t>(sizes->size()) != count || total != whole)
        throw Error("found pieces of sizes " + to_string(*sizes) + ", expected " + std::to_string(count) +
                    " sizes that sum to " + std::to_string(whole));
    Vs results;
    std::int64_t start = 0;
    for (const std::int64_t size : *sizes) {
        results.push_back(slice(input, axis, start, start + size));
        start += size;
    }
    return results;
}

/// One dimension of a Slice with numpy's rules: bounds count from the end when negative and are clamped.
V slice_dim(const V& x, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
    const std::int64_t size = size_of_dim(x, dim);
    if (step == 0) throw Error("found step 0, expected a nonzero step");
    const auto from_start = [&](std::int64_t bound) { return bound < 0 ? bound + size : bound; };
    if (step > 0) {
        const std::int64_t first = std::clamp<std::int64_t>(from_start(start), 0, size);
        const std::int64_t last = std::clamp<std::int64_t>(from_start(end), first, size);
        return part(x, dim, first, last, std::min(step, std::max<std::int64_t>(size, 1)));
    }
    if (size == 0) return x;
    // Backwards: the same elements of the reversed dimension, whose element j is element size - 1 - j.
    const std::int64_t first = std::clamp<std::int64_t>(from_start(start), 0, size - 1);
    const std::int64_t last = std::clamp<std::int64_t>(from_start(end), -1, first);
    const std::int64_t stride = -std::max(step, -std::max<std::int64_t>(size, 1));
    return part(flip(x, Ints{dim}), dim, size - 1 - first, size - 1 - last, stride);
}

/// Bounds were attributes before opset 10, then operands.
CallResults onnx_slice(const Call& c) {
    V x = c.tensor("data");
    Ints starts, ends;
    std::optional<Ints> axes, steps;
    if (opset(c) < 10) {
        starts = c.integers("starts");
        ends = c.integers("ends");
        axes = c.optional_integers("axes");
    } else {
        for (const char* attribute : {"starts", "ends", "axes"}) no_attribute(c, attribute, 10);
        if (!c.has("starts_value") || !c.has("ends_value"))
            throw Error(std::string("found no ") + (c.has("starts_value") ? "ends" : "starts") +
                        ", expected both starts and ends");
        starts = known_ints(c, "starts_value");
        ends = known_ints(c, "ends_value");
        axes = known_ints_if(c, "axes_value");
        steps = known_ints_if(c, "steps");
    }
    const std::size_t count = starts.size();
    if (!axes) axes = all_dims(static_cast<std::int64_t>(count));
    if (!steps) steps = Ints(count, 1);
    if (ends.size() != count || axes->size() != count || steps->size() != count)
        throw Error("found " + std::to_string(count) + " starts, " + std::to_string(ends.size()) + " ends, " +
                    std::to_string(axes->size()) + " axes and " + std::to_string(steps->size()) +
                    " steps, expected equal numbers");
    wrap_dims(*axes, x.rank());
    for (std::size_t i = 0; i < count; ++i)
        x = slice_dim(x, wrap_dim((*axes)[i], x.rank()), starts[i], ends[i], (*steps)[i]);
    return x;
}

// --- Pad -------------------------------------------------------------------------------------------------------------

enum class Edges { edge, reflect, wrap };

/// Where element i of a padded dimension comes from, i counted from the original's first.
std::int64_t source(std::int64_t i, std::int64_t size, Edges edges) {
    if (edges == Edges::edge) return std::clamp<std::int64_t>(i, 0, size - 1);
    const std::int64_t period = edges == Edges::wrap ? size : std::max<std::int64_t>(2 * (size - 1), 1);
    const std::int64_t r = ((i % period) + period) % period;
    return r < size ? r : period - r;
}

V pad_from_edges(const Call& c, V x, const Ints& pads, Edges edges) {
    const std::int64_t rank = x.rank();
    for (std::int64_t dim = 0; dim < rank; ++dim) {
        const std::int64_t before = pads[static_cast<std::size_t>(dim)],
                           after = pads[static_cast<std::size_t>(rank + dim)];
        const std::int64_t size = size_of_dim(x, dim);
        if (before == 0 && after == 0) continue;
        if (size == 0)
            throw Error("found dimension " + std::to_string(dim) +
                        " of size 0 in a mode that copies elements, expected at least one element");
        const std::int64_t grown = std::max<std::int64_t>((Checked(size) + before + after).value(), 0);
        if (grown > (1 << 20))
            throw Error("found a padded dimension of " + std::to_string(grown) + " elements, expected at most " +
                        std::to_string(1 << 20));
        Ints from;
        for (std::int64_t i = 0; i < grown; ++i) from.push_back(source(i - before, size, edges));
        x = index_select(x, dim, ints(c, from));
    }
    return x;
}

/// Those of some dimensions as those of all.
Ints pads_of_all(const Ints& pads, const Ints& axes, std::int64_t rank) {
    if (pads.size() != 2 * axes.size())
        throw Error("found " + std::to_string(pads.size()) + " pads, expected " + std::to_string(2 * axes.size()) +
                    ", two for each axis");
    wrap_dims(axes, rank);  // each once
    Ints all(static_cast<std::size_t>(2 * rank), 0);
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t axis = wrap_dim(axes[i], rank);
        all[static_cast<std::size_t>(axis)] = pads[i];
        all[static_cast<std::size_t>(rank + axis)] = pads[axes.size() + i];
    }
    return all;
}

/// Pads are all befores, then all afters; an attribute before opset 11, then an operand.
CallResults onnx_pad(const Call& c) {
    no_attribute(c, "pads", 11);
    no_attribute(c, "value", 11);
    const V data = c.tensor("data");
    const auto rank = static_cast<std::size_t>(data.rank());
    Scalar value(0.0);
    Ints pads;
    if (opset(c) < 11) {
        pads = c.integers("pads");
        value = Scalar(c.has("value") ? number32(c, "value") : 0.0);
    } else {
        if (!c.has("pads_value")) throw Error("found no pads, expected two for each dimension");
        pads = known_ints(c, "pads_value");
        if (c.has("constant_value")) value = known_operand(c, "constant_value").item();
        if (const auto axes = known_ints_if(c, "axes")) pads = pads_of_all(pads, *axes, data.rank());
    }
    if (pads.size() != 2 * rank)
        throw Error("found " + std::to_string(pads.size()) + " pads, expected " + std::to_string(2 * rank) +
                    ", two for each dimension");
    for (const std::int64_t amount : pads)
        if (amount > (std::int64_t{1} << 40) || amount < -(std::int64_t{1} << 40))
            throw Error("found pad " + std::to_string(amount) + ", expected a pad from -2^40 to 2^40");
    const std::string mode = c.text("mode");
    if (mode == "reflect" || mode == "edge" || (mode == "wrap" && opset(c) >= 19))
        return pad_from_edges(c, data, pads,
                              mode == "reflect" ? Edges::reflect
                              : mode == "edge"  ? Edges::edge
                                                : Edges::wrap);
    if (mode != "constant")
        throw Error("found mode '" + mode + "', expected 'constant', 'reflect', 'edge' or, since opset 19, 'wrap'");
    if (rank == 0) return data;
    Ints last_first;  // ATen counts pairs from the last dimension
    for (std::size_t dim = rank; dim-- > 0;) {
        last_first.push_back(pads[dim]);
        last_first.push_back(pads[rank + dim]);
    }
    return constant_pad_nd(data, last_first, value);
}

/// Axes cut or filled with zeros to a size, as much at either end; an odd element at the end.
CallResults center_crop_pad(const Call& c) {
    V x = c.tensor("input_data");
    const Ints shape = known_ints(c, "shape");
    const Ints axes = c.optional_integers("axes").value_or(all_dims(x.rank()));
    if (shape.size() != axes.size())
        throw Error("found a shape with " + std::to_string(shape.size()) + " entries, expected " +
                    std::to_string(axes.size()) + ", one for each axis");
    wrap_dims(axes, x.rank());  // each once
    for (std::size_t i = 0; i < axes.size(); ++i) {
        const std::int64_t dim = wrap_dim(axes[i], x.rank()), size = size_of_dim(x, dim);
        if (shape[i] < 0 || shape[i] > (std::int64_t{1} << 40))
            throw Error("found size " + std::to_string(shape[i]) + " in the shape, expected a size from 0 to 2^40");
        const std::int64_t before = (shape[i] - size) / 2;
        Ints pads(static_cast<std::size_t>(2 * (x.rank() - dim)), 0);  // pairs from the last dimension
        pads[pads.size() - 2] = before;
        pads[pads.size() - 1] = shape[i] - size - before;
        x = shape[i] < size   ? part(x, dim, (size - shape[i]) / 2, (size - shape[i]) / 2 + shape[i])
            : shape[i] > size ? constant_pad_nd(x, pads, 0.0)
                              : x;
    }
    return x;
}

constexpr OpDef kSliceOps[] = {
    composite("CenterCropPad(Tensor input_data, Tensor shape, *, int[]? axes=None) -> Tensor",
              "The middle of a tensor, or the tensor with zeros around it", kOrdered, center_crop_pad),
    composite("Concat(Tensor[] inputs, *, int axis) -> Tensor", "Joined along one dimension", kMoved, concat),
    composite("Split(Tensor input, Tensor? split_value=None, *, int axis=0, int[]? split=None, int num_outputs=1) -> "
              "Tensor[]",
              "Pieces along one dimension", kMoved, onnx_split),
    composite("Slice(Tensor data, Tensor? starts_value=None, Tensor? ends_value=None, Tensor? axes_value=None, Tensor? "
              "steps=None, *, int[]? axes=None, int[]? ends=None, int[]? starts=None) -> Tensor",
              "Every step-th element between bounds", kMoved, onnx_slice),
    {.doc = "Padded with a constant, or with elements from the edges",
     .schema = "Pad(Tensor data, Tensor? pads_value=None, Tensor? constant_value=None, Tensor? axes=None, *, str "
               "mode=\"constant\", "
               "int[]? pads=None, float? value=None) -> Tensor",
     .dtypes = kOrdered,  // the constant is a number of the host
     .decompose = onnx_pad},
};

}  // namespace

std::span<const OpDef> onnx_slice_ops() { return kSliceOps; }

}  // namespace whittle

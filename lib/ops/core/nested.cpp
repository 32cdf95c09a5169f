#include "ops/core/nested.h"

#include <cstring>
#include <optional>

#include "base/error.h"
#include "ops/core/registry.h"

namespace whittle {

std::string type_text(const ValueMeta& meta) { return std::string(name(meta.dtype)) + to_string(meta.sizes); }

bool same_type(const ValueMeta& a, const ValueMeta& b) { return a.dtype == b.dtype && a.sizes == b.sizes; }

namespace {

thread_local int any_size = 0;

/// The graph for inputs of other sizes. Throws Error where one of its calls refuses them.
Graph at_sizes(const Graph& body, const std::vector<ValueMeta>& inputs) {
    Graph graph = body;
    const std::vector<NodeId> placeholders = graph.placeholders();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        ValueMeta& meta = graph.nodes[static_cast<std::size_t>(placeholders[i])].results[0];
        meta = ValueMeta::contiguous(meta.dtype, inputs[i].sizes);
    }
    infer_all(graph);
    return graph;
}

}  // namespace

NestedAtAnySize::NestedAtAnySize() { ++any_size; }
NestedAtAnySize::~NestedAtAnySize() { --any_size; }

std::vector<ValueMeta> body_results(const Graph& body, const std::vector<ValueMeta>& inputs) {
    const std::vector<NodeId> placeholders = body.placeholders();
    if (placeholders.size() != inputs.size())
        throw Error("found " + std::to_string(inputs.size()) + " values for the nested graph " + body.name +
                    ", expected " + std::to_string(placeholders.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Node& placeholder = body.node({placeholders[i]});
        const ValueMeta& meta = placeholder.meta();
        const bool fits = any_size > 0 ? inputs[i].dtype == meta.dtype && inputs[i].sizes.size() == meta.sizes.size()
                                       : same_type(inputs[i], meta);
        if (!fits)
            throw Error("found " + type_text(inputs[i]) + " for the placeholder %" + placeholder.name +
                        " of the nested graph " + body.name + ", expected " + type_text(meta));
    }
    std::optional<Graph> resized;
    if (any_size > 0) resized = at_sizes(body, inputs);
    const Graph& graph = resized ? *resized : body;
    std::vector<ValueMeta> results;
    for (const NodeId id : graph.outputs()) {
        const ValueMeta& meta = graph.node({id}).meta();
        results.push_back(ValueMeta::contiguous(meta.dtype, meta.sizes));
    }
    return results;
}

std::vector<ValueMeta> alternative_results(const Graph& first, const Graph& second,
                                           const std::vector<ValueMeta>& inputs) {
    const std::vector<ValueMeta> on_true = body_results(first, inputs);
    const std::vector<ValueMeta> on_false = body_results(second, inputs);
    if (on_true.size() != on_false.size())
        throw Error("found branches with " + std::to_string(on_true.size()) + " and " +
                    std::to_string(on_false.size()) + " results, expected equal numbers of results");
    for (std::size_t i = 0; i < on_true.size(); ++i)
        if (!same_type(on_true[i], on_false[i]))
            throw Error("found " + type_text(on_true[i]) + " and " + type_text(on_false[i]) + " as result " +
                            std::to_string(i) + " of the two branches, expected the same type",
                        "make both branches return the same dtype and sizes: sizes must not depend on data");
    return on_true;
}

void check_carried(const std::vector<ValueMeta>& carried, const std::vector<ValueMeta>& results) {
    for (std::size_t i = 0; i < carried.size(); ++i)
        if (!same_type(carried[i], results.at(i)))
            throw Error("found a loop body that changes carried value " + std::to_string(i) + " from " +
                            type_text(carried[i]) + " into " + type_text(results[i]) + ", expected the same type",
                        "keep the dtype and sizes in every iteration: sizes must not depend on data");
}

std::vector<Tensor> contiguous(std::vector<Tensor> tensors) {
    for (Tensor& tensor : tensors) tensor = tensor.contiguous();
    return tensors;
}

Tensor stack_slices(const std::vector<Tensor>& slices, const ValueMeta& slice, std::int64_t axis, bool reversed) {
    Sizes sizes = slice.sizes;
    sizes.insert(sizes.begin() + axis, static_cast<std::int64_t>(slices.size()));
    Tensor result(slice.dtype, sizes);
    if (result.numel() == 0) return result;
    const auto begin = slice.sizes.begin();
    const auto outer = static_cast<std::size_t>(element_count(Sizes(begin, begin + axis)));
    const std::size_t inner =
        static_cast<std::size_t>(element_count(Sizes(begin + axis, slice.sizes.end()))) * size_of(slice.dtype);
    auto* out = static_cast<std::byte*>(result.mutable_raw());
    for (std::size_t i = 0; i < slices.size(); ++i) {
        const Tensor values = slices[reversed ? slices.size() - 1 - i : i].contiguous();
        const auto* in = static_cast<const std::byte*>(values.raw());
        for (std::size_t o = 0; o < outer; ++o)
            std::memcpy(out + (o * slices.size() + i) * inner, in + o * inner, inner);
    }
    return result;
}

Tensor slice_of(const Tensor& tensor, std::int64_t axis, std::int64_t index) {
    Sizes sizes = tensor.sizes();
    Strides strides = tensor.strides();
    const std::int64_t offset = tensor.offset() + index * strides[static_cast<std::size_t>(axis)];
    sizes.erase(sizes.begin() + axis);
    strides.erase(strides.begin() + axis);
    return tensor.as_strided(sizes, strides, offset);
}

}  // namespace whittle

#include "ops/core/memory.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>

#include "base/error.h"
#include "graph/run_observer.h"
#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "ops/core/mode.h"
#include "ops/core/registry.h"
#include "tensor/reach.h"

namespace whittle {

const RegisteredOp* kernel_of(std::string_view target) {
    const Registry& registry = Registry::instance();
    if (const RegisteredOp* op = registry.op(target)) return op;
    const InPlaceForm* form = registry.in_place(target);
    return form ? registry.op(form->functional) : nullptr;
}

bool writes(const Node& node) {
    const Schema* schema = node.kind == NodeKind::call ? Registry::instance().find(node.target) : nullptr;
    return schema && std::ranges::any_of(schema->params, &Param::mutates);
}

bool has_writes(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, writes) ||
           std::ranges::any_of(graph.subgraphs, [](const auto& nested) { return has_writes(*nested.second); });
}

NodeRef written_operand(const Node& call) {
    const NodeRef* operand = call.args.empty() ? nullptr : call.args.front().node();
    if (!operand) throw Error(call.target + ": found no value to write into, expected a value as the first argument");
    return *operand;
}

namespace {

/// One element for all: views look at no other operand's elements.
Tensor stand_in(const ValueMeta& meta) {
    return {Storage::allocate(size_of(meta.dtype)), meta.dtype, meta.sizes, Strides(meta.sizes.size(), 0)};
}

}  // namespace

std::vector<Tensor> view_of(const Node& call, const Tensor& operand, const MetaOf& meta_of) {
    const RegisteredOp& op = Registry::instance().require(call.target);
    const NodeRef first = written_operand(call);
    const auto given = [&](NodeRef ref) { return ref == first ? operand : stand_in(meta_of(ref)); };
    if (op.def->eval) return op.def->eval(Arguments<Tensor>(op.schema, call, given));
    Graph alone{.name = "view"};
    std::vector<Tensor> inputs;
    std::map<NodeId, NodeRef> placed;
    Node mapped = map_inputs(call, [&](NodeRef ref) {
        const auto [found, added] = placed.try_emplace(ref.id);
        if (added) {
            inputs.push_back(given(ref));
            found->second = alone.placeholder("operand", ValueMeta::of(inputs.back()));
        }
        return Arg(found->second);
    });
    mapped.results = infer(alone, mapped);
    const NodeRef result = alone.add(std::move(mapped));
    alone.output(add_results(alone, result));
    const ObservingRuns unobserved{nullptr};
    const WithoutModes computed_here;
    return evaluate(alone, inputs);
}

Tensor own_copy(const Tensor& tensor) {
    if (tensor.is_contiguous() || tensor.numel() == 0) return tensor.clone().with_requires_grad(tensor.requires_grad());
    const Reach reached = reach(tensor.sizes(), tensor.strides()).value();
    const Tensor memory = tensor.as_strided({reached.count()}, {1}, tensor.offset() + reached.first).clone();
    return memory.as_strided(tensor.sizes(), tensor.strides(), -reached.first)
        .with_requires_grad(tensor.requires_grad());
}

void write_into(Tensor& to, const Tensor& from) {
    if (from.sizes() != to.sizes())
        throw Error("found a result of sizes " + to_string(from.sizes()) + " to write into a tensor of sizes " +
                    to_string(to.sizes()) + ", expected equal sizes");
    if (!to.storage()->writable())
        throw Error("found a write to read-only memory, expected writable memory", "write to a copy of the tensor");
    const Tensor values = from.to(to.dtype()).contiguous();
    const std::size_t size = size_of(to.dtype());
    const auto* source = static_cast<const std::byte*>(values.raw());
    auto* target = static_cast<std::byte*>(to.mutable_raw());
    if (to.is_contiguous()) {
        std::memmove(target, source, size * static_cast<std::size_t>(to.numel()));
        return;
    }
    const Tensor held = values.storage() == to.storage() ? values.clone() : values;
    source = static_cast<const std::byte*>(held.raw());
    Sizes index(to.sizes().size(), 0);
    for (std::int64_t i = 0; i < to.numel(); ++i) {
        std::int64_t at = 0;
        for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * to.strides()[d];
        std::memcpy(target + at * static_cast<std::int64_t>(size), source + static_cast<std::size_t>(i) * size, size);
        for (std::size_t d = index.size(); d-- > 0;) {
            if (++index[d] < to.sizes()[d]) break;
            index[d] = 0;
        }
    }
}

}  // namespace whittle

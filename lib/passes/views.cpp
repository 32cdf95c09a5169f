#include "passes/views.h"

#include "ops/core/memory.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

bool shares_memory(const Graph& graph, const Node& call, const ValueMeta& operand) {
    std::int64_t last = 0;
    for (std::size_t d = 0; d < operand.sizes.size(); ++d) {
        if (operand.sizes[d] == 0 || operand.strides[d] < 0) return false;
        last += (operand.sizes[d] - 1) * operand.strides[d];
    }
    const auto storage = Storage::allocate(static_cast<std::size_t>(last + 1) * size_of(operand.dtype));
    const Tensor probe(storage, operand.dtype, operand.sizes, operand.strides);
    return view_of(call, probe, [&](NodeRef ref) { return graph.node(ref).meta(); }).at(0).storage() == storage;
}

}  // namespace

std::optional<NodeRef> viewed_operand(const Graph& graph, const Node& call) {
    const Schema* schema = call.kind == NodeKind::call ? Registry::instance().find(call.target) : nullptr;
    if (!schema || schema->returns.empty() || schema->returns.front().alias.empty() || call.args.empty())
        return std::nullopt;
    const NodeRef* operand = call.args.front().node();
    if (!operand || !shares_memory(graph, call, graph.node(*operand).meta())) return std::nullopt;
    return *operand;
}

}  // namespace whittle

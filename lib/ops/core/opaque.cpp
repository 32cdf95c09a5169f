#include "ops/core/opaque.h"

#include <algorithm>

#include "graph/value_ref.h"
#include "tensor/random.h"

namespace whittle {

namespace {

void add_opaque_ops(const Graph& graph, std::vector<std::string>& targets) {
    const Registry& registry = Registry::instance();
    for (const Node& node : graph.nodes)
        if (is_op_call(node) && !registry.find(node.target) &&
            std::find(targets.begin(), targets.end(), node.target) == targets.end())
            targets.push_back(node.target);
    for (const auto& [name, nested] : graph.subgraphs) add_opaque_ops(*nested, targets);
}

}  // namespace

std::vector<std::string> opaque_ops(const Graph& graph) {
    std::vector<std::string> targets;
    add_opaque_ops(graph, targets);
    return targets;
}

std::vector<Tensor> made_up_results(const Node& call) {
    Random random(0);
    std::vector<Tensor> results;
    for (const ValueMeta& meta : call.results) results.push_back(random_tensor(meta.dtype, meta.sizes, random));
    return results;
}

}  // namespace whittle

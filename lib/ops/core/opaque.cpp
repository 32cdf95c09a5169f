#include "ops/core/opaque.h"

#include "base/error.h"
#include "graph/graph.h"
#include "graph/placement.h"
#include "graph/value_ref.h"
#include "ops/core/layout.h"
#include "tensor/random.h"

namespace whittle {

std::vector<std::string> opaque_ops(const Graph& graph) {
    const Registry& registry = Registry::instance();
    return targets_of(graph,
                      [&](const Graph&, const Node& node) { return is_op_call(node) && !registry.find(node.target); });
}

std::vector<Tensor> made_up_results(const Node& call) {
    Random random(0);
    std::vector<Tensor> results;
    for (const ValueMeta& meta : call.results)
        if (meta.placement)
            throw Error("found a result of " + call.target + " that is " + meta.placement->text() +
                        ", expected a tensor of numbers");
    for (const ValueMeta& meta : call.results)
        results.push_back(laid_out_as(random_tensor(meta.dtype, meta.sizes, random), meta));
    return results;
}

}  // namespace whittle

#include "passes/origins.h"

#include <set>

namespace whittle {

Origins own_origins(const Graph& graph) {
    Origins origins;
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) origins.push_back({id});
    return origins;
}

Origins through(const Origins& last, const Origins& between) {
    Origins origins;
    for (const std::vector<NodeId>& ids : last) {
        std::set<NodeId> all;
        for (const NodeId id : ids) {
            const std::vector<NodeId>& before = between.at(static_cast<std::size_t>(id));
            all.insert(before.begin(), before.end());
        }
        origins.emplace_back(all.begin(), all.end());
    }
    return origins;
}

}  // namespace whittle

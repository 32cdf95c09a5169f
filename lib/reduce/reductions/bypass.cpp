// bypass: readers of a value read, in its place, one that it is computed from; nested graphs included.
#include <set>

#include "graph/value_ref.h"
#include "reduce/reductions/reduction.h"

namespace whittle::reduce {
namespace {

/// What a value is computed from, seen through a getitem, each once.
std::vector<NodeRef> sources(const Graph& graph, const Node& value) {
    std::vector<NodeRef> refs;
    std::set<NodeId> seen;
    for_each_input(producer_of(graph, value), [&](NodeRef ref) {
        if (seen.insert(ref.id).second) refs.push_back(ref);
    });
    return refs;
}

}  // namespace

std::vector<Edit> bypass_edits(const Case& from) {
    std::vector<Edit> edits;
    for_each_graph(from, [&](const Graph& graph, const DraftOf& at) {
        for (const NodeId id : graph.calls()) {
            const Node& value = graph.node({id});
            if (value.results.size() != 1) continue;
            for (const NodeRef source : sources(graph, value)) {
                const Node& operand = graph.node(source);
                if (operand.results.size() != 1 || operand.meta().dtype != value.meta().dtype ||
                    operand.meta().sizes != value.meta().sizes)
                    continue;
                edits.push_back({"bypass %" + value.name + " by %" + operand.name,
                                 [at, id, source](Draft& draft, std::int64_t) { at(draft).replace(id, source); }});
            }
        }
    });
    return edits;
}

}  // namespace whittle::reduce

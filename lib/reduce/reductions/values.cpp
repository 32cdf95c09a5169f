// values: a constant of zeros, or of ones, in the place of what a call computes; nested graphs included. Deletion has
// tried the recorded value as an input; some failures need a constant, and nested graphs have no recorded values.
#include <algorithm>

#include "reduce/reductions/reduction.h"

namespace whittle::reduce {

std::vector<Edit> value_edits(const Case& from) {
    std::vector<Edit> edits;
    for_each_graph(from, [&](const Graph& graph, const DraftOf& at) {
        const std::vector<std::vector<NodeId>> readers = users(graph);
        for (const NodeId id : graph.calls()) {
            const Node& value = graph.node({id});
            const std::vector<NodeId>& read_by = readers[static_cast<std::size_t>(id)];
            // What is only returned may as well be deleted; not so where outputs are given by position.
            const bool matters = std::ranges::any_of(read_by, [&](NodeId reader) {
                return graph.node({reader}).kind == NodeKind::call || &graph != &from.graph;
            });
            if (value.results.size() != 1 || !matters) continue;
            for (const int number : {0, 1})
                edits.push_back({"%" + value.name + " is " + std::to_string(number),
                                 [at, id, number, meta = value.meta(), name = value.name](Draft& draft, std::int64_t) {
                                     Draft& edited = at(draft);
                                     edited.replace(id, edited.constant(filled(meta.dtype, meta.sizes, number), name));
                                 }});
        }
    });
    return edits;
}

}  // namespace whittle::reduce

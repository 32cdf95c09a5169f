// operands: one leaf less. A leaf of the same type in its place, an input if there is one, or a plain number where the
// op takes one.
#include <algorithm>

#include "reduce/reductions/reduction.h"

namespace whittle::reduce {
namespace {

/// Whoever reads the leaf gets the number; ops that want a tensor refuse it when the draft is finished.
void read_number(Draft& draft, NodeId leaf, std::int64_t number) {
    const bool floating = is_floating(draft.from().node({leaf}).meta().dtype);
    const std::vector<NodeId> calls = draft.from().calls();
    for (const NodeId id : calls)
        draft.node(id) = map_inputs(draft.node(id), [&](NodeRef ref) {
            if (ref.id != leaf) return Arg(ref);
            return floating ? Arg(static_cast<double>(number)) : Arg(number);
        });
}

}  // namespace

std::vector<Edit> operand_edits(const Case& from) {
    std::vector<Edit> edits;
    const Graph& graph = from.graph;
    const std::vector<NodeId> leaves = leaves_of(graph);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        const Node& leaf = graph.node({leaves[i]});
        const auto earlier =
            std::find_if(leaves.begin(), leaves.begin() + static_cast<std::ptrdiff_t>(i), [&](NodeId id) {
                return graph.node({id}).meta().dtype == leaf.meta().dtype &&
                       graph.node({id}).meta().sizes == leaf.meta().sizes;
            });
        if (earlier != leaves.begin() + static_cast<std::ptrdiff_t>(i))
            edits.push_back({"%" + leaf.name + " is %" + graph.node({*earlier}).name,
                             [id = leaves[i], by = *earlier](Draft& draft, std::int64_t) { draft.replace(id, {by}); }});
        if (graph.dialect != "aten" || leaves.size() < 2) continue;
        for (const std::int64_t number : {0, 1})
            edits.push_back({"%" + leaf.name + " is the number " + std::to_string(number),
                             [id = leaves[i], number](Draft& draft, std::int64_t) { read_number(draft, id, number); }});
    }
    return edits;
}

}  // namespace whittle::reduce

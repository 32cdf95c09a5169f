// outputs: fewer results, and with them what only they needed.
#include "reduce/reductions/reduction.h"

namespace whittle::reduce {

std::vector<Edit> output_edits(const Case& from) {
    std::vector<Edit> edits;
    const std::vector<NodeId> outputs = from.graph.outputs();
    if (outputs.size() < 2) return edits;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        edits.push_back({"drop output %" + from.graph.node({outputs[i]}).name,
                         [i](Draft& draft, std::int64_t) { draft.drop_output(i); }});
    return edits;
}

}  // namespace whittle::reduce

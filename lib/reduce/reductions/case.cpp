#include "reduce/reductions/case.h"

#include "base/words.h"
#include "graph/value_ref.h"

namespace whittle::reduce {
namespace {

void add(Size& size, const Graph& graph) {
    size.calls += static_cast<std::size_t>(op_count(graph));
    for (const auto& [name, tensor] : graph.attributes) size.elements += tensor.numel();
    for (const auto& [name, nested] : graph.subgraphs) add(size, *nested);
}

}  // namespace

bool is_leaf(const Node& node) { return node.kind == NodeKind::placeholder || node.kind == NodeKind::get_attr; }

std::vector<NodeId> leaves_of(const Graph& graph) {
    std::vector<NodeId> leaves;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (is_leaf(graph.nodes[i])) leaves.push_back(static_cast<NodeId>(i));
    return leaves;
}

Size size_of(const Case& sized) {
    Size size;
    add(size, sized.graph);
    size.calls += sized.nodes.size();
    if (sized.graph.nodes.empty()) return size;  // a part of a file
    size.inputs = sized.graph.placeholders().size();
    size.outputs = sized.graph.outputs().size();
    for (const Tensor& input : sized.inputs) size.elements += input.numel();
    return size;
}

std::string text(const Size& size) {
    return plural(size.calls, "op") + ", " + plural(size.inputs, "input") + ", " + plural(size.outputs, "output") +
           ", " + plural(size.elements, "element");
}

}  // namespace whittle::reduce

#include "explain/export.h"

#include "capture/source.h"

namespace whittle::explain {

namespace {

using capture::Source;
using capture::SourceKind;

std::vector<StackFrame> stack_of_first_reader(const Graph& graph, NodeId placeholder) {
    for (const Node& node : graph.nodes) {
        bool reads = false;
        for_each_input(node, [&](NodeRef input) { reads = reads || input.id == placeholder; });
        if (reads && !node.stack.empty()) return node.stack;
    }
    return {};
}

}  // namespace

std::vector<ForeignInput> foreign_inputs(const Graph& graph) {
    std::vector<ForeignInput> result;
    for (const NodeId id : graph.placeholders()) {
        const std::string& target = graph.node({id}).target;
        const auto source = Source::parse(target);
        if (source && source->root().kind() != SourceKind::local)
            result.push_back({target, stack_of_first_reader(graph, id)});
    }
    return result;
}

}  // namespace whittle::explain

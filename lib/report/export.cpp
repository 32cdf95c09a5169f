#include "report/export.h"

#include "capture/source.h"

namespace whittle::report {

namespace {

using capture::Source;
using capture::SourceKind;

/// Of the first of the readers that has one.
std::vector<StackFrame> first_stack(const Graph& graph, const std::vector<NodeId>& readers) {
    for (const NodeId reader : readers)
        if (!graph.node({reader}).stack.empty()) return graph.node({reader}).stack;
    return {};
}

}  // namespace

std::vector<ForeignInput> foreign_inputs(const Graph& graph) {
    const auto readers = users(graph);
    std::vector<ForeignInput> result;
    for (const NodeId id : graph.placeholders()) {
        const std::string& target = graph.node({id}).target;
        const auto source = Source::parse(target);
        if (source && source->root().kind() != SourceKind::local)
            result.push_back({target, first_stack(graph, readers.at(static_cast<std::size_t>(id)))});
    }
    return result;
}

}  // namespace whittle::report

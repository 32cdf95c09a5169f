#include "report/generalized.h"

#include <algorithm>

namespace whittle::report {

namespace {

using capture::Found;

/// What the call found that the graph was captured in.
std::vector<std::pair<capture::Source, Found>> found_inputs(const IndexGraph& graph) {
    std::vector<std::pair<capture::Source, Found>> inputs;
    for (const IndexGuard& entry : graph.guards) {
        if (!entry.guard || entry.guard->as<capture::SizeCondition>()) continue;
        Found found = capture::found_of(*entry.guard);
        const auto* match = entry.guard->as<capture::TensorMatch>();
        for (std::size_t d = 0; match && d < match->sizes.symbols.size(); ++d)
            for (const IndexSymbol& symbol : graph.symbols)
                if (symbol.name == match->sizes.symbols[d] && !symbol.values.empty())
                    std::get<ValueMeta>(found).sizes.at(d) = symbol.values.front();
        inputs.emplace_back(entry.guard->source(), std::move(found));
    }
    return inputs;
}

bool serves(const IndexGraph& general, const std::vector<std::pair<capture::Source, Found>>& inputs) {
    const auto at = [&](const capture::Source& source) -> const Found* {
        const auto input = std::ranges::find(inputs, source, &std::pair<capture::Source, Found>::first);
        return input == inputs.end() ? nullptr : &input->second;
    };
    return std::ranges::all_of(general.guards,
                               [&](const IndexGuard& entry) { return entry.guard && !entry.guard->violated_by(at); });
}

/// From the same lines. Their arguments may differ: sizes are among them.
bool same_calls(const Graph& a, const Graph& b) {
    const auto line = [](const Node& node) {
        return node.stack.empty() ? std::pair<std::string, int>() : std::pair(node.stack[0].file, node.stack[0].line);
    };
    return std::ranges::equal(a.nodes, b.nodes, [&](const Node& x, const Node& y) {
        return x.kind == y.kind && (x.kind != NodeKind::call || (x.target == y.target && line(x) == line(y)));
    });
}

}  // namespace

const IndexGraph* entry_of(const TraceIndex& index, const Frame& frame) {
    const auto found = std::ranges::find_if(index.graphs, [&](const IndexGraph& graph) {
        return !graph.file.empty() && graph.file.filename() == std::filesystem::path(frame.file).filename();
    });
    return found == index.graphs.end() ? nullptr : &*found;
}

std::vector<std::optional<std::size_t>> generalized_by(const std::vector<Frame>& frames, const TraceIndex& index) {
    std::vector<const IndexGraph*> entries;
    for (const Frame& frame : frames) entries.push_back(entry_of(index, frame));
    std::vector<std::optional<std::size_t>> by(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const IndexGraph* const graph = entries[i];
        if (!graph || graph->guards.empty() || !graph->variant_of.empty() || !graph->capture_fault.empty()) continue;
        if (std::ranges::count(index.graphs, graph->name, &IndexGraph::variant_of)) continue;  // told by it
        const auto inputs = found_inputs(*graph);
        for (std::size_t j = frames.size(); --j > i && !by[i];) {
            const IndexGraph* const later = entries[j];
            const bool other_call = later && (later->compile_id.empty() || later->compile_id != graph->compile_id);
            if (other_call && later->frame == graph->frame && !later->symbols.empty() && serves(*later, inputs) &&
                same_calls(frames[i].graph, frames[j].graph))
                by[i] = j;
        }
    }
    return by;
}

}  // namespace whittle::report

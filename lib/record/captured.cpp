#include "record/captured.h"

#include <algorithm>

#include "base/words.h"

namespace whittle {

IndexBreak break_entry(const capture::GraphBreak& entry, const std::string& frame) {
    return {.reason = entry.reason,
            .id = std::string(capture::info(entry.kind).id),
            .op = entry.op,
            .frame = frame,
            .stack = entry.stack,
            .count = entry.count,
            .brief = entry.brief,
            .hint = entry.hint,
            .order = entry.order};
}

namespace {

/// The break of the same place.
auto find_break(auto& index, const IndexBreak& wanted) {
    return std::ranges::find_if(index.breaks, [&](const IndexBreak& other) {
        return other.reason == wanted.reason && other.id == wanted.id && other.frame == wanted.frame &&
               other.stack == wanted.stack;
    });
}

}  // namespace

std::size_t add_break(TraceIndex& index, const capture::GraphBreak& entry, const std::string& frame) {
    IndexBreak wanted = break_entry(entry, frame);
    const auto known = find_break(index, wanted);
    const auto position = static_cast<std::size_t>(known - index.breaks.begin());
    if (known != index.breaks.end())
        known->count += entry.count;
    else
        index.breaks.push_back(std::move(wanted));
    return position;
}

void add_frame(TraceIndex& index, const capture::CapturedFrame& frame) {
    add_once(index.frames, frame.name);
    if (frame.calls > 1) index.calls[frame.name] = frame.calls;
    if (frame.calls_guessed) index.guessed_calls.push_back(frame.name);
    for (const capture::GraphBreak& entry : frame.breaks) add_break(index, entry, frame.name);
    for (const capture::Recompile& entry : frame.recompiles)
        index.recompiles.push_back({entry.guard, frame.name, entry.stack, entry.advice, entry.count, entry.shared});
}

void describe(IndexGraph& entry, const capture::CapturedGraph& graph) {
    entry.updates.clear();
    const std::vector<NodeId> outputs = graph.graph.outputs();
    for (const capture::InputUpdate& update : graph.updates)
        entry.updates.push_back(update.source.text() + " = %" + graph.graph.node({outputs.at(update.output)}).name);
    entry.guards.assign(graph.guards.begin(), graph.guards.end());
}

void describe(IndexGraph& entry, const capture::CapturedFrame& frame, const capture::CapturedGraph& graph,
              const TraceIndex& index) {
    describe(entry, graph);
    entry.compile_seconds = graph.compile_seconds;
    entry.runs = graph.runs;
    entry.order = graph.order;
    entry.difference = graph.difference;
    if (graph.variant_of) entry.variant_of = frame.graphs.at(*graph.variant_of).graph.name;
    if (!graph.ended_by) return;
    const auto known = find_break(index, break_entry(*graph.ended_by, entry.frame));
    if (known != index.breaks.end()) entry.ended_by_break = static_cast<std::size_t>(known - index.breaks.begin());
}

TraceIndex index_of(const std::string& model, const std::vector<capture::CapturedFrame>& frames) {
    TraceIndex index{.model = model, .frames = {}, .graphs = {}, .breaks = {}, .records = {}, .environment = {}};
    for (const capture::CapturedFrame& frame : frames) {
        add_frame(index, frame);
        for (const capture::CapturedGraph& graph : frame.graphs) {
            IndexGraph entry = index_graph(graph.graph, frame.name);
            entry.file = std::filesystem::path("graphs") / (graph.graph.name + ".json");
            describe(entry, frame, graph, index);
            index.graphs.push_back(std::move(entry));
        }
    }
    return index;
}

}  // namespace whittle

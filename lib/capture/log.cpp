#include "capture/log.h"

#include "base/words.h"
#include "capture/guard.h"
#include "graph/text.h"
#include "printers/log.h"

namespace whittle::capture {
namespace {

std::string sizes_text(const Graph& graph) {
    std::string text;
    for (const Node& node : graph.nodes)
        for (std::size_t i = 0; i < node.results.size(); ++i)
            text += '%' + node.name + (node.results.size() > 1 ? "[" + std::to_string(i) + "]" : "") + ": " +
                    to_string(node.results[i].sizes) + "\n";
    return text;
}

void log_at(LogLevel level, const std::string& message) {
    level == LogLevel::warning ? log_warning(LogChannel::capture, message) : log_info(LogChannel::capture, message);
}

}  // namespace

void log_graph(const Graph& graph, const std::string& frame, const std::string& id, const std::string& varying) {
    const std::string title = graph.name + (id.empty() ? "" : " " + id);
    if (log_enabled(LogChannel::capture, LogLevel::info))
        log_info(LogChannel::capture, summary(graph) + " of " + frame + (id.empty() ? "" : " " + id) + ", " +
                                          plural(graph.placeholders().size(), "input") + ", " +
                                          plural(graph.outputs().size(), "output"));
    if (log_enabled(LogArtifact::graph_code)) log_artifact(LogArtifact::graph_code, title, print(graph) + varying);
    if (log_enabled(LogArtifact::graph_sizes))
        log_artifact(LogArtifact::graph_sizes, title, sizes_text(graph) + varying);
    printers::log_graph(graph, title);
}

void log_calls(const Graph& graph) {
    if (!log_enabled(LogChannel::capture, LogLevel::debug)) return;
    for (const NodeId id : graph.calls()) {
        const Node& node = graph.node({id});
        log_debug(LogChannel::capture,
                  print(graph, node) + (node.stack.empty() ? "" : " at " + place_of(node.stack.front())));
    }
}

void log_guards(const std::string& of, const std::vector<Guard>& guards) {
    if (!log_enabled(LogArtifact::guards)) return;
    std::string text;
    for (const Guard& guard : guards) text += guard.text() + "\n";
    log_artifact(LogArtifact::guards, of, text);
}

void log_break(const GraphBreak& why, const std::string& frame, LogLevel level) {
    if (log_enabled(LogChannel::capture, level))
        log_at(level, "graph break in " + frame + (why.stack.empty() ? "" : " at " + place_of(why.stack.front())) +
                          ": " + why.reason + " [" + std::string(info(why.kind).id) + "]");
    if (log_enabled(LogArtifact::graph_breaks))
        log_artifact(LogArtifact::graph_breaks, frame, why.reason + "\n" + print(why.stack));
}

void log_recompile(const std::string& reason, const std::string& advice, const std::string& frame,
                   const std::vector<StackFrame>& stack) {
    log_info(LogChannel::capture,
             "recompile of " + frame + (stack.empty() ? "" : " at " + place_of(stack.front())) + ": " + reason);
    if (log_enabled(LogArtifact::recompiles))
        log_artifact(LogArtifact::recompiles, frame,
                     reason + (advice.empty() ? "" : "\nto avoid the recompile: " + advice) + "\n" + print(stack));
}

void log_frame(const CapturedFrame& frame) {
    for (const CapturedGraph& captured : frame.graphs) {
        log_calls(captured.graph);
        log_graph(captured.graph, frame.name);
        log_guards(captured.graph.name, captured.guards);
    }
    for (const GraphBreak& why : frame.breaks) log_break(why, frame.name, LogLevel::info);
    for (const Recompile& entry : frame.recompiles)
        log_recompile(entry.guard.text(), entry.advice, frame.name, entry.stack);
}

}  // namespace whittle::capture

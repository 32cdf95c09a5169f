#include <nlohmann/json.hpp>

#include "explain/show.h"

namespace whittle::explain {

namespace {

using nlohmann::json;

json values_json(const std::vector<NamedMeta>& values) {
    json list = json::array();
    for (const auto& [name, meta, sizes] : values) {
        list.push_back({{"name", name}, {"dtype", std::string(whittle::name(meta.dtype))}, {"sizes", meta.sizes}});
        if (!sizes.empty()) list.back()["symbolic_sizes"] = sizes;
    }
    return list;
}

json reason_json(const BreakReason& reason) {
    const capture::BreakInfo& info = capture::info(reason.kind);
    json nodes = json::array();
    for (const BreakPlace& place : reason.places)
        if (!place.node.empty()) nodes.push_back(place.node);
    return {{"id", info.id},
            {"title", info.title},
            {"hint", info.hint},
            {"op", reason.op},
            {"reason", reason.reason},
            {"count", reason.count},
            {"user_stack", stack_json(reason.places.front().user_stack)},
            {"nodes", nodes}};
}

/// Empty for a model file, which is one frame with one set of shapes.
json recompiles_json(const Report& report) {
    json list = json::array();
    for (const IndexRecompile& entry : report.recompiles) {
        const json stack = stack_json(entry.stack);
        list.push_back({{"frame", entry.frame},
                        {"guard", entry.guard},
                        {"count", entry.count},
                        {"source", stack.empty() ? json() : stack.front()},
                        {"advice", entry.advice}});
    }
    return list;
}

}  // namespace

json stack_json(const std::vector<StackFrame>& stack) {
    json list = json::array();
    for (const StackFrame& frame : stack)
        list.push_back({{"file", frame.file},
                        {"line", frame.line},
                        {"column", frame.column},
                        {"function", frame.function},
                        {"text", frame.text}});
    return list;
}

json to_json(const Report& report) {
    json reasons = json::array(), graphs = json::array(), ops = json::array();
    for (const BreakReason& reason : report.break_reasons) reasons.push_back(reason_json(reason));
    for (const GraphSummary& graph : report.graphs) {
        graphs.push_back({{"name", graph.name},
                          {"frame", graph.frame},
                          {"ops", graph.ops},
                          {"inputs", values_json(graph.inputs)},
                          {"outputs", values_json(graph.outputs)},
                          {"parameters", graph.parameters},
                          {"parameter_bytes", graph.parameter_bytes},
                          {"updates", graph.updates},
                          {"guards", graph.guards},
                          {"compile_seconds", graph.compile_seconds}});
        if (graph.compilations != 1) graphs.back()["compilations"] = graph.compilations;
        if (graph.runs != 1) graphs.back()["runs"] = graph.runs;
        if (graph.calls != 1) graphs.back()["calls"] = graph.calls;
        if (!graph.variant_of.empty()) {
            graphs.back()["variant_of"] = graph.variant_of;
            graphs.back()["difference"] = graph.difference;
        }
        if (graph.checked) graphs.back()["checked"] = true;
        if (!graph.capture_fault.empty()) graphs.back()["capture_fault"] = graph.capture_fault;
        for (const IndexSymbol& symbol : graph.symbols)
            graphs.back()["symbols"].push_back(
                {{"name", symbol.name}, {"place", symbol.place}, {"values", symbol.values}});
        if (graph.nested_graphs != 0) {
            graphs.back()["nested_graphs"] = graph.nested_graphs;
            graphs.back()["nested_ops"] = graph.nested_ops;
        }
    }
    for (const OpUse& use : report.ops)
        ops.push_back({{"op", use.op},
                       {"count", use.count},
                       {"results", use.results},
                       {"known", use.known},
                       {"supported", use.supported}});
    return {{"model", report.model},
            {"backend", report.backend},
            {"graph_count", report.graphs.size()},
            {"graph_break_count", report.graph_break_count},
            {"op_count", report.op_count},
            {"break_reasons", reasons},
            {"graphs", graphs},
            {"ops", ops},
            {"unsupported", report.unsupported},
            {"recompiles", recompiles_json(report)},
            {"notes", report.notes}};
}

}  // namespace whittle::explain

#include <nlohmann/json.hpp>

#include "explain/show.h"

namespace whittle::explain {

namespace {

using nlohmann::json;

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

json values_json(const std::vector<NamedMeta>& values) {
    json list = json::array();
    for (const auto& [name, meta] : values)
        list.push_back({{"name", name}, {"dtype", std::string(whittle::name(meta.dtype))}, {"sizes", meta.sizes}});
    return list;
}

const char* text(BreakKind kind) {
    switch (kind) {
        case BreakKind::frontend:
            return "frontend";
        case BreakKind::unknown_op:
            return "unknown_op";
        case BreakKind::control_flow:
            return "control_flow";
        case BreakKind::unsupported:
            return "unsupported";
    }
    return "";
}

json reason_json(const BreakReason& reason, int id) {
    json nodes = json::array();
    for (const BreakPlace& place : reason.places)
        if (!place.node.empty()) nodes.push_back(place.node);
    return {{"id", id},
            {"kind", text(reason.kind)},
            {"op", reason.op},
            {"reason", reason.reason},
            {"count", reason.places.size()},
            {"user_stack", stack_json(reason.places.front().user_stack)},
            {"nodes", nodes}};
}

}  // namespace

json to_json(const Report& report) {
    json reasons = json::array(), graphs = json::array(), ops = json::array();
    for (const BreakReason& reason : report.break_reasons)
        reasons.push_back(reason_json(reason, static_cast<int>(reasons.size()) + 1));
    for (const GraphSummary& graph : report.graphs)
        graphs.push_back({{"name", graph.name},
                          {"frame", graph.frame},
                          {"ops", graph.ops},
                          {"inputs", values_json(graph.inputs)},
                          {"outputs", values_json(graph.outputs)},
                          {"parameters", graph.parameters},
                          {"parameter_bytes", graph.parameter_bytes}});
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
            {"recompiles", json::array()}};  // a model file is one frame with one set of shapes
}

}  // namespace whittle::explain

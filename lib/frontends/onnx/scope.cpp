#include "frontends/onnx/scope.h"

#include <algorithm>

#include "frontends/onnx/standard.h"
#include "ops/core/registry.h"

namespace whittle::onnx_proto {
namespace {

bool has_several_results(const onnx::NodeProto& node) {
    const auto named = std::ranges::count_if(node.output(), [](const auto& output) { return !output.empty(); });
    const bool last_only = named == 1 && node.output(0).empty();  // the first results are there, without names
    const RegisteredOp* op = Registry::instance().op(target_of(node));
    return named > 1 || last_only || (op && op->schema.returns.size() > 1);
}

}  // namespace

NodeRef add_tensor(GraphDraft& draft, const std::string& name, const std::string& target, onnx::TensorProto& tensor,
                   ExternalFiles& external, const Location& where) {
    NamedTensor taken = take_any_tensor(tensor, external, where);
    if (!taken.opaque) return draft.add_constant(name, target, std::move(taken.tensor));
    return draft.add_typed(name, target, *taken.opaque, std::move(taken.tensor));
}

OnnxValue Scope::value(const std::string& name) {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
        if (const auto found = frame->values.find(name); found != frame->values.end()) return found->second;
    WHITTLE_CHECK(outer_ != nullptr, "the ONNX value " + name + " is not defined");
    OnnxValue value = outer_->value(name);
    for (NodeRef& node : value.nodes) node = draft.capture(node);
    return value;
}

std::vector<OnnxValue> Scope::outputs(const onnx::GraphProto& graph) {
    std::vector<OnnxValue> results;
    for (const onnx::ValueInfoProto& output : graph.output()) results.push_back(value(output.name()));
    return results;
}

void Scope::name(onnx::GraphProto& graph) {
    Frame& frame = top();
    for (const onnx::ValueInfoProto& info : graph.value_info()) frame.declared[info.name()] = &info.type();
    for (const onnx::ValueInfoProto& output : graph.output()) {
        frame.declared[output.name()] = &output.type();
        frame.read.insert(output.name());
    }
    for (const onnx::NodeProto& node : graph.node())
        for (std::string& name : session.free_names.read_by(node)) frame.read.insert(std::move(name));
    read_initializers(graph);
    for (const onnx::NodeProto& node : graph.node()) {
        const std::string base = identifier(node.name().empty() ? node.op_type() : node.name());
        frame.call_names.push_back(has_several_results(node) ? draft.names().take(base) : std::string());
        for (const std::string& output : node.output())
            if (!output.empty()) frame.identifiers[output] = draft.names().take(identifier(output));
    }
}

void Scope::read_initializers(onnx::GraphProto& graph) {
    for (onnx::TensorProto& initializer : *graph.mutable_initializer()) {
        if (top().read.count(initializer.name()) == 0) continue;
        const Location where{session.file, "initializer " + in_quotes(initializer.name())};
        const std::string onnx_name = initializer.name();
        const std::string target = checked_text(onnx_name, where, "the name");
        const std::string name = draft.names().take(identifier(target));
        top().values[onnx_name] = add_tensor(draft, name, target, initializer, session.external, where);
    }
}

}  // namespace whittle::onnx_proto

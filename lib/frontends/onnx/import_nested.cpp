// Nodes with graphs of their own (If, Loop, Scan): graphs of the call, or where it is known which one runs, its nodes.
#include <algorithm>

#include "frontends/onnx/bind.h"
#include "frontends/onnx/importer.h"
#include "frontends/onnx/results.h"
#include "graph/placement.h"
#include "ops/onnx/control.h"

namespace whittle::onnx_proto {

void GraphImporter::import_nested(PendingNode& pending) {
    if (pending.is_refused() && !session_.options.keep_unknown) return;
    std::vector<onnx::AttributeProto*> attributes;
    std::vector<std::unique_ptr<GraphImporter>> bodies;
    for (onnx::AttributeProto& attribute : *pending.proto.mutable_attribute()) {
        if (attribute.type() != onnx::AttributeProto::GRAPH) continue;
        auto body = import_body(pending, attribute);
        pending.unknown_operand |= body->draft().unknown_outputs();
        if (body->lists_results()) {
            pending.refuse("the graph " + in_quotes(attribute.name()) +
                           " returns a sequence or an optional; Whittle supports such a graph only if the condition of "
                           "the node is a constant");
            for (const Arg& arg : pending.call.args)
                if (arg.node()) want_constant(pending, *arg.node(), scope_);
            return;
        }
        attributes.push_back(&attribute);
        bodies.push_back(std::move(body));
    }
    if (!bodies.empty()) add_bodies(pending, attributes, bodies);
}

/// Where operands are not known, or the node is refused, neither are the `count` values that its graphs are given.
std::vector<ValueMeta> GraphImporter::body_inputs(PendingNode& pending, std::size_t count) const {
    if (!pending.is_refused() && !pending.unknown_operand) {
        try {
            return onnx_body_inputs(draft_.graph(), pending.call);
        } catch (const Error& error) {
            pending.refuse(error.message(), error.hint());
            if (!session_.options.keep_unknown) throw Error(pending.where, pending.problem, pending.hint);
        }
    }
    return std::vector<ValueMeta>(count, unknown_meta());
}

/// A body that needs a constant for all iterations may have one in each: that is tried next.
std::unique_ptr<GraphImporter> GraphImporter::import_body(PendingNode& pending, onnx::AttributeProto& attribute) {
    const std::string prefix = pending.where.position + ", " + attribute.name() + ": ";
    auto body = std::make_unique<GraphImporter>(session_, *attribute.mutable_g(), this, prefix);
    const std::size_t count = body->inputs().size();
    const std::vector<ValueMeta> metas = body_inputs(pending, count);
    if (count != metas.size())
        throw Error(pending.where, "found a graph " + in_quotes(attribute.name()) + " with " + std::to_string(count) +
                                       " inputs, expected " + std::to_string(metas.size()) + " inputs");
    try {
        body->import(metas);
    } catch (const Error&) {
        if (!draft_.is_nested() && session_.body_needs_constant && onnx_passing_op(pending.call.target))
            session_.written_out.insert(pending.where.position);
        throw;
    }
    return body;
}

void GraphImporter::add_bodies(PendingNode& pending, const std::vector<onnx::AttributeProto*>& attributes,
                               const std::vector<std::unique_ptr<GraphImporter>>& bodies) {
    std::vector<NodeRef> captured;
    for (const auto& body : bodies)
        for (const NodeRef ref : body->draft().captured())
            if (std::ranges::find(captured, ref) == captured.end()) captured.push_back(ref);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
        const std::string& name = attributes[i]->name();
        const std::string& own = attributes[i]->g().name();
        const std::string key = call_name(pending, scope_) + "_" + name;
        draft_.add_subgraph(key, bodies[i]->finish(own.empty() ? key : identifier(own), captured));
        pending.call.kwargs.emplace_back(name, GraphRef{key});
    }
    if (captured.empty()) return;
    for (const NodeRef ref : captured) pending.unknown_operand |= draft_.unknown(ref);
    pending.call.kwargs.emplace_back("captured", ArgList(captured.begin(), captured.end()));
}

bool GraphImporter::join_branch(PendingNode& pending) {
    if (pending.is_refused() || pending.unknown_operand) return false;
    const std::optional<std::string> chosen = onnx_chosen_branch(draft_.graph(), pending.call);
    if (!chosen) return false;
    const auto branch = std::ranges::find_if(*pending.proto.mutable_attribute(), [&](const auto& given) {
        return given.name() == *chosen && given.has_g();
    });
    if (branch == pending.proto.mutable_attribute()->end()) return false;
    onnx::GraphProto& graph = *branch->mutable_g();
    if (graph.input_size() != 0 || graph.output_size() != pending.outputs) return false;  // infer reports it
    const std::vector<OnnxValue> results = join_graph(graph, {});
    ++session_.folded[pending.call.target];
    for (int i = 0; i < pending.outputs; ++i)
        scope_.top().values[pending.proto.output(i)] = results[static_cast<std::size_t>(i)];
    return true;
}

}  // namespace whittle::onnx_proto

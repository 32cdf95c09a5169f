#include "frontends/onnx/importer.h"

#include <unordered_set>

#include "frontends/onnx/bind.h"
#include "frontends/onnx/results.h"

namespace whittle::onnx_proto {

GraphImporter::GraphImporter(Session& session, onnx::GraphProto& proto, GraphImporter* outer, std::string prefix)
    : session_(session),
      proto_(proto),
      draft_(session.opsets, outer ? &outer->draft_ : nullptr),
      scope_(session, draft_, outer ? &outer->scope_ : nullptr, std::move(prefix)) {}

std::vector<const onnx::ValueInfoProto*> GraphImporter::inputs() const {
    std::unordered_set<std::string> initializers;
    for (const onnx::TensorProto& initializer : proto_.initializer()) initializers.insert(initializer.name());
    std::vector<const onnx::ValueInfoProto*> inputs;
    for (const onnx::ValueInfoProto& input : proto_.input())
        if (initializers.count(input.name()) == 0) inputs.push_back(&input);
    return inputs;
}

void GraphImporter::import(const std::vector<ValueMeta>& metas) {
    const auto values = inputs();
    WHITTLE_CHECK(values.size() == metas.size(), "metas for every input of an ONNX graph");
    std::vector<NodeRef> nodes;
    for (std::size_t i = 0; i < values.size(); ++i) nodes.push_back(import_input(*values[i], metas[i]));
    const Scope::Opened frame(scope_, proto_);
    for (std::size_t i = 0; i < values.size(); ++i) scope_.top().values[values[i]->name()] = nodes[i];
    for (int i = 0; i < proto_.node_size(); ++i) import_node(*proto_.mutable_node(i), i);
    for (const OnnxValue& result : scope_.outputs(proto_)) {
        lists_results_ |= !result.is_tensor();
        draft_.add_outputs(result.nodes);
    }
}

NodeRef GraphImporter::import_input(const onnx::ValueInfoProto& input, const ValueMeta& meta) {
    const std::string target = checked_text(input.name(), {session_.file, "an input"}, "the name");
    const std::string name = draft_.names().take(identifier(target));
    const auto known = session_.known.values.find(target);
    const bool has_value = !draft_.is_nested() && known != session_.known.values.end();
    if (has_value && session_.known.constants.contains(target)) return draft_.add_constant(name, target, known->second);
    return draft_.append({.kind = NodeKind::placeholder, .name = name, .target = target, .results = {meta}},
                         {.part = has_value});
}

/// The values of inputs in place of the inputs, for a call that needs them.
void GraphImporter::take_known_inputs(PendingNode& pending) {
    if (draft_.is_nested() || session_.known.readers.empty() ||
        !session_.known.readers.contains(call_name(pending, scope_)))
        return;
    pending.call = map_inputs(pending.call, [&](NodeRef ref) {
        const Node& node = draft_.node(ref);
        const auto known = session_.known.values.find(node.target);
        if (node.kind != NodeKind::placeholder || known == session_.known.values.end()) return Arg(ref);
        const auto [constant, fresh] = known_inputs_.try_emplace(node.target);
        if (fresh) {
            const std::string name = draft_.names().take(node.name);
            constant->second = draft_.add_constant(name, name, known->second);
        }
        return Arg(constant->second);
    });
}

std::vector<OnnxValue> GraphImporter::join_graph(onnx::GraphProto& proto, const std::vector<OnnxValue>& inputs) {
    const Scope::Opened frame(scope_, proto);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        scope_.top().values[proto.input(static_cast<int>(i)).name()] = inputs[i];
    for (int i = 0; i < proto.node_size(); ++i) import_node(*proto.mutable_node(i), i);
    return scope_.outputs(proto);
}

void GraphImporter::import_node(onnx::NodeProto& node, int position) {
    PendingNode pending = start(node, position, scope_);
    check_op(pending, session_.options);
    if (is_constant(pending) && !pending.is_refused()) return bind_constant(pending, scope_);
    if (!pending.is_refused() && resolve_sequences(pending)) return;

    bind_inputs(pending, scope_);
    take_known_inputs(pending);
    if (join_branch(pending)) return;
    bind_attributes(pending, scope_);
    import_nested(pending);
    if (pending.can_be_inferred()) infer_results(pending, scope_);
    if (pending.is_refused() && !session_.options.keep_unknown)
        throw Error(pending.where, pending.problem, pending.hint);
    if (!pending.can_be_inferred()) {
        declare_results(pending, scope_);
        return add_call(pending, {}, scope_);
    }
    const std::vector<Tensor> values = folded_results(pending, draft_);
    if (!values.empty() && session_.options.fold)
        add_constants(pending, values, scope_);
    else
        add_call(pending, values, scope_);
}

Graph GraphImporter::finish(const std::string& name, const std::vector<NodeRef>& captured) {
    GraphDraft::Finished finished = draft_.finish(name, captured);
    for (const std::string& call : finished.unknown) session_.unknown.push_back(scope_.prefix + call);
    // A part that no result needs is none of the file's: nothing stops there.
    for (const std::string& call : finished.dropped)
        std::erase_if(session_.breaks, [&](const Break& found) { return found.node == scope_.prefix + call; });
    return std::move(finished.graph);
}

}  // namespace whittle::onnx_proto

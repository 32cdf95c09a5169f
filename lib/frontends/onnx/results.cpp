#include "frontends/onnx/results.h"

#include <algorithm>
#include <set>

#include "base/words.h"
#include "frontends/onnx/bind.h"
#include "graph/placement.h"
#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "ops/core/known.h"
#include "tensor/opaque_types.h"

namespace whittle::onnx_proto {
namespace {

ValueMeta declared_meta(const std::string& name, Scope& scope) {
    const auto found = scope.top().declared.find(name);
    if (found == scope.top().declared.end()) return unknown_meta();
    const onnx::TypeProto& type = *found->second;
    if (!type.has_tensor_type()) return unknown_meta(type_text(type));
    const int code = type.tensor_type().elem_type();
    const auto dtype = dtype_from_onnx(code);
    const auto opaque = opaque_type_from_onnx(code);
    const auto sizes = dtype || opaque ? declared_sizes(type, scope.session.dims) : std::nullopt;
    if (!sizes) return unknown_meta();
    return dtype ? ValueMeta::contiguous(*dtype, *sizes) : opaque_meta(opaque->name, *sizes);
}

/// The results of an expansion that are constants whatever the operands' data; empty unless all are.
std::vector<Tensor> attribute_outputs(const Graph& expansion) {
    std::vector<Tensor> values;
    for (const NodeId id : expansion.outputs()) {
        const Node& result = expansion.nodes[static_cast<std::size_t>(id)];
        if (result.kind != NodeKind::get_attr) return {};
        values.push_back(expansion.attributes.at(result.target));
    }
    return values;
}

/// The constant among the call's operands that is the value, as of an Identity.
std::optional<NodeRef> same_operand(const Node& call, const Tensor& value, const Graph& graph) {
    std::optional<NodeRef> same;
    for_each_input(call, [&](NodeRef ref) {
        const Node& operand = graph.node(ref);
        if (operand.kind != NodeKind::get_attr) return;
        const Tensor& tensor = graph.attributes.at(operand.target);
        if (tensor.raw() == value.raw() && value.numel() > 0 && ValueMeta::of(tensor) == ValueMeta::of(value))
            same = ref;
    });
    return same;
}

/// The model's inputs that decide the value, which the node is refused for.
std::vector<std::string> inputs_deciding(PendingNode& pending, NodeRef value, const Scope& scope) {
    scope.session.body_needs_constant |= scope.draft.is_nested();
    if (scope.draft.is_nested()) return {};
    std::vector<std::string> names = scope.draft.inputs_behind(value, kFoldedElements);
    if (names.empty()) return {};
    pending.problem += "; the computed value depends on the value of the input " + in_quotes(join(names, "', '"));
    pending.hint = "give the value of this input with --input";
    return names;
}

/// As want_constant(), for the call alone: what else reads the inputs need not know their values.
void want_for_call(PendingNode& pending, NodeRef value, Scope& scope) {
    for (const std::string& name : inputs_deciding(pending, value, scope)) {
        std::set<std::string>& calls = scope.session.wanted_by[name];
        calls.insert(call_name(pending, scope));
        for (std::string& call : scope.draft.calls_behind(value)) calls.insert(std::move(call));
    }
}

}  // namespace

void want_constant(PendingNode& pending, NodeRef value, const Scope& scope) {
    const std::vector<std::string> names = inputs_deciding(pending, value, scope);
    scope.session.wanted.insert(names.begin(), names.end());
}

void infer_results(PendingNode& pending, Scope& scope) {
    Node& call = pending.call;
    const GraphDraft& draft = scope.draft;
    try {
        if (pending.op->def->infer) {
            call.results = infer(draft.graph(), call);
        } else {
            pending.expansion = expand(draft.graph(), call, [&](NodeRef ref) { return draft.known(ref); });
            const Graph& graph = pending.expansion->graph;
            for (const NodeId id : graph.outputs()) call.results.push_back(graph.node({id}).meta());
        }
        for (const ValueMeta& meta : call.results) element_count(meta.sizes);
        const auto found = static_cast<std::size_t>(pending.outputs), known = call.results.size();
        if (found > known || (pending.op->schema.returns.front().list && found != known))
            throw Error("found " + std::to_string(found) + " outputs, expected " + std::to_string(known));
    } catch (const NeedsConstant& error) {
        pending.refuse(error.message(), error.hint());
        const std::vector<Param>& params = pending.op->schema.params;
        const auto param = std::ranges::find(params, error.operand(), &Param::name);
        const auto position = static_cast<std::size_t>(param - params.begin());
        if (position < call.args.size() && call.args[position].node())
            want_for_call(pending, *call.args[position].node(), scope);
    } catch (const Error& error) {
        const std::string& inner = error.where().position;
        pending.refuse((inner.empty() ? "" : inner + ": ") + error.message(), error.hint());
    }
}

void declare_results(PendingNode& pending, Scope& scope) {
    pending.call.results.clear();
    for (int i = 0; i < pending.outputs; ++i) {
        const std::string& output = pending.proto.output(i);
        // One without a name nobody reads.
        const ValueMeta meta = output.empty() ? ValueMeta() : declared_meta(output, scope);
        if (is_unknown(meta) && !pending.opaque.empty() && !pending.op && !scope.session.options.keep_unknown)
            throw Error(pending.where,
                        pending.opaque + ", and the file does not declare the type of the output " + in_quotes(output) +
                            ", expected an element type and fixed sizes",
                        "infer the types with onnx.shape_inference, or with ONNX Runtime's symbolic_shape_infer.py for "
                        "ONNX Runtime's own ops; to set dynamic sizes, use --dim");
        pending.call.results.push_back(meta);
    }
    scope.session.opaque_calls |= !pending.opaque.empty();
    if (pending.is_refused())
        scope.session.breaks.push_back(
            {pending.problem, scope.prefix + call_name(pending, scope), pending.call.target, pending.opset});
}

std::vector<Tensor> folded_results(const PendingNode& pending, const GraphDraft& draft) {
    if (pending.expansion)
        if (std::vector<Tensor> values = attribute_outputs(pending.expansion->graph); !values.empty()) return values;
    const auto is_large = [](const ValueMeta& meta) { return meta.numel() > kFoldedElements; };
    if (std::ranges::any_of(pending.call.results, is_large)) return {};
    const auto known = [&](NodeRef ref) { return draft.known(ref); };
    bool small = true;
    for_each_input(pending.call, [&](NodeRef ref) { small &= known(ref) && known(ref)->numel() <= kFoldedElements; });
    if (!small) return {};
    return pending.expansion ? constant_results(*pending.expansion)
                             : constant_results(draft.graph(), pending.call, known);
}

void add_constants(PendingNode& pending, const std::vector<Tensor>& values, Scope& scope) {
    ++scope.session.folded[pending.call.target];
    for (int i = 0; i < pending.outputs; ++i) {
        const std::string& output = pending.proto.output(i);
        if (output.empty()) continue;
        const Tensor dense =
            values[static_cast<std::size_t>(i)].contiguous();  // whatever the strides of dimensions of 1
        const Tensor value = dense.as_strided(dense.sizes(), contiguous_strides(dense.sizes()), dense.offset());
        const std::optional<NodeRef> same = same_operand(pending.call, value, scope.draft.graph());
        const std::string& name = result_name(pending, i, scope);
        scope.top().values[output] = same ? *same : scope.draft.add_constant(name, name, value);
    }
}

void add_call(PendingNode& pending, const std::vector<Tensor>& values, Scope& scope) {
    GraphDraft& draft = scope.draft;
    Scope::Frame& frame = scope.top();
    const auto facts = [&](std::size_t result) {
        return NodeFacts{.value = result < values.size() ? std::optional(values[result]) : std::nullopt};
    };
    const bool several = pending.call.results.size() != 1;
    pending.call.name = several ? call_name(pending, scope) : result_name(pending, 0, scope);
    if (!several) {
        frame.values[pending.proto.output(0)] = draft.append(std::move(pending.call), facts(0));
        return;
    }
    const NodeRef ref = draft.append(std::move(pending.call));
    for (int i = 0; i < pending.outputs; ++i) {
        const std::string& output = pending.proto.output(i);
        if (output.empty() || frame.read.count(output) == 0) continue;
        Node item = getitem(ref, i, draft.node(ref));
        item.name = result_name(pending, i, scope);
        frame.values[output] = draft.append(std::move(item), facts(static_cast<std::size_t>(i)));
    }
}

}  // namespace whittle::onnx_proto

#include "frontends/onnx/bind.h"

#include <algorithm>

#include "base/words.h"
#include "frontends/onnx/standard.h"
#include "graph/placement.h"

namespace whittle::onnx_proto {
namespace {

bool is_identifier(const std::string& text) { return !text.empty() && std::ranges::all_of(text, is_word); }

/// An op's name must be one that printed graphs can hold.
void check_op_name(const onnx::NodeProto& node, const Location& where) {
    const auto dotted = [](char c) { return is_word(c) || c == '.'; };
    if (!is_identifier(node.op_type()))
        throw Error(where,
                    "found the op name " + in_quotes(node.op_type()) + ", expected only letters, digits and '_'");
    if (!std::ranges::all_of(node.domain(), dotted))
        throw Error(where,
                    "found the domain " + in_quotes(node.domain()) + ", expected only letters, digits, '_' and '.'");
}

template <class Field>
ArgList list_of(const Field& field) {
    ArgList list;
    for (const auto value : field) {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, float>)
            list.emplace_back(static_cast<double>(value));
        else
            list.emplace_back(static_cast<std::int64_t>(value));
    }
    return list;
}

}  // namespace

const std::string& result_name(const PendingNode& pending, int output, Scope& scope) {
    return scope.top().identifiers.at(pending.proto.output(output));
}

const std::string& call_name(const PendingNode& pending, Scope& scope) {
    const std::string& several = scope.top().call_names.at(static_cast<std::size_t>(pending.position));
    return several.empty() ? result_name(pending, pending.outputs - 1, scope) : several;
}

PendingNode start(onnx::NodeProto& node, int position, const Scope& scope) {
    Location where{scope.session.file, scope.prefix + place_of(node, position)};
    check_op_name(node, where);
    const std::string domain = domain_of(node.domain());
    const auto import = scope.session.opsets.find(domain);
    if (import == scope.session.opsets.end())
        throw Error(where, "found the op domain " + in_quotes(node.domain()) + ", which the model does not import",
                    "add the domain to the opset imports of the model");
    int outputs = node.output_size();
    while (outputs > 0 && node.output(outputs - 1).empty()) --outputs;
    if (outputs == 0) throw Error(where, "found no output, expected at least one output");
    const std::string target = target_of(node);
    PendingNode pending{node, position, where, domain, import->second, Registry::instance().op(target), outputs};
    pending.call.target = target;
    pending.call.module_path = checked_text(node.name(), where, "the node's name");
    return pending;
}

bool is_constant(const PendingNode& pending) { return pending.proto.op_type() == "Constant" && pending.domain.empty(); }

void check_op(PendingNode& pending, const LoadOptions& options) {
    const std::string& target = pending.call.target;
    const Verdict verdict = judge(pending.proto, pending.domain, pending.opset);
    const std::string version = " (opset " + std::to_string(pending.opset) + " of " +
                                (pending.domain.empty() ? "ai.onnx" : pending.domain) + ")";
    if (!verdict.misfit.empty()) return pending.refuse(verdict.misfit + version, verdict.hint);
    if (pending.op || is_constant(pending) || onnx_sequence_op(target)) {
        if (!verdict.known_op) pending.refuse("the op " + target + " is not part of the standard" + version);
        return;
    }
    const std::string unknown =
        (verdict.known_op ? "Whittle does not support the op " + target + " yet" : "found the unknown op " + target) +
        version;
    if (options.opaque)
        pending.opaque = unknown;
    else
        pending.refuse(
            unknown,
            verdict.known_op ? "" : "check the name and the opset: the op is not part of the standard at this version");
}

void bind_constant(PendingNode& pending, Scope& scope) {
    if (pending.proto.attribute_size() != 1)
        throw Error(pending.where,
                    "found " + std::to_string(pending.proto.attribute_size()) +
                        " attributes of a constant, expected exactly one: value, value_float, value_int …");
    onnx::AttributeProto& attribute = *pending.proto.mutable_attribute(0);
    const std::string& name = result_name(pending, 0, scope);
    OnnxValue& result = scope.top().values[pending.proto.output(0)];
    const auto held = [&](onnx::TensorProto& tensor) {
        result = add_tensor(scope.draft, name, name, tensor, scope.session.external, pending.where);
    };
    Tensor value;
    switch (attribute.type()) {
        case onnx::AttributeProto::TENSOR:
            return held(*attribute.mutable_t());
        case onnx::AttributeProto::STRING:
        case onnx::AttributeProto::STRINGS: {
            onnx::TensorProto strings;
            strings.set_data_type(onnx::TensorProto::STRING);
            if (attribute.type() == onnx::AttributeProto::STRINGS)
                strings.add_dims(attribute.strings_size());
            else
                strings.add_string_data(attribute.s());
            for (const std::string& text : attribute.strings()) strings.add_string_data(text);
            return held(strings);
        }
        case onnx::AttributeProto::FLOAT:
            value = Tensor::of(std::vector<float>{attribute.f()}, {});
            break;
        case onnx::AttributeProto::FLOATS:
            value = Tensor::of(std::vector<float>(attribute.floats().begin(), attribute.floats().end()),
                               {attribute.floats_size()});
            break;
        case onnx::AttributeProto::INT:
            value = Tensor::of(std::vector<std::int64_t>{attribute.i()}, {});
            break;
        case onnx::AttributeProto::INTS:
            value = Tensor::of(std::vector<std::int64_t>(attribute.ints().begin(), attribute.ints().end()),
                               {attribute.ints_size()});
            break;
        default:
            throw Error(pending.where, "found a constant whose value is in the attribute " +
                                           in_quotes(attribute.name()) +
                                           ", expected an attribute with numbers or a dense tensor");
    }
    result = scope.draft.add_constant(name, name, std::move(value));
}

namespace {

/// The inputs up to the last that is there.
struct Operands {
    ArgList args = {};
    std::vector<std::optional<DType>> dtypes = {};  ///< nothing where they are not known

    void add(Arg arg = {}, std::optional<DType> dtype = {}) {
        args.push_back(std::move(arg));
        dtypes.push_back(dtype);
    }
};

/// Whittle does not compute with such an operand; a backend may. Where breaks are reported, it is one.
void read_opaque(PendingNode& pending, const std::string& name, const ValueMeta& meta, const Scope& scope) {
    const std::string& elements = meta.placement->elements;
    const std::string found = "found " + (elements == "string" ? "strings" : elements + " elements") +
                              " as the input " + in_quotes(name) + ", expected numbers";
    if (scope.session.options.opaque && !scope.session.options.keep_unknown && pending.op)
        pending.opaque = found;
    else
        pending.refuse(found);
}

Operands read_operands(PendingNode& pending, Scope& scope) {
    const GraphDraft& draft = scope.draft;
    Operands operands;
    for (const std::string& name : pending.proto.input()) {
        const std::optional<OnnxValue> operand = name.empty() ? std::nullopt : std::optional(scope.value(name));
        if (operand && !operand->is_tensor())
            pending.refuse("found " + std::string(kind_name(*operand)) + " " + in_quotes(name) +
                           " as an input, expected a tensor");
        if (!operand || !operand->is_tensor()) {
            operands.add();
            continue;
        }
        const NodeRef ref = operand->nodes[0];
        pending.unknown_operand |= draft.unknown(ref);
        if (const ValueMeta& meta = draft.node(ref).meta(); is_opaque(meta)) read_opaque(pending, name, meta, scope);
        operands.add(ref, draft.unknown(ref) ? std::nullopt : std::optional(draft.node(ref).meta().dtype));
    }
    while (!operands.args.empty() && operands.args.back().is_none()) {
        operands.args.pop_back();
        operands.dtypes.pop_back();
    }
    return operands;
}

/// The operands as the arguments of the op's schema, which has its own order and lists.
void bind_to_schema(PendingNode& pending, ArgList flat) {
    const Schema& schema = pending.op->schema;
    if (const auto order = operand_order(schema, pending.proto.op_type(), pending.domain, pending.opset);
        flat.size() <= order.size()) {
        ArgList placed;
        for (std::size_t i = 0; i < flat.size(); ++i) {
            placed.resize(std::max(placed.size(), order[i] + 1));
            placed[order[i]] = std::move(flat[i]);
        }
        flat = std::move(placed);
    }
    ArgList& args = pending.call.args;
    std::size_t next = 0, given = 0;  // the arguments up to `given` say something
    for (const Param& param : schema.params) {
        if (param.keyword_only) break;
        if (param.type == ParamType::tensor_list) {
            args.emplace_back(ArgList(flat.begin() + static_cast<std::ptrdiff_t>(next), flat.end()));
            if (next < flat.size() || !param.default_value) given = args.size();
            next = flat.size();
        } else {
            args.push_back(next < flat.size() ? flat[next++] : Arg());
            if (!args.back().is_none()) given = args.size();
        }
    }
    args.resize(given);
    if (next < flat.size())
        pending.refuse("found " + std::to_string(flat.size()) + " inputs, expected at most " + std::to_string(next) +
                       " inputs");
}

std::optional<Arg> attribute_value(PendingNode& pending, onnx::AttributeProto& attribute, Scope& scope) {
    const std::string of_attribute = "attribute " + attribute.name();
    switch (attribute.type()) {
        case onnx::AttributeProto::FLOAT:
            return Arg(static_cast<double>(attribute.f()));
        case onnx::AttributeProto::INT:
            return Arg(static_cast<std::int64_t>(attribute.i()));
        case onnx::AttributeProto::STRING:
            return Arg(checked_text(attribute.s(), pending.where, of_attribute));
        case onnx::AttributeProto::FLOATS:
            return Arg(list_of(attribute.floats()));
        case onnx::AttributeProto::INTS:
            return Arg(list_of(attribute.ints()));
        case onnx::AttributeProto::STRINGS: {
            ArgList list;
            for (const std::string& text : attribute.strings())
                list.emplace_back(checked_text(text, pending.where, of_attribute));
            return Arg(std::move(list));
        }
        case onnx::AttributeProto::TENSOR: {
            const Location where{pending.where.file, pending.where.position + ", " + of_attribute};
            const std::string name =
                scope.draft.names().take(result_name(pending, pending.outputs - 1, scope) + "_" + attribute.name());
            return Arg(add_tensor(scope.draft, name, name, *attribute.mutable_t(), scope.session.external, where));
        }
        case onnx::AttributeProto::GRAPH:
            return std::nullopt;
        default:
            pending.refuse("found attribute " + in_quotes(attribute.name()) + " of type " +
                           onnx::AttributeProto::AttributeType_Name(attribute.type()) +
                           ", expected an attribute with numbers, strings, a dense tensor or a graph");
            return std::nullopt;
    }
}

/// Why the call cannot have the attribute; empty when it can.
std::string attribute_misfit(const PendingNode& pending, const onnx::AttributeProto& attribute, bool ours) {
    const std::string quoted = in_quotes(attribute.name());
    const Param* param = pending.op ? pending.op->schema.param(attribute.name()) : nullptr;
    if (!is_identifier(attribute.name()))
        return "found the attribute " + quoted + ", expected a name of letters, digits and '_'";
    if (ours || (pending.op && (!param || !param->keyword_only)))
        return "Whittle does not support the attribute " + quoted + " of " + pending.call.target + " (opset " +
               std::to_string(pending.opset) + ")";
    if (pending.call.kwarg(attribute.name())) return "found the attribute " + quoted + " twice";
    if (!attribute.ref_attr_name().empty())
        return "found a reference to an attribute of a function as the value of " + quoted +
               ", expected a value: only nodes of functions may contain such a reference";
    return {};
}

}  // namespace

void bind_inputs(PendingNode& pending, Scope& scope) {
    Operands operands = read_operands(pending, scope);
    if (!pending.is_refused() && pending.opaque.empty())
        pending.problem = type_misfit(pending.proto.op_type(), pending.domain, pending.opset, operands.dtypes);
    if (pending.op)
        bind_to_schema(pending, std::move(operands.args));
    else
        pending.call.args = std::move(operands.args);
}

void bind_attributes(PendingNode& pending, Scope& scope) {
    for (onnx::AttributeProto& attribute : *pending.proto.mutable_attribute()) {
        const std::string& name = attribute.name();
        const bool ours = name == "num_outputs" || name == "captured";
        if (ours && has_attribute(pending.proto.op_type(), pending.domain, pending.opset, name)) {
            if (attribute.i() != pending.outputs)
                pending.refuse("found num_outputs=" + std::to_string(attribute.i()) + ", expected num_outputs=" +
                               std::to_string(pending.outputs) + ", the number of named outputs");
            continue;  // our own says it
        }
        if (std::string misfit = attribute_misfit(pending, attribute, ours); !misfit.empty())
            pending.refuse(std::move(misfit));
        else if (std::optional<Arg> value = attribute_value(pending, attribute, scope))
            pending.call.kwargs.emplace_back(name, std::move(*value));
    }
    if (pending.op && pending.op->schema.param("num_outputs") && pending.outputs > 1)
        pending.call.kwargs.emplace_back("num_outputs", pending.outputs);
}

}  // namespace whittle::onnx_proto

// How one ONNX node becomes a call, a constant, or the nodes of its branch.
#include <algorithm>

#include "frontends/onnx/importer.h"
#include "frontends/onnx/standard.h"
#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "ops/core/known.h"
#include "ops/onnx/control.h"

namespace whittle::onnx_proto {

namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// An op's name must be one that printed graphs can hold.
void check_op_name(const onnx::NodeProto& node, const Location& where) {
    const auto dotted = [](char c) { return is_word(c) || c == '.'; };
    if (node.op_type().empty() || !std::all_of(node.op_type().begin(), node.op_type().end(), is_word))
        throw Error(where,
                    "found the op " + in_quotes(node.op_type()) + ", expected a name of letters, digits and '_'");
    if (!std::all_of(node.domain().begin(), node.domain().end(), dotted))
        throw Error(where, "found the domain " + in_quotes(node.domain()) + ", expected letters, digits, '_' and '.'");
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

std::int64_t largest(const std::vector<ValueMeta>& metas) {
    std::int64_t result = 0;
    for (const ValueMeta& meta : metas) result = std::max(result, meta.numel());
    return result;
}

}  // namespace

GraphImporter::Pending GraphImporter::start(onnx::NodeProto& node, int position) {
    Location where{session_.file, prefix_ + place_of(node, position)};
    check_op_name(node, where);
    const std::string domain = domain_of(node.domain());
    const auto import = session_.opsets.find(domain);
    if (import == session_.opsets.end())
        throw Error(where,
                    "found an op of the domain " + in_quotes(node.domain()) + ", which the model does not import");
    int outputs = node.output_size();
    while (outputs > 0 && node.output(outputs - 1).empty()) --outputs;
    if (outputs == 0) throw Error(where, "found no output, expected one at least");
    const std::string target = (domain.empty() ? "onnx" : domain) + "." + node.op_type();
    Pending pending{node, position, where, domain, import->second, Registry::instance().op(target), outputs};
    pending.call.target = target;
    pending.call.module_path = checked_text(node.name(), where, "the node's name");
    return pending;
}

void GraphImporter::import_nodes(onnx::GraphProto& proto) {
    for (int i = 0; i < proto.node_size(); ++i) import_node(*proto.mutable_node(i), i);
}

void GraphImporter::import_node(onnx::NodeProto& node, int position) {
    Pending pending = start(node, position);
    const Verdict verdict = judge(node, pending.domain, pending.opset);
    const bool constant = node.op_type() == "Constant" && pending.domain.empty();
    const std::string version =
        "opset " + std::to_string(pending.opset) + " of " + (pending.domain.empty() ? "ai.onnx" : pending.domain);
    if (!verdict.misfit.empty()) {
        pending.problem = verdict.misfit + " (" + version + ")";
        pending.hint = verdict.hint;
    } else if (!pending.op && !constant && !onnx_sequence_op(pending.call.target)) {
        pending.problem = verdict.known_op ? "Whittle does not know the op " + pending.call.target + " yet"
                                           : "found the unknown op " + pending.call.target;
        pending.problem += " (" + version + ")";
        if (!verdict.known_op) pending.hint = "the op is not part of the standard at this version";
        if (session_.options.opaque) pending.opaque = std::exchange(pending.problem, {});
    } else if (!verdict.known_op) {
        pending.problem = "the op " + pending.call.target + " is not part of the standard (" + version + ")";
    }
    if (constant && pending.problem.empty()) return import_constant(pending);
    if (pending.problem.empty() && resolve_sequences(pending)) return;

    bind_inputs(pending);
    if (inline_branch(pending)) return;
    bind_attributes(pending);
    const bool infers = pending.opaque.empty() && !pending.unknown_operand;
    if (pending.problem.empty() && infers) infer_results(pending);
    if (!pending.problem.empty() && !session_.options.keep_unknown)
        throw Error(pending.where, pending.problem, pending.hint);
    std::vector<Tensor> values;
    if (!pending.problem.empty() || !infers)
        state_results(pending);
    else
        values = constant_results(pending);
    if (!values.empty() && session_.options.fold) return fold(pending, values);
    add_call(pending);
    for (std::size_t i = 0; i < values.size() && i < static_cast<std::size_t>(pending.outputs); ++i)
        if (const auto result = frames_.back().values.find(pending.proto.output(static_cast<int>(i)));
            result != frames_.back().values.end())
            unfolded_[result->second.nodes.at(0).id] = values[i];
}

/// The standard's only node without inputs that is a value: it becomes what an initializer becomes.
void GraphImporter::import_constant(Pending& pending) {
    if (pending.proto.attribute_size() != 1)
        throw Error(pending.where, "found " + std::to_string(pending.proto.attribute_size()) +
                                       " attributes, expected one of value, value_float, value_int …");
    onnx::AttributeProto& attribute = *pending.proto.mutable_attribute(0);
    const std::string& name = result_name(pending, 0);
    OnnxValue& result = frames_.back().values[pending.proto.output(0)];
    const bool strings = attribute.type() == onnx::AttributeProto::STRING ||
                         attribute.type() == onnx::AttributeProto::STRINGS ||
                         attribute.t().data_type() == onnx::TensorProto::STRING;
    if (strings && session_.options.keep_unknown) return static_cast<void>(result = add_strings(name, name));
    Tensor value;
    switch (attribute.type()) {
        case onnx::AttributeProto::TENSOR:
            value = take_tensor(*attribute.mutable_t(), session_.external, pending.where);
            break;
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
            throw Error(pending.where, "found a constant given by " + in_quotes(attribute.name()) +
                                           ", expected numbers or a dense tensor");
    }
    result = add_constant(name, name, std::move(value));
}

const std::string& GraphImporter::result_name(const Pending& pending, int output) {
    return frames_.back().identifiers.at(pending.proto.output(output));
}

void GraphImporter::bind_inputs(Pending& pending) {
    ArgList flat;
    std::vector<std::optional<DType>> dtypes;
    for (const std::string& name : pending.proto.input()) {
        if (name.empty()) {
            flat.emplace_back();
            dtypes.emplace_back();
            continue;
        }
        const OnnxValue operand = value(name);
        if (!operand.is_tensor()) {
            if (pending.problem.empty())
                pending.problem = "found " + std::string(kind_name(operand)) + " " + in_quotes(name) +
                                  " as an input, expected a tensor";
            flat.emplace_back();
            dtypes.emplace_back();
            continue;
        }
        const NodeRef ref = operand.nodes[0];
        flat.emplace_back(ref);
        pending.unknown_operand |= unknown(ref);
        if (strings_.contains(ref.id) && pending.problem.empty())
            pending.problem = "found strings as the input " + in_quotes(name) + ", expected numbers";
        dtypes.emplace_back(unknown(ref) ? std::nullopt : std::optional(graph_.node(ref).meta().dtype));
    }
    while (!flat.empty() && flat.back().is_none()) {
        flat.pop_back();
        dtypes.pop_back();
    }
    if (pending.problem.empty() && pending.opaque.empty())
        pending.problem = type_misfit(pending.proto, pending.domain, pending.opset, dtypes);
    if (!pending.op) {
        pending.call.args = std::move(flat);
        return;
    }
    if (const auto order = operand_order(pending.op->schema, pending.proto.op_type(), pending.domain, pending.opset);
        flat.size() <= order.size()) {
        ArgList placed;
        for (std::size_t i = 0; i < flat.size(); ++i) {
            placed.resize(std::max(placed.size(), order[i] + 1));
            placed[order[i]] = std::move(flat[i]);
        }
        flat = std::move(placed);
    }
    std::size_t next = 0, given = 0;  // the arguments up to `given` say something
    for (const Param& param : pending.op->schema.params) {
        if (param.keyword_only) break;
        if (param.type == ParamType::tensor_list) {
            pending.call.args.emplace_back(ArgList(flat.begin() + static_cast<std::ptrdiff_t>(next), flat.end()));
            if (next < flat.size() || !param.default_value) given = pending.call.args.size();
            next = flat.size();
        } else {
            pending.call.args.push_back(next < flat.size() ? flat[next++] : Arg());
            if (!pending.call.args.back().is_none()) given = pending.call.args.size();
        }
    }
    pending.call.args.resize(given);
    if (next < flat.size() && pending.problem.empty())
        pending.problem = "found " + std::to_string(flat.size()) + " inputs, expected at most " + std::to_string(next);
}

void GraphImporter::bind_attributes(Pending& pending) {
    for (onnx::AttributeProto& attribute : *pending.proto.mutable_attribute()) {
        const std::string& name = attribute.name();
        const Param* param = pending.op ? pending.op->schema.param(name) : nullptr;
        const bool synthetic = name == "num_outputs" || name == "captured";
        if (synthetic && onnx_proto::has_attribute(pending.proto.op_type(), pending.domain, pending.opset, name)) {
            if (attribute.i() != pending.outputs && pending.problem.empty())
                pending.problem = "found num_outputs " + std::to_string(attribute.i()) + " and " +
                                  std::to_string(pending.outputs) + " outputs with names, expected equal numbers";
            continue;  // our own says it
        }
        std::string problem;
        if (name.empty() || !std::all_of(name.begin(), name.end(), is_word))
            problem = "found the attribute " + in_quotes(name) + ", expected a name of letters, digits and '_'";
        else if (synthetic || (pending.op && (!param || !param->keyword_only)))
            problem = "Whittle does not know the attribute " + in_quotes(name) + " of " + pending.call.target +
                      " (opset " + std::to_string(pending.opset) + ")";
        else if (pending.call.kwarg(name))
            problem = "found the attribute " + in_quotes(name) + " twice";
        else if (!attribute.ref_attr_name().empty())
            problem = "found attribute " + in_quotes(name) + " as a reference, which only functions may have";
        if (!problem.empty()) {
            if (pending.problem.empty()) pending.problem = problem;
            continue;
        }
        if (std::optional<Arg> value = attribute_value(pending, attribute))
            pending.call.kwargs.emplace_back(name, std::move(*value));
    }
    if (pending.op && pending.op->schema.param("num_outputs") && pending.outputs > 1)
        pending.call.kwargs.emplace_back("num_outputs", pending.outputs);
    import_nested(pending);
}

std::optional<Arg> GraphImporter::attribute_value(Pending& pending, onnx::AttributeProto& attribute) {
    switch (attribute.type()) {
        case onnx::AttributeProto::FLOAT:
            return Arg(static_cast<double>(attribute.f()));
        case onnx::AttributeProto::INT:
            return Arg(static_cast<std::int64_t>(attribute.i()));
        case onnx::AttributeProto::STRING:
            return Arg(checked_text(attribute.s(), pending.where, "attribute " + attribute.name()));
        case onnx::AttributeProto::FLOATS:
            return Arg(list_of(attribute.floats()));
        case onnx::AttributeProto::INTS:
            return Arg(list_of(attribute.ints()));
        case onnx::AttributeProto::STRINGS: {
            ArgList list;
            for (const std::string& text : attribute.strings())
                list.emplace_back(checked_text(text, pending.where, "attribute " + attribute.name()));
            return Arg(std::move(list));
        }
        case onnx::AttributeProto::TENSOR: {
            const Location where{pending.where.file, pending.where.position + ", attribute " + attribute.name()};
            Tensor value = take_tensor(*attribute.mutable_t(), session_.external, where);
            const std::string name = names_.take(result_name(pending, pending.outputs - 1) + "_" + attribute.name());
            return Arg(add_constant(name, name, std::move(value)));
        }
        case onnx::AttributeProto::GRAPH:
            return std::nullopt;  // import_nested()
        default:
            if (pending.problem.empty())
                pending.problem = "found attribute " + in_quotes(attribute.name()) + " of type " +
                                  onnx::AttributeProto::AttributeType_Name(attribute.type()) +
                                  ", expected numbers, strings, a dense tensor or a graph";
            return std::nullopt;
    }
}

void GraphImporter::import_nested(Pending& pending) {
    if (!pending.problem.empty() || pending.unknown_operand) return;
    std::vector<std::pair<onnx::AttributeProto*, std::unique_ptr<GraphImporter>>> nested;
    for (onnx::AttributeProto& attribute : *pending.proto.mutable_attribute()) {
        if (attribute.type() != onnx::AttributeProto::GRAPH) continue;
        std::vector<ValueMeta> metas;
        try {
            metas = onnx_body_inputs(graph_, pending.call);
        } catch (const Error& error) {
            pending.problem = error.message();
            pending.hint = error.hint();
            return;
        }
        const std::string prefix = pending.where.position + ", " + attribute.name() + ": ";
        auto importer = std::make_unique<GraphImporter>(session_, *attribute.mutable_g(), this, prefix);
        const std::size_t count = importer->inputs().size();
        if (count != metas.size())
            throw Error(pending.where, "found a graph " + in_quotes(attribute.name()) + " with " +
                                           std::to_string(count) + " inputs, expected " + std::to_string(metas.size()));
        import_body(pending, *importer, metas);
        pending.unknown_operand |= importer->unknown_results();
        if (importer->lists_results()) {
            pending.problem = "found a graph " + in_quotes(attribute.name()) + " that gives a sequence or an optional" +
                              ", expected tensors unless a constant decides which graph runs";
            for (const Arg& arg : pending.call.args)
                if (arg.node()) want_constant(pending, *arg.node());
            return;
        }
        nested.emplace_back(&attribute, std::move(importer));
    }
    if (nested.empty()) return;
    std::vector<NodeRef> captured;
    for (const auto& [attribute, importer] : nested)
        for (const NodeRef ref : importer->captured())
            if (std::find(captured.begin(), captured.end(), ref) == captured.end()) captured.push_back(ref);
    const std::string& call_name = frames_.back().call_names.at(static_cast<std::size_t>(pending.position));
    for (const auto& [attribute, importer] : nested) {
        const std::string key =
            (call_name.empty() ? result_name(pending, pending.outputs - 1) : call_name) + "_" + attribute->name();
        const std::string& own = attribute->g().name();
        graph_.subgraphs[key] =
            std::make_shared<const Graph>(importer->finish(own.empty() ? key : identifier(own), captured));
        pending.call.kwargs.emplace_back(attribute->name(), GraphRef{key});
    }
    if (captured.empty()) return;
    ArgList list(captured.begin(), captured.end());
    for (const NodeRef ref : captured) pending.unknown_operand |= unknown(ref);
    pending.call.kwargs.emplace_back("captured", std::move(list));
}

bool GraphImporter::inline_branch(Pending& pending) {
    if (!pending.problem.empty() || pending.unknown_operand) return false;
    const std::optional<std::string> chosen = onnx_chosen_branch(graph_, pending.call);
    if (!chosen) return false;
    for (onnx::AttributeProto& attribute : *pending.proto.mutable_attribute()) {
        if (attribute.name() != *chosen || !attribute.has_g()) continue;
        onnx::GraphProto& branch = *attribute.mutable_g();
        if (branch.input_size() != 0 || branch.output_size() != pending.outputs) return false;  // infer reports it
        open_frame(branch);
        import_nodes(branch);
        std::vector<OnnxValue> results;
        for (const onnx::ValueInfoProto& output : branch.output()) results.push_back(value(output.name()));
        frames_.pop_back();
        ++session_.folded[pending.call.target];
        for (int i = 0; i < pending.outputs; ++i)
            frames_.back().values[pending.proto.output(i)] = results[static_cast<std::size_t>(i)];
        return true;
    }
    return false;
}

void GraphImporter::infer_results(Pending& pending) {
    Node& call = pending.call;
    try {
        if (pending.op->def->infer) {
            call.results = infer(graph_, call);
        } else {
            const Expansion expansion = expand(graph_, call, [this](NodeRef ref) { return known(ref); });
            for (const NodeId id : expansion.graph.outputs()) {
                const Node& result = expansion.graph.nodes[static_cast<std::size_t>(id)];
                call.results.push_back(result.meta());
                const bool constant = result.kind == NodeKind::get_attr;
                pending.constants.push_back(constant ? std::optional(expansion.graph.attributes.at(result.target))
                                                     : std::nullopt);
            }
        }
        for (const ValueMeta& meta : call.results) element_count(meta.sizes);
        const auto found = static_cast<std::size_t>(pending.outputs), known = call.results.size();
        if (found > known || (pending.op->schema.returns.front().list && found != known))
            throw Error("found " + std::to_string(found) + " outputs, expected " + std::to_string(known));
    } catch (const NeedsConstant& error) {
        pending.problem = error.message();
        pending.hint = error.hint();
        const std::vector<Param>& params = pending.op->schema.params;
        const auto param = std::ranges::find(params, error.operand(), &Param::name);
        const auto position = static_cast<std::size_t>(param - params.begin());
        if (position < call.args.size() && call.args[position].node())
            want_constant(pending, *call.args[position].node());
    } catch (const Error& error) {
        const std::string& inner = error.where().position;
        pending.problem = (inner.empty() ? "" : inner + ": ") + error.message();
        pending.hint = error.hint();
    }
}

/// Metas that cannot be inferred, as the file declares them.
void GraphImporter::state_results(Pending& pending) {
    pending.call.results.clear();
    bool all_known = true;
    for (int i = 0; i < pending.outputs; ++i) {
        ValueMeta meta;
        const auto declared = frames_.back().declared.find(pending.proto.output(i));
        const onnx::TypeProto* type = declared == frames_.back().declared.end() ? nullptr : declared->second;
        const auto sizes = type ? declared_sizes(*type, session_.dims, std::nullopt) : std::nullopt;
        const auto dtype = sizes ? dtype_from_onnx(type->tensor_type().elem_type()) : std::nullopt;
        if (dtype)
            meta = ValueMeta::contiguous(*dtype, *sizes);
        else if (!pending.proto.output(i).empty())  // else nobody reads it
            all_known = false;
        if (!all_known && !pending.opaque.empty())
            throw Error(pending.where,
                        pending.opaque + ", of which the file does not declare what " +
                            in_quotes(pending.proto.output(i)) + " is, expected an element type and fixed sizes",
                        "shape inference declares it: onnx.shape_inference, of ONNX Runtime's own ops its "
                        "symbolic_shape_infer.py; --dim sets dynamic sizes");
        pending.call.results.push_back(std::move(meta));
    }
    session_.opaque_calls |= !pending.opaque.empty();
    const bool is_break = !pending.problem.empty();
    pending.unknown_operand = !all_known;  // from here on: of the results
    if (!is_break) return;
    const std::string& several = frames_.back().call_names.at(static_cast<std::size_t>(pending.position));
    const std::string name = several.empty() ? result_name(pending, pending.outputs - 1) : several;
    session_.breaks.push_back({pending.problem, prefix_ + name, pending.call.target, pending.opset});
}

const Tensor* GraphImporter::known(NodeRef ref) const {
    const Node& node = graph_.node(ref);
    if (node.kind == NodeKind::get_attr) return &graph_.attributes.at(node.target);
    const auto found = unfolded_.find(ref.id);
    return found == unfolded_.end() ? nullptr : &found->second;
}

std::vector<Tensor> GraphImporter::constant_results(const Pending& pending) const {
    const Node& call = pending.call;
    std::vector<Tensor> values;
    for (const std::optional<Tensor>& constant : pending.constants)
        if (constant) values.push_back(*constant);
    if (values.size() == call.results.size() && !values.empty()) return values;
    const bool nested = std::any_of(call.kwargs.begin(), call.kwargs.end(), [](const auto& kwarg) {
        return std::holds_alternative<GraphRef>(kwarg.second.value);
    });
    if (nested || largest(call.results) > kFoldedElements) return {};
    return whittle::constant_results(graph_, call, [&](NodeRef ref) {
        const Tensor* const operand = known(ref);
        return operand && operand->numel() <= kFoldedElements ? operand : nullptr;
    });
}

void GraphImporter::fold(Pending& pending, const std::vector<Tensor>& values) {
    const Node& call = pending.call;
    ++session_.folded[call.target];
    for (int i = 0; i < pending.outputs; ++i) {
        const std::string& output = pending.proto.output(i);
        if (output.empty()) continue;
        const Tensor dense =
            values[static_cast<std::size_t>(i)].contiguous();  // whatever the strides of dimensions of 1
        const Tensor value = dense.as_strided(dense.sizes(), contiguous_strides(dense.sizes()), dense.offset());
        std::optional<NodeRef> same;  // an operand that is the result, as of an Identity
        for_each_input(call, [&](NodeRef ref) {
            const Node& operand = graph_.node(ref);
            if (operand.kind != NodeKind::get_attr) return;
            const Tensor& tensor = graph_.attributes.at(operand.target);
            if (tensor.raw() == value.raw() && value.numel() > 0 && ValueMeta::of(tensor) == ValueMeta::of(value))
                same = ref;
        });
        const std::string& name = result_name(pending, i);
        frames_.back().values[output] = same ? *same : add_constant(name, name, value);
    }
}

void GraphImporter::add_call(Pending& pending) {
    Node& call = pending.call;
    const std::string& several = frames_.back().call_names.at(static_cast<std::size_t>(pending.position));
    Frame& frame = frames_.back();
    if (call.results.size() == 1) {
        call.name = result_name(pending, 0);
        frame.values[pending.proto.output(0)] = append(std::move(call), pending.unknown_operand);
        return;
    }
    call.name = several;
    const NodeRef ref = append(std::move(call), pending.unknown_operand);
    for (int i = 0; i < pending.outputs; ++i) {
        const std::string& output = pending.proto.output(i);
        if (output.empty() || frame.read.count(output) == 0) continue;
        Node item = getitem(ref, i, graph_.node(ref));
        item.name = result_name(pending, i);
        frame.values[output] = append(std::move(item), pending.unknown_operand);
    }
}

}  // namespace whittle::onnx_proto

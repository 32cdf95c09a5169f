#include "frontends/onnx/importer.h"

#include <algorithm>

#include "base/suggest.h"
#include "frontends/onnx/standard.h"
#include "ops/core/interpreter.h"

namespace whittle::onnx_proto {

std::string domain_of(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

std::optional<Sizes> declared_sizes(const onnx::TypeProto& type, const std::map<std::string, std::int64_t>& dims,
                                    std::optional<std::int64_t> fallback) {
    if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
    Sizes sizes;
    for (const auto& dim : type.tensor_type().shape().dim()) {
        const auto named = dims.find(dim.dim_param());
        if (dim.has_dim_value() && dim.dim_value() >= 0)  // some exporters write -1 for a dynamic dimension
            sizes.push_back(dim.dim_value());
        else if (dim.has_dim_param() && named != dims.end())
            sizes.push_back(named->second);
        else if (fallback)
            sizes.push_back(*fallback);
        else
            return std::nullopt;
    }
    return sizes;
}

GraphImporter::GraphImporter(Session& session, onnx::GraphProto& proto, GraphImporter* outer, std::string prefix)
    : session_(session),
      proto_(proto),
      outer_(outer),
      prefix_(std::move(prefix)),
      names_(outer ? &outer->names_ : nullptr) {
    graph_.dialect = "onnx";
    graph_.opset_imports = session.opsets;
}

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
    std::vector<NodeRef> placeholders;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string target = checked_text(values[i]->name(), {session_.file, "an input"}, "the name");
        if (const auto constant = session_.constants.find(target); !outer_ && constant != session_.constants.end()) {
            placeholders.push_back(add_constant(names_.take(identifier(target)), target, constant->second));
            continue;
        }
        const bool strings =
            session_.options.keep_unknown && values[i]->type().tensor_type().elem_type() == onnx::TensorProto::STRING;
        placeholders.push_back(append({.kind = NodeKind::placeholder,
                                       .name = names_.take(identifier(target)),
                                       .target = target,
                                       .results = {metas[i]}},
                                      strings));
        if (strings) strings_.insert(placeholders.back().id);
    }
    open_frame(proto_);
    for (std::size_t i = 0; i < values.size(); ++i) frames_.back().values[values[i]->name()] = placeholders[i];
    import_nodes(proto_);
    for (const onnx::ValueInfoProto& output : proto_.output()) {
        const OnnxValue result = value(output.name());
        lists_results_ |= !result.is_tensor();
        results_.insert(results_.end(), result.nodes.begin(), result.nodes.end());
    }
}

void GraphImporter::open_frame(onnx::GraphProto& proto) {
    frames_.emplace_back();
    Frame& frame = frames_.back();
    for (const onnx::ValueInfoProto& info : proto.value_info()) frame.declared[info.name()] = &info.type();
    for (const onnx::ValueInfoProto& output : proto.output()) {
        frame.declared[output.name()] = &output.type();
        frame.read.insert(output.name());
    }
    for (const onnx::NodeProto& node : proto.node())
        for (std::string& name : session_.free_names.read_by(node)) frame.read.insert(std::move(name));
    import_initializers(proto);
    for (const onnx::NodeProto& node : proto.node()) {
        const std::string base = identifier(node.name().empty() ? node.op_type() : node.name());
        frame.call_names.push_back(several_results(node) ? names_.take(base) : std::string());
        for (const std::string& output : node.output())
            if (!output.empty()) frame.identifiers[output] = names_.take(identifier(output));
    }
}

bool GraphImporter::several_results(const onnx::NodeProto& node) const {
    const auto named =
        std::count_if(node.output().begin(), node.output().end(), [](const auto& o) { return !o.empty(); });
    const bool last_only = named == 1 && node.output(0).empty();  // the first results are there, without names
    const std::string domain = domain_of(node.domain());
    const RegisteredOp* op = Registry::instance().op((domain.empty() ? "onnx" : domain) + "." + node.op_type());
    return named > 1 || last_only || (op && op->schema.returns.size() > 1);
}

void GraphImporter::import_initializers(onnx::GraphProto& proto) {
    Frame& frame = frames_.back();
    for (onnx::TensorProto& initializer : *proto.mutable_initializer()) {
        if (frame.read.count(initializer.name()) == 0) continue;
        const Location where{session_.file, "initializer " + in_quotes(initializer.name())};
        const std::string onnx_name = initializer.name();
        const std::string target = checked_text(onnx_name, where, "the name");
        if (initializer.data_type() == onnx::TensorProto::STRING && session_.options.keep_unknown) {
            frame.values[onnx_name] = add_strings(names_.take(identifier(target)), target);
            continue;
        }
        Tensor value = take_tensor(initializer, session_.external, where);
        frame.values[onnx_name] = add_constant(names_.take(identifier(target)), target, std::move(value));
    }
}

NodeRef GraphImporter::append(Node node, bool unknown) {
    graph_.nodes.push_back(std::move(node));
    unknown_.push_back(unknown);
    return {static_cast<NodeId>(graph_.nodes.size() - 1)};
}

NodeRef GraphImporter::add_constant(const std::string& name, const std::string& target, Tensor value) {
    ValueMeta meta = ValueMeta::of(value);
    const bool added = graph_.attributes.emplace(target, std::move(value)).second;
    WHITTLE_CHECK(added, "two constants named " + target);
    return append({.kind = NodeKind::get_attr, .name = name, .target = target, .results = {std::move(meta)}});
}

NodeRef GraphImporter::add_strings(const std::string& name, const std::string& target) {
    const NodeRef ref = add_constant(name, target, Tensor(DType::f32, {0}));
    unknown_[static_cast<std::size_t>(ref.id)] = true;
    strings_.insert(ref.id);
    return ref;
}

OnnxValue GraphImporter::value(const std::string& name) {
    for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame)
        if (const auto found = frame->values.find(name); found != frame->values.end()) return found->second;
    WHITTLE_CHECK(outer_ != nullptr, "the ONNX value " + name + " is not defined");
    OnnxValue value = outer_->value(name);
    for (NodeRef& node : value.nodes) node = capture(*outer_, node);
    return value;
}

NodeRef GraphImporter::capture(GraphImporter& outer, NodeRef node) {
    if (const auto known = captured_.find(node.id); known != captured_.end()) return known->second;
    const Node source = outer.graph_.node(node);
    NodeRef here;
    if (source.kind == NodeKind::get_attr)
        here = add_constant(source.name, source.target, outer.graph_.attributes.at(source.target));
    else
        here = append(
            {.kind = NodeKind::placeholder, .name = source.name, .target = source.name, .results = {source.meta()}},
            outer.unknown(node));
    if (const Tensor* constant = outer.known(node); constant && source.kind != NodeKind::get_attr)
        unfolded_[here.id] = *constant;
    if (outer.strings_.contains(node.id)) {
        strings_.insert(here.id);
        unknown_[static_cast<std::size_t>(here.id)] = true;
    }
    return captured_[node.id] = here;
}

std::vector<NodeRef> GraphImporter::captured() const {
    std::unordered_map<NodeId, NodeId> outer_of;  // by placeholder here
    for (const auto& [outer, here] : captured_)
        if (graph_.node(here).kind == NodeKind::placeholder) outer_of[here.id] = outer;
    std::vector<NodeRef> result;
    const auto use = [&](NodeRef ref) {
        const auto found = outer_of.find(ref.id);
        if (found == outer_of.end()) return;
        result.push_back({found->second});
        outer_of.erase(found);
    };
    for (const Node& node : graph_.nodes) for_each_input(node, use);
    for (const NodeRef ref : results_) use(ref);
    return result;
}

std::vector<std::string> GraphImporter::inputs_behind(NodeRef value) const {
    std::vector<std::string> names;
    std::vector<NodeRef> open = {value};
    for (std::unordered_set<NodeId> seen; !open.empty();) {
        const NodeRef ref = open.back();
        open.pop_back();
        if (!seen.insert(ref.id).second) continue;
        const Node& node = graph_.node(ref);
        if (node.kind == NodeKind::placeholder) {
            if (node.meta().numel() > kFoldedElements) return {};  // data, not a description of sizes
            names.push_back(node.target);
        }
        for_each_input(node, [&](NodeRef input) { open.push_back(input); });
    }
    return names;
}

/// The sizes of the call's results depend on the value of an operand. Where inputs of the model decide that, the user
/// can give it.
void GraphImporter::want_constant(Pending& pending, NodeRef value) {
    session_.body_needs_constant |= outer_ != nullptr;
    if (outer_) return;
    const std::vector<std::string> names = inputs_behind(value);
    if (names.empty()) return;
    pending.problem += "; it depends on the value of input " + in_quotes(join(names, "', '"));
    pending.hint = "give that value with --input or --inputs";
    session_.wanted.insert(names.begin(), names.end());
}

bool GraphImporter::unknown_results() const {
    return std::any_of(results_.begin(), results_.end(), [&](NodeRef ref) { return unknown(ref); });
}

std::vector<bool> GraphImporter::wanted_nodes() const {
    std::vector<bool> wanted(graph_.nodes.size(), true);
    for (const NodeId id : parts_) wanted[static_cast<std::size_t>(id)] = false;
    const auto want = [&](NodeRef ref) { wanted[static_cast<std::size_t>(ref.id)] = true; };
    for (const NodeRef ref : results_) want(ref);
    for (std::size_t i = graph_.nodes.size(); i-- > 0;)
        if (wanted[i]) for_each_input(graph_.nodes[i], want);
    return wanted;
}

Graph GraphImporter::finish(const std::string& name, const std::vector<NodeRef>& captured) {
    std::vector<NodeId> order;
    std::unordered_set<NodeId> from_outside;
    for (const auto& [outer, here] : captured_) from_outside.insert(here.id);
    const auto is = [&](NodeId id, NodeKind kind) { return graph_.nodes[static_cast<std::size_t>(id)].kind == kind; };

    std::vector<NodeId> first_uses;
    std::unordered_set<NodeId> used;
    const auto use = [&](NodeRef ref) {
        if (used.insert(ref.id).second) first_uses.push_back(ref.id);
    };
    const std::vector<bool> wanted = wanted_nodes();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
        if (wanted[i]) for_each_input(graph_.nodes[i], use);
    for (const NodeRef ref : results_) use(ref);

    const auto count = static_cast<NodeId>(graph_.nodes.size());
    for (NodeId id = 0; id < count; ++id)
        if (is(id, NodeKind::placeholder) && from_outside.count(id) == 0) order.push_back(id);
    for (const NodeRef outer : captured) order.push_back(capture(*outer_, outer).id);
    for (const NodeId id : first_uses)
        if (is(id, NodeKind::get_attr)) order.push_back(id);
    for (NodeId id = 0; id < count; ++id)
        if (is(id, NodeKind::call) && wanted[static_cast<std::size_t>(id)]) order.push_back(id);

    Graph result;
    result.name = name;
    result.dialect = graph_.dialect;
    result.opset_imports = graph_.opset_imports;
    result.subgraphs = std::move(graph_.subgraphs);
    std::vector<NodeRef> moved(graph_.nodes.size());
    const auto at_new = [&](NodeRef ref) { return Arg(moved[static_cast<std::size_t>(ref.id)]); };
    for (const NodeId id : order) {
        Node node = map_inputs(graph_.nodes[static_cast<std::size_t>(id)], at_new);
        if (node.kind == NodeKind::get_attr) result.attributes[node.target] = graph_.attributes.at(node.target);
        if (unknown({id}) && node.kind == NodeKind::call) session_.unknown.push_back(prefix_ + node.name);
        moved[static_cast<std::size_t>(id)] = {static_cast<NodeId>(result.nodes.size())};
        result.nodes.push_back(std::move(node));
    }
    Node output{.kind = NodeKind::output, .name = names_.take("output")};
    for (const NodeRef ref : results_) output.args.emplace_back(moved[static_cast<std::size_t>(ref.id)]);
    result.nodes.push_back(std::move(output));
    return result;
}

}  // namespace whittle::onnx_proto

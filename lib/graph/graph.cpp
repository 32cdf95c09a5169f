#include "graph/graph.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>

#include "base/error.h"
#include "base/number_text.h"
#include "base/words.h"

namespace whittle {

ValueMeta ValueMeta::contiguous(DType dtype, Sizes sizes) {
    Strides strides = contiguous_strides(sizes);
    return {dtype, std::move(sizes), std::move(strides), false};
}

ValueMeta ValueMeta::of(const Tensor& tensor) {
    return {tensor.dtype(), tensor.sizes(), tensor.strides(), tensor.requires_grad()};
}

Arg::Arg(const Scalar& v) {
    if (v.is_floating())
        value = v.to_double();
    else if (v.is_integer())
        value = v.to_integer();
    else
        value = v.to_bool();
}

Arg Arg::ints(const std::vector<std::int64_t>& values) { return ArgList(values.begin(), values.end()); }

bool Arg::operator==(const Arg& other) const {
    const double* a = std::get_if<double>(&value);
    const double* b = std::get_if<double>(&other.value);
    if (!a || !b) return value == other.value;
    return (std::isnan(*a) && std::isnan(*b)) || std::bit_cast<std::uint64_t>(*a) == std::bit_cast<std::uint64_t>(*b);
}

std::string_view name(NodeKind kind) {
    static constexpr std::string_view kNames[] = {"placeholder", "get_attr", "call", "output"};
    return kNames[static_cast<std::size_t>(kind)];
}

const Arg* Node::kwarg(std::string_view key) const {
    for (const auto& [name, arg] : kwargs)
        if (name == key) return &arg;
    return nullptr;
}

const Node* Graph::find(std::string_view node_name) const {
    for (const Node& node : nodes)
        if (node.name == node_name) return &node;
    return nullptr;
}

namespace {

std::vector<NodeId> of_kind(const Graph& graph, NodeKind kind) {
    std::vector<NodeId> ids;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (graph.nodes[i].kind == kind) ids.push_back(static_cast<NodeId>(i));
    return ids;
}

/// The part of a target that a reader would name its result by: "relu" of "aten.relu.default", "Conv" of "onnx.Conv".
std::string_view base_name(std::string_view target) {
    const std::size_t first = target.find('.');
    if (first == std::string_view::npos) return target;
    const std::string_view rest = target.substr(first + 1);
    return rest.substr(0, rest.find('.'));
}

/// "base_N" as base and N; a text of another form as itself and 0. N has no leading zero and fits an int.
std::pair<std::string_view, int> split_suffix(std::string_view text) {
    const std::size_t line = text.rfind('_');
    if (line == std::string_view::npos || line + 1 == text.size() || text[line + 1] == '0') return {text, 0};
    const int number = number_of<int>(text.substr(line + 1)).value_or(0);
    return number > 0 ? std::pair(text.substr(0, line), number) : std::pair(text, 0);
}

void visit_refs(const Arg& arg, const std::function<void(NodeRef)>& f) {
    if (const NodeRef* ref = arg.node())
        f(*ref);
    else if (const ArgList* list = arg.list())
        for (const Arg& element : *list) visit_refs(element, f);
}

Arg map_refs(const Arg& arg, const std::function<Arg(NodeRef)>& f) {
    if (const NodeRef* ref = arg.node()) return f(*ref);
    const ArgList* list = arg.list();
    if (!list) return arg;
    ArgList mapped;
    mapped.reserve(list->size());
    for (const Arg& element : *list) mapped.push_back(map_refs(element, f));
    return mapped;
}

bool same_node(const Node& a, const Node& b) {
    return a.kind == b.kind && a.name == b.name && a.target == b.target && a.args == b.args && a.kwargs == b.kwargs &&
           a.results == b.results && a.module_path == b.module_path;
}

}  // namespace

std::vector<NodeId> Graph::placeholders() const { return of_kind(*this, NodeKind::placeholder); }
std::vector<NodeId> Graph::calls() const { return of_kind(*this, NodeKind::call); }

std::vector<NodeId> Graph::outputs() const {
    WHITTLE_CHECK(!nodes.empty() && nodes.back().kind == NodeKind::output, "graph " + name + " has no output node");
    std::vector<NodeId> ids;
    for (const Arg& arg : nodes.back().args) {
        WHITTLE_CHECK(arg.node(), "an output of graph " + name + " is not a node");
        ids.push_back(arg.node()->id);
    }
    return ids;
}

std::string NameIndex::unique(const std::string& wanted, const std::vector<Node>& nodes) {
    if (data_ != nodes.data() || count_ != nodes.size() || (count_ > 0 && last_ != nodes.back().name)) {
        uses_.clear();
        for (const Node& node : nodes) insert(node.name);
    }
    const auto found = uses_.find(wanted);
    const bool free = found == uses_.end() || !found->second.taken;
    std::string name = free ? wanted : wanted + "_" + std::to_string(found->second.highest + 1);
    insert(name);
    return name;
}

void NameIndex::added(const std::vector<Node>& nodes) {
    data_ = nodes.data();
    count_ = nodes.size();
    last_ = nodes.back().name;
}

void NameIndex::insert(const std::string& name) {
    uses_[name].taken = true;
    const auto [base, number] = split_suffix(name);
    if (number == 0) return;
    Use& use = uses_[std::string(base)];
    use.highest = std::max(use.highest, number);
}

NodeRef Graph::add(Node node) {
    node.name = names.unique(identifier(node.name.empty() ? base_name(node.target) : node.name), nodes);
    if (node.kind == NodeKind::call)  // rules of inference start from an operand's meta
        for (ValueMeta& result : node.results) result.storage_offset = 0, result.leaf = true;
    nodes.push_back(std::move(node));
    names.added(nodes);
    return {static_cast<NodeId>(nodes.size() - 1)};
}

NodeRef Graph::placeholder(std::string name, ValueMeta meta) {
    return add({.kind = NodeKind::placeholder, .name = name, .target = name, .results = {std::move(meta)}});
}

NodeRef Graph::get_attr(std::string qualified_name, Tensor value) {
    const auto existing = attributes.find(qualified_name);
    ValueMeta meta = ValueMeta::of(value);
    if (existing != attributes.end() &&
        (ValueMeta::of(existing->second) != meta || !same_bits(existing->second, value))) {
        int suffix = 1;
        while (attributes.count(qualified_name + "_" + std::to_string(suffix))) ++suffix;
        qualified_name += '_' + std::to_string(suffix);
    }
    attributes.emplace(qualified_name, std::move(value));
    return add(
        {.kind = NodeKind::get_attr, .name = qualified_name, .target = qualified_name, .results = {std::move(meta)}});
}

void Graph::output(const std::vector<NodeRef>& results) {
    add({.kind = NodeKind::output, .name = "output", .args = ArgList(results.begin(), results.end())});
}

void for_each_input(const Node& node, const std::function<void(NodeRef)>& f) {
    for (const Arg& arg : node.args) visit_refs(arg, f);
    for (const auto& [key, arg] : node.kwargs) visit_refs(arg, f);
}

Node map_inputs(const Node& node, const std::function<Arg(NodeRef)>& f) {
    Node mapped = node;
    for (Arg& arg : mapped.args) arg = map_refs(arg, f);
    for (auto& [key, arg] : mapped.kwargs) arg = map_refs(arg, f);
    return mapped;
}

std::vector<std::vector<NodeId>> users(const Graph& graph) {
    std::vector<std::vector<NodeId>> readers(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        for_each_input(graph.nodes[i], [&](NodeRef ref) {
            auto& list = readers.at(static_cast<std::size_t>(ref.id));
            const NodeId reader = static_cast<NodeId>(i);
            if (list.empty() || list.back() != reader) list.push_back(reader);
        });
    return readers;
}

bool same_structure(const Graph& a, const Graph& b) {
    const auto same_attribute = [](const auto& x, const auto& y) {
        return x.first == y.first && x.second.dtype() == y.second.dtype() && x.second.sizes() == y.second.sizes();
    };
    const auto same_subgraph = [](const auto& x, const auto& y) {
        return x.first == y.first && same_structure(*x.second, *y.second);
    };
    return a.name == b.name && a.dialect == b.dialect && a.opset_imports == b.opset_imports &&
           std::ranges::equal(a.nodes, b.nodes, same_node) &&
           std::ranges::equal(a.attributes, b.attributes, same_attribute) &&
           std::ranges::equal(a.subgraphs, b.subgraphs, same_subgraph);
}

std::string identifier(std::string_view text) {
    std::string result;
    if (text.empty() || (text[0] >= '0' && text[0] <= '9')) result = '_';
    for (const char c : text) {
        const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        result += word ? c : '_';
    }
    return result;
}

namespace {

bool names_graph(const Arg& arg) {
    const ArgList* const list = arg.list();
    return std::holds_alternative<GraphRef>(arg.value) || (list && std::ranges::any_of(*list, names_graph));
}

void copy_named(const Arg& arg, const Graph& from, Graph& to) {
    if (const auto* ref = std::get_if<GraphRef>(&arg.value)) to.subgraphs[ref->name] = from.subgraphs.at(ref->name);
    if (const ArgList* list = arg.list())
        for (const Arg& element : *list) copy_named(element, from, to);
}

}  // namespace

bool has_nested_graph(const Node& call) {
    return std::ranges::any_of(call.args, names_graph) ||
           std::ranges::any_of(call.kwargs, [](const auto& kwarg) { return names_graph(kwarg.second); });
}

void copy_nested(const Node& call, const Graph& from, Graph& to) {
    for (const Arg& arg : call.args) copy_named(arg, from, to);
    for (const auto& [key, arg] : call.kwargs) copy_named(arg, from, to);
}

static void add_targets(const Graph& graph, const std::function<bool(const Graph&, const Node&)>& chosen,
                        std::vector<std::string>& targets) {
    for (const Node& node : graph.nodes)
        if (chosen(graph, node)) add_once(targets, node.target);
    for (const auto& [name, nested] : graph.subgraphs) add_targets(*nested, chosen, targets);
}
std::vector<std::string> targets_of(const Graph& graph, const std::function<bool(const Graph&, const Node&)>& chosen) {
    std::vector<std::string> targets;
    add_targets(graph, chosen, targets);
    return targets;
}

}  // namespace whittle

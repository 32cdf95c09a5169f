#include "graph/graph.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/error.h"

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
    switch (kind) {
        case NodeKind::placeholder:
            return "placeholder";
        case NodeKind::get_attr:
            return "get_attr";
        case NodeKind::call:
            return "call";
        case NodeKind::output:
            return "output";
    }
    __builtin_unreachable();
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
    int number = 0;
    const char* end = text.data() + text.size();
    const auto result = std::from_chars(text.data() + line + 1, end, number);
    if (result.ec != std::errc{} || result.ptr != end || number <= 0) return {text, 0};
    return {text.substr(0, line), number};
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
           std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(), same_node) &&
           std::equal(a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(),
                      same_attribute) &&
           std::equal(a.subgraphs.begin(), a.subgraphs.end(), b.subgraphs.begin(), b.subgraphs.end(), same_subgraph);
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

}  // namespace whittle

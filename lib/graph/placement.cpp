#include "graph/placement.h"

#include <algorithm>
#include <cctype>
#include <mutex>
#include <set>
#include <utility>

#include "graph/value_ref.h"
#include "tensor/opaque_types.h"

namespace whittle {

std::string Placement::text() const {
    constexpr std::string_view kSparse = "Sparse";
    if (layout == kUnknown) return elements.empty() ? "a value of unknown type" : "a value of type " + elements;
    std::string what = elements.empty() ? "a tensor" : (elements.front() == 'i' ? "an " : "a ") + elements + " tensor";
    std::string of = layout.substr(std::min(layout.size(), kSparse.size()));
    std::ranges::transform(of, of.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (layout == "Mkldnn")
        what = "an MKL-DNN tensor";
    else if (layout.starts_with(kSparse))
        what = "a sparse tensor" + (of.empty() ? "" : " (" + of + ")");
    else if (layout != "Strided")
        what = "a tensor of layout " + layout;
    return device == "cpu" ? what : what + " on the device " + device;
}

const Placement* placed(Placement placement) {
    if (placement == Placement{}) return nullptr;
    static std::mutex mutex;
    static std::set<Placement> known;  // nodes of a set stay where they are
    const std::scoped_lock lock(mutex);
    return &*known.insert(std::move(placement)).first;
}

ValueMeta unknown_meta(std::string type) {
    ValueMeta meta;
    meta.placement = placed({.layout = Placement::kUnknown, .elements = std::move(type)});
    return meta;
}

ValueMeta opaque_meta(std::string_view elements, Sizes sizes) {
    ValueMeta meta = ValueMeta::contiguous(DType::f32, std::move(sizes));
    meta.placement = placed({.elements = std::string(elements)});
    return meta;
}

bool is_opaque(const ValueMeta& meta) {
    return meta.placement && opaque_type_from_name(meta.placement->elements) &&
           *meta.placement == Placement{.elements = meta.placement->elements};
}

std::string unusual_type(const ValueMeta& meta) {
    if (is_opaque(meta)) return meta.placement->elements + to_string(meta.sizes);
    if (!is_unknown(meta)) return {};
    return meta.placement->elements.empty() ? "unknown" : meta.placement->elements;
}

namespace {

/// "the input x", "the constant w", "%y, the result of onnx.If,"
std::string who(const Graph& graph, const Node& node) {
    if (node.kind == NodeKind::placeholder) return "the input " + (node.target.empty() ? node.name : node.target);
    if (node.kind == NodeKind::get_attr) return "the constant " + node.target;
    const std::optional<ValueRef> read = item_read(node);
    return "%" + node.name + ", a result of " + (read ? graph.node({read->node}) : node).target + ",";
}

std::string why_unknown(const Graph& graph, const Node& node, const ValueMeta& meta) {
    const std::string value = who(graph, node);
    if (is_unknown(meta) && meta.placement->elements.empty()) {
        const bool made = node.kind == NodeKind::call;
        return "the type of " + (made ? "%" + node.name : value) + " is unknown" +
               (made ? " (the result of " + node.target + ")" : "");
    }
    if (is_unknown(meta)) return value + " is of type " + meta.placement->elements;
    if (!is_opaque(meta)) return value + " is " + meta.placement->text();
    return value + " holds " +
           (meta.placement->elements == "string" ? "strings" : meta.placement->elements + " elements");
}

}  // namespace

std::optional<std::string> unknown_value(const Graph& graph) {
    for (const Node& node : graph.nodes)
        for (const ValueMeta& meta : node.results)
            if (meta.placement) return why_unknown(graph, node, meta);
    for (const auto& [name, nested] : graph.subgraphs)
        if (std::optional<std::string> found = unknown_value(*nested)) return found;
    return std::nullopt;
}

namespace {

bool is_misplaced(const ValueMeta& meta) { return meta.placement != nullptr; }

bool touches(const Graph& graph, const Node& call, bool (*is)(const ValueMeta&)) {
    bool found = std::ranges::any_of(call.results, is);
    for_each_input(call, [&](NodeRef ref) { found |= std::ranges::any_of(graph.node(ref).results, is); });
    return found;
}

}  // namespace

std::optional<std::string> misplaced_value(const Graph& graph) {
    for (const Node& node : graph.nodes)
        if (const auto found = std::ranges::find_if(node.results, is_misplaced); found != node.results.end())
            return "%" + node.name + ", " + found->placement->text();
    for (const auto& [name, nested] : graph.subgraphs)
        if (std::optional<std::string> found = misplaced_value(*nested)) return found;
    return std::nullopt;
}

bool touches_misplaced(const Graph& graph, const Node& call) { return touches(graph, call, is_misplaced); }
bool touches_unknown(const Graph& graph, const Node& call) { return touches(graph, call, is_unknown); }

}  // namespace whittle

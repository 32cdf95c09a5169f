#include "ops/core/builder.h"

#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/core/registry.h"

namespace whittle {

NodeRef GraphBuilder::append(std::string_view target, ArgList args, Kwargs kwargs) {
    Node node;
    node.kind = NodeKind::call;
    node.name = hint_;
    node.target = std::string(target);
    node.args = std::move(args);
    node.kwargs = std::move(kwargs);
    node.stack = stack_;
    node.module_path = module_path_;
    node.results = infer(graph_, node);
    return graph_.add(std::move(node));
}

V GraphBuilder::call(std::string_view target, ArgList args, Kwargs kwargs) {
    const NodeRef ref = append(target, std::move(args), std::move(kwargs));
    const Node& node = graph_.node(ref);
    WHITTLE_CHECK(node.results.size() == 1, std::string(target) + " has several results: use call_multi");
    return {ref, node.meta(), this};
}

std::vector<V> GraphBuilder::call_multi(std::string_view target, ArgList args, Kwargs kwargs) {
    const NodeRef ref = append(target, std::move(args), std::move(kwargs));
    const Node made = graph_.node(ref);
    std::vector<V> results;
    for (int i = 0; i < static_cast<int>(made.results.size()); ++i) {
        Node item = getitem(ref, i, made);
        item.name = hint_;
        const NodeRef result = graph_.add(std::move(item));
        results.push_back({result, made.results[static_cast<std::size_t>(i)], this});
    }
    return results;
}

V GraphBuilder::convert(const V& value, DType dtype) {
    if (value.meta.dtype == dtype) return value;
    if (graph_.dialect == "onnx") return call("onnx.Cast", {value.ref}, {{"to", Arg(info_of(dtype).onnx)}});
    return call("aten._to_copy.default", {value.ref}, {{"dtype", Arg(dtype)}});
}

V GraphBuilder::constant(const Tensor& value, const std::string& name_hint) {
    return this->value(graph_.get_attr(name_hint, value));
}

std::optional<Tensor> GraphBuilder::known(const V& value) const {
    const Node& node = graph_.node(value.ref);
    if (node.kind != NodeKind::get_attr) return std::nullopt;
    return graph_.attributes.at(node.target);
}

std::int64_t GraphBuilder::opset(const std::string& domain) const {
    const auto found = graph_.opset_imports.find(domain);
    return found == graph_.opset_imports.end() ? 0 : found->second;
}

void GraphBuilder::set_origin(const Node& node) {
    stack_ = node.stack;
    module_path_ = node.module_path;
    hint_ = node.name;
}

}  // namespace whittle

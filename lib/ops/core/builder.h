// GraphBuilder: appends calls to a graph, inferring their metas. What decompositions and tests build graphs with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// A node's value while a graph is built.
struct NodeValue {
    NodeRef ref;
    ValueMeta meta;
};

class GraphBuilder {
  public:
    /// Appends to `graph`, which outlives the builder.
    explicit GraphBuilder(Graph& graph) : graph_(graph) {}

    using Kwargs = std::vector<std::pair<std::string, Arg>>;

    /// A call with one result. `target` is registered; throws Error when the arguments do not fit.
    NodeValue call(std::string_view target, ArgList args, Kwargs kwargs = {});
    /// A call with several results, each read through a getitem.
    std::vector<NodeValue> call_multi(std::string_view target, ArgList args, Kwargs kwargs = {});
    /// The value in another dtype, by the conversion of the graph's dialect; the value itself when it has it already.
    NodeValue convert(const NodeValue& value, DType dtype);
    NodeValue constant(const Tensor& value, const std::string& name_hint = "constant");
    /// The value, when it is a constant of the graph (a get_attr).
    std::optional<Tensor> known(const NodeValue& value) const;
    /// Version of an ONNX domain that the graph imports, 0 when it does not.
    std::int64_t opset(const std::string& domain = {}) const;

    /// Stack, module path and a name hint that new calls carry: passes set it to the node they replace.
    void set_origin(const Node& node);
    Graph& graph() { return graph_; }

  private:
    NodeRef append(std::string_view target, ArgList args, Kwargs kwargs);

    Graph& graph_;
    std::vector<StackFrame> stack_;
    std::string module_path_, hint_;
};

inline std::int64_t rank_of(const NodeValue& value) { return static_cast<std::int64_t>(value.meta.sizes.size()); }

/// For `args`: NodeValue → Arg.
inline Arg arg(const NodeValue& value) { return Arg(value.ref); }
inline Arg optional_arg(const std::optional<NodeValue>& value) { return value ? arg(*value) : Arg(); }
inline Arg args_list(const std::vector<NodeValue>& values) {
    ArgList list;
    for (const NodeValue& value : values) list.push_back(value.ref);
    return list;
}

}  // namespace whittle

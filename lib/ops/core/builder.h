// GraphBuilder: appends calls to a graph, inferring their metas. What decompositions and tests build graphs with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace whittle {

class GraphBuilder;

/// A node's value while a graph is built. Formulas are made of these: the name is short.
struct V {
    NodeRef ref = {};
    ValueMeta meta = {};
    GraphBuilder* builder = nullptr;  ///< of the graph that the node is in

    DType dtype() const { return meta.dtype; }
    const Sizes& sizes() const { return meta.sizes; }
    std::int64_t rank() const { return static_cast<std::int64_t>(meta.sizes.size()); }
    /// Of dimension `dim`, which is in 0 … rank-1; a negative one counts from the end.
    std::int64_t size(std::int64_t dim) const {
        return meta.sizes.at(static_cast<std::size_t>(dim < 0 ? dim + rank() : dim));
    }
    std::int64_t numel() const { return meta.numel(); }
    operator Arg() const { return Arg(ref); }
};

class GraphBuilder {
  public:
    /// Appends to `graph`, which outlives the builder.
    explicit GraphBuilder(Graph& graph) : graph_(graph) {}

    using Kwargs = std::vector<std::pair<std::string, Arg>>;

    /// A call with one result. `target` is registered; throws Error when the arguments do not fit.
    V call(std::string_view target, ArgList args, Kwargs kwargs = {});
    /// A call with several results, each read through a getitem.
    std::vector<V> call_multi(std::string_view target, ArgList args, Kwargs kwargs = {});
    /// The value in another dtype, by the conversion of the graph's dialect; the value itself when it has it already.
    V convert(const V& value, DType dtype);
    /// The node's value.
    V value(NodeRef ref) { return {ref, graph_.node(ref).meta(), this}; }
    V constant(const Tensor& value, const std::string& name_hint = "constant");
    /// The value, when it is a constant of the graph (a get_attr).
    std::optional<Tensor> known(const V& value) const;
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

inline std::int64_t rank_of(const V& value) { return static_cast<std::int64_t>(value.meta.sizes.size()); }

/// For `args`: V → Arg.
inline Arg arg(const V& value) { return Arg(value.ref); }
inline Arg optional_arg(const std::optional<V>& value) { return value ? arg(*value) : Arg(); }
inline Arg args_list(const std::vector<V>& values) {
    ArgList list;
    for (const V& value : values) list.push_back(value.ref);
    return list;
}

}  // namespace whittle

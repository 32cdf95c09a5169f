// One graph of an exported program -> nodes of a Graph, nested graphs by recursion. Internal; load.cpp is the only
// user.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontends/pt2/data_sizes.h"
#include "frontends/pt2/vmap.h"
#include "graph/document.h"
#include "graph/graph.h"
#include "ops/core/inplace.h"

namespace whittle::pt2 {

using Json = Document::Json;

/// A tensor's meta, its sizes under the symbols decided so far. Throws Error for one that is not strided.
ValueMeta meta_of(const Json& tensor_meta, const std::map<std::string, std::int64_t>& symbols);
/// A size: {"as_int": 4} or {"as_expr": {"expr_str": …, "hint": {"as_int": 4}}}. Where no symbols decide it, the hint.
std::int64_t size_of(const Json& size, const std::map<std::string, std::int64_t>& symbols);

/// What the importer's graphs share.
struct Symbols {
    std::map<std::string, std::int64_t> sizes = {};
};

class Importer {
  public:
    /// Adds to `graph`. `data`: of the program's own graph, which can be run; null: of a nested one, whose sizes must
    /// not depend on data.
    Importer(Graph& graph, const Symbols& symbols, DataSizes* data, int depth = 0)
        : graph_(graph), symbols_(symbols), data_(data), regions_(std::make_shared<Regions>(graph)), depth_(depth) {}

    /// `name` of the file's graph stands for the value: a node's, or a number.
    void bind(const std::string& name, Arg value) { values_[name] = std::move(value); }
    /// Adds the nodes of the file's graph.
    void add_nodes(const Json& graph);
    /// What an argument of the file stands for.
    Arg argument(const Json& argument) const;

  private:
    Arg named(const std::string& name) const;
    Arg list(const Json& items) const;
    void add_node(const Json& graph, const Json& node);
    void add_call(const Json& graph, const Json& node, const std::string& target);
    /// In-place views: the operand is the result from then on.
    void replace_operand(const Json& node, Node call);
    void write_results(const std::vector<std::string>& names, const OutVariant& variant);
    /// What begins or ends a region of nodes: vmap, autocast, a grad mode; false for another target.
    bool add_marker(const Json& node, const std::string& target);
    bool add_vmap(const Json& node, const std::string& name);
    /// autocast converts operands; the file states the dtype of the result.
    void cast_operands(const Json& graph, Node& call, const std::vector<std::string>& names);
    void set_arguments(Node& call, const Json& inputs) const;
    void bind_results(const Json& outputs, NodeRef call);
    /// The file's own data types and sizes of results, held against those that follow from the operands: a file that
    /// was edited is refused, and so is one of which Whittle knows better than PyTorch.
    void check_stated(const Json& graph, const std::vector<std::string>& names,
                      const std::vector<ValueMeta>& results) const;
    /// Of a call whose results' sizes depend on data.
    std::vector<ValueMeta> observed_results(const Json& graph, const Node& call, const std::vector<std::string>& names);
    /// What a tensor of one element holds, a number from here on; false for another target.
    bool add_item(const Json& graph, const Json& node, const std::string& target);
    /// Sizes and numbers, which are computed here; false for a target that is none of those.
    bool add_number(const Json& node, const std::string& target);
    void check_assertion(const Json& node, const std::string& target);
    /// Of a value: a node of the graph, which is asked when it runs.
    void add_assertion(const Json& node);

    // Of torch.ops.higher_order.
    void add_higher_order(const Json& file, const Json& node, const std::string& name);
    void write_out(const Json& node, std::size_t graph_at);
    /// The operands of which a nested graph is given slices.
    struct Sliced {
        std::size_t first = 0, end = 0;
    };
    /// The nested graph, with placeholders for the operands that are tensors.
    GraphRef nested(const Json& argument, const ArgList& operands, Sliced sliced);
    GraphRef nested(const Json& argument, const ArgList& operands) { return nested(argument, operands, {0, 0}); }

    /// What holds for nodes between markers, in graphs that are written out as well.
    struct Regions {
        explicit Regions(Graph& graph) : batches(graph) {}
        Batches batches;
        std::vector<bool> autocast = {};  ///< whether it is on, of the regions that are open
    };

    Graph& graph_;
    const Symbols& symbols_;
    DataSizes* const data_;
    std::shared_ptr<Regions> regions_;
    std::map<std::string, Arg> values_;
    int depth_;
};

}  // namespace whittle::pt2

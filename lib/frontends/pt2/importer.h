// One graph of an exported program -> nodes of a Graph, nested graphs by recursion. Internal; load.cpp is the only
// user.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/document.h"
#include "frontends/pt2/data_sizes.h"
#include "frontends/pt2/vmap.h"
#include "graph/graph.h"
#include "ops/core/inplace.h"

namespace whittle::pt2 {

using Json = Document::Json;

/// A tensor's meta, its sizes under the symbols decided so far. Throws Error for one that is not strided.
ValueMeta meta_of(const Json& tensor_meta, const std::map<std::string, std::int64_t>& symbols);
/// A size: {"as_int": 4} or {"as_expr": {"expr_str": …, "hint": {"as_int": 4}}}. Where no symbols decide it, the hint.
std::int64_t size_of(const Json& size, const std::map<std::string, std::int64_t>& symbols);
/// Of a number that a graph of the file names, what the graph says that it is: as size_of(), of the other kinds the
/// number or its hint. Throws Error for one that only running the program tells.
Arg stated_number(const Json& graph, const std::string& name, const std::map<std::string, std::int64_t>& symbols);

/// The names of a node's results: a list's tensors one by one, empty for what nobody can name.
std::vector<std::string> result_names(const Json& node);
/// Where the program issues the call: the user's stack and the module.
void set_place(Node& call, const Json& node);

/// Ops of lists of tensors, which are read as the op of one tensor, for each.
inline constexpr std::string_view kForeach = "aten._foreach_";
/// "add" of "aten._foreach_add_.List": the op of one tensor, which takes numbers in the place of tensors, too.
std::string element_name(std::string_view target);
/// Ops whose results, or their sizes, the importer finds by running the graph that it has read so far.
bool reads_number(std::string_view target);  ///< item() and its kin
bool is_computed_while_read(std::string_view target);

/// The one key of a union that says something: older files write all of them, those that are unused as null.
std::pair<std::string, const Json*> chosen(const Json& value);

/// What the importer's graphs share.
struct Symbols {
    std::map<std::string, std::int64_t> sizes = {};
};

class Importer {
  public:
    /// Adds to `graph`. `data`: of the program's own graph, which can be run; null: of a nested one, whose sizes must
    /// not depend on data. Throws Error for a `depth` of nesting that no program has.
    Importer(Graph& graph, const Symbols& symbols, DataSizes* data, int depth = 0);

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
    /// Of an op of lists of tensors, a call for each (foreach.cpp); false where the op of one tensor is not known.
    bool add_foreach(const Json& graph, const Json& node, const std::string& target);
    using NamedArgs = std::vector<std::pair<std::string, Arg>>;
    std::optional<Node> element_call(const std::string& name, const NamedArgs& arguments, std::size_t i) const;
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
    bool has_opaque_data(const Json& graph, const Json& node, const Node& call) const;
    /// The file's own data types and sizes of results, held against those that follow from the operands: a file that
    /// was edited is refused, and so is one of which Whittle knows better than PyTorch. A symbol without a size is what
    /// the result says.
    void check_stated(const Json& graph, const std::vector<std::string>& names,
                      const std::vector<ValueMeta>& results) const;
    /// Of a call whose results' sizes depend on data: found by running it, else what symbols given with --dim decide.
    std::vector<ValueMeta> observed_results(const Json& graph, const Node& call, const std::vector<std::string>& names);
    std::optional<std::vector<ValueMeta>> decided_results(const Json& graph,
                                                          const std::vector<std::string>& names) const;
    /// nonzero() of the mask, a column for each dimension, in the place of the call.
    ArgList columns_of_nonzero(const Arg& mask, const Node& call);
    bool add_by_positions(const Json& graph, const Json& node, const Node& call);
    void add_repeated(const Json& graph, const Json& node, const Node& call);
    /// Masks among the call's index tensors become positions: the rows of nonzero(), a column for each dimension.
    void name_positions(Node& call);
    Scalar observed_number(const Json& graph, const Arg& read, const std::string& name) const;

    // Of ops that Whittle does not know (opaque.cpp).
    /// With the results that the file states. `call` has all else.
    void add_opaque(const Json& graph, const Json& node, Node call);
    void add_writing(const Json& node, const Node& call);
    void add_stated(const Json& graph, const Json& output, Node& call, std::vector<std::string>& names);
    /// stated_number(); in a graph that is kept as stated its name, where only running the program tells.
    Arg number(const Json& graph, const std::string& name) const;
    /// A nested graph of an opaque call, which is kept as the file states it: nothing in it is inferred.
    GraphRef stated_graph(const Json& argument) const;
    void add_as_stated(const Json& graph, const Json& node, const std::string& target);
    GraphRef add_nested(Graph graph) const;
    /// What a tensor of one element holds, a number from here on; false for another target.
    bool add_item(const Json& graph, const Json& node, const std::string& target);
    /// Sizes and numbers, which are computed here; false for a target that is none of those.
    bool add_number(const Json& node, const std::string& target);
    void check_assertion(const Json& node, const std::string& target);
    /// Of a value: a node of the graph, which is asked when it runs.
    void add_assertion(const Json& node);

    // Of torch.ops.higher_order (higher_order.cpp).
    void add_higher_order(const Json& file, const Json& node, const std::string& name);
    void write_out(const Json& node, std::size_t graph_at);
    ArgList operands_behind(const Json& inputs, std::size_t graph_at) const;
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
    bool stated_ = false;  ///< the graph is kept as the file states it
};

}  // namespace whittle::pt2

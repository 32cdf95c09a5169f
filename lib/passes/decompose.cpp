#include "passes/decompose.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>

#include "base/error.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/aten/formulas.h"
#include "ops/core/known.h"
#include "ops/core/layout.h"
#include "ops/core/registry.h"
#include "passes/rewriter.h"

namespace whittle {
namespace {

/// Decompositions of decompositions nest less deeply than this; more is an op that decomposes into itself.
constexpr int kMaxRounds = 16;

bool does_not_lower(const Node& node) {
    const RegisteredOp* op = is_op_call(node) ? Registry::instance().op(node.target) : nullptr;
    return op && op->def->decompose && !op->def->lower;
}

std::vector<bool> all_that_do_not_lower(const Graph& graph) {
    std::vector<bool> chosen;
    for (const Node& node : graph.nodes) chosen.push_back(does_not_lower(node));
    return chosen;
}

class Decomposer {
  public:
    /// `left`: names of calls that are not to be taken apart, for nothing is known of what they read; grows.
    Decomposer(const Graph& graph, const DecomposeOptions& options, std::set<std::string>& left)
        : rewriter_(graph), builder_(rewriter_.graph()), options_(options), left_(left) {}

    Graph run(const std::vector<bool>& chosen) {
        const Graph& from = rewriter_.from();
        for (NodeId id = 0; id < static_cast<NodeId>(from.nodes.size()); id++) {
            const Node& node = from.nodes[static_cast<std::size_t>(id)];
            if (chosen[static_cast<std::size_t>(id)])
                expand(id, node, Registry::instance().require(node.target));
            else if (const auto results = results_read(node))
                rewriter_.replace(id, *results);
            else
                rewriter_.copy(id);
        }
        return rewriter_.finish();
    }

    const Origins& origins() const { return rewriter_.origins(); }

  private:
    void expand(NodeId id, const Node& node, const RegisteredOp& op) {
        const auto resolve = [this](NodeRef old) { return builder_.value(rewriter_.mapped(old)); };
        builder_.set_origin(node);
        rewriter_.work_on(id);
        std::vector<NodeRef> results;
        try {
            results = refs_of(op.def->decompose(Call(builder_, op.schema, node, resolve)));
        } catch (NeedsConstant& error) {
            if (!op.def->eval) {  // else it is an op of its own
                error.locate({error.where().file, place_of(rewriter_.from(), node)});
                throw;
            }
            rewriter_.copy(id);
            left_.insert(rewriter_.graph().node(rewriter_.mapped({id})).name);
            return;
        } catch (Error& error) {
            error.locate({error.where().file, place_of(rewriter_.from(), node)});
            throw;
        }
        WHITTLE_CHECK(results.size() == node.results.size(),
                      node.target + " decomposes into " + std::to_string(results.size()) + " results, expected " +
                          std::to_string(node.results.size()));
        if (node.target.starts_with("aten."))  // elsewhere strides mean nothing
            for (std::size_t i = 0; i < results.size(); ++i) results[i] = laid_out(results[i], node.results[i]);
        if (options_.after)
            options_.after({.pass = PassId::decompose, .call = &node, .builder = &builder_, .made = &results});
        if (results.size() == 1) rewriter_.replace(id, results[0]);
        expanded_[id] = std::move(results);
    }

    /// The value with its elements in the order that `as` has: views see through strides. As it is where those are no
    /// order of dense elements.
    NodeRef laid_out(NodeRef value, const ValueMeta& as) {
        const ValueMeta& has = rewriter_.graph().node(value).meta();
        if (has.sizes != as.sizes || same_strides(has, as)) return value;
        std::vector<std::size_t> order(as.sizes.size());
        std::iota(order.begin(), order.end(), 0);
        std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t d) { return as.strides[d]; });
        ValueMeta dense = as;
        dense.strides = dense_strides(as.sizes, order);
        if (!same_strides(dense, as)) return value;
        std::vector<std::int64_t> outermost_first(order.begin(), order.end()), back(order.size());
        for (std::size_t i = 0; i < order.size(); ++i) back[order[i]] = static_cast<std::int64_t>(i);
        const auto permuted = [&](NodeRef of, const std::vector<std::int64_t>& dims) {
            return builder_.call("aten.permute.default", {of, Arg::ints(dims)});
        };
        return permuted(aten::own_copy(permuted(value, outermost_first)).ref, back).ref;
    }

    /// What a getitem of an expanded node reads.
    std::optional<NodeRef> results_read(const Node& node) const {
        const std::optional<ValueRef> read = item_read(node);
        const auto found = read ? expanded_.find(read->node) : expanded_.end();
        if (found == expanded_.end()) return std::nullopt;
        return found->second.at(static_cast<std::size_t>(read->index));
    }

    Rewriter rewriter_;
    GraphBuilder builder_;
    const DecomposeOptions& options_;
    std::set<std::string>& left_;
    std::map<NodeId, std::vector<NodeRef>> expanded_;
};

bool has_foreign_call(const Graph& graph) {
    for (const Node& node : graph.nodes)
        if (is_op_call(node) && !node.target.starts_with("aten.")) return true;
    return false;
}

}  // namespace

Graph decompose(const Graph& graph, const DecomposeOptions& options, Origins* origins) {
    Graph result = graph;
    if (origins) *origins = own_origins(graph);
    std::set<std::string> left;
    for (int round = 0;; round++) {
        std::vector<bool> chosen = options.chosen ? options.chosen(result) : all_that_do_not_lower(result);
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (left.contains(result.nodes[i].name)) chosen[i] = false;
        if (std::find(chosen.begin(), chosen.end(), true) == chosen.end()) break;
        WHITTLE_CHECK(round < kMaxRounds, "an op decomposes into itself");
        Decomposer decomposer(result, options, left);
        Graph next = decomposer.run(chosen);
        if (origins) *origins = through(decomposer.origins(), *origins);
        result = std::move(next);
    }
    if (!has_foreign_call(result)) {
        result.dialect = "aten";
        result.opset_imports.clear();
    }
    return logged("decompose", graph, std::move(result));
}

}  // namespace whittle

// nested: a nested graph's calls once in the place of the op that runs it, where the types fit: a branch, one
// iteration, or one slice, whose results stand for those of all. What the op means is not asked: the reference computes
// what comes out, and the oracle judges it.
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "graph/value_ref.h"
#include "ops/core/nested.h"
#include "reduce/reductions/reduction.h"

namespace whittle::reduce {
namespace {

/// Whether the nested graph has a slice of it, along dimension 0.
bool is_slice_of(const ValueMeta& slice, const ValueMeta& whole) {
    return whole.sizes.size() == slice.sizes.size() + 1 && whole.dtype == slice.dtype && whole.sizes[0] > 0 &&
           std::equal(slice.sizes.begin(), slice.sizes.end(), whole.sizes.begin() + 1);
}

/// Same, or sliced by an op that has nested graphs.
bool fits(const ValueMeta& nested, const ValueMeta& outside, bool sliced) {
    return same_type(nested, outside) || (sliced && is_slice_of(nested, outside));
}

/// ONNX's Scan says itself along which dimension, and in which order.
bool may_slice(const Graph& graph) { return graph.dialect == "aten"; }

/// What the nested graph's placeholders read: the call's last operands, which are those that are handed on; what comes
/// before them and is one integer or bool (a count, a condition) is 0 or true, and -1 here. Nothing when the types do
/// not fit.
std::optional<std::vector<NodeRef>> operands_of(const Graph& graph, const Node& call, const Graph& nested) {
    std::vector<NodeRef> given;
    for_each_input(call, [&](NodeRef ref) { given.push_back(ref); });
    const std::vector<NodeId> placeholders = nested.placeholders();
    std::vector<NodeRef> read(placeholders.size());
    bool aligned = true;
    for (std::size_t k = 1; k <= placeholders.size(); ++k) {
        const ValueMeta& wanted = nested.node({placeholders[placeholders.size() - k]}).meta();
        aligned =
            aligned && k <= given.size() && fits(wanted, graph.node(given[given.size() - k]).meta(), may_slice(graph));
        if (aligned)
            read[placeholders.size() - k] = given[given.size() - k];
        else if (is_floating(wanted.dtype) || wanted.numel() != 1)
            return std::nullopt;
    }
    return read;
}

/// Positions of the nested graph's outputs that become the call's results: the last ones. A condition may come before.
std::optional<std::size_t> first_result(const Node& call, const Graph& nested, bool sliced) {
    const std::vector<NodeId> outputs = nested.outputs();
    if (outputs.size() < call.results.size()) return std::nullopt;
    const std::size_t first = outputs.size() - call.results.size();
    for (std::size_t i = 0; i < call.results.size(); ++i)
        if (!fits(nested.node({outputs[first + i]}).meta(), call.results[i], sliced)) return std::nullopt;
    return first;
}

/// The nested graphs of a call: ONNX's ops have them by keyword, torch's by position.
std::vector<std::pair<std::string, std::string>> nested_of(const Node& call) {
    std::vector<std::pair<std::string, std::string>> found;
    for (const Arg& arg : call.args)
        if (const auto* ref = std::get_if<GraphRef>(&arg.value)) found.emplace_back(ref->name, ref->name);
    for (const auto& [key, arg] : call.kwargs)
        if (const auto* ref = std::get_if<GraphRef>(&arg.value)) found.emplace_back(key, ref->name);
    return found;
}

class Inliner {
  public:
    Inliner(Draft& draft, NodeId call, const Graph& nested, const std::vector<NodeRef>& operands)
        : draft_(draft), call_(call), nested_(nested), operands_(operands) {}

    void run(std::size_t first) {
        std::size_t placeholder = 0;
        for (std::size_t i = 0; i < nested_.nodes.size(); ++i) {
            const Node& node = nested_.nodes[i];
            if (node.kind == NodeKind::output) break;
            map_[static_cast<NodeId>(i)] = node.kind == NodeKind::placeholder ? operand(node, operands_[placeholder++])
                                           : node.kind == NodeKind::get_attr
                                               ? draft_.constant(nested_.attributes.at(node.target), node.target)
                                               : inserted(node);
        }
        replace_results(first);
    }

  private:
    NodeRef operand(const Node& placeholder, NodeRef given) {
        const ValueMeta& meta = placeholder.meta();
        if (given.id >= 0 && same_type(meta, draft_.from().node(given).meta())) return given;
        if (given.id >= 0)
            return draft_.insert({.kind = NodeKind::call,
                                  .name = placeholder.name,
                                  .target = "aten.select.int",
                                  .args = {Arg(given), Arg(std::int64_t{0}), Arg(std::int64_t{0})}},
                                 call_);
        return draft_.constant(filled(meta.dtype, meta.sizes, meta.dtype == DType::boolean), placeholder.name);
    }

    NodeRef inserted(const Node& call) {
        Node node = map_inputs(call, [&](NodeRef ref) { return Arg(map_.at(ref.id)); });
        const auto adopt = [&](Arg& arg) {
            if (auto* ref = std::get_if<GraphRef>(&arg.value))
                ref->name = draft_.adopt(ref->name, nested_.subgraphs.at(ref->name));
        };
        for (Arg& arg : node.args) adopt(arg);
        for (auto& [key, arg] : node.kwargs) adopt(arg);
        return draft_.insert(std::move(node), call_);
    }

    /// In place of the call's: a slice as often as there were some.
    NodeRef result(NodeId output, const ValueMeta& wanted) {
        const ValueMeta& meta = nested_.node({output}).meta();
        if (same_type(meta, wanted)) return map_.at(output);
        const NodeRef slice = draft_.insert({.kind = NodeKind::call,
                                             .name = nested_.node({output}).name + "_slice",
                                             .target = "aten.unsqueeze.default",
                                             .args = {Arg(map_.at(output)), Arg(std::int64_t{0})}},
                                            call_);
        Sizes times(wanted.sizes.size(), 1);
        times[0] = wanted.sizes[0];
        return draft_.insert({.kind = NodeKind::call,
                              .name = nested_.node({output}).name + "_slices",
                              .target = "aten.repeat.default",
                              .args = {Arg(slice), Arg::ints(times)}},
                             call_);
    }

    /// Readers of the call's results, through getitems or not.
    void replace_results(std::size_t first) {
        const std::vector<NodeId> outputs = nested_.outputs();
        const Graph& graph = draft_.from();
        const std::vector<ValueMeta>& wanted = graph.node({call_}).results;
        std::map<std::size_t, NodeRef> made;
        const auto instead_of = [&](std::size_t index) {
            const auto [found, is_new] = made.try_emplace(index);
            if (is_new) found->second = result(outputs.at(first + index), wanted.at(index));
            return found->second;
        };
        for (const NodeId id : graph.calls()) {
            const auto read = item_read(graph.node({id}));
            if (!read || read->node != call_) continue;
            draft_.replace(id, instead_of(static_cast<std::size_t>(read->index)));
        }
        if (wanted.size() == 1) draft_.replace(call_, instead_of(0));
    }

    Draft& draft_;
    NodeId call_;
    const Graph& nested_;
    const std::vector<NodeRef>& operands_;
    std::map<NodeId, NodeRef> map_;  ///< from nodes of the nested graph to nodes of the draft
};

}  // namespace

std::vector<Edit> nested_edits(const Case& from) {
    std::vector<Edit> edits;
    for_each_graph(from, [&](const Graph& graph, const DraftOf& at) {
        for (const NodeId id : graph.calls()) {
            const Node& call = graph.node({id});
            for (const auto& [name, ref] : nested_of(call)) {
                const std::shared_ptr<const Graph> nested = graph.subgraphs.at(ref);
                const std::optional<std::vector<NodeRef>> operands = operands_of(graph, call, *nested);
                const std::optional<std::size_t> first = first_result(call, *nested, may_slice(graph));
                if (!operands || !first) continue;
                edits.push_back({name + " in the place of %" + call.name,
                                 [at, id, nested, operands = *operands, first = *first](Draft& draft, std::int64_t) {
                                     Draft& edited = at(draft);
                                     if (!edited.replaced(id)) Inliner(edited, id, *nested, operands).run(first);
                                 }});
            }
        }
    });
    return edits;
}

}  // namespace whittle::reduce

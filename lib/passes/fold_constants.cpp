#include "passes/fold_constants.h"

#include <map>

#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "passes/dce.h"
#include "passes/rewriter.h"

namespace whittle {
namespace {

class Folder {
  public:
    Folder(const Graph& graph, const FoldOptions& options) : rewriter_(graph), options_(options) {}

    Graph run() {
        const Graph& from = rewriter_.from();
        for (NodeId id = 0; id < static_cast<NodeId>(from.nodes.size()); ++id) {
            const Node& node = from.nodes[static_cast<std::size_t>(id)];
            if (const auto value = folded_item(node))
                rewriter_.replace(id, *value);
            else if (!foldable(node) || !fold(id, node))
                rewriter_.copy(id);
        }
        return rewriter_.finish();
    }

    const Origins& origins() const { return rewriter_.origins(); }

  private:
    /// The constant that a getitem of a folded call reads.
    std::optional<NodeRef> folded_item(const Node& node) const {
        const std::optional<ValueRef> read = item_read(node);
        const auto found = read ? results_.find(read->node) : results_.end();
        if (found == results_.end()) return std::nullopt;
        return found->second.at(static_cast<std::size_t>(read->index));
    }

    /// All its operands are constants, at least one of them an attribute.
    bool foldable(const Node& node) const {
        if (!is_small(node)) return false;
        bool constant = true, attribute = false;
        for_each_input(node, [&](NodeRef ref) {
            const Node& operand = mapped(ref);
            attribute |= operand.kind == NodeKind::get_attr;
            constant &= operand.kind == NodeKind::get_attr || is_filler(operand);
        });
        return constant && attribute;
    }

    /// An op's call with results that are worth keeping.
    bool is_small(const Node& node) const {
        std::int64_t elements = 0;
        for (const ValueMeta& meta : node.results)
            if (__builtin_add_overflow(elements, meta.numel(), &elements)) return false;
        return is_op_call(node) && elements <= options_.max_elements;
    }

    /// A call without operands and with one result.
    bool is_filler(const Node& node) const {
        bool reads = false;
        for_each_input(node, [&](NodeRef) { reads = true; });
        return !reads && node.results.size() == 1 && is_small(node);
    }

    const Node& mapped(NodeRef old) const { return rewriter_.graph().node(rewriter_.mapped(old)); }

    bool fold(NodeId id, const Node& node) {
        std::map<NodeId, std::vector<Tensor>> fillers;
        std::vector<Tensor> values = constant_results(rewriter_.from(), node, [&](NodeRef ref) -> const Tensor* {
            const Node& operand = mapped(ref);
            if (operand.kind == NodeKind::get_attr) return &rewriter_.graph().attributes.at(operand.target);
            const auto [filled, added] = fillers.try_emplace(ref.id);
            if (added) filled->second = constant_results(rewriter_.from(), operand, {});
            return filled->second.empty() ? nullptr : filled->second.data();
        });
        return !values.empty() && fits(node, values) && (!options_.allow || options_.allow()) &&
               store(id, node, values);
    }

    /// Of the metas that the rest of the graph was inferred from.
    static bool fits(const Node& node, const std::vector<Tensor>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const ValueMeta& meta = node.results[i];
            if (values[i].dtype() != meta.dtype || values[i].sizes() != meta.sizes ||
                values[i].strides() != meta.strides)
                return false;
        }
        return true;
    }

    /// Constants in place of the call.
    bool store(NodeId id, const Node& node, std::vector<Tensor>& values) {
        if (options_.after) options_.after({.pass = PassId::fold, .call = &node, .made = &values});
        rewriter_.work_on(id);
        std::vector<NodeRef> constants;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const NodeRef ref = rewriter_.graph().get_attr(node.name + (i ? '_' + std::to_string(i) : ""), values[i]);
            Node& constant = rewriter_.graph().nodes[static_cast<std::size_t>(ref.id)];
            constant.stack = node.stack;
            constant.module_path = node.module_path;
            constants.push_back(ref);
        }
        if (constants.size() == 1) rewriter_.replace(id, constants[0]);
        results_[id] = std::move(constants);
        return true;
    }

    Rewriter rewriter_;
    const FoldOptions& options_;
    std::map<NodeId, std::vector<NodeRef>> results_;  ///< of folded calls, by old id
};

}  // namespace

Graph fold_constants(const Graph& graph, const FoldOptions& options, Origins* origins) {
    Folder folder(graph, options);
    const Graph folded = folder.run();
    if (!origins) return logged("fold_constants", graph, dce(folded));
    Origins kept;
    Graph result = dce(folded, &kept);
    *origins = through(kept, folder.origins());
    return logged("fold_constants", graph, std::move(result));
}

}  // namespace whittle

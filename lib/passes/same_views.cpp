#include "passes/same_views.h"

#include <map>
#include <optional>

#include "ops/core/memory.h"
#include "passes/rewriter.h"
#include "passes/views.h"

namespace whittle {
namespace {

class SameViews {
  public:
    SameViews(const Graph& graph, const std::set<NodeId>& kept) : graph_(graph), kept_(kept), rewriter_(graph) {}

    Graph run(Origins* origins) {
        for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); ++id) {
            const std::optional<NodeId> same = kept_.contains(id) ? std::nullopt : shown_before(id);
            if (same)
                rewriter_.replace(id, rewriter_.mapped({*same}));
            else
                rewriter_.copy(id);
        }
        Graph result = rewriter_.finish();
        if (origins) *origins = rewriter_.origins();
        return result;
    }

  private:
    /// The nearest of the values that the call is a view of and shows the elements of.
    std::optional<NodeId> shown_before(NodeId id) {
        const Node& call = graph_.node({id});
        if (call.kind != NodeKind::call || call.results.size() != 1) return std::nullopt;
        const std::optional<NodeRef> operand = viewed_operand(graph_, call);
        if (!operand) return std::nullopt;
        viewed_[id] = operand->id;
        const Tensor view =
            shown_
                .insert(
                    {id, view_of(call, shown(operand->id), [&](NodeRef ref) { return graph_.node(ref).meta(); }).at(0)})
                .first->second;
        for (auto before = viewed_.find(id); before != viewed_.end(); before = viewed_.find(before->second)) {
            const Tensor& other = shown(before->second);
            if (other.dtype() == view.dtype() && other.sizes() == view.sizes() && other.strides() == view.strides() &&
                other.offset() == view.offset())
                return before->second;
        }
        return std::nullopt;
    }

    /// Memory laid out as the node's value is.
    const Tensor& shown(NodeId id) {
        const auto found = shown_.find(id);
        if (found != shown_.end()) return found->second;
        const ValueMeta& meta = graph_.node({id}).meta();
        std::int64_t last = 0;  // no stride is negative, and there are elements: viewed_operand() looked
        for (std::size_t d = 0; d < meta.sizes.size(); ++d) last += (meta.sizes[d] - 1) * meta.strides[d];
        const auto storage = Storage::allocate(static_cast<std::size_t>(last + 1) * size_of(meta.dtype));
        return shown_.insert({id, Tensor(storage, meta.dtype, meta.sizes, meta.strides)}).first->second;
    }

    const Graph& graph_;
    const std::set<NodeId>& kept_;
    Rewriter rewriter_;
    std::map<NodeId, NodeId> viewed_;  ///< by whose view
    std::map<NodeId, Tensor> shown_;
};

}  // namespace

Graph same_views(const Graph& graph, const std::set<NodeId>& kept, Origins* origins) {
    return logged("same_views", graph, SameViews(graph, kept).run(origins));
}

}  // namespace whittle

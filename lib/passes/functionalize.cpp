#include "passes/functionalize.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/aten/hidden_writes.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "passes/rewriter.h"
#include "passes/views.h"

namespace whittle {
namespace {

/// Elements of it may share memory, as those of expand() and of unfold() do: sorted, some stride is shorter than what
/// the dimensions inside of it take. Other layouts than strided have none that say so.
bool overlaps_itself(const ValueMeta& meta) {
    if (meta.placement && meta.placement->layout != Placement().layout) return false;
    if (meta.strides.size() != meta.sizes.size()) return false;
    std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride, size
    for (std::size_t d = 0; d < meta.sizes.size(); ++d) {
        if (meta.sizes[d] == 0) return false;
        if (meta.sizes[d] > 1) dims.emplace_back(meta.strides[d], meta.sizes[d]);
    }
    std::ranges::sort(dims);
    std::int64_t inside = 1;
    for (const auto& [stride, size] : dims) {
        if (stride < inside) return true;
        inside = stride * (size - 1) + inside;
    }
    return false;
}

/// One walk over the graph. Every value of the old graph is memory of its own (a root) or a view of another value.
class Functionalizer {
  public:
    Functionalizer(const Graph& from, const FunctionalizeOptions& options)
        : from_(from), options_(options), rewriter_(from), builder_(rewriter_.graph()), slots_(from.nodes.size()) {}

    Functionalized run() {
        for (std::size_t i = 0; i + 1 < from_.nodes.size(); ++i) {
            try {
                visit(static_cast<NodeId>(i));
            } catch (const Error& error) {
                const Node& node = from_.nodes[i];
                throw FunctionalizeError(static_cast<NodeId>(i), Error({error.where().file, place_of(from_, node)},
                                                                       error.message(), error.hint()));
            }
        }
        return finish();
    }

    const Origins& origins() const { return rewriter_.origins(); }

  private:
    struct Slot {
        NodeId same_as = -1;       ///< the result of an in-place op is its operand
        NodeId view_of = -1;       ///< this value shows memory of that one
        NodeRef current = {};      ///< in the new graph
        std::uint64_t time = 0;    ///< of the root's last write that `current` has seen
        std::uint64_t writes = 0;  ///< of a root
    };

    Slot& slot(NodeId id) { return slots_.at(static_cast<std::size_t>(id)); }
    NodeId memory(NodeId id) {
        while (slot(id).same_as >= 0) id = slot(id).same_as;
        return id;
    }
    NodeId root(NodeId id) {
        for (id = memory(id); slot(id).view_of >= 0;) id = memory(slot(id).view_of);
        return id;
    }

    const Node& node(NodeId id) const { return from_.nodes[static_cast<std::size_t>(id)]; }
    V in_new(NodeRef ref) { return builder_.value(ref); }

    /// The value now, after all writes so far.
    NodeRef value(NodeId id) {
        id = memory(id);
        Slot& s = slot(id);
        if (s.view_of < 0 || s.time == slot(root(id)).writes) return s.current;
        s.current = view_again(id);
        s.time = slot(root(id)).writes;
        return s.current;
    }

    Node mapped(const Node& call) {
        return map_inputs(call, [&](NodeRef ref) { return Arg(value(ref.id)); });
    }

    /// The call that makes the view, on what its operand is now.
    NodeRef view_again(NodeId id) {
        const Node& view = node(id);
        const std::optional<ValueRef> read = item_read(view);
        if (!read) return rewriter_.graph().add(mapped(view));
        const NodeRef call = rewriter_.graph().add(mapped(node(read->node)));
        Node item = view;
        item.args[0] = Arg(call);
        return rewriter_.graph().add(std::move(item));
    }

    /// The node, which stands for the call, keeps the call's name, by which others know it; what was made for a call
    /// before may have taken that name.
    NodeRef named_as(const Node& call, NodeRef made) {
        Graph& graph = rewriter_.graph();
        Node& own = graph.nodes[static_cast<std::size_t>(made.id)];
        if (own.name == call.name) return made;
        const auto other = std::ranges::find(graph.nodes, call.name, &Node::name);
        if (other == graph.nodes.end()) return made;
        std::swap(own.name, other->name);
        graph.names.added(graph.nodes);  // the same names are in use
        return made;
    }

    void visit(NodeId id) {
        const Node& n = node(id);
        rewriter_.work_on(id);
        if (writes(n)) return write(id);
        if (const std::optional<ValueRef> read = item_read(n)) {
            Node item = n;
            item.args[0] = Arg(slot(read->node).current);
            slot(id).current = named_as(n, rewriter_.graph().add(std::move(item)));
            if (const auto of = viewed_operand(from_, node(read->node))) show(id, of->id);
            return;
        }
        slot(id).current = named_as(n, rewriter_.graph().add(mapped(n)));
        if (n.results.size() == 1)
            if (const auto of = viewed_operand(from_, n)) show(id, of->id);
    }

    void show(NodeId id, NodeId of) {
        slot(id).view_of = of;
        slot(id).time = slot(root(of)).writes;
    }

    void write(NodeId id) {
        const Node& call = node(id);
        const InPlaceForm* form = Registry::instance().in_place(call.target);
        const NodeRef* operand = call.args.empty() ? nullptr : call.args.front().node();
        if (!form || !operand)
            throw Error(
                "found an in-place op without a functional form, expected an op with a functional form, for example "
                "aten.add_.Tensor");
        const Node copied = mapped(call);
        builder_.set_origin(call);
        const std::size_t first = made();
        V result = builder_.call(form->functional, copied.args, copied.kwargs);
        named_as(call, result.ref);
        const ValueMeta& self = node(operand->id).meta();
        if (result.meta.sizes != self.sizes)
            throw Error("found a result of sizes " + to_string(result.meta.sizes) + " written into a tensor of sizes " +
                        to_string(self.sizes) + ", expected equal sizes");
        if (result.meta.dtype != self.dtype) result = builder_.call("aten.to.dtype", {arg(result), Arg(self.dtype)});
        result.meta.placement = self.placement;  // what is inferred knows of none
        rewriter_.graph().nodes[static_cast<std::size_t>(result.ref.id)].results.front().placement = self.placement;
        if (options_.after)
            options_.after({.pass = PassId::functionalize, .call = &call, .builder = &builder_, .made = &result});
        if (call.meta().requires_grad) tell_gradients(first);
        const std::size_t written = made();
        slot(id).same_as = operand->id;
        store(memory(operand->id), result);
        tell_gradients(written);
    }

    std::size_t made() { return rewriter_.graph().nodes.size(); }

    /// Of the nodes from `first` on, which no program made: they require a gradient where an operand does.
    void tell_gradients(std::size_t first) {
        Graph& graph = rewriter_.graph();
        for (std::size_t i = first; i < graph.nodes.size(); ++i) {
            bool any = false;
            for_each_input(graph.nodes[i], [&](NodeRef ref) { any = any || graph.node(ref).meta().requires_grad; });
            for (ValueMeta& meta : graph.nodes[i].results) meta.requires_grad = any && is_inexact(meta.dtype);
        }
    }

    /// `id`, a view or a root, holds `result` from now on, and so does all that shares its memory.
    void store(NodeId id, const V& result) {
        Slot& s = slot(id);
        if (s.view_of < 0) {
            if (overlaps_itself(node(id).meta()))
                throw Error("found a write to %" + node(id).name + ", whose elements overlap because of the strides " +
                            to_string(node(id).meta().strides) + ", expected elements that do not overlap");
            s.current = result.ref;
            ++s.writes;
            return;
        }
        const NodeId base = memory(s.view_of);
        if (node(id).meta().dtype != node(base).meta().dtype)
            throw Error("found a write to %" + node(id).name + ", which views the " +
                        std::string(name(node(base).meta().dtype)) + " tensor %" + node(base).name + " as " +
                        std::string(name(node(id).meta().dtype)) + ", expected a view of the same dtype");
        const V old = in_new(value(base));
        store(base, write_through(builder_, old, shown_by(id, old.meta.sizes), result));
        s.current = result.ref;
        s.time = slot(root(id)).writes;
    }

    /// What the view shows of the numbered elements of its base.
    Tensor shown_by(NodeId id, const Sizes& base) {
        std::vector<std::int64_t> numbers(static_cast<std::size_t>(element_count(base)));
        std::iota(numbers.begin(), numbers.end(), 0);
        const Tensor numbered = Tensor::of(numbers, base);
        const ValueRef view = value_of(from_, {id});
        return numbered_view(node(view.node), numbered, view.index);
    }

    Tensor numbered_view(const Node& call, const Tensor& numbered, int result) {
        const Tensor shown = view_of(call, numbered, [&](NodeRef ref) {
                                 return from_.node(ref).meta();
                             }).at(static_cast<std::size_t>(result));
        // A view keeps the dtype; `to` that was recorded as a view did not convert.
        return shown.dtype() == DType::i64 ? shown : numbered;
    }

    Functionalized finish() {
        Functionalized result;
        rewriter_.work_on(static_cast<NodeId>(from_.nodes.size()) - 1);
        std::vector<NodeRef> outputs;
        for (const NodeId id : from_.outputs()) outputs.push_back(value(id));
        for (std::size_t i = 0; i < from_.nodes.size(); ++i) {
            const NodeKind kind = from_.nodes[i].kind;
            if (slots_[i].writes == 0 || (kind != NodeKind::placeholder && kind != NodeKind::get_attr)) continue;
            result.updates.push_back({from_.nodes[i].name, outputs.size()});
            outputs.push_back(slots_[i].current);
        }
        rewriter_.graph().output(outputs);
        result.graph = rewriter_.finish();
        return result;
    }

    const Graph& from_;
    const FunctionalizeOptions& options_;
    Rewriter rewriter_;
    GraphBuilder builder_;
    std::vector<Slot> slots_;
};

}  // namespace

namespace {

Functionalized functionalize_visible(const Graph& graph, const FunctionalizeOptions& options, Origins* origins) {
    for (NodeId id = 0; id < static_cast<NodeId>(graph.nodes.size()); ++id) {
        Graph named;
        copy_nested(graph.node({id}), graph, named);
        for (const auto& [name, subgraph] : named.subgraphs)
            if (has_writes(*subgraph))
                throw FunctionalizeError(id,
                                         Error({"", "nested graph " + name},
                                               "found an in-place op, expected a nested graph without in-place ops"));
    }
    if (!has_writes(graph)) {
        if (origins) *origins = own_origins(graph);
        return {graph, {}};
    }
    Functionalizer functionalizer(graph, options);
    Functionalized result = functionalizer.run();
    result.graph = logged("functionalize", graph, std::move(result.graph));
    if (origins) *origins = functionalizer.origins();
    return result;
}

}  // namespace

Functionalized functionalize(const Graph& graph, const FunctionalizeOptions& options, Origins* origins) {
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(), hides_writes))
        return functionalize_visible(graph, options, origins);
    std::vector<NodeId> stands_for;
    const Graph visible = with_visible_writes(graph, &stands_for);
    Origins made, before;
    try {
        Functionalized result = functionalize_visible(visible, options, &made);
        for (const NodeId id : stands_for) before.push_back({id});
        if (origins) *origins = through(made, before);
        return result;
    } catch (const FunctionalizeError& error) {
        throw FunctionalizeError(stands_for.at(static_cast<std::size_t>(error.node)), error);
    }
}

}  // namespace whittle

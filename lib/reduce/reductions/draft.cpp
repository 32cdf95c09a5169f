#include "reduce/reductions/draft.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"
#include "frontends/onnx/operands.h"
#include "graph/value_ref.h"
#include "graph/verify.h"
#include "ops/core/interpreter.h"
#include "ops/core/nested.h"
#include "ops/core/opaque.h"
#include "passes/dce.h"

namespace whittle::reduce {
namespace {

constexpr int kMostSteps = 100'000;  // values that the reference may compute: an edit can make a loop endless

/// Runs the reference; Error where a value is not what its meta says, where it does not end, and when we are to stop.
class CheckingInterpreter : public Interpreter {
  protected:
    void observe(const Graph& graph, NodeId id, std::span<const Tensor> results) override {
        if (++steps_ > kMostSteps) throw Error("the graph did not end after " + std::to_string(kMostSteps) + " values");
        if (told_to_stop()) throw Error("interrupted");
        const Node& node = graph.node({id});
        for (std::size_t i = 0; i < node.results.size(); ++i)
            if (!same_type(node.results[i], ValueMeta::of(results[i])))
                throw Error("the type of %" + node.name + " differs from the type that is inferred for its operands");
    }

  private:
    int steps_ = 0;
};

/// Types of what a node reads, in order.
std::vector<ValueMeta> operand_types(const Graph& graph, const Node& node) {
    std::vector<ValueMeta> types;
    for_each_input(node, [&](NodeRef ref) {
        for (const ValueMeta& meta : graph.node(ref).results)
            types.push_back(ValueMeta::contiguous(meta.dtype, meta.sizes));
    });
    return types;
}

/// Whether inference can do without values that are computed when the graph runs.
bool is_inferred(const Graph& graph, const Node& call) {
    try {
        infer(graph, call);
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// Numbers stand where the op takes tensors, and no tensor is left: PyTorch has no such call, and computes with the
/// numbers themselves in f64.
bool takes_numbers_alone(const Node& call) {
    const Schema* schema = Registry::instance().find(call.target);
    bool reads = false;
    for_each_input(call, [&](NodeRef) { reads = true; });
    return schema && !reads && std::ranges::any_of(schema->params, [](const Param& param) {
               return param.type == ParamType::tensor && !param.optional;
           });
}

/// Placeholders that nobody reads go, and with them what they hold.
Graph without_unread_inputs(const Graph& graph) {
    const std::vector<std::vector<NodeId>> readers = users(graph);
    Graph result = graph;
    result.nodes.clear();
    std::vector<NodeRef> position(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (graph.nodes[i].kind == NodeKind::placeholder && readers[i].empty()) continue;
        position[i] = {static_cast<NodeId>(result.nodes.size())};
        result.nodes.push_back(
            map_inputs(graph.nodes[i], [&](NodeRef ref) { return Arg(position[static_cast<std::size_t>(ref.id)]); }));
    }
    return result;
}

/// What was cut lies in memory as it did before: copied, it is as its meta says.
Tensor compact(const Tensor& tensor, const ValueMeta& meta) {
    return tensor.strides() == meta.strides ? tensor : tensor.clone();
}

void compact_constants(Graph& graph) {
    for (const Node& node : graph.nodes)
        if (node.kind == NodeKind::get_attr) {
            Tensor& constant = graph.attributes.at(node.target);
            constant = compact(constant, node.meta());
        }
    for (auto& [name, nested] : graph.subgraphs) {
        Graph body = *nested;
        compact_constants(body);
        nested = std::make_shared<const Graph>(std::move(body));
    }
}

}  // namespace

Draft::Draft(const Graph& nested)
    : from_(&nested), outermost_(false), work_(nested), order_(nested.nodes.size()), replacement_(nested.nodes.size()) {
    std::iota(order_.begin(), order_.end(), 0.0);
}

Draft::Draft(const Case& from) : Draft(from.graph) {
    outermost_ = true;
    const std::vector<NodeId> placeholders = from.graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size(); ++i) inputs_[node(placeholders[i]).name] = from.inputs.at(i);
}

Draft& Draft::nested(const std::string& name) {
    return nested_.try_emplace(name, Draft(*from_->subgraphs.at(name))).first->second;
}

void Draft::replace(NodeId value, NodeRef by) {
    NodeRef& known = replacement_.at(static_cast<std::size_t>(value));
    if (known.id < 0) known = by;
}

bool Draft::replaced(NodeId value) const {
    if (replacement_.at(static_cast<std::size_t>(value)).id >= 0) return true;
    for (const NodeId id : from_->calls()) {
        const auto read = item_read(from_->node({id}));
        if (read && read->node == value && replacement_[static_cast<std::size_t>(id)].id >= 0) return true;
    }
    return false;
}

std::string Draft::adopt(const std::string& name, std::shared_ptr<const Graph> nested) {
    std::string free = name;
    for (int i = 1; work_.subgraphs.contains(free); ++i) free = name + '_' + std::to_string(i);
    work_.subgraphs[free] = std::move(nested);
    return free;
}

NodeRef Draft::placed(NodeRef ref, double order) {
    order_.push_back(order);
    replacement_.push_back({});
    return ref;
}

NodeRef Draft::constant(const Tensor& value, const std::string& name) {
    const NodeRef ref = work_.get_attr(name, value);
    return placed(ref, static_cast<double>(ref.id));
}

NodeRef Draft::insert(Node node, NodeId before) {
    // A stable sort keeps the order of insertion.
    return placed(work_.add(std::move(node)), static_cast<double>(before) - 0.5);
}

const Tensor& Draft::data(NodeId leaf) const {
    const Node& node = work_.nodes.at(static_cast<std::size_t>(leaf));
    return node.kind == NodeKind::placeholder ? inputs_.at(node.name) : work_.attributes.at(node.target);
}

namespace {

ValueMeta with_gradients_of(const ValueMeta& before, ValueMeta meta) {
    meta.requires_grad = before.requires_grad;
    meta.leaf = before.leaf;
    return meta;
}

}  // namespace

void Draft::set_data(NodeId leaf, const Tensor& value) {
    Node& held = node(leaf);
    held.results = {with_gradients_of(held.meta(), ValueMeta::of(value))};
    if (held.kind == NodeKind::placeholder)
        inputs_[held.name] = value;
    else
        work_.attributes[held.target] = value;
}

void Draft::cut(NodeId leaf, const Sizes& sizes, Keep keep) {
    Node& held = node(leaf);
    ValueMeta& meta = held.results.at(0);
    meta = with_gradients_of(meta, ValueMeta::contiguous(meta.dtype, sizes));
    if (!outermost_ && held.kind == NodeKind::placeholder) return;  // holds nothing
    Tensor& data = held.kind == NodeKind::placeholder ? inputs_[held.name] : work_.attributes[held.target];
    std::int64_t offset = data.offset();
    for (std::size_t d = 0; d < sizes.size() && keep == Keep::last; d++)
        offset += (data.sizes()[d] - sizes[d]) * data.strides()[d];
    data = data.as_strided(sizes, data.strides(), offset);  // finish() copies it
}

NodeRef Draft::resolved(NodeRef ref) const {
    for (;;) {
        const NodeRef next = replacement_[static_cast<std::size_t>(ref.id)];
        if (next.id < 0) return ref;
        ref = next;
    }
}

/// What is left of the outputs, each once, and no leaf while something is computed. Those of a nested graph are given
/// by position and all stay.
void Draft::set_outputs(Node& output) const {
    const ArgList all = output.args;
    output.args.clear();
    std::set<NodeId> listed;
    const bool computes =
        std::ranges::any_of(all, [&](const Arg& arg) { return !is_leaf(work_.node(resolved(*arg.node()))); });
    for (std::size_t i = 0; i < all.size(); ++i) {
        const NodeRef ref = resolved(*all[i].node());
        const bool dropped = std::ranges::find(dropped_outputs_, i) != dropped_outputs_.end() ||
                             (computes && is_leaf(work_.node(ref))) || listed.contains(ref.id);
        if (outermost_ && dropped) continue;
        listed.insert(ref.id);
        output.args.emplace_back(ref);
    }
}

std::optional<Graph> Draft::assemble() const {
    std::vector<NodeId> order(work_.nodes.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](NodeId a, NodeId b) {
        const NodeKind of_a = work_.node({a}).kind;
        const NodeKind of_b = work_.node({b}).kind;
        return of_a != of_b ? of_a < of_b : order_[static_cast<std::size_t>(a)] < order_[static_cast<std::size_t>(b)];
    });
    std::vector<NodeRef> position(order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        position[static_cast<std::size_t>(order[i])] = {static_cast<NodeId>(i)};
    Graph graph = work_;
    graph.nodes.clear();
    for (const NodeId id : order) {
        Node node = work_.node({id});
        if (node.kind == NodeKind::output) set_outputs(node);
        graph.nodes.push_back(
            map_inputs(node, [&](NodeRef ref) { return Arg(position[static_cast<std::size_t>(resolved(ref).id)]); }));
        if (node.kind == NodeKind::output && node.args.empty()) return std::nullopt;
    }
    for (const auto& [name, draft] : nested_) {
        std::optional<Graph> body = draft.assemble();
        if (!body) return std::nullopt;
        graph.subgraphs[name] = std::make_shared<const Graph>(std::move(*body));
    }
    graph = dce(graph);
    if (outermost_) graph = without_unread_inputs(graph);
    if (!infer_again(graph)) return std::nullopt;
    return graph;
}

/// Metas of all calls. Where inference cannot do without what was computed in the original (sizes that are data), a
/// call whose operands have the types they had keeps its metas.
bool Draft::infer_again(Graph& graph) const {
    for (Node& node : graph.nodes) {
        if (node.kind != NodeKind::call) continue;
        if (takes_numbers_alone(node)) return false;
        try {
            const std::vector<ValueMeta> fresh = infer(graph, node);
            if (graph.dialect == "onnx") check_operand_types(graph, node);
            const bool known = node.results.size() == fresh.size() &&
                               std::equal(fresh.begin(), fresh.end(), node.results.begin(), same_type);
            if (known) continue;
            const std::vector<ValueMeta> before = std::exchange(node.results, fresh);
            for (std::size_t i = 0; i < std::min(before.size(), fresh.size()); ++i)
                node.results[i].requires_grad = before[i].requires_grad && is_floating(fresh[i].dtype);
        } catch (const Error&) {
            const Node* original = from_->find(node.name);
            if (!original || original->target != node.target || is_inferred(*from_, *original) ||
                operand_types(*from_, *original) != operand_types(graph, node))
                return false;
        }
    }
    return true;
}

bool Draft::infers() const { return assemble().has_value(); }

std::optional<Case> Draft::finish() const {
    try {
        std::optional<Graph> graph = assemble();
        if (!graph || graph->calls().empty()) return std::nullopt;
        compact_constants(*graph);
        Case result{std::move(*graph)};
        verify(result.graph, Stage::captured, Registry::instance());
        for (const NodeId id : result.graph.placeholders())
            result.inputs.push_back(compact(inputs_.at(result.graph.node({id}).name), result.graph.node({id}).meta()));
        result.expected = PassingOpaque<CheckingInterpreter>().run(result.graph, result.inputs);
        if (!opaque_ops(result.graph).empty()) result.expected.clear();
        return result;
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace whittle::reduce

#include "judge/gradient_check.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/words.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "judge/capture_check.h"
#include "judge/gradient_values.h"
#include "ops/aten/capture.h"
#include "ops/core/gradients.h"
#include "ops/core/registry.h"
#include "passes/no_grad.h"

namespace whittle {
namespace {

using capture::CapturedGraph;

constexpr std::string_view kOf = "backward of %", kOfAny = "backward of ";

/// It helps to compute the gradient of a call, which may be in another frame.
bool is_of_a_call(const Node& node) { return node.module_path.find(kOfAny) != std::string::npos; }

/// The call whose gradient a node of a backward graph helps to compute: "convolution" of "features.0, backward of
/// %convolution"; empty for others.
std::string_view of_call(const Node& node) {
    const std::size_t found = node.module_path.rfind(kOf);
    return found == std::string::npos ? std::string_view()
                                      : std::string_view(node.module_path).substr(found + kOf.size());
}

/// Of a call by itself: its operands are the inputs, its first result is the output. An operand that it takes twice is
/// two inputs: LibTorch gives each use its gradient, and its engine sums them between calls, with those of others.
struct Alone {
    Graph graph{.name = "call"};
    std::vector<Tensor> inputs;
    std::set<std::string> wanted;               ///< inputs that require a gradient
    std::map<std::string, std::string> called;  ///< what they are called in the captured graph
};

Alone alone(const Ran& forward, const Node& call) {
    Alone result;
    result.graph.subgraphs = forward.graph().subgraphs;
    const NodeRef made = result.graph.add(map_inputs(call, [&](NodeRef ref) {
        const Node& operand = forward.graph().node(ref);
        const Tensor& value = forward.value(ref);
        const NodeRef input = result.graph.placeholder(operand.name, ValueMeta::of(value.with_requires_grad(false)));
        const std::string& name = result.graph.node(input).name;
        result.inputs.push_back(value);
        result.called[name] = operand.kind == NodeKind::get_attr ? operand.target : "%" + operand.name;
        if (operand.meta().requires_grad && is_floating(operand.meta().dtype)) result.wanted.insert(name);
        return Arg(input);
    }));
    result.graph.output({call.results.size() == 1 ? made : result.graph.add(getitem(made, 0, call))});
    return result;
}

class Checker {
  public:
    /// `forward`: the graphs whose gradients it computes, where it begins first, null where their values are not known.
    Checker(const std::vector<const Ran*>& forward, const Ran& backward) : forward_(forward), backward_(backward) {}

    GradientVerdict run() {
        accuracy_ = accuracy_of(backward_.graph());
        accuracy_.mode = Accuracy::Mode::fp64;
        for (const auto& [ref, value] : backward_.values) all_.push_back(value);
        std::vector<std::string> order;
        std::map<std::string, std::vector<NodeId>, std::less<>> groups;
        for (const NodeId id : backward_.graph().calls()) {
            const std::string name(of_call(backward_.graph().node({id})));
            if (!name.empty() && groups[name].empty()) order.push_back(name);
            if (!name.empty()) groups[name].push_back(id);
        }
        for (const std::string& name : order)
            if (!backward_.captured->partial_calls.contains(name)) check_call(name, groups.at(name));
        check_leaves();
        return std::move(verdict_);
    }

  private:
    /// Graphs of a frame number their nodes alike: the gradient is that of one call of this name.
    void check_call(const std::string& name, const std::vector<NodeId>& group) {
        std::optional<std::string> difference;
        for (const Ran* forward : forward_) {
            const Node* call = forward ? forward->graph().find(name) : nullptr;
            if (!call || !is_op_call(*call)) continue;
            const std::optional<std::string> found = compare_call(*forward, *call, group);
            if (!found) continue;
            if (found->empty()) {
                ++verdict_.calls;
                return;
            }
            if (!difference) difference = found;
        }
        if (!difference) return;
        ++verdict_.calls;
        verdict_.differences.push_back(*difference);
    }

    /// How the rule's gradients of the call differ from LibTorch's; empty: in nothing. Nothing: it cannot be told.
    std::optional<std::string> compare_call(const Ran& forward, const Node& call, const std::vector<NodeId>& group) {
        const Alone one = alone(forward, call);
        const bool ends = call.results.size() == 1 && !call.results.front().requires_grad;
        if (one.wanted.empty() || ends) return std::nullopt;
        if (reads_other_results(forward.graph(), call)) return std::nullopt;
        Joint joint;
        try {
            joint = whittle::joint(one.graph, {.wanted = one.wanted});
        } catch (const Error&) {  // no rule
            return std::nullopt;
        }
        if (joint.tangents.empty()) return std::nullopt;
        const std::set<NodeId> own(group.begin(), group.end());
        Candidates given;
        for (const NodeId id : group)
            for_each_input(backward_.graph().node({id}), [&](NodeRef ref) {
                if (!own.contains(value_of(backward_.graph(), ref).node)) given.push_back(backward_.value(ref));
            });
        const Candidates computed = values_of(group), results = results_of(group);
        const ValueMeta& tangent = joint.graph.node({joint.graph.placeholders().back()}).meta();
        std::optional<std::string> difference;
        for (const Tensor& incoming : given) {
            if (incoming.dtype() != tangent.dtype || incoming.sizes() != tangent.sizes) continue;
            Candidates candidates = computed;
            candidates.push_back(incoming);
            const std::optional<std::string> found =
                compare_gradients(one, joint, incoming, candidates, results, call, forward);
            if (found && found->empty()) return found;
            if (found && !difference) difference = found;
        }
        return difference;
    }

    std::optional<std::string> compare_gradients(const Alone& one, const Joint& joint, const Tensor& incoming,
                                                 const Candidates& candidates, const Candidates& results,
                                                 const Node& call, const Ran& forward) const {
        std::vector<Tensor> inputs = one.inputs;
        inputs.push_back(incoming);
        const ExpectedGradients expected(joint, inputs, accuracy_);
        bool any = false;
        for (std::size_t i = 0; i < joint.gradients.size(); ++i) {
            const bool found = expected.is_among(i, candidates);
            any = any || found;
            if (found) continue;
            if (const auto difference = expected.nearest(i, results))
                return place_of(forward.graph(), call) + ": LibTorch's gradient of " +
                       one.called.at(joint.gradients[i]) + " in " + call.target +
                       " differs from Whittle's gradient rule: " + *difference;
        }
        return any ? std::optional<std::string>(std::string()) : std::nullopt;
    }

    Candidates values_of(const std::vector<NodeId>& nodes) const {
        Candidates values;
        for (const NodeId id : nodes)
            for (auto value = backward_.values.lower_bound({id, 0});
                 value != backward_.values.end() && value->first.node == id; ++value)
                values.push_back(value->second);
        return values;
    }
    /// What those nodes computed and none of them reads.
    Candidates results_of(const std::vector<NodeId>& nodes) const {
        std::set<NodeId> read;
        for (const NodeId id : nodes)
            for_each_input(backward_.graph().node({id}), [&](NodeRef ref) { read.insert(ref.id); });
        std::vector<NodeId> last;
        std::ranges::copy_if(nodes, std::back_inserter(last), [&](NodeId id) { return !read.contains(id); });
        return values_of(last);
    }

    /// Somebody reads another floating result of the call that has a gradient.
    static bool reads_other_results(const Graph& graph, const Node& call) {
        return std::ranges::any_of(graph.nodes, [&](const Node& node) {
            const std::optional<ValueRef> read = item_read(node);
            return read && read->index > 0 && graph.node({read->node}).name == call.name && node.meta().requires_grad;
        });
    }

    // ---- leaves

    /// Of the graph where the backward pass begins, at an output of one number.
    void check_leaves() {
        if (forward_.empty() || !forward_.front()) {
            verdict_.leaves_unchecked =
                "the backward pass starts outside the graphs of this function, or at a graph whose values are unknown";
            return;
        }
        const Ran& forward = *forward_.front();
        if (const std::string why = unlike_joint(forward.graph()); !why.empty()) {
            verdict_.leaves_unchecked = why;
            return;
        }
        Joint joint;
        try {
            joint = whittle::joint(forward.graph());
        } catch (const Error& error) {
            verdict_.leaves_unchecked = error.what();
            return;
        }
        std::optional<Leaves> best;
        for (std::size_t loss = 0; loss < joint.tangents.size(); ++loss) {
            const ValueMeta& meta = tangent_meta(joint, loss);
            if (meta.numel() != 1) continue;
            for (const Tensor& seed : seeds(meta)) {
                std::optional<Leaves> found = compare_leaves(forward, joint, loss, seed);
                if (!found) break;
                const bool all = found->right == joint.gradients.size();
                if (!best || found->right > best->right) best = std::move(found);
                if (all) break;
            }
        }
        if (!best) {
            verdict_.leaves_unchecked = "the backward pass does not start at a scalar loss of " + forward.graph().name;
            return;
        }
        verdict_.leaves = best->right + best->differences.size();
        std::ranges::move(best->differences, std::back_inserter(verdict_.differences));
    }

    static const ValueMeta& tangent_meta(const Joint& joint, std::size_t tangent) {
        return joint.graph.node({joint.graph.placeholders().at(joint.inputs + tangent)}).meta();
    }

    /// Different values that the gradient of the loss may be, the usual one first; of zero all others are, too, as
    /// gradients that were reset.
    Candidates seeds(const ValueMeta& loss) const {
        constexpr std::size_t kMost = 8;
        Candidates seeds;
        for (const Tensor& value : all_)
            if (value.dtype() == loss.dtype && value.sizes() == loss.sizes && value.item().to_double() != 0 &&
                seeds.size() < kMost &&
                std::ranges::none_of(seeds, [&](const Tensor& known) { return same_bits(known, value); }))
                seeds.push_back(value);
        std::stable_partition(seeds.begin(), seeds.end(),
                              [](const Tensor& value) { return value.item().to_double() == 1; });
        return seeds;
    }

    struct Leaves {
        std::size_t right = 0;
        std::vector<std::string> differences = {};
    };
    /// Where the backward pass begins with `seed` at the one output; others are read by it alone. Nothing where nobody
    /// has a gradient of that, which then is no loss: nll_loss_forward's weight, where the loss itself is no output.
    std::optional<Leaves> compare_leaves(const Ran& forward, const Joint& joint, std::size_t loss,
                                         const Tensor& seed) const {
        std::vector<Tensor> inputs = forward.captured->inputs;
        for (std::size_t i = 0; i < joint.tangents.size(); ++i) {
            const ValueMeta& meta = tangent_meta(joint, i);
            inputs.push_back(i == loss ? seed : Tensor(meta.dtype, meta.sizes));
        }
        const ExpectedGradients expected(joint, inputs, accuracy_);
        if (expected.all_zero()) return std::nullopt;
        const Candidates results = results_of(backward_.graph().calls());
        Leaves leaves;
        for (std::size_t i = 0; i < joint.gradients.size(); ++i) {
            const bool found = expected.is_among(i, all_);
            const auto difference = found ? std::nullopt : expected.nearest(i, results);
            leaves.right += found;
            if (difference)
                leaves.differences.push_back("the gradient of " + joint.gradients[i] + " in the joint graph of " +
                                             forward.graph().name +
                                             " matches no gradient that LibTorch computed: " + *difference);
        }
        return leaves;
    }

    /// Why gradients need not be those of the joint graph; empty: they are.
    std::string unlike_joint(const Graph& forward) const {
        if (const std::optional<NodeId> end = where_gradients_end(forward))
            return place_of(forward, forward.node({*end})) +
                   " was computed without gradients, or by a custom autograd function";
        for (const NodeId id : backward_.graph().calls()) {
            const Node& node = backward_.graph().node({id});
            if (is_op_call(node) && !is_of_a_call(node) && !is_of_autograd(node.target))
                return "a hook or custom autograd function of the program computes gradients: " + node.target;
        }
        return backward_.captured->partial;
    }

    const std::vector<const Ran*>& forward_;
    const Ran& backward_;
    Candidates all_;  ///< every value of the backward graph
    Accuracy accuracy_;
    GradientVerdict verdict_;
};

void log_verdict(const std::string& graph, const GradientVerdict& verdict) {
    std::string text = graph + ": gradients checked: " + plural(verdict.calls, "call") +
                       " against Whittle's gradient rules, " +
                       plural(verdict.leaves, "input or parameter", "inputs and parameters") + ", " +
                       std::to_string(verdict.differences.size()) + " differ";
    if (!verdict.leaves_unchecked.empty()) text += "; inputs and parameters not checked: " + verdict.leaves_unchecked;
    log_info(LogChannel::capture, text);
}

/// The graphs of a frame by number, run when they are first asked for: a backward pass is held against values of the
/// execution that it belongs to, and of no other.
class ForwardGraphs {
  public:
    explicit ForwardGraphs(const capture::CapturedFrame& frame) : frame_(frame) {}

    std::vector<const Ran*> of(const CapturedGraph& backward) {
        std::vector<const Ran*> found;
        for (const std::int64_t number : backward.differentiates) found.push_back(of(backward, number));
        return found;
    }

  private:
    const Ran* of(const CapturedGraph& backward, std::int64_t number) {
        if (number < 0) return nullptr;
        const auto [entry, fresh] = ran_.try_emplace(number);
        if (!fresh) return entry->second ? &*entry->second : nullptr;
        for (const std::vector<CapturedGraph>* graphs : {&frame_.graphs, &backward.forward})
            if (const auto graph = std::ranges::find(*graphs, number, &CapturedGraph::number); graph != graphs->end())
                entry->second = Ran::of(*graph);
        return entry->second ? &*entry->second : nullptr;
    }

    const capture::CapturedFrame& frame_;
    std::map<std::int64_t, std::optional<Ran>> ran_;
};

}  // namespace

std::vector<GradientVerdict> check_gradients(const capture::CapturedFrame& frame) {
    std::vector<GradientVerdict> verdicts;
    ForwardGraphs graphs(frame);
    for (std::size_t i = 0; i < frame.graphs.size(); ++i) {
        const CapturedGraph& captured = frame.graphs[i];
        if (captured.differentiates.empty()) continue;
        const std::optional<Ran> ran = Ran::of(captured);
        if (!ran) continue;
        verdicts.push_back(Checker(graphs.of(captured), *ran).run());
        verdicts.back().graph = i;
        log_verdict(captured.graph.name, verdicts.back());
    }
    return verdicts;
}

}  // namespace whittle

#include "judge/divergence.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "compile/gradients.h"
#include "graph/abilities.h"
#include "graph/value_ref.h"
#include "ops/aten/random.h"
#include "ops/core/interpreter.h"
#include "passes/no_grad.h"
#include "passes/subgraph.h"
#include "passes/widen.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

double largest(const Tensor& tensor) {
    double most = 0;
    for (const double value : tensor.values<double>())
        if (std::isfinite(value)) most = std::max(most, std::fabs(value));
    return most;
}

std::vector<Tensor> reference_run(const Graph& graph, std::span<const Tensor> inputs) {
    seed_random_ops(0);
    return evaluate(graph, inputs);
}

/// Judges outputs of a graph; what rounding explains of them is asked only when one is not close.
class Judge {
  public:
    Judge(const Graph& graph, std::span<const Tensor> inputs, const std::optional<std::vector<Tensor>>& exact)
        : graph_(graph), inputs_(inputs), exact_(exact) {}

    Closeness closeness(std::size_t output, const Tensor& got, const Tensor& reference, const Accuracy& accuracy) {
        const Tensor* exact = exact_ ? &(*exact_)[output] : nullptr;
        if (!compare(got, reference, accuracy, [&] { return exact; })) return Closeness::close;
        if (!exact || accuracy.mode == Accuracy::Mode::exact) return Closeness::differs;
        return rounds(output, got, reference) ? Closeness::noise : Closeness::differs;
    }

    /// Of a close output.
    bool is_coarse(std::size_t output, const Tensor& got, const Tensor& reference) {
        return exact_ && is_floating(got.dtype()) && !same_bits(got, reference) && !rounds(output, got, reference);
    }

  private:
    bool rounds(std::size_t output, const Tensor& got, const Tensor& reference) {
        if (!rounding_) rounding_ = rounding_of(graph_, inputs_, *exact_);
        return is_noise(got, reference, (*exact_)[output], (*rounding_)[output]);
    }

    const Graph& graph_;
    std::span<const Tensor> inputs_;
    const std::optional<std::vector<Tensor>>& exact_;
    std::optional<std::vector<Rounding>> rounding_;
};

/// No element is further from the exact one than rounding explains.
bool each_rounds(const Tensor& got, const Tensor& reference, const Tensor& exact, const Rounding& rounding) {
    const FloatLimits limits = float_limits(got.dtype());
    const std::vector<double> xs = got.values<double>(), ys = reference.values<double>(), at = exact.values<double>();
    const double factor = kNoiseFactor * std::sqrt(rounding.terms);
    for (std::size_t i = 0; i < at.size(); i++) {
        if (!std::isfinite(xs[i]) || !std::isfinite(at[i])) continue;
        const double steps = limits.epsilon * std::fabs(at[i]) + limits.denormal;
        if (std::fabs(xs[i] - at[i]) > factor * (std::fabs(ys[i] - at[i]) + rounding.sway[i] + steps)) return false;
    }
    return true;
}

using Birth = ValueDivergence::Birth;

/// Which values have NaN or infinities, and where they come from.
class Births {
  public:
    explicit Births(const Graph& graph) : graph_(graph) {}

    /// Leaves: inputs in the order of the placeholders, and attributes.
    void leaves(std::span<const Tensor> inputs) {
        std::size_t next = 0;
        for (NodeId id = 0; id < static_cast<NodeId>(graph_.nodes.size()); id++) {
            const Node& node = graph_.node({id});
            if (node.kind == NodeKind::placeholder) note(id, inputs[next++]);
            if (node.kind == NodeKind::get_attr) note(id, graph_.attributes.at(node.target));
        }
    }

    /// What of its kind no operand of the node has. An infinity may make NaN: that is born there.
    Birth born(NodeId id, const Tensor& value) {
        Birth inherited;
        for_each_input(graph_.node({id}), [&](NodeRef ref) {
            const auto operand = has_.find(value_of(graph_, ref).node);
            if (operand == has_.end()) return;
            inherited.nan |= operand->second.nan;
            inherited.infinity |= operand->second.infinity;
        });
        const Birth here = note(id, value);
        return {here.nan && !inherited.nan, here.infinity && !inherited.infinity};
    }

  private:
    Birth note(NodeId id, const Tensor& value) {
        Birth here;
        if (!is_floating(value.dtype())) return here;
        for (const double x : value.values<double>()) {
            here.nan |= std::isnan(x);
            here.infinity |= std::isinf(x);
        }
        Birth& all = has_[id];
        all.nan |= here.nan;
        all.infinity |= here.infinity;
        return here;
    }

    const Graph& graph_;
    std::map<NodeId, Birth> has_;
};

}  // namespace

std::string_view name(Closeness closeness) {
    static constexpr std::string_view kNames[] = {"close", "coarse", "noise", "differs"};
    return kNames[static_cast<std::size_t>(closeness)];
}

bool is_noise(const Tensor& got, const Tensor& reference, const Tensor& exact, const Rounding& rounding) {
    if (!is_floating(got.dtype()) || got.dtype() != reference.dtype() || got.sizes() != reference.sizes() ||
        got.sizes() != exact.sizes() || measure(got, reference).misplaced)
        return false;
    const ErrorFigures own = measure(got, exact), its = measure(reference, exact);
    const double step = float_limits(got.dtype()).epsilon * largest(exact);
    double squares = 0, most = 0;
    for (const double sway : rounding.sway) squares += sway * sway, most = std::max(most, sway);
    const double usual = std::sqrt(squares / std::max<double>(1, static_cast<double>(rounding.sway.size())));
    return own.rmse <= kNoiseFactor * std::max({its.rmse, step, usual}) &&
           own.max_abs <= kNoiseFactor * std::max({its.max_abs, step, most}) &&
           (rounding.sway.empty() || each_rounds(got, reference, exact, rounding));
}

namespace {

/// Fills in all values of the graph, or why there are none.
void expose_and_compare(const Graph& graph, std::span<const Tensor> inputs, Backend& suspect,
                        const BackendOptions& options, const Limits& limits, const Accuracy& accuracy,
                        Divergence& result) {
    const ExposedGraph exposed = expose_all_values(without_requires_grad(graph));
    const std::vector<Tensor> reference = reference_run(exposed.graph, inputs);
    const Outcome outcome = run_isolated(exposed.graph, inputs, suspect, options, limits);
    if (outcome.failed() || outcome.outputs.size() != reference.size()) {
        result.failure = outcome.failed() ? std::string(name(outcome.kind)) + ": " + outcome.message
                                          : "got " + std::to_string(outcome.outputs.size()) + " outputs, expected " +
                                                std::to_string(reference.size());
        return;
    }
    const auto exact = evaluate_exactly(exposed.graph, inputs, &result.no_exact);
    Judge judge_of(exposed.graph, inputs, exact);
    Births suspects(graph), references(graph);
    suspects.leaves(inputs);
    references.leaves(inputs);
    for (std::size_t i = 0; i < reference.size(); i++) {
        const ValueRef& from = exposed.outputs[i];
        const Node& node = graph.node({from.node});
        const Tensor& got = outcome.outputs[i];
        ValueDivergence value{.node = node.name,
                              .op = node.target,
                              .result = from.index,
                              .results = static_cast<int>(node.results.size()),
                              .meta = node.results[static_cast<std::size_t>(from.index)],
                              .stack = node.stack,
                              .module_path = node.module_path};
        const Tensor* truth = exact ? &(*exact)[i] : nullptr;
        value.closeness = judge_of.closeness(i, got, reference[i], accuracy);
        if (got.sizes() == reference[i].sizes()) {
            value.error = measure(got, reference[i]);
            if (truth && is_floating(got.dtype()) && truth->sizes() == got.sizes())
                value.own_rmse = measure(got, *truth).rmse, value.reference_rmse = measure(reference[i], *truth).rmse;
        }
        value.born = suspects.born(from.node, got);
        value.born_in_reference = references.born(from.node, reference[i]);
        if (value.closeness == Closeness::differs && !result.first) result.first = i;
        result.values.push_back(std::move(value));
    }
    if (!result.first) return;
    for (std::size_t i = *result.first; i-- > 0;) {
        ValueDivergence& value = result.values[i];
        if (value.closeness != Closeness::close || !judge_of.is_coarse(i, outcome.outputs[i], reference[i])) continue;
        value.closeness = Closeness::coarse;
        result.first = i;
    }
}

}  // namespace

Divergence diverge(const Graph& graph, std::span<const Tensor> inputs, Backend& suspect, const BackendOptions& options,
                   const Limits& limits, const Accuracy& accuracy) {
    Divergence result;
    result.plain = judge(run_isolated(graph, inputs, suspect, options, limits), graph, inputs,
                         reference_run(graph, inputs), accuracy);
    const auto compare_all = [&](const Graph& compared, std::span<const Tensor> given) {
        expose_and_compare(compared, given, suspect, options, limits, accuracy, result);
    };
    if (result.plain.kind == Outcome::Kind::mismatch && result.plain.failed_at_gradients()) {
        if (own_gradients(suspect, options)) {
            result.only_forward = suspect.name() + " computes the gradients itself, without Whittle's joint graph";
        } else {
            const program::Part joint = program::joint_of(graph, {inputs.begin(), inputs.end()});
            compare_all(joint.graph, joint.inputs);
            result.joint = result.failure.empty();
            if (result.joint) return result;
            result.only_forward =
                suspect.name() +
                " fails on the joint graph if every value of the graph is an output: " + result.failure;
            result.failure.clear();
        }
    }
    compare_all(graph, inputs);
    return result;
}

std::optional<Closeness> closeness_of(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> got,
                                      const Accuracy& accuracy) {
    const std::vector<Tensor> reference = reference_run(graph, inputs);
    const auto exact = evaluate_exactly(graph, inputs);
    Judge judge_of(graph, inputs, exact);
    Closeness worst = Closeness::close;
    for (std::size_t i = 0; i < std::min(got.size(), reference.size()); i++)
        worst = std::max(worst, judge_of.closeness(i, got[i], reference[i], accuracy));
    return worst == Closeness::close ? std::nullopt : std::optional(worst);
}

}  // namespace whittle

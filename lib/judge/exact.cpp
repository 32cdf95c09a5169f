#include "judge/exact.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/words.h"
#include "graph/value_ref.h"
#include "judge/interval.h"
#include "judge/interval_rules.h"
#include "ops/core/memory.h"
#include "passes/subgraph.h"
#include "tensor/random.h"
#include "tensor/reach.h"

namespace whittle {
namespace {

std::string text_of(const Interval& inexact) {
    return inexact.unbounded + " " +
           (inexact.other_type        ? "has a data type without exact arithmetic"
            : inexact.inexact.empty() ? "is not exact"
                                      : inexact.inexact);
}

// ---- data ----

/// Numbers of few digits: a mask, a limit, a factor, which the model may rely on.
bool is_simple(const Tensor& value) {
    const std::vector<double> numbers = value.values<double>();
    return unit_of(numbers) >= -3 && std::ranges::all_of(numbers, [](double x) { return std::fabs(x) <= 16; });
}

/// How the elements of a weight are chosen, from the one that shows most faults on. The sums of the later ones have
/// fewer terms.
enum class Choice {
    dense,  ///< -2 … 2
    eight,  ///< in each row so many are not 0
    three,
    covering,  ///< in each row one, in matrices also in each column
    diagonal,  ///< in each row and column one at most
    powers     ///< of two, none 0: divisors
};
constexpr Choice kChoices[] = {Choice::dense,    Choice::eight,    Choice::three,
                               Choice::covering, Choice::diagonal, Choice::powers};

/// One that is not 0; most are positive, so that a relu does not end everything.
double some_number(Choice choice, Random& random) {
    const double sign = random.below(4) == 0 ? -1 : 1;
    if (choice == Choice::powers) return sign * std::ldexp(1, static_cast<int>(random.below(4)) - 1);
    return sign * (choice <= Choice::three && random.below(4) == 0 ? 2 : 1);
}

/// Positions of the elements that are not 0 in a matrix that is not dense.
std::vector<std::int64_t> filled(std::int64_t rows, std::int64_t columns, bool matrix, Choice choice, Random& random) {
    std::vector<std::int64_t> positions;
    if (matrix && choice >= Choice::covering) {
        const std::int64_t count = choice == Choice::covering ? std::max(rows, columns) : std::min(rows, columns);
        const std::int64_t shift = random.below(columns);
        for (std::int64_t i = 0; i < count; i++) positions.push_back(i % rows * columns + (i + shift) % columns);
        return positions;
    }
    const std::int64_t each = choice == Choice::eight ? 8 : choice == Choice::three ? 3 : 1;
    for (std::int64_t row = 0; row < rows; row++)
        for (std::int64_t i = 0; i < std::min(each, columns); i++)
            positions.push_back(row * columns + random.below(columns));
    return positions;
}

/// In the place of `value`: of its dtype, sizes and strides.
Tensor chosen_like(const Tensor& value, const std::vector<double>& numbers) {
    return laid_out(Tensor::of(numbers, value.sizes()).to(value.dtype()), value.strides())
        .with_requires_grad(value.requires_grad());
}

Tensor chosen_for(const Tensor& value, Choice choice, Random& random) {
    const Sizes& sizes = value.sizes();
    std::vector<double> numbers(static_cast<std::size_t>(value.numel()));
    if (numbers.empty()) return value;
    if (sizes.size() < 2 || choice == Choice::powers) {
        for (double& x : numbers) x = some_number(choice, random);
    } else if (choice == Choice::dense) {
        for (double& x : numbers) x = static_cast<double>(random.below(5) - 2);
    } else {
        const std::int64_t rows = sizes[0], columns = value.numel() / rows;
        for (const std::int64_t at : filled(rows, columns, sizes.size() == 2, choice, random))
            numbers[static_cast<std::size_t>(at)] = some_number(choice, random);
    }
    return chosen_like(value, numbers);
}

/// Of a single number: the power of two that is next to it.
Tensor nearest_power(const Tensor& value) {
    const double x = value.values<double>().front();
    if (!std::isfinite(x)) return value;
    return chosen_like(value, {std::copysign(std::exp2(std::round(std::log2(std::fabs(x)))), x)});
}

Tensor some_input(const Tensor& value, Random& random) {
    std::vector<double> numbers(static_cast<std::size_t>(value.numel()));
    for (double& x : numbers) x = static_cast<double>(random.below(7) - 3);
    return chosen_like(value, numbers);
}

// ---- the search ----

/// Chooses weights call by call: where a call reads a weight that no call before it has read, it gets the first choice
/// with which the call is exact and leaves digits for the sums of the calls behind it.
class ExactSearch {
  public:
    ExactSearch(const Graph& graph, std::span<const Tensor> inputs, std::uint64_t seed)
        : graph_(graph), inputs_(inputs.begin(), inputs.end()), random_(seed) {}

    ExactCase run() {
        choose_leaves();
        const std::vector<NodeId> all = graph_.calls();
        std::ranges::copy_if(all, std::back_inserter(calls_), [&](NodeId id) { return is_op_call(node(id)); });
        for (std::size_t i = 0; i < calls_.size(); i++)
            if (!waits(calls_[i])) settle(calls_[i], static_cast<double>(i + 1) / static_cast<double>(calls_.size()));
        settle_unread();
        return kept_case();
    }

  private:
    const Node& node(NodeId id) const { return graph_.node({id}); }

    void choose_leaves() {
        for (auto& [name, value] : graph_.attributes) {
            if (!is_floating(value.dtype())) continue;
            const bool simple = is_simple(value);
            if (!simple && value.numel() == 1)
                value = nearest_power(value);
            else if (!simple || value.sizes().size() > 1)
                weights_.insert(name);
            if (!simple && value.numel() > 1) value = chosen_for(value, Choice::dense, random_);
        }
        const std::vector<NodeId> placeholders = graph_.placeholders();
        for (std::size_t i = 0; i < inputs_.size(); i++) {
            Tensor& value = inputs_[i];
            if (is_floating(value.dtype()) && !is_simple(value)) value = some_input(value, random_);
            known_[{placeholders[i], 0}] = value;
        }
    }

    /// The weight that a call reads, itself or through calls that wait for their reader; nothing for what is settled.
    std::optional<std::string> weight_behind(NodeRef operand) const {
        const ValueRef value = value_of(graph_, operand);
        const Node& from = node(value.node);
        const auto waiting = waiting_.find(value.node);
        const std::string name = from.kind == NodeKind::get_attr ? from.target
                                 : waiting != waiting_.end()     ? waiting->second
                                                                 : std::string();
        return weights_.contains(name) && !fixed_.contains(name) ? std::optional(name) : std::nullopt;
    }

    /// A view or another form of one weight alone is settled with the call that reads it.
    bool waits(NodeId id) {
        if (reads_inexact(id)) return false;  // which was settled with another reader
        std::set<std::optional<std::string>> behind;
        for_each_input(node(id), [&](NodeRef ref) { behind.insert(weight_behind(ref)); });
        if (behind.size() != 1 || !*behind.begin()) return false;
        waiting_[id] = **behind.begin();
        return true;
    }

    /// Calls that still wait: those that the graph returns, and of those that no exact call reads nothing is kept.
    void settle_unread() {
        std::set<NodeId> returned;
        for (const NodeId id : graph_.outputs()) returned.insert(value_of(graph_, {id}).node);
        for (auto call = waiting_.rbegin(); call != waiting_.rend(); ++call) {
            if (settled_.contains(call->first)) continue;
            returned.contains(call->first) ? settle(call->first, 1) : leave_out(call->first, {});
        }
    }

    bool reads_inexact(NodeId id) const {
        bool any = false;
        for_each_input(node(id), [&](NodeRef ref) { any = any || inexact_.contains(value_of(graph_, ref)); });
        return any;
    }

    /// `share`: of the calls, how many are settled with this one.
    void settle(NodeId id, double share) {
        settled_.insert(id);
        if (reads_inexact(id)) return leave_out(id, {});
        std::set<std::string> weights;
        for_each_input(node(id), [&](NodeRef ref) {
            if (const auto weight = weight_behind(ref)) weights.insert(*weight);
        });
        std::vector<NodeId> calls = {id};
        for (const auto& [call, weight] : waiting_)
            if (weights.contains(weight) && call < id && !settled_.contains(call)) calls.push_back(call);
        std::ranges::sort(calls);
        Subgraph part = piece(graph_, calls);
        if (part.outputs.empty()) return leave_out(id, {});  // nobody reads it
        settled_.insert(calls.begin(), calls.end());
        std::vector<Tensor> inputs;
        for (const ValueRef& value : part.inputs) inputs.push_back(known_.at(value));
        std::string why;
        const std::optional<Found> found =
            best_choice(part.graph, inputs, weights, kFirstShare + (1 - kFirstShare) * share, why);
        if (!found) {
            for (const NodeId call : calls) leave_out(call, call == id ? why : "");
            return;
        }
        for (const auto& [name, value] : found->weights) graph_.attributes[name] = value, fixed_.insert(name);
        for (std::size_t i = 0; i < part.outputs.size(); i++) {
            const Interval& value = found->values[i];
            if (value.unbounded.empty())
                known_[part.outputs[i]] = value.center.to(value.dtype);
            else
                inexact_.insert(part.outputs[i]);
        }
    }

    void leave_out(NodeId id, const std::string& why) {
        left_out_.insert(id);
        for (int i = 0; i < static_cast<int>(node(id).results.size()); i++) inexact_.insert({id, i});
        if (!why.empty()) add_once(reasons_, why);
    }

    struct Found {
        std::map<std::string, Tensor> weights;
        std::vector<Interval> values;
    };

    /// The first that takes at most `share` of the digits, else the last that is exact. Nothing, with `why` of the
    /// first: there is none.
    std::optional<Found> best_choice(Graph& part, const std::vector<Tensor>& inputs,
                                     const std::set<std::string>& weights, double share, std::string& why) {
        std::optional<Found> best;
        for (const Choice choice : kChoices) {
            if (choice != Choice::dense)
                for (const std::string& name : weights)
                    part.attributes[name] = chosen_for(part.attributes.at(name), choice, random_);
            auto values = exact_intervals_of(part, inputs, &why);
            if (!values) return std::nullopt;
            double used = 0;
            const Interval* inexact = nullptr;
            bool any = false;
            for (const Interval& value : *values) {
                used = std::max(used, value.used);
                any = any || value.unbounded.empty();
                if (!value.unbounded.empty() && (is_floating(value.dtype) || values->size() == 1)) inexact = &value;
            }
            if (inexact || !any) {
                if (why.empty()) why = text_of(inexact ? *inexact : values->front());
            } else {
                best = Found{{}, std::move(*values)};
                for (const std::string& name : weights) best->weights[name] = part.attributes.at(name);
            }
            if (weights.empty() || (best && used <= share)) break;
        }
        return best;
    }

    ExactCase kept_case() {
        std::vector<NodeId> kept;
        std::ranges::copy_if(calls_, std::back_inserter(kept), [&](NodeId id) { return !left_out_.contains(id); });
        ExactCase made{.graph = graph_, .inputs = inputs_, .chosen = true, .all = calls_.size(), .kept = kept.size()};
        made.left_out = reasons_;
        if (!inexact_.empty() && !kept.empty()) keep_only(kept, made);
        if (made.graph.failure) made.graph.failure->inputs = made.inputs;
        return made;
    }

    /// Without the outputs that are not exact.
    void keep_only(const std::vector<NodeId>& kept, ExactCase& made) const {
        Subgraph cut = subgraph(graph_, kept);
        ArgList outputs;
        const std::vector<NodeId> all = cut.graph.outputs();
        for (std::size_t i = 0; i < all.size(); i++)
            if (!inexact_.contains(cut.outputs[i])) outputs.push_back(Arg(NodeRef{all[i]}));
        if (outputs.empty()) return;
        cut.graph.nodes.back().args = std::move(outputs);
        cut.graph.failure = graph_.failure;
        made.inputs.clear();
        for (const ValueRef& value : cut.inputs) made.inputs.push_back(known_.at(value));
        made.graph = std::move(cut.graph);
    }

    /// Of the digits, those that the first call may take.
    static constexpr double kFirstShare = 0.25;

    Graph graph_;
    std::vector<Tensor> inputs_;
    Random random_;
    std::vector<NodeId> calls_;
    std::set<std::string> weights_, fixed_;  ///< attributes that may be chosen; those that are
    std::map<NodeId, std::string> waiting_;  ///< calls, and the weight that they read
    std::map<ValueRef, Tensor> known_;       ///< exact values
    std::set<ValueRef> inexact_;
    std::set<NodeId> settled_, left_out_;
    std::vector<std::string> reasons_;
};

}  // namespace

std::string not_exact(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected) {
    std::string why;
    const auto values = exact_intervals_of(graph, inputs, &why);
    if (!values) return why;
    for (const Interval& value : *values)
        if (!value.unbounded.empty()) return text_of(value);
    for (std::size_t i = 0; i < std::min(values->size(), expected.size()); i++) {
        const Tensor own = (*values)[i].center.to((*values)[i].dtype);
        if (const auto difference = compare(expected[i], own, Accuracy{.mode = Accuracy::Mode::exact}))
            return "the expected values differ from the values of a run in f64: output " + std::to_string(i) + " " +
                   difference->description;
    }
    return {};
}

std::string ExactCase::scope() const {
    constexpr std::size_t kMost = 3;
    if (left_out.empty()) return {};
    std::vector<std::string> first(left_out.begin(),
                                   left_out.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, left_out.size())));
    if (left_out.size() > kMost) first.push_back(std::to_string(left_out.size() - kMost) + " more");
    return std::to_string(kept) + " of " + plural(all, "operation") + ": " + join(first, "; ");
}

ExactCase exact_case(const Graph& graph, std::span<const Tensor> inputs, std::uint64_t seed) {
    ExactCase given{.graph = graph, .inputs = {inputs.begin(), inputs.end()}};
    given.all = given.kept = static_cast<std::size_t>(op_count(graph));
    if (has_writes(graph) || not_exact(graph, inputs, {}).empty()) return given;
    return ExactSearch(graph, inputs, seed).run();
}

}  // namespace whittle

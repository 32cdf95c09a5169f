#include "passes/recompute.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "graph/value_ref.h"
#include "ops/core/cost.h"
#include "ops/core/registry.h"
#include "passes/min_cut.h"

namespace whittle {
namespace {

/// What a call costs beside its loops, in steps of these: to be looked up, to allocate; a view less; a composite that
/// is taken apart first, for each of its parts.
constexpr double kCallSteps = 1300, kViewSteps = 700, kPartSteps = 4000;
/// What keeping a byte is worth, at most, in steps, however much time is left: of a chain of pointwise calls on large
/// tensors some hundred and sixty are made again for one value.
constexpr double kMostPerByte = 128;
/// … and at least: nothing is made again for less.
constexpr double kLeastPerByte = 1.0 / 64;
/// … where a budget has to be met, whatever it takes.
constexpr double kAnythingPerByte = 1e4;
/// Of the search for a rate: each halves what is left, in powers.
constexpr int kSearchSteps = 6;

using Choice = std::vector<bool>;  ///< of each node: backward computes it

/// What running calls costs, in steps.
class Costs {
  public:
    explicit Costs(const JointFacts& facts) {
        for (std::size_t i = 0; i < facts.count(); ++i) add(facts, i);
    }

    double of(std::size_t i) const { return cost_[i]; }
    /// Its results may be others when it runs again, are kept as statistics, or nobody knows what it is.
    bool never(std::size_t i) const { return never_[i]; }
    bool contracts(std::size_t i) const { return contracts_[i]; }

  private:
    void add(const JointFacts& facts, std::size_t i) {
        const Node& node = facts.graph.nodes[i];
        cost_.push_back(0);
        never_.push_back(false);
        contracts_.push_back(false);
        if (!is_op_call(node)) return;
        cost_.back() = facts.is_view(i) ? kViewSteps : kCallSteps;
        if (facts.is_view(i)) return;
        const std::optional<CallCost> cost = cost_of(facts.graph, node);
        never_.back() = !cost || facts.gives_statistics.contains(static_cast<NodeId>(i));
        if (cost) {
            cost_.back() += cost->work + kPartSteps * cost->parts;
            contracts_.back() = cost->contracts;
        } else {
            for (const ValueMeta& meta : node.results) cost_.back() += static_cast<double>(meta.numel());
        }
    }

    std::vector<double> cost_;
    std::vector<bool> never_, contracts_;
};

/// Each value that needs no tangent is an edge, cut where it is saved; a call that runs again pays by an edge from the
/// source.
class MinCut {
  public:
    MinCut(const JointFacts& facts, const Costs& costs, bool contractions)
        : facts_(facts), costs_(costs), contractions_(contractions), count_(static_cast<int>(facts.count())) {}

    /// The cheapest choice where a byte that is saved counts as much as so many steps. Of equally cheap ones, that
    /// which repeats less.
    Choice run(double steps_per_byte) const {
        FlowNetwork network(2 * count_ + 2);
        std::vector<bool> needed(facts_.count(), false);  // by the sink
        for (const NodeId id : facts_.gradients) needed[node_index(id)] = true;
        for (int i = 0; i < count_; ++i) {
            if (facts_.backward[node_index(i)]) {
                for (const NodeId id : facts_.operands[node_index(i)]) needed[node_index(id)] = true;
                continue;
            }
            add_value(network, i, steps_per_byte);
            for (const NodeId id : facts_.operands[node_index(i)])
                network.add_edge(out(id), in(i), FlowNetwork::kNever);
        }
        for (int i = 0; i < count_; ++i)
            if (needed[node_index(i)] && !facts_.backward[node_index(i)])
                network.add_edge(out(i), sink(), FlowNetwork::kNever);

        const std::vector<bool> side = network.sink_side(source(), sink());
        Choice again;
        for (int i = 0; i < count_; ++i) again.push_back(facts_.backward[node_index(i)] || side[node_index(in(i))]);
        return again;
    }

  private:
    static int in(NodeId id) { return 2 * id; }
    static int out(NodeId id) { return 2 * id + 1; }
    int source() const { return 2 * count_; }
    int sink() const { return 2 * count_ + 1; }

    /// The network counts in parts of a step. What is the most to be paid is so little that what can be paid for many
    /// values stays below what never is.
    static std::int64_t capacity(double steps) {
        constexpr double kParts = 16, kMost = 1e13;
        return static_cast<std::int64_t>(std::clamp(steps * kParts, 1.0, kMost));
    }

    void add_value(FlowNetwork& network, NodeId id, double steps_per_byte) const {
        const auto i = node_index(id);
        const std::int64_t kept = facts_.is_leaf(i) ? 0
                                  : facts_.is_savable(i)
                                      ? capacity(static_cast<double>(facts_.bytes(i)) * steps_per_byte)
                                      : FlowNetwork::kNever;
        network.add_edge(in(id), out(id), kept);
        if (facts_.is_leaf(i))
            network.add_edge(source(), in(id), FlowNetwork::kNever);
        else if (!facts_.is_view(i) && is_op_call(facts_.graph.nodes[i]))
            network.add_edge(source(), in(id), price(i));
    }

    /// What running the call in the backward graph costs. A call that only backward needs runs once, here or there.
    std::int64_t price(std::size_t i) const {
        const RegisteredOp* op = Registry::instance().op(facts_.graph.nodes[i].target);
        if (facts_.gives_statistics.contains(static_cast<NodeId>(i))) return FlowNetwork::kNever;
        if (!facts_.forward[i] && op && !op->def->random) return 0;
        if (costs_.never(i) || (costs_.contracts(i) && !contractions_)) return FlowNetwork::kNever;
        return capacity(costs_.of(i));
    }

    const JointFacts& facts_;
    const Costs& costs_;
    const bool contractions_;
    const int count_;
};

class Chooser {
  public:
    Chooser(const JointFacts& facts, const Graph& whole, const Origins& merged, const PartitionOptions& options)
        : facts_(facts), costs_(facts), options_(options) {
        double once = 0, all = 0;
        for (std::size_t i = 0; i < facts.count(); ++i) {
            once += costs_.of(i);
            for (const NodeId id : merged[i]) {  // equal calls, and views of what it shows itself
                const bool equal = whole.node({id}).target == facts.graph.nodes[i].target;
                all += equal ? costs_.of(i) : kViewSteps;
            }
        }
        allowed_ = all * options.slowdown - once;
    }

    Choice run() const {
        const auto slow = [this](const Choice& choice) { return steps(choice) > allowed_; };
        const MinCut cut(facts_, costs_, false);
        Choice usual = cut.run(kMostPerByte);
        if (slow(usual)) {
            const auto never = [](const Choice&) { return false; };
            auto [choice, beyond] = around(cut, kLeastPerByte, kMostPerByte, usual, slow);
            choice = with_parts(std::move(choice), beyond, slow, never);
            usual = with_parts(std::move(choice), usual, slow, never);  // what is dearer and still fits
        }
        return options_.memory_budget < 1 ? within_budget(std::move(usual)) : usual;
    }

  private:
    /// Steps that a choice takes beyond those of calls that run once.
    double steps(const Choice& again) const {
        const std::vector<bool> read = read_by_backward(facts_, again);
        double sum = 0;
        for (std::size_t i = 0; i < facts_.count(); ++i)
            if (read[i] && again[i] && !facts_.backward[i] && facts_.forward[i]) sum += costs_.of(i);
        return sum;
    }
    std::vector<bool> saved(const Choice& again) const {
        std::vector<bool> read = read_by_backward(facts_, again);
        for (std::size_t i = 0; i < facts_.count(); ++i)
            read[i] = read[i] && !again[i] && facts_.graph.nodes[i].kind == NodeKind::call;
        return read;
    }
    std::int64_t bytes(const Choice& again) const { return facts_.bytes_of(saved(again)); }

    /// What must not be saved any more is repeated whatever it costs, if it may be at all.
    Choice within_budget(Choice usual) const {
        const double most = options_.memory_budget * static_cast<double>(bytes(usual));
        const auto small = [&](const Choice& choice) { return static_cast<double>(bytes(choice)) <= most; };
        if (small(usual)) return usual;
        const MinCut cut(facts_, costs_, true);
        Choice least = cut.run(kAnythingPerByte);
        if (!small(least)) return least;
        auto [choice, beyond] = around(cut, kLeastPerByte, kAnythingPerByte, std::move(least), small);
        return with_parts(
            std::move(choice), beyond, [](const Choice&) { return false; }, small);
    }

    /// The last choice, as the rate rises, of which something does not hold, and the first found of which it does;
    /// `beyond` is that of the highest rate.
    template <class Holds>
    std::pair<Choice, Choice> around(const MinCut& cut, double low, double high, Choice beyond,
                                     const Holds& holds) const {
        Choice before = cut.run(low);
        for (int i = 0; i < kSearchSteps; ++i) {
            const double middle = std::sqrt(low * high);
            Choice choice = cut.run(middle);
            const bool is_beyond = holds(choice);
            (is_beyond ? high : low) = middle;
            (is_beyond ? beyond : before) = std::move(choice);
        }
        return {std::move(before), std::move(beyond)};
    }

    /// Between two choices: equal parts of a graph, as layers are, are worth repeating at one rate, all or none, and
    /// some of them may be. Adds connected parts of what `beyond` has more, those that give most bytes for a step
    /// first, but for those that are refused, until it is done.
    template <class Refused, class Done>
    Choice with_parts(Choice choice, const Choice& beyond, const Refused& refused, const Done& done) const {
        struct Part {
            Choice nodes;
            double bytes_per_step;
        };
        std::vector<Part> parts;
        const double bytes_before = static_cast<double>(bytes(choice)), steps_before = steps(choice);
        for (Choice& nodes : connected(choice, beyond)) {
            const Choice with = both(choice, nodes);
            if (!can_be(with)) continue;
            const double gain = bytes_before - static_cast<double>(bytes(with));
            if (gain > 0) parts.push_back({std::move(nodes), gain / std::max(steps(with) - steps_before, 1.0)});
        }
        std::ranges::stable_sort(parts, std::greater<>(), &Part::bytes_per_step);
        for (const Part& part : parts) {
            if (done(choice)) break;
            Choice with = both(choice, part.nodes);
            if (!refused(with)) choice = std::move(with);
        }
        return choice;
    }

    static Choice both(const Choice& a, const Choice& b) {
        Choice either = a;
        for (std::size_t i = 0; i < b.size(); ++i) either[i] = a[i] || b[i];
        return either;
    }

    /// What is read and not computed again can be saved.
    bool can_be(const Choice& again) const {
        const std::vector<bool> kept = saved(again);
        for (std::size_t i = 0; i < facts_.count(); ++i)
            if (kept[i] && !facts_.is_savable(i)) return false;
        return true;
    }

    /// The nodes of `beyond` that are not in `choice`, by whether they read each other.
    std::vector<Choice> connected(const Choice& choice, const Choice& beyond) const {
        std::vector<std::size_t> first(facts_.count());
        std::iota(first.begin(), first.end(), std::size_t{0});
        const auto root = [&](std::size_t i) {
            while (first[i] != i) i = first[i] = first[first[i]];
            return i;
        };
        const auto more = [&](std::size_t i) { return beyond[i] && !choice[i]; };
        for (std::size_t i = 0; i < facts_.count(); ++i)
            for (const NodeId id : facts_.operands[i])
                if (more(i) && more(node_index(id))) first[root(i)] = root(node_index(id));
        std::map<std::size_t, Choice> parts;
        for (std::size_t i = 0; i < facts_.count(); ++i)
            if (more(i)) parts.try_emplace(root(i), facts_.count(), false).first->second[i] = true;
        std::vector<Choice> result;
        for (auto& [of, nodes] : parts) result.push_back(std::move(nodes));
        return result;
    }

    const JointFacts& facts_;
    const Costs costs_;
    const PartitionOptions& options_;
    double allowed_ = 0;  ///< steps of what runs again
};

}  // namespace

std::vector<bool> default_choice(const JointFacts& facts) {
    Choice again;
    for (std::size_t i = 0; i < facts.count(); ++i) {
        const std::optional<ValueRef> read = item_read(facts.graph.nodes[i]);
        again.push_back(read ? again[node_index(read->node)] : facts.backward[i] || !facts.forward[i]);
    }
    return again;
}

std::vector<bool> min_cut_choice(const JointFacts& facts, const Graph& whole, const Origins& merged,
                                 const PartitionOptions& options) {
    return Chooser(facts, whole, merged, options).run();
}

}  // namespace whittle

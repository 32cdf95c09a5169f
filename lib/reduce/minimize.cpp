#include "reduce/minimize.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "base/error.h"
#include "base/interrupt.h"
#include "graph/verify.h"
#include "ops/interpreter.h"
#include "passes/subgraph.h"

namespace whittle::reduce {
namespace {

/// Runs the reference and keeps every value it computes.
class Recorder final : public Interpreter {
  public:
    explicit Recorder(const Graph& graph) : top_(&graph) {}
    std::map<std::pair<NodeId, int>, Tensor> values;

  protected:
    void observe(const Graph& graph, NodeId node, std::span<const Tensor> results) override {
        if (&graph != top_) return;  // a nested graph's nodes have numbers of their own
        for (std::size_t i = 0; i < results.size(); i++) values[{node, static_cast<int>(i)}] = results[i];
    }

  private:
    const Graph* top_;
};

/// A candidate and how it failed.
struct Find {
    Set set;
    Observation seen;
};

class Minimizer {
  public:
    Minimizer(const Graph& graph, std::span<const Tensor> inputs, Oracle& oracle, const MinimizeOptions& options)
        : graph_(graph), oracle_(oracle), options_(options), recorder_(graph) {
        try {
            recorder_.run(graph, inputs);
        } catch (const Error& error) {
            throw Error(error.where(), "the reference cannot run it: " + error.message(),
                        error.hint().empty() ? "give the model inputs that it can run on" : error.hint());
        }
        for (NodeId id : graph.calls())
            if (graph.nodes[static_cast<std::size_t>(id)].target != kGetItem) items_.push_back(id);
    }

    Minimized run() {
        result_.calls_before = result_.calls_after = items_.size();
        if (!baseline()) return std::move(result_);
        Problem problem;
        problem.count = static_cast<int>(items_.size());
        problem.neighbours = neighbours();
        problem.test = [this](const Set& set) { return test(set); };
        Options search_options = options_.search;
        search_options.improved = [this](const Set& set) {
            result_.calls_after = set.size();
            if (options_.improved) options_.improved(finished(set));
        };
        result_.search = search(problem, search_options);
        finish();
        return std::move(result_);
    }

  private:
    /// Runs the original: does it fail, and always in the same way?
    bool baseline() {
        for (int i = 0; i < std::max(options_.repeat, 1); i++) {
            const Observation seen = observe(whole());
            const bool failed = seen.failed && !seen.unresolved;
            if (i == 0) {
                if (!failed) {
                    result_.message = seen.message;
                    return false;
                }
                result_.signature = seen.signature;
                result_.message = seen.message;
            } else if (!failed || !(seen.signature == result_.signature)) {
                result_.verdict = Minimized::Verdict::flaky;
                return false;
            }
        }
        return true;
    }

    Set whole() const {
        Set all;
        for (std::size_t i = 0; i < items_.size(); i++) all.push_back(static_cast<int>(i));
        return all;
    }

    Verdict test(const Set& set) {
        if (first_query_) {  // the search asks about the whole first, and the baseline has answered that
            first_query_ = false;
            if (set.size() == items_.size()) return Verdict::fails;
        }
        Observation seen;
        try {
            seen = observe(set);
        } catch (const Interrupted&) {  // `stop` says so before the next query, and the best so far is kept
            return Verdict::unresolved;
        }
        progress();
        if (seen.unresolved) return Verdict::unresolved;
        if (!seen.failed) return Verdict::passes;
        if (seen.signature == result_.signature) {
            messages_[set] = seen.message;
            return Verdict::fails;
        }
        drifted(set, seen);
        return Verdict::unresolved;
    }

    /// Another failure than the one that is followed: kept as a find of its own, in its smallest form.
    void drifted(const Set& set, const Observation& seen) {
        const auto known = std::find_if(finds_.begin(), finds_.end(),
                                        [&](const Find& find) { return find.seen.signature == seen.signature; });
        if (known == finds_.end())
            finds_.push_back({set, seen});
        else if (set.size() < known->set.size())
            *known = {set, seen};
    }

    void progress() {
        queries_++;
        if (options_.progress) options_.progress({queries_, result_.calls_after});
    }

    Observation observe(const Set& set) {
        const Subgraph part = candidate(set);
        return oracle_.observe({part.graph, values(part.inputs), values(part.outputs)});
    }

    Subgraph candidate(const Set& set) const {
        std::vector<NodeId> kept;
        for (int item : set) kept.push_back(items_[static_cast<std::size_t>(item)]);
        Subgraph part = subgraph(graph_, kept);
        verify(part.graph, Stage::captured, Registry::instance());
        return part;
    }

    std::vector<Tensor> values(const std::vector<SubgraphValue>& keys) const {
        std::vector<Tensor> tensors;
        for (const SubgraphValue& key : keys) tensors.push_back(recorder_.values.at({key.node, key.result}));
        return tensors;
    }

    /// The candidate with everything needed to reproduce its failure.
    Graph finished(const Set& set, const Signature& signature, const std::string& message) const {
        Subgraph part = candidate(set);
        Failure failure;
        oracle_.describe(failure);
        failure.signature = signature;
        failure.message = message;
        failure.inputs = values(part.inputs);
        part.graph.failure = std::move(failure);
        return std::move(part.graph);
    }

    /// A candidate with the failure that is followed.
    Graph finished(const Set& set) const {
        const auto own = messages_.find(set);
        return finished(set, result_.signature, own == messages_.end() ? result_.message : own->second);
    }

    void finish() {
        result_.calls_after = result_.search.kept.size();
        result_.graph = finished(result_.search.kept);
        for (const Find& find : finds_)
            result_.drifted.push_back(finished(find.set, find.seen.signature, find.seen.message));
        result_.verdict = result_.search.finished && !interrupt_signal() ? Minimized::Verdict::minimized
                                                                         : Minimized::Verdict::interrupted;
    }

    /// Calls are neighbours when one reads the other, through a getitem or not.
    std::vector<std::vector<int>> neighbours() const {
        std::vector<int> item_of(graph_.nodes.size(), -1);
        for (std::size_t i = 0; i < items_.size(); i++)
            item_of[static_cast<std::size_t>(items_[i])] = static_cast<int>(i);
        std::vector<std::vector<int>> adjacent(items_.size());
        for (std::size_t i = 0; i < items_.size(); i++)
            for_each_input(graph_.nodes[static_cast<std::size_t>(items_[i])], [&](NodeRef ref) {
                const Node& read = graph_.node(ref);
                if (read.kind == NodeKind::call && read.target == kGetItem) ref = *read.args.at(0).node();
                const int other = item_of[static_cast<std::size_t>(ref.id)];
                if (other < 0) return;
                adjacent[i].push_back(other);
                adjacent[static_cast<std::size_t>(other)].push_back(static_cast<int>(i));
            });
        return adjacent;
    }

    const Graph& graph_;
    Oracle& oracle_;
    const MinimizeOptions& options_;
    Recorder recorder_;
    std::vector<NodeId> items_;  ///< the calls that may be dropped
    Minimized result_;
    std::map<Set, std::string> messages_;  ///< what each failing candidate said
    std::vector<Find> finds_;              ///< other failures, one per signature
    std::size_t queries_ = 0;
    bool first_query_ = true;
};

}  // namespace

std::string_view name(Minimized::Verdict verdict) {
    switch (verdict) {
        case Minimized::Verdict::minimized:
            return "minimized";
        case Minimized::Verdict::not_failing:
            return "not_failing";
        case Minimized::Verdict::flaky:
            return "flaky";
        case Minimized::Verdict::interrupted:
            return "interrupted";
    }
    __builtin_unreachable();
}

Minimized minimize(const Graph& graph, std::span<const Tensor> inputs, Oracle& oracle, const MinimizeOptions& options) {
    const auto start = std::chrono::steady_clock::now();
    Minimized result = Minimizer(graph, inputs, oracle, options).run();
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

}  // namespace whittle::reduce

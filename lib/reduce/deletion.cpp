#include "reduce/deletion.h"

#include <numeric>

#include "graph/value_ref.h"
#include "graph/verify.h"
#include "ops/aten/random.h"
#include "ops/core/draws.h"
#include "ops/core/memory.h"
#include "ops/core/opaque.h"
#include "ops/core/recorder.h"
#include "passes/subgraph.h"

namespace whittle::reduce {
namespace {

/// What is random becomes an input with its recorded value: a draw depends on how many were made before it.
bool may_be_kept(const Node& node) {
    if (is_getitem(node)) return false;
    const RegisteredOp* op = Registry::instance().op(node.target);
    return !op || !op->def->random;
}

class CallDeletion final : public Deletion {
  public:
    CallDeletion(const Graph& graph, std::span<const Tensor> inputs)
        : graph_(graph), inputs_(inputs.begin(), inputs.end()) {
        record();
        for (NodeId id : graph.calls())
            if (may_be_kept(graph.node({id}))) items_.push_back(id);
    }

    int count() const override { return static_cast<int>(items_.size()); }
    Case candidate(const Set& kept) const override;
    std::vector<std::vector<int>> neighbours() const override;
    std::vector<int> named(const std::vector<std::string>& names) const override;
    std::optional<Case> original() const override;

  private:
    void record();

    const Graph graph_;
    const std::vector<Tensor> inputs_;
    std::vector<NodeId> items_;
    std::map<ValueRef, Tensor> values_;
};

void CallDeletion::record() {
    PassingOpaque<Recorder> recorder(graph_);
    try {
        seed_random_ops(0);
        recorder.run(graph_, inputs_);
    } catch (const Error& error) {
        throw CannotRun(error.where(), "the reference, eager, cannot run the model: " + error.message(),
                        error.hint().empty() ? "use --input to pass inputs with which the model runs" : error.hint());
    }
    values_ = std::move(recorder.values);
}

Case CallDeletion::candidate(const Set& kept) const {
    std::vector<NodeId> calls;
    for (int item : kept) calls.push_back(items_[static_cast<std::size_t>(item)]);
    Subgraph part = subgraph(graph_, calls);
    verify(part.graph, Stage::captured, Registry::instance());
    const auto values = [&](const std::vector<ValueRef>& keys) {
        std::vector<Tensor> tensors;
        for (const ValueRef& key : keys) tensors.push_back(values_.at(key));
        return tensors;
    };
    std::vector<Tensor> inputs = values(part.inputs);
    // What a call writes may be another value by the end, and of another candidate yet another.
    std::vector<Tensor> expected = !opaque_ops(part.graph).empty() ? std::vector<Tensor>()
                                   : has_writes(part.graph)        ? evaluate(part.graph, inputs)
                                                                   : values(part.outputs);
    return {std::move(part.graph), std::move(inputs), std::move(expected)};
}

std::optional<Case> CallDeletion::original() const {
    if (draws_random_numbers(graph_) || same_structure(graph_, whole().graph)) return std::nullopt;
    if (!opaque_ops(graph_).empty()) return Case{graph_, inputs_};
    return Case{graph_, inputs_, evaluate(graph_, inputs_)};
}

std::vector<int> CallDeletion::named(const std::vector<std::string>& names) const {
    std::vector<int> found;
    for (const std::string& name : names)
        for (std::size_t i = 0; i < items_.size(); i++)
            if (graph_.node({items_[i]}).name == name) found.push_back(static_cast<int>(i));
    return found;
}

/// Calls are neighbours when one reads the other, through a getitem or not.
std::vector<std::vector<int>> CallDeletion::neighbours() const {
    std::vector<int> item_of(graph_.nodes.size(), -1);
    for (std::size_t i = 0; i < items_.size(); i++) item_of[static_cast<std::size_t>(items_[i])] = static_cast<int>(i);
    std::vector<std::vector<int>> adjacent(items_.size());
    for (std::size_t i = 0; i < items_.size(); i++)
        for_each_input(graph_.node({items_[i]}), [&](NodeRef ref) {
            const int other = item_of[static_cast<std::size_t>(value_of(graph_, ref).node)];
            if (other < 0) return;
            adjacent[i].push_back(other);
            adjacent[static_cast<std::size_t>(other)].push_back(static_cast<int>(i));
        });
    return adjacent;
}

}  // namespace

std::unique_ptr<Deletion> deletion_of_calls(const Graph& graph, std::span<const Tensor> inputs) {
    return std::make_unique<CallDeletion>(graph, inputs);
}

Case Deletion::whole() const {
    Set all(static_cast<std::size_t>(count()));
    std::iota(all.begin(), all.end(), 0);
    return candidate(all);
}

Result Deletion::search(Queries& queries, const Options& options, const std::vector<std::string>& likely) const {
    const Problem problem{.count = count(),
                          .neighbours = neighbours(),
                          .legal = [this](const Set& wish) { return legal(wish); },
                          .likely = named(likely),
                          .test =
                              [&](const Set& set) {
                                  const bool all = set.size() == static_cast<std::size_t>(count());
                                  return all ? TestResult::fails : queries.test(candidate(set));
                              },
                          .prefetch = [&](const Set& set) { return queries.prefetch(candidate(set)); }};
    return reduce::search(problem, options);
}

}  // namespace whittle::reduce

#include "reduce/deletion.h"

#include <numeric>

#include "graph/verify.h"
#include "ops/aten/random.h"
#include "ops/core/draws.h"
#include "ops/core/memory.h"
#include "ops/core/opaque.h"
#include "passes/subgraph.h"

namespace whittle::reduce {
namespace {

/// What is random becomes an input with its recorded value: a draw depends on how many were made before it.
bool may_be_kept(const Node& node) {
    if (is_getitem(node)) return false;
    const RegisteredOp* op = Registry::instance().op(node.target);
    return !op || !op->def->random;
}

}  // namespace

Deletion::Deletion(const Graph& graph, std::span<const Tensor> inputs)
    : graph_(graph), inputs_(inputs.begin(), inputs.end()) {
    record();
    for (NodeId id : graph.calls())
        if (may_be_kept(graph.nodes[static_cast<std::size_t>(id)])) items_.push_back(id);
}

void Deletion::record() {
    PassingOpaque<Recorder> recorder(graph_);
    try {
        seed_random_ops(0);
        recorder.run(graph_, inputs_);
    } catch (const Error& error) {
        throw CannotRun(error.where(), "the reference cannot run it: " + error.message(),
                        error.hint().empty() ? "give the model inputs that it can run on: --input" : error.hint());
    }
    values_ = std::move(recorder.values);
}

Case Deletion::candidate(const Set& kept) const {
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

Case Deletion::whole() const {
    Set all(items_.size());
    std::iota(all.begin(), all.end(), 0);
    return candidate(all);
}

std::optional<Case> Deletion::original() const {
    if (draws_random_numbers(graph_) || same_structure(graph_, whole().graph)) return std::nullopt;
    if (!opaque_ops(graph_).empty()) return Case{graph_, inputs_};
    return Case{graph_, inputs_, evaluate(graph_, inputs_)};
}

Result Deletion::search(Judge& judge, const Options& options, const std::vector<std::string>& likely) const {
    Problem problem;
    for (const std::string& name : likely)
        for (std::size_t i = 0; i < items_.size(); i++)
            if (graph_.nodes[static_cast<std::size_t>(items_[i])].name == name)
                problem.likely.push_back(static_cast<int>(i));
    problem.count = count();
    problem.neighbours = neighbours();
    problem.test = [&](const Set& set) {
        if (set.size() == items_.size()) return Verdict::fails;
        return judge.test(candidate(set));
    };
    problem.prefetch = [&](const Set& set) { return judge.prefetch(candidate(set)); };
    return reduce::search(problem, options);
}

/// Calls are neighbours when one reads the other, through a getitem or not.
std::vector<std::vector<int>> Deletion::neighbours() const {
    std::vector<int> item_of(graph_.nodes.size(), -1);
    for (std::size_t i = 0; i < items_.size(); i++) item_of[static_cast<std::size_t>(items_[i])] = static_cast<int>(i);
    std::vector<std::vector<int>> adjacent(items_.size());
    for (std::size_t i = 0; i < items_.size(); i++)
        for_each_input(graph_.nodes[static_cast<std::size_t>(items_[i])], [&](NodeRef ref) {
            const int other = item_of[static_cast<std::size_t>(value_of(graph_, ref).node)];
            if (other < 0) return;
            adjacent[i].push_back(other);
            adjacent[static_cast<std::size_t>(other)].push_back(static_cast<int>(i));
        });
    return adjacent;
}

}  // namespace whittle::reduce

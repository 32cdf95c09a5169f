#include "judge/optimized.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "compile/kernel_alone.h"
#include "graph/abilities.h"
#include "graph/onnx_file.h"
#include "judge/file_backend.h"
#include "ops/core/interpreter.h"
#include "passes/no_grad.h"

namespace whittle {
namespace {

class PartJudge {
  public:
    PartJudge(const FailingCase& asked, const Judgement& whole, const Graph& graph, Backend& backend,
              OptimizedModel& model)
        : asked_(asked),
          whole_(whole),
          graph_(graph),
          backend_(backend),
          model_(model),
          options_(offered<WritesOptimized>(backend)->as_they_are(asked.suspect.options)) {
        const std::vector<NodeId> placeholders = graph_.placeholders();
        for (std::size_t i = 0; i < placeholders.size(); ++i) values_[{placeholders[i], 0}] = asked.inputs[i];
        for (const NodeId id : graph_.outputs()) returned_.insert(value_of(graph_, {id}));
    }

    std::vector<KernelJudgement> run() {
        const std::vector<Group> groups = model_.groups({});
        std::vector<OptimizedPart> parts;
        for (const Group& group : groups) parts.push_back(model_.part(group, {}));
        std::set<int> seen;  // nodes
        std::vector<KernelJudgement> all;
        for (std::size_t i = 0; i < groups.size(); ++i) {
            if (seen.contains(groups[i].front())) continue;
            Group group = groups[i];
            KernelJudgement result = judged(parts[i]);
            if (result.verdict == Verdict::fails) settle(group, parts[i], result);
            seen.insert(group.begin(), group.end());
            all.push_back(std::move(result));
            forget(std::span(parts).subspan(i + 1));
        }
        return all;
    }

  private:
    using Group = std::vector<int>;

    KernelJudgement judged(const OptimizedPart& part) {
        constexpr std::size_t kShownOps = 3;
        KernelJudgement result{.kernel = listed(part.ops, kShownOps), .reason = part.problem};
        if (!part.problem.empty()) return result;
        const Subgraph replaced = program::part_between(graph_, part.inputs, part.outputs);
        for (const NodeId id : replaced.graph.calls()) {
            const Node& node = replaced.graph.node({id});
            if (!is_op_call(node)) continue;
            result.nodes.push_back(node.name);
            if (result.stack.empty()) result.stack = node.stack;
        }
        OnnxFile file = part.file;
        file.values = values_of(part.inputs);
        const Values operands = values_of(replaced.inputs);
        const std::unique_ptr<Backend> alone = file_backend(backend_, file, options_);
        FailingCase asked{.graph = replaced.graph, .inputs = operands, .suspect = asked_.suspect};
        asked.suspect.options = options_;
        const Judgement said =
            judge(asked, *alone, run_isolated(replaced.graph, operands, *alone, options_, asked_.suspect.limits));
        result.verdict = said.verdict;
        result.reason = said.reason;
        if (said.no_reference.empty())
            for (std::size_t i = 0; i < said.expected.outputs.size(); ++i)
                values_[part.outputs[i]] = said.expected.outputs[i];
        return result;
    }

    /// A value that differs may be another one under an old name: then what reads it makes up for that, and both
    /// together are right. Where that never comes right, the part is wrong.
    void settle(Group& group, OptimizedPart part, KernelJudgement& result) {
        constexpr int kMostSteps = 16;
        OptimizedModel::Values but;
        Group more = group;
        for (int step = 0; step < kMostSteps; ++step) {
            for (const ValueRef& value : part.outputs)
                if (!returned_.contains(value)) but.insert(value);
            const std::vector<Group> groups = model_.groups(but);
            const auto grown = std::ranges::find_if(
                groups, [&](const Group& one) { return std::ranges::find(one, group.front()) != one.end(); });
            if (*grown == more) return;  // up to the results
            more = *grown;
            part = model_.part(more, but);
            KernelJudgement together = judged(part);
            if (together.verdict == Verdict::fails) continue;
            group = more;
            result = std::move(together);
            return;
        }
        if (whole_.fails()) return;
        result.verdict = Verdict::not_judged;
        result.reason =
            "this part, run alone, differs from the reference, but the whole model does not differ: " + result.reason;
    }

    /// Those of the reference. Throws Error where it cannot run the graph.
    Values values_of(const std::vector<ValueRef>& wanted) {
        Values values;
        for (const ValueRef& value : wanted) {
            auto known = values_.find(value);
            if (known == values_.end()) known = values_.emplace(value, computed(value)).first;
            values.push_back(known->second);
        }
        return values;
    }

    Tensor computed(const ValueRef& value) {
        std::vector<ValueRef> given;
        for (const auto& [known, tensor] : values_) given.push_back(known);
        const Subgraph part = program::part_between(graph_, given, {value});
        Values operands;
        for (const ValueRef& operand : part.inputs) operands.push_back(values_.at(operand));
        return evaluate(part.graph, operands).at(0);
    }

    /// What no part behind reads: all that is kept are the inputs, and what is still to be read.
    void forget(std::span<const OptimizedPart> behind) {
        std::set<ValueRef> read;
        for (const OptimizedPart& part : behind) read.insert(part.inputs.begin(), part.inputs.end());
        std::erase_if(values_, [&](const auto& known) {
            return graph_.node({known.first.node}).kind != NodeKind::placeholder && !read.contains(known.first);
        });
    }

    const FailingCase& asked_;
    const Judgement& whole_;
    const Graph& graph_;
    Backend& backend_;
    OptimizedModel& model_;
    const BackendOptions options_;
    std::set<ValueRef> returned_;
    std::map<ValueRef, Tensor> values_;  ///< of the reference, as far as they are needed yet
};

}  // namespace

KernelJudgements judge_optimized(const FailingCase& asked, const Judgement& whole, Backend& backend) {
    KernelJudgements result{.optimized = true};
    if (!whole.only_file.empty()) {
        result.none = "the file fails, but " + whole.only_file;
        return result;
    }
    try {
        const TempDir folder("whittle-optimized");
        const Graph graph = without_requires_grad(asked.graph);
        auto model = offered<WritesOptimized>(backend)->optimized(graph, asked.suspect.options, folder.path());
        if (const auto* failure = std::get_if<BackendFailure>(&model))
            result.none = failure->message;
        else
            result.kernels =
                PartJudge(asked, whole, graph, backend, *std::get<std::unique_ptr<OptimizedModel>>(model)).run();
    } catch (const Error& error) {
        result.none = error.what();
    }
    return result;
}

}  // namespace whittle

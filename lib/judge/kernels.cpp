#include "judge/kernels.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/error.h"
#include "base/words.h"
#include "compile/gradients.h"
#include "compile/kernel_alone.h"
#include "expr/cost.h"
#include "expr/ring.h"
#include "graph/abilities.h"
#include "graph/onnx_file.h"
#include "judge/optimized.h"
#include "ops/core/assertions.h"
#include "ops/core/interpreter.h"
#include "passes/assertions.h"
#include "passes/no_grad.h"

namespace whittle {
namespace {

using program::KernelCompilation;
using program::Plan;

constexpr double kMostInterpreted = 1e9;  // expression nodes of one kernel: about a minute

/// The compiler of one kernel, for a query of the kernel's graph.
class OneKernel final : public Backend {
  public:
    OneKernel(std::string name, std::function<CompileResult()> compile)
        : name_(std::move(name)), compile_(std::move(compile)) {}
    std::string name() const override { return name_; }
    std::string description() const override { return "one kernel of a compilation"; }
    CompileStage consumes() const override { return CompileStage::captured; }
    CompileResult compile(const Graph&, const BackendOptions&) override { return compile_(); }

  private:
    const std::string name_;
    const std::function<CompileResult()> compile_;
};

/// The kernels of one plan, in order.
class PlanJudge {
  public:
    PlanJudge(const FailingCase& asked, Backend& backend, KernelCompilation& compilation, KernelArithmetic arithmetic)
        : asked_(asked),
          name_(backend.name()),
          compilation_(compilation),
          plan_(compilation.plan()),
          arithmetic_(arithmetic) {
        for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
            parts_.push_back(program::part_of(plan_, k));
            for (const ValueRef& value : parts_[k].inputs) last_use_[value] = k;
        }
        for (const ValueRef& value : plan_.outputs) last_use_[value] = plan_.kernels.size();
        const std::vector<NodeId> placeholders = plan_.graph.placeholders();
        for (std::size_t i = 0; i < placeholders.size(); ++i)
            if (last_use_.contains({placeholders[i], 0})) values_[{placeholders[i], 0}] = asked.inputs[i];
    }

    std::vector<KernelJudgement> run() {
        std::vector<KernelJudgement> all;
        for (std::size_t k = 0; k < plan_.kernels.size(); ++k) {
            all.push_back(judged(k));
            parts_[k] = {};
            std::erase_if(values_, [&](const auto& known) { return last_use_.at(known.first) <= k; });
        }
        return all;
    }

    /// What the reference computes for the plan's outputs; nothing where a kernel has no expected values.
    std::optional<Values> outputs() const {
        Values outputs;
        for (const ValueRef& value : plan_.outputs) {
            const Node& node = plan_.graph.node({value.node});
            const ValueMeta& meta = node.results.at(static_cast<std::size_t>(value.index));
            if (const auto known = values_.find(value); known != values_.end())
                outputs.push_back(known->second);
            else if (node.kind == NodeKind::get_attr)
                outputs.push_back(plan_.graph.attributes.at(node.target));
            else if (meta.numel() == 0)
                outputs.emplace_back(meta.dtype, meta.sizes);
            else
                return std::nullopt;
        }
        return outputs;
    }

  private:
    KernelJudgement judged(std::size_t k) {
        const program::Kernel& kernel = plan_.kernels[k];
        const Subgraph& part = parts_[k];
        KernelJudgement result{.kernel = kernel.group.name};
        for (const NodeId id : kernel.nodes) {
            const Node& node = plan_.graph.node({id});
            result.nodes.push_back(node.name);
            if (result.stack.empty()) result.stack = node.stack;
        }
        Values operands;
        for (const ValueRef& value : part.inputs) {
            const auto known = values_.find(value);
            if (known == values_.end()) {
                result.reason =
                    "the expected value of the kernel's operand is unknown: %" + plan_.graph.node({value.node}).name;
                return result;
            }
            operands.push_back(known->second);
        }
        if (arithmetic_ == KernelArithmetic::ring)
            judge_in_ring(k, operands, result);
        else
            judge_as_compiled(k, operands, result);
        return result;
    }

    void judge_as_compiled(std::size_t k, const Values& operands, KernelJudgement& result) {
        OneKernel one(name_, [&] { return compilation_.compile(k); });
        CodeHashes codes;
        Outcome ran;
        {
            const program::Observing observing(&codes);
            ran = run_isolated(parts_[k].graph, operands, one, asked_.suspect.options, asked_.suspect.limits);
        }
        if (const std::vector<std::string> code = codes.all(); !code.empty()) result.code = code.front();
        const FailingCase part{.graph = parts_[k].graph, .inputs = operands, .suspect = asked_.suspect};
        const Judgement said = judge(part, one, std::move(ran));
        result.verdict = said.verdict;
        result.reason = said.reason;
        if (said.no_reference.empty()) keep(k, said.expected.outputs);
    }

    void judge_in_ring(std::size_t k, const Values& operands, KernelJudgement& result) {
        const program::Kernel& kernel = plan_.kernels[k];
        const double nodes = expr::interpreted_nodes(kernel.group);
        const auto form = expr::ring_form(kernel.group);
        if (nodes > kMostInterpreted) {
            result.reason = "the kernel is too large to be interpreted";
        } else if (const auto* why = std::get_if<std::string>(&form)) {
            result.reason = "the kernel cannot be computed in integer arithmetic: " + *why;
        } else {
            const expr::Group& group = std::get<expr::RingForm>(form).group;
            const Values inputs =
                expr::ring_inputs(std::get<expr::RingForm>(form), kernel.group, inputs_of(kernel), k + 1);
            OneKernel one(name_, [&] { return compilation_.compile(group, kernel.schedule); });
            const Graph graph = program::plan_of(group, kernel.schedule).graph;
            Outcome ran = judge(run_isolated(graph, inputs, one, asked_.suspect.options, asked_.suspect.limits),
                                expr::interpret(group, inputs), {.mode = Accuracy::Mode::strict});
            const bool no_answer = ran.failed() && !ran.is_failure();
            result.verdict = no_answer ? Verdict::not_judged : ran.failed() ? Verdict::fails : Verdict::right;
            result.reason = text_of(ran);
        }
        keep(k, evaluate(parts_[k].graph, operands));
    }

    /// What the kernel reads, one for each input of its group.
    Values inputs_of(const program::Kernel& kernel) const {
        Values inputs;
        for (const ValueRef& value : kernel.inputs) {
            const Node& node = plan_.graph.node({value.node});
            inputs.push_back(node.kind == NodeKind::get_attr ? plan_.graph.attributes.at(node.target)
                                                             : values_.at(value));
        }
        return inputs;
    }

    /// What the reference computes for a kernel, as far as something behind it reads it.
    void keep(std::size_t k, const Values& outputs) {
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (const ValueRef& value = parts_[k].outputs[i]; last_use_.contains(value)) values_[value] = outputs[i];
    }

    const FailingCase& asked_;
    const std::string name_;
    KernelCompilation& compilation_;
    const Plan& plan_;
    const KernelArithmetic arithmetic_;
    std::vector<Subgraph> parts_;
    std::map<ValueRef, std::size_t> last_use_;  ///< by a kernel; or the number of kernels: it is an output
    std::map<ValueRef, Tensor> values_;         ///< that the reference computed and something behind reads
};

/// The graphs that the backend compiles for the graph, as it is given them.
std::vector<program::Part> compiled_parts(const Graph& graph, std::span<const Tensor> inputs) {
    std::vector<program::Part> parts = program::parts_of(graph, {inputs.begin(), inputs.end()});
    for (program::Part& part : parts) {
        part.graph = without_requires_grad(std::move(part.graph));
        if (has_assertions(part.graph)) part.graph = assertions_as_outputs(part.graph).graph;
    }
    return parts;
}

/// How what the kernels are to compute differs from what the graph computes; empty: it does not, beyond rounding.
std::string differing(const FailingCase& asked, const Judgement& whole, const Values& outputs) {
    const Values& expected = whole.expected.outputs;
    if (expected.empty() || has_assertions(asked.graph)) return "";
    Outcome compared = judge(Outcome{.outputs = outputs}, expected, asked.suspect.compared_by());
    if (!compared.failed() || excuse(asked.graph, asked.inputs, compared, expected, asked.suspect)) return "";
    return compared.message;
}

}  // namespace

bool runs_kernels(Backend& backend, const BackendOptions& options, KernelArithmetic arithmetic) {
    if (offered<program::RunsKernels>(backend)) return true;
    WritesOptimized* const writes = offered<WritesOptimized>(backend);
    return arithmetic == KernelArithmetic::floats && writes && writes->writes_optimized(options);
}

void CodeHashes::loaded(const std::string& code) { file_.write(code + "\n"); }

std::vector<std::string> CodeHashes::all() const {
    std::vector<std::string> hashes;
    file_.read([&](std::string_view bytes) { hashes = split(bytes, '\n'); });
    return hashes;
}

const KernelJudgement* KernelJudgements::first_wrong() const {
    const auto found = std::ranges::find(kernels, Verdict::fails, &KernelJudgement::verdict);
    return found == kernels.end() ? nullptr : &*found;
}

KernelJudgements judge_kernels(const FailingCase& asked, const Judgement& whole, std::span<const std::string> codes,
                               Backend& backend, KernelArithmetic arithmetic) {
    KernelJudgements result{.arithmetic = arithmetic};
    program::RunsKernels* const runs = offered<program::RunsKernels>(backend);
    if (!runs && runs_kernels(backend, asked.suspect.options, arithmetic))
        return judge_optimized(asked, whole, backend);
    if (!runs) {
        result.none = "the backend " + backend.name() + " does not run its kernels one by one";
        return result;
    }
    try {
        const std::vector<program::Part> parts = compiled_parts(asked.graph, asked.inputs);
        for (std::size_t i = 0; i < parts.size(); ++i) {
            auto compilation = runs->kernels(parts[i].graph, asked.suspect.options);
            if (const auto* failure = std::get_if<BackendFailure>(&compilation)) {
                result.none = failure->message;
                return result;
            }
            FailingCase part{.graph = parts[i].graph, .inputs = parts[i].inputs, .suspect = asked.suspect};
            PlanJudge judging(part, backend, *std::get<std::unique_ptr<KernelCompilation>>(compilation), arithmetic);
            for (KernelJudgement& kernel : judging.run()) {
                if (parts.size() > 1) kernel.part = i == 0 ? "forward" : "backward";
                result.kernels.push_back(std::move(kernel));
            }
            if (parts.size() > 1) continue;
            if (const auto outputs = judging.outputs()) result.passes = differing(asked, whole, *outputs);
        }
    } catch (const Error& error) {
        result.none = error.what();
        result.kernels.clear();
        return result;
    }
    for (std::size_t i = 0; i < std::min(result.kernels.size(), codes.size()); ++i) {
        KernelJudgement& kernel = result.kernels[i];
        kernel.same_code = !kernel.code.empty() && kernel.code == codes[i];
        if (kernel.same_code || kernel.code.empty() || codes[i].empty()) continue;
        kernel.verdict = Verdict::not_judged;
        kernel.reason =
            "the machine code of the kernel that ran alone differs from the machine code of the kernel inside the "
            "whole graph";
    }
    return result;
}

}  // namespace whittle

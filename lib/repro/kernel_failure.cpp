#include "repro/steps.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/words.h"
#include "expr/interpret.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "judge/suspect.h"
#include "reduce/kernel/edits.h"

namespace whittle::repro {
namespace {

using reduce::KernelCase;

/// A few seconds are enough, but where the machine is busy; of a hang every case that fails takes its whole limit.
constexpr std::chrono::seconds kReductionTime{60};
constexpr std::chrono::seconds kHangLimit{5};

/// What was computed before.
class Computed final : public Executable {
  public:
    explicit Computed(std::vector<Tensor> outputs) : outputs_(std::move(outputs)) {}
    RunResult run(std::span<const Tensor>) override { return outputs_; }

  private:
    std::vector<Tensor> outputs_;
};

/// A kernel in the place of a backend, so that it is run as every other suspect is: in a child, under its limits.
class KernelBackend : public Backend, public WarmUp {
  public:
    KernelBackend(Backend& backend, program::KernelPrograms& programs, const program::PlainKernel& kernel)
        : backend_(backend), programs_(programs), kernel_(kernel) {}

    std::string name() const override { return backend_.name(); }
    std::string description() const override { return backend_.description(); }
    CompileResult compile(const Graph&, const BackendOptions&) override { return programs_.compile(kernel_); }
    void warm_up() override { programs_.warm_up_kernels(); }

  private:
    Backend& backend_;
    program::KernelPrograms& programs_;
    const program::PlainKernel& kernel_;
};

/// The same with its control behind it in one child, as forks cost more than most of these compilations. The control is
/// asked where the values are wrong alone; its failure is one at a stage of its own. What the failure did to the
/// process may be taken for the control's, and the case is refused then; it is never taken in for that.
class ControlledBackend final : public KernelBackend {
  public:
    ControlledBackend(const KernelBackend& culprit, const KernelBackend& control, const Tensor& expected,
                      const Accuracy& accuracy)
        : KernelBackend(culprit), culprit_(culprit), control_(control), expected_(expected), accuracy_(accuracy) {}

    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        const auto ask = [&](KernelBackend& kernel) {
            return judge(run_in_process(graph, {}, kernel, options), {&expected_, 1}, accuracy_);
        };
        Outcome culprit = ask(culprit_);
        if (culprit.failed() && culprit.kind != Outcome::Kind::mismatch)
            return BackendFailure{.stage = culprit.stage, .message = culprit.message};
        if (culprit.failed())
            if (const Outcome control = ask(control_); control.failed())
                return BackendFailure{.stage = "control", .message = control.message};
        return std::make_unique<Computed>(std::move(culprit.outputs));
    }

  private:
    KernelBackend culprit_, control_;
    const Tensor& expected_;
    const Accuracy& accuracy_;
};

/// The words that name things of the kernel, which reduction renames, as one.
std::string without_names(const std::string& text, const expr::Group& group) {
    std::set<std::string> names;
    for (const expr::Input& input : group.inputs) names.insert(input.name);
    for (const expr::Stage& stage : group.stages) {
        names.insert(stage.name);
        names.insert(stage.name + "_stage");
        for (const expr::LoopVar& var : stage.vars) names.insert(var.name);
        for (const expr::Update& update : stage.updates)
            for (const expr::LoopVar& var : update.domain) names.insert(var.name);
    }
    return with_words(text, [&](const std::string& word) { return names.contains(word) ? "#" : word; });
}

/// Of the case and a schedule that outlive it.
program::PlainKernel plain_kernel(const KernelCase& kernel, const expr::Schedule& schedule) {
    return {.group = kernel.group,
            .schedule = schedule,
            .inputs = kernel.inputs,
            .target = kernel.targets.at(0),
            .with_workarounds = kernel.with_workarounds,
            .careful = kernel.careful};
}

/// Runs cases and tells whether they fail as the graph did.
class Oracle {
  public:
    Oracle(Backend& backend, program::KernelPrograms& programs, const Failure& failure, const Limits& limits)
        : backend_(backend), programs_(programs), failure_(failure), limits_(limits), signature_(failure.signature) {}

    static std::optional<Tensor> expected(const KernelCase& kernel) {
        try {
            return expr::interpret(kernel.group, kernel.inputs).at(0);
        } catch (const Error&) {  // a load that is out of bounds
            return std::nullopt;
        }
    }

    enum class With { culprit, control, both };  ///< control: with the culprit directive switched off
    Outcome run(const KernelCase& kernel, const Tensor& expected, With with = With::culprit) const {
        static const Graph nothing = parse("graph kernel {\n  return ()\n}\n");
        expr::Schedule off = kernel.schedule;
        if (with != With::culprit) off.at(static_cast<std::size_t>(kernel.culprit)).enabled = false;
        const program::PlainKernel culprit = plain_kernel(kernel, kernel.schedule), control = plain_kernel(kernel, off);
        KernelBackend one(backend_, programs_, with == With::control ? control : culprit),
            other(backend_, programs_, control);
        ControlledBackend both(one, other, expected, failure_.accuracy);
        Backend& asked = with == With::both ? both : one;
        return judge(run_isolated(nothing, {}, asked, {}, limits_), {&expected, 1}, failure_.accuracy);
    }

    bool fails(const KernelCase& kernel) const {
        const std::optional<Tensor> right = expected(kernel);
        if (!right) return false;
        const bool by_itself = kernel.culprit < 0 || signature_.kind != "mismatch";
        const Outcome outcome = run(kernel, *right, by_itself ? With::culprit : With::both);
        return outcome.is_failure() && signature(outcome, kernel) == signature_ &&
               (!by_itself || passes_without(kernel, *right));
    }

    /// As fails(), of the first case: how it fails from now on.
    bool begin(const KernelCase& kernel) {
        const std::optional<Tensor> right = expected(kernel);
        if (!right) return false;
        const Outcome outcome = run(kernel, *right);
        log_info(LogChannel::repro, "kernel " + kernel.group.name + " by itself: " + std::string(name(outcome.kind)) +
                                        (outcome.failed() ? " at " + outcome.stage + ": " + outcome.message : ""));
        if (!outcome.is_failure() || name(outcome.kind) != signature_.kind || outcome.stage != signature_.stage)
            return false;
        // Messages name the Funcs, which are called otherwise here.
        if (outcome.kind != Outcome::Kind::exception && outcome.detail != signature_.detail) return false;
        signature_ = signature(outcome, kernel);
        return passes_without(kernel, *right);
    }

  private:
    bool passes_without(const KernelCase& kernel, const Tensor& expected) const {
        return kernel.culprit < 0 || !run(kernel, expected, With::control).failed();
    }
    /// Without the kernel's names.
    static Signature signature(Outcome outcome, const KernelCase& kernel) {
        if (outcome.kind == Outcome::Kind::exception) outcome.message = without_names(outcome.message, kernel.group);
        return signature_of(outcome);
    }

    Backend& backend_;
    program::KernelPrograms& programs_;
    const Failure& failure_;
    const Limits limits_;
    Signature signature_;
};

/// Of a kernel of the plan: one case for each output, stored as the kernel stores it.
std::vector<KernelCase> cases(const program::Kernel& kernel, const std::vector<Tensor>& inputs,
                              const std::string& culprit, const std::vector<std::string>& targets) {
    std::vector<KernelCase> all;
    for (const std::string& output : kernel.group.outputs) {
        KernelCase one{.group = kernel.group, .schedule = kernel.schedule};
        one.group.outputs = {output};
        reduce::kernel::drop_directives(one, [](const expr::Directive& directive) { return !directive.enabled; });
        for (std::size_t i = 0; i < one.schedule.size(); i++)
            if (expr::print(one.schedule[i]) == culprit) one.culprit = static_cast<int>(i);
        for (const std::string& other : kernel.group.outputs)
            if (other != output) one.schedule.push_back({.kind = expr::Directive::Kind::compute_root, .stage = other});
        for (std::size_t i = 0; i < one.group.inputs.size(); i++) {
            one.inputs.push_back(inputs[i].clone());
            one.group.inputs[i].strides = contiguous_strides(one.group.inputs[i].sizes);
        }
        one.targets = targets;
        all.push_back(reduce::named(one));  // one called "tanh" would take the C library's place
    }
    return all;
}

/// The first case that fails, the kernels in order, each given what the ones before it should have computed.
std::optional<KernelCase> first_failing(const program::Plan& plan, const Failure& failure,
                                        const std::vector<std::string>& targets, Oracle& oracle) {
    std::map<ValueRef, Tensor> values = leaf_values(plan.graph, failure.inputs);
    const std::string culprit = failure.culprit ? failure.culprit->directive : "";
    for (const program::Kernel& kernel : plan.kernels) {
        std::vector<Tensor> inputs;
        for (const ValueRef& input : kernel.inputs) inputs.push_back(values.at(input));
        for (KernelCase& one : cases(kernel, inputs, culprit, targets)) {
            if (!culprit.empty() && one.culprit < 0) continue;
            if (oracle.begin(one)) return std::move(one);
        }
        const std::vector<Tensor> results = expr::interpret(kernel.group, inputs);
        for (std::size_t i = 0; i < results.size(); i++) values[kernel.outputs[i]] = results[i];
    }
    return std::nullopt;
}

/// Why the failure is none of one kernel under Halide; empty: it may be.
std::string not_of_a_kernel(const Failure& failure) {
    const std::string& kind = failure.signature.kind;
    if (failure.culprit && failure.culprit->before_compiler())
        return "the culprit is in Whittle, not in Halide: " + failure.culprit->text();
    if (failure.accuracy.wants_bits())
        return "the model fails only with --accuracy=" + std::string(name(failure.accuracy.mode));
    const std::string& detail = failure.signature.detail;
    if (kind == "mismatch" && detail != "value" && detail != "nan_or_inf")
        return "a short program compares only values, but the results differ in sizes or data types";
    if (kind != "mismatch" && kind != "exception" && kind != "crash" && kind != "timeout")
        return "a short program cannot reproduce the outcome " + kind;
    if (failure.options.contains("asserts"))
        return "a short program cannot set the backend option asserts=" + failure.options.at("asserts");
    return {};
}

}  // namespace

bool show_kernel(Repro& repro, Backend& backend, program::KernelPrograms& programs, const Options& options,
                 std::string& why_not) {
    const Failure& failure = repro.failure();
    const auto deadline = std::chrono::steady_clock::now() + kReductionTime;
    if (why_not = not_of_a_kernel(failure); !why_not.empty()) return false;
    Limits limits;
    if (failure.signature.kind == "timeout")
        limits.timeout = std::min<std::chrono::milliseconds>(limits.timeout, kHangLimit);
    Oracle oracle(backend, programs, failure, limits);
    program::CompiledProgram program(repro.graph, failure.options);
    const auto planned = programs.planned(program);
    if (!std::holds_alternative<const program::Plan*>(planned))
        return why_not = "not all ops of the model are compiled to kernels", false;
    const std::optional<KernelCase> first =
        first_failing(*std::get<const program::Plan*>(planned), failure, programs.targets(), oracle);
    if (!first) return why_not = "each kernel alone passes", false;
    const reduce::KernelReduction reduction = reduce::reduce_kernel(
        *first, [&](const KernelCase& smaller) { return oracle.fails(smaller); }, deadline);
    KernelCase found;
    Tensor expected;
    Outcome outcome;
    const auto take = [&](const KernelCase& kernel) {
        found = kernel;
        expected = *Oracle::expected(kernel);
        outcome = oracle.run(kernel, expected);
    };
    // Names decide in which order Halide's simplifier sees things.
    const KernelCase named = reduce::named(reduction.smallest);
    take(oracle.fails(named) ? named : reduction.smallest);
    if (!outcome.is_failure()) take(*first);  // without a control before it in its process
    const Outcome control = found.culprit >= 0 ? oracle.run(found, expected, Oracle::With::control) : Outcome();
    repro.tried = reduction.tried;
    log_info(LogChannel::repro,
             "the kernel, reduced in " + std::to_string(*repro.tried) + " tries:\n" + expr::print(found.group));

    program::PlainKernel kernel = plain_kernel(found, found.schedule);
    kernel.culprit = found.culprit;
    program::KernelRequest request{
        .kernel = kernel,
        .failure = failure,
        .expected = expected,
        .got = outcome.outputs.empty() ? nullptr : outcome.outputs.data(),
        .message = outcome.message,
        .exact = !control.outputs.empty() && same_bits(control.outputs[0], expected.contiguous()),
        .file = options.file(),
        .alarm = options.alarm};
    std::optional<ReproProgram> shown = programs.program(request);
    if (!shown) return why_not = "the inputs and outputs are too long for a short program", false;
    request.given_expected = true;
    if (failure.signature.kind == "mismatch")
        if (std::optional<ReproProgram> passing = programs.program(request))
            shown->given_expected = std::make_shared<ReproProgram>(*std::move(passing));
    repro.program = *std::move(shown);
    return true;
}

}  // namespace whittle::repro

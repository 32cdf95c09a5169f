#include "judge/outcome.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <exception>
#include <iterator>
#include <new>

#include "base/error.h"
#include "base/log.h"
#include "base/log_step.h"
#include "base/seconds.h"
#include "base/subprocess.h"
#include "compile/compile.h"
#include "compile/gradients.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "judge/normalize.h"
#include "judge/untouched.h"
#include "ops/core/interpreter.h"
#include "passes/widen.h"

namespace whittle {
namespace {

void fail(Outcome& outcome, const BackendFailure& failure) {
    outcome.kind = failure.unsupported        ? Outcome::Kind::unsupported
                   : failure.mismatch.empty() ? Outcome::Kind::exception
                                              : Outcome::Kind::mismatch;
    outcome.detail = failure.mismatch;
    outcome.stage = failure.stage;
    outcome.op = failure.op;
    outcome.message = failure.message;
    if (failure.unsupported && !failure.missing.empty()) outcome.missing = failure.missing;
}

/// What the first of nested exceptions says: one that wraps it names the graph, whose name differs between candidates.
std::string first_words(const std::exception& error) {
    try {
        std::rethrow_if_nested(error);
    } catch (const std::exception& cause) {
        return first_words(cause);
    } catch (...) {  // nothing that has words
    }
    return error.what();
}

/// Runs `f`; what it throws becomes the outcome of `stage`.
template <class F>
void guarded(Outcome& outcome, const char* stage, F&& f) {
    try {
        f();
        return;
    } catch (const std::bad_alloc&) {
        outcome.kind = Outcome::Kind::out_of_memory;
        outcome.message = "out of memory";
    } catch (const EndedFromOutside& error) {  // a process of the backend's
        outcome.kind = Outcome::Kind::unresolved;
        outcome.message = std::string("the backend's process ") + error.what();
        return;  // at no stage
    } catch (const std::exception& error) {
        outcome.message = first_words(error);
        outcome.kind = Outcome::Kind::exception;
    } catch (...) {
        outcome.kind = Outcome::Kind::exception;
        outcome.message = "an exception that is not a std::exception";
    }
    outcome.stage = stage;
}

}  // namespace

std::string_view name(Outcome::Kind kind) {
    static constexpr std::string_view kNames[] = {"ok",      "mismatch",      "slow",        "exception", "crash",
                                                  "timeout", "out_of_memory", "unsupported", "unresolved"};
    return kNames[static_cast<std::size_t>(kind)];
}

ProcessOptions Limits::process() const { return {.timeout = timeout, .memory_limit = memory, .cpu_limit = cpu}; }

void hint_at_memory(std::string_view words) {
    // std::bad_alloc, LLVM and CUDA, ENOMEM and our tensors, Python, GNU programs, Halide's runtime, the address
    // sanitizer; and Halide's compiler, which protects a stack that it did not get.
    constexpr std::string_view kSayings[] = {"std::bad_alloc",
                                             "out of memory",
                                             "cannot allocate",
                                             "MemoryError",
                                             "memory exhausted",
                                             "halide_malloc returned",
                                             "allocator is out of memory",
                                             "mprotect failed with error Invalid argument"};
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
    };
    const bool says_so = std::ranges::any_of(kSayings, [&](std::string_view saying) {
        return std::search(words.begin(), words.end(), saying.begin(), saying.end(), same) != words.end();
    });
    static std::atomic<bool> said{false};
    if (says_so && !said.exchange(true))
        log_warning(
            LogChannel::run,
            "the backend or command reports that memory ran out, although the process stayed below --memory-limit; "
            "Whittle counts this report as a failure, but the cause may be that this machine has too little memory");
}

Signature signature_of(const Outcome& outcome) {
    Signature signature{std::string(name(outcome.kind)), outcome.stage, outcome.detail, outcome.part};
    if (outcome.kind == Outcome::Kind::exception) signature.detail = normalized(outcome.message);
    return signature;
}

Values run_in_process(Outcome& outcome, Executable& executable, std::span<const Tensor> inputs) {
    Values values;
    guarded(outcome, "run", [&] {
        RunResult result = executable.run(inputs);
        if (auto* found = std::get_if<Values>(&result))
            values = std::move(*found);
        else
            fail(outcome, std::get<BackendFailure>(result));
    });
    return values;
}

void timed_in_process(Outcome& outcome, TimesRuns& timed, std::span<const Tensor> inputs, int runs,
                      std::vector<double>& seconds) {
    guarded(outcome, "run", [&] {
        if (const auto failure = timed.time(inputs, runs, seconds)) fail(outcome, *failure);
    });
}

bool asked_for_gradients(const Backend& backend) {
    return backend.consumes() != CompileStage::captured || offered<Differentiates>(backend) ||
           offered<OwnGradients>(backend);
}

namespace {

using Compile = std::function<CompileResult()>;

void refuse(Outcome& outcome, const std::string& why) {
    fail(outcome, {.stage = "compile", .message = why, .unsupported = true});
}

std::unique_ptr<Executable> compiled(Outcome& outcome, const Graph& graph, const Backend& backend,
                                     const Compile& compile_it) {
    std::unique_ptr<Executable> executable;
    guarded(outcome, "compile", [&] {
        LogStep step(LogStep::Kind::backend, backend.name() + ": " + summary(graph), graph.name);
        CompileResult compiled = compile_it();
        if (!std::holds_alternative<std::unique_ptr<Executable>>(compiled)) step.failed();
        if (auto* done = std::get_if<std::unique_ptr<Executable>>(&compiled))
            executable = std::move(*done);
        else if (auto* failure = std::get_if<BackendFailure>(&compiled))
            fail(outcome, *failure);
        else if (auto* request = std::get_if<BreakRequest>(&compiled))
            refuse(outcome, "the backend requests a graph break: " + request->reason);
        else
            refuse(outcome, "the backend asks to skip the graph: " + std::get<SkipRequest>(compiled).reason);
    });
    return executable;
}

/// A backend's run of one graph, or of two parts of one.
class Runner {
  public:
    /// `forward` or `backward`; nothing: of a graph that is not cut.
    using Part = std::optional<CompileStage>;

    Runner(Backend& backend, const BackendOptions& options, const RunPhaseObserver& at)
        : backend_(backend), options_(options), at_(at) {}

    /// Compiles and runs. Empty where it failed, as the outcome says.
    Values run(Outcome& outcome, const Graph& graph, std::span<const Tensor> inputs, Part part = {}) {
        const bool backward = part == CompileStage::backward;
        tell(RunPhase{false, backward});
        return run(outcome, graph, inputs, backward, [&] {
            return part ? program::compile_part(backend_, *part, graph, options_)
                        : program::compile(backend_, graph, options_);
        });
    }

    /// The same of a joint graph, whose gradients the backend has its own way to compute.
    Values run_joint(Outcome& outcome, OwnGradients& own, const Joint& joint, std::span<const Tensor> inputs) {
        tell(RunPhase{false, true});
        return run(outcome, joint.graph, inputs, true, [&] {
            return own.compile_joint(joint.graph, {joint.outputs, joint.tangents, joint.gradients}, options_);
        });
    }

  private:
    Values run(Outcome& outcome, const Graph& graph, std::span<const Tensor> inputs, bool backward,
               const Compile& compile_it) {
        const auto compile_start = std::chrono::steady_clock::now();
        const std::unique_ptr<Executable> executable = compiled(outcome, graph, backend_, compile_it);
        outcome.compile_seconds += seconds_since(compile_start);
        if (outcome.failed()) return {};
        outcome.missing.emplace();
        tell(RunPhase{true, backward});
        std::optional<Untouched> given;
        if (!offered<Reference>(backend_)) given.emplace(graph, inputs);
        const auto run_start = std::chrono::steady_clock::now();
        Values values = run_in_process(outcome, *executable, inputs);
        outcome.run_seconds += seconds_since(run_start);
        if (given && !outcome.failed()) check(outcome, *given);
        return values;
    }

    void tell(RunPhase step) const {
        if (at_) at_(step);
    }

    static void check(Outcome& outcome, Untouched& given) {
        const auto written = given.restore();
        if (!written) return;
        fail(outcome, {.stage = "run", .message = "the backend " + written->message, .mismatch = written->detail});
    }

    Backend& backend_;
    const BackendOptions& options_;
    const RunPhaseObserver& at_;
};

void mismatch(Outcome& outcome, std::string_view detail, std::string message) {
    outcome.kind = Outcome::Kind::mismatch;
    outcome.stage = "run";
    outcome.detail = detail;
    outcome.message = std::move(message);
}

/// Forward gives what backward reads: other values than the graph says are wrong, whoever reads them.
void check_said(Outcome& outcome, const Graph& graph, const Values& values) {
    const std::vector<NodeId> outputs = graph.outputs();
    if (values.size() != outputs.size())
        return mismatch(outcome, "count",
                        "got " + std::to_string(values.size()) + " outputs of the forward graph, expected " +
                            std::to_string(outputs.size()) +
                            " (the outputs of the model and the values saved for the backward graph)");
    for (std::size_t i = 0; i < values.size(); ++i) {
        const ValueMeta got = ValueMeta::of(values[i]);
        const ValueMeta& said = graph.node({outputs[i]}).meta();
        if (got.dtype != said.dtype || got.sizes != said.sizes)
            return mismatch(outcome, got.dtype != said.dtype ? "dtype" : "sizes",
                            "output " + std::to_string(i) + " is " + print(got) + ", expected " + print(said));
    }
}

void run_both(Outcome& outcome, const program::Differentiated& made, std::span<const Tensor> inputs, Runner& runner) {
    const Graph& forward = made.parts.forward;
    Values values = runner.run(outcome, forward, inputs, CompileStage::forward);
    if (!outcome.failed()) check_said(outcome, forward, values);
    if (outcome.failed()) return;
    Outcome behind{.compile_seconds = outcome.compile_seconds, .run_seconds = outcome.run_seconds};
    Values gradients =
        runner.run(behind, made.parts.backward, made.backward_inputs(inputs, values), CompileStage::backward);
    if (behind.failed() && behind.kind != Outcome::Kind::unsupported) {
        behind.part = "backward";
        outcome = std::move(behind);
        return;
    }
    if (behind.failed())  // which takes nothing away from forward
        outcome.no_gradients = behind.message;
    else
        outcome.gradients = std::move(gradients);
    outcome.compile_seconds = behind.compile_seconds;
    outcome.run_seconds = behind.run_seconds;
    values.erase(values.begin() + static_cast<std::ptrdiff_t>(made.joint.outputs), values.end());
    outcome.outputs = std::move(values);
}

/// Forward as any graph, and the gradients by the backend's own way; where it has none, that takes nothing away from
/// forward.
void run_with_own_gradients(Outcome& outcome, OwnGradients& own, const Graph& graph,
                            const program::Differentiated& made, std::span<const Tensor> inputs, Runner& runner) {
    Values outputs = runner.run(outcome, graph, inputs);
    if (outcome.failed()) return;
    Outcome behind;
    Values all = runner.run_joint(behind, own, made.joint, made.joint_inputs(inputs));
    if (behind.failed() && behind.kind != Outcome::Kind::unsupported) {
        behind.part = "backward";
        outcome = std::move(behind);
        return;
    }
    outcome.no_gradients = behind.message;
    if (!behind.failed()) outcome.gradients = made.gradients_among(std::move(all));
    outcome.outputs = std::move(outputs);
}

}  // namespace

std::shared_ptr<const program::Differentiated> differentiated_for(const Graph& graph, const Backend& backend,
                                                                  const BackendOptions& options) {
    if (!asked_for_gradients(backend)) return nullptr;
    auto made = program::differentiate_whole(graph, backend, options);
    return made ? std::make_shared<const program::Differentiated>(std::move(*made)) : nullptr;
}

std::shared_ptr<const program::Differentiated> differentiated_of(const Outcome& outcome, const Graph& graph) {
    std::shared_ptr<const program::Differentiated> made = outcome.differentiated;
    if (!made)
        if (auto own = program::differentiate_whole(graph))
            made = std::make_shared<const program::Differentiated>(std::move(*own));
    WHITTLE_CHECK(made && made->refused.empty(), "gradients of a graph that has none");
    return made;
}

std::unique_ptr<Executable> compile_in_process(Outcome& outcome, const Graph& graph, Backend& backend,
                                               const BackendOptions& options) {
    return compiled(outcome, graph, backend, [&] { return program::compile(backend, graph, options); });
}

Outcome run_in_process(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                       const BackendOptions& options, const RunPhaseObserver& at,
                       std::shared_ptr<const program::Differentiated> differentiated) {
    Outcome outcome;
    Runner runner(backend, options, at);
    if (!differentiated) differentiated = differentiated_for(graph, backend, options);
    OwnGradients* const own = own_gradients(backend, options);
    if (differentiated) {
        const program::Differentiated made = own ? *differentiated : program::cut(*differentiated);
        if (!made.refused.empty())
            outcome.no_gradients = made.refused;
        else if (own)
            run_with_own_gradients(outcome, *own, graph, made, inputs, runner);
        else
            run_both(outcome, made, inputs, runner);
        outcome.differentiated = std::move(differentiated);
        if (made.refused.empty()) return outcome;
    }
    outcome.outputs = runner.run(outcome, graph, inputs);
    return outcome;
}

namespace {

/// "output", or whose gradient, of each value.
using ValueName = std::function<std::string(std::size_t)>;

/// Turns the outcome into a mismatch when `got` differs from `expected`.
void compare_values(Outcome& outcome, const Values& got, std::span<const Tensor> expected, const ValueName& named,
                    const Accuracy& accuracy, const ExactOutputs& exact) {
    if (got.size() != expected.size())
        return mismatch(outcome, "count",
                        "got " + std::to_string(got.size()) + " outputs, expected " + std::to_string(expected.size()));
    std::optional<std::vector<Tensor>> truth;
    for (std::size_t i = 0; i < expected.size(); i++) {
        const auto difference = compare(got[i], expected[i], accuracy, [&]() -> const Tensor* {
            if (!truth) truth = exact ? exact() : std::vector<Tensor>();
            return i < truth->size() ? &(*truth)[i] : nullptr;
        });
        if (difference) return mismatch(outcome, name(difference->kind), named(i) + " " + difference->description);
    }
}

}  // namespace

Outcome judge(Outcome outcome, std::span<const Tensor> expected, const Accuracy& accuracy, const ExactOutputs& exact) {
    if (outcome.failed()) return outcome;
    compare_values(
        outcome, outcome.outputs, expected, [](std::size_t i) { return "output " + std::to_string(i); }, accuracy,
        exact);
    return outcome;
}

Outcome judge(Outcome outcome, const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected,
              const Accuracy& accuracy) {
    outcome = judge(std::move(outcome), expected, accuracy,
                    [&] { return evaluate_exactly(graph, inputs).value_or(std::vector<Tensor>()); });
    if (outcome.failed() || outcome.gradients.empty()) return outcome;
    if (accuracy.mode == Accuracy::Mode::exact) {
        outcome.no_gradients = "--accuracy=exact compares outputs only";
        return outcome;
    }
    const auto made = differentiated_of(outcome, graph);
    Values right;
    try {
        right = program::reference_gradients(*made, inputs);
    } catch (const Error& error) {
        outcome.no_gradients = std::string("the reference, eager, cannot compute the gradients: ") + error.what();
        return outcome;
    }
    compare_values(
        outcome, outcome.gradients, right,
        [&](std::size_t i) { return program::gradient_text(graph, made->joint.gradients.at(i)); }, accuracy,
        [&] { return program::exact_gradients(*made, inputs).value_or(Values()); });
    if (outcome.failed()) outcome.part = "backward";
    return outcome;
}

}  // namespace whittle

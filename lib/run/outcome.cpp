#include "run/outcome.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <iterator>
#include <new>

#include "base/error.h"
#include "base/log.h"
#include "base/log_step.h"
#include "base/subprocess.h"
#include "graph/text.h"
#include "program/compile.h"
#include "run/normalize.h"

namespace whittle {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Outcome from_failure(const BackendFailure& failure) {
    Outcome outcome;
    outcome.kind = failure.unsupported        ? Outcome::Kind::unsupported
                   : failure.mismatch.empty() ? Outcome::Kind::exception
                                              : Outcome::Kind::mismatch;
    outcome.detail = failure.mismatch;
    outcome.stage = failure.stage;
    outcome.op = failure.op;
    outcome.message = failure.message;
    if (failure.unsupported && !failure.missing.empty()) outcome.missing = failure.missing;
    return outcome;
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
        outcome.message = error.what();
        outcome.kind = Outcome::Kind::exception;
    } catch (...) {
        outcome.kind = Outcome::Kind::exception;
        outcome.message = "an exception that is not a std::exception";
    }
    outcome.stage = stage;
}

}  // namespace

std::string_view name(Outcome::Kind kind) {
    switch (kind) {
        case Outcome::Kind::ok:
            return "ok";
        case Outcome::Kind::mismatch:
            return "mismatch";
        case Outcome::Kind::exception:
            return "exception";
        case Outcome::Kind::crash:
            return "crash";
        case Outcome::Kind::timeout:
            return "timeout";
        case Outcome::Kind::out_of_memory:
            return "out_of_memory";
        case Outcome::Kind::unsupported:
            return "unsupported";
        case Outcome::Kind::unresolved:
            return "unresolved";
    }
    __builtin_unreachable();
}

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
    const bool says_so = std::any_of(std::begin(kSayings), std::end(kSayings), [&](std::string_view saying) {
        return std::search(words.begin(), words.end(), saying.begin(), saying.end(), same) != words.end();
    });
    static std::atomic<bool> said{false};
    if (says_so && !said.exchange(true))
        log_warning(LogChannel::run,
                    "a suspect says that memory ran out, though it stayed below --memory-limit; that counts as "
                    "the failure it is, but the machine may be to blame");
}

Signature signature_of(const Outcome& outcome) {
    Signature signature{std::string(name(outcome.kind)), outcome.stage, outcome.detail};
    if (outcome.kind == Outcome::Kind::exception) signature.detail = normalized(outcome.message);
    return signature;
}

Outcome run_in_process(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                       const BackendOptions& options) {
    Outcome outcome;
    std::unique_ptr<Executable> executable;
    const auto compile_start = std::chrono::steady_clock::now();
    guarded(outcome, "compile", [&] {
        LogStep step(LogStep::Kind::backend, backend.name() + ": " + summary(graph));
        CompileResult compiled = program::compile(backend, graph, options);
        if (!std::holds_alternative<std::unique_ptr<Executable>>(compiled)) step.failed();
        if (auto* done = std::get_if<std::unique_ptr<Executable>>(&compiled))
            executable = std::move(*done), outcome.missing.emplace();
        else if (auto* failure = std::get_if<BackendFailure>(&compiled))
            outcome = from_failure(*failure);
        else if (auto* request = std::get_if<BreakRequest>(&compiled))
            outcome = from_failure({.stage = "compile",
                                    .message = "the backend asks for a graph break: " + request->reason,
                                    .unsupported = true});
        else
            outcome = from_failure(
                {.stage = "compile",
                 .message = "the backend asks to skip the graph: " + std::get<SkipRequest>(compiled).reason,
                 .unsupported = true});
    });
    outcome.compile_seconds = seconds_since(compile_start);
    if (outcome.failed()) return outcome;
    const auto run_start = std::chrono::steady_clock::now();
    guarded(outcome, "run", [&] {
        RunResult result = executable->run(inputs);
        if (auto* values = std::get_if<Values>(&result))
            outcome.outputs = std::move(*values);
        else {
            Outcome failed = from_failure(std::get<BackendFailure>(result));
            failed.compile_seconds = outcome.compile_seconds, failed.missing = outcome.missing;
            outcome = std::move(failed);
        }
    });
    outcome.run_seconds = seconds_since(run_start);
    return outcome;
}

Outcome judge(Outcome outcome, std::span<const Tensor> expected, const Accuracy& accuracy, const ExactOutputs& exact) {
    if (outcome.failed()) return outcome;
    const auto mismatch = [&](std::string_view detail, std::string message) {
        outcome.kind = Outcome::Kind::mismatch;
        outcome.stage = "run";
        outcome.detail = detail;
        outcome.message = std::move(message);
    };
    if (outcome.outputs.size() != expected.size()) {
        mismatch("count", "got " + std::to_string(outcome.outputs.size()) + " outputs, expected " +
                              std::to_string(expected.size()));
        return outcome;
    }
    std::optional<std::vector<Tensor>> truth;
    for (std::size_t i = 0; i < expected.size(); i++) {
        const auto difference = compare(outcome.outputs[i], expected[i], accuracy, [&]() -> const Tensor* {
            if (!truth) truth = exact ? exact() : std::vector<Tensor>();
            return i < truth->size() ? &(*truth)[i] : nullptr;
        });
        if (!difference) continue;
        mismatch(name(difference->kind), "output " + std::to_string(i) + " " + difference->description);
        return outcome;
    }
    return outcome;
}

}  // namespace whittle

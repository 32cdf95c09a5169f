// Outcome: what became of compiling and running a graph. A failing graph is a value, compared by its signature.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/backend.h"
#include "graph/failure.h"

namespace whittle {

struct ProcessOptions;
struct ProcessResult;
class TimesRuns;

namespace program {
struct Differentiated;
}

struct Outcome {
    enum class Kind {
        ok,
        mismatch,
        slow,  ///< right or wrong, it takes too long: against another way to run it (race())
        exception,
        crash,
        timeout,
        out_of_memory,  ///< the limit's verdict (or the allocator's, std::bad_alloc), never the suspect's words
        unsupported,
        unresolved  ///< no answer: something outside ended it, which says nothing of the graph
    };
    Kind kind = Kind::ok;
    std::string stage = {};         ///< "compile" or "run" when it failed
    std::string part = {};          ///< "backward" when it failed at gradients
    std::string op = {};            ///< op or kernel the backend named
    std::string message = {};       ///< its own words, or the description of the difference
    std::string detail = {};        ///< of mismatches as in Signature; crash: "SIGSEGV"
    Values outputs = {};            ///< when it ran to the end
    Values gradients = {};          ///< then: what they were asked for, see compile/gradients.h
    std::string no_gradients = {};  ///< why there are none though an output requires one; empty: see there
    /// The graph's joint graph, of this process: for who judges. Null where nobody needed it here.
    std::shared_ptr<const program::Differentiated> differentiated = {};
    /// What the backend cannot compile, as Support in graph/abilities.h has it: none of what it has compiled. Nothing
    /// where it did not say.
    std::optional<std::vector<std::string>> missing = {};
    double compile_seconds = 0, run_seconds = 0;

    bool failed() const { return kind != Kind::ok; }
    bool failed_at_gradients() const { return !part.empty(); }
    /// Of the backend: one that is its fault, which minify would find again.
    bool is_failure() const { return failed() && kind != Kind::unsupported && kind != Kind::unresolved; }
};

std::string_view name(Outcome::Kind kind);

/// The outcome without what reduction changes: numbers, addresses, paths, temporaries' names.
Signature signature_of(const Outcome& outcome);

struct Limits {
    std::chrono::milliseconds timeout{60000};  ///< wall clock of one query
    /// Bytes of memory that a query holds, all its processes together, beyond what this process holds; of a command:
    /// that it holds at all.
    std::size_t memory = std::size_t(4) << 30;
    std::optional<std::chrono::seconds> cpu = {};  ///< processor time of one query

    /// Of the process that one query runs in.
    ProcessOptions process() const;
};

/// Where a failing program's words say that memory ran out although it stayed below the limit: says so in the log,
/// once. A hint and no verdict: what makes it fail may be the machine and not a bug.
void hint_at_memory(std::string_view words);

/// Whether the backend is asked for gradients where a graph has some: whoever interprets the graph as it was captured
/// knows nothing of forward and backward.
bool asked_for_gradients(const Backend& backend);

/// Where a run is, told before it begins: what a crash leaves of it.
struct RunPhase {
    bool running = false, backward = false;
};
using RunPhaseObserver = std::function<void(RunPhase)>;

/// Compiles and runs in this process. A crash of the backend is a crash of ours: for trusted backends (the reference).
/// Where an output requires a gradient the backend is given the forward and the backward graph, one after the other.
/// That it wrote to what it was given is a mismatch of its own. `differentiated`: by differentiated_for(), if that was
/// asked before.
Outcome run_in_process(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                       const BackendOptions& options, const RunPhaseObserver& at = {},
                       std::shared_ptr<const program::Differentiated> differentiated = {});
/// The steps of that, for who runs a graph again and again. Null where it does not compile, as the outcome says.
std::unique_ptr<Executable> compile_in_process(Outcome& outcome, const Graph& graph, Backend& backend,
                                               const BackendOptions& options);
/// Runs it. Empty where that fails, as the outcome says.
Values run_in_process(Outcome& outcome, Executable& executable, std::span<const Tensor> inputs);
/// Adds the times of `runs` runs to `seconds`, as the compiler's own process takes them.
void timed_in_process(Outcome& outcome, TimesRuns& timed, std::span<const Tensor> inputs, int runs,
                      std::vector<double>& seconds);
/// What a run needs of the graph's gradients and does not depend on the backend's code; null where it needs nothing.
std::shared_ptr<const program::Differentiated> differentiated_for(const Graph& graph, const Backend& backend,
                                                                  const BackendOptions& options);
/// Returns what the gradients of a run are judged by: outcome.differentiated, or, where the graph, which has gradients,
/// ran in another process, the same made here.
std::shared_ptr<const program::Differentiated> differentiated_of(const Outcome& outcome, const Graph& graph);

/// As run_in_process, in a forked child under guard (base/subprocess.h), warm with all that this process has loaded:
/// see WarmUp in graph/abilities.h. Nothing the backend does harms the caller; a crash, a timeout, or memory beyond the
/// limit is an Outcome.
Outcome run_isolated(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                     const BackendOptions& options, const Limits& limits);

/// What a process that gave no answer says by its end (base/subprocess.h).
Outcome outcome_of(const ProcessResult& process, const Limits& limits);

/// What the backend says that it cannot compile (Support in graph/abilities.h), asked in a forked child; nothing where
/// it cannot say. Throws Error when it does not come back with an answer.
std::vector<std::string> unsupported_isolated(const Graph& graph, const Backend& backend);

/// Turns an ok outcome into a mismatch when its outputs differ from `expected` (count, dtype, sizes, values).
/// `exact`: the outputs computed in f64, asked for once and only where the accuracy's mode needs them.
using ExactOutputs = std::function<std::vector<Tensor>()>;
Outcome judge(Outcome outcome, std::span<const Tensor> expected, const Accuracy& accuracy,
              const ExactOutputs& exact = {});
/// The same of a backend's run of the graph, with its gradients, which the reference knows.
Outcome judge(Outcome outcome, const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected,
              const Accuracy& accuracy);

std::string encode(const Outcome& outcome);

/// Nothing for bytes that encode() did not write: a process that went mad can send anything.
std::optional<Outcome> decode(std::string_view bytes);

}  // namespace whittle

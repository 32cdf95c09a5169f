// Outcome: what became of compiling and running a graph. A failing graph is a value, compared by its signature.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/backend.h"
#include "graph/failure.h"

namespace whittle {

struct Outcome {
    enum class Kind { ok, mismatch, exception, crash, timeout, out_of_memory, unsupported };
    Kind kind = Kind::ok;
    std::string stage = {};    ///< "compile" or "run" when it failed
    std::string op = {};       ///< op or kernel the backend named
    std::string message = {};  ///< its own words, or the description of the difference
    std::string detail = {};   ///< mismatch: "dtype" "sizes" "nan_or_inf" "value"; crash: "SIGSEGV"
    Values outputs = {};       ///< when it ran to the end
    double compile_seconds = 0, run_seconds = 0;

    bool failed() const { return kind != Kind::ok; }
};

std::string_view name(Outcome::Kind kind);

/// The outcome without what reduction changes: numbers, addresses, paths, temporaries' names.
Signature signature_of(const Outcome& outcome);

struct Limits {
    std::chrono::milliseconds timeout{60000};      ///< wall clock of one query
    std::size_t memory = std::size_t(4) << 30;     ///< bytes of address space beyond what is mapped already
    std::optional<std::chrono::seconds> cpu = {};  ///< processor time of one query
};

/// Whether a failing program's words say that memory ran out: what makes it fail is then the limit and not a bug.
bool says_out_of_memory(std::string_view words);

/// Compiles and runs in this process. A crash of the backend is a crash of ours: for trusted backends (the reference).
Outcome run_in_process(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                       const BackendOptions& options);

/// As run_in_process, in a forked child under guard (base/subprocess.h), warm with all that this process has loaded:
/// see Backend::warm_up(). Nothing the backend does harms the caller; a crash, a timeout, or memory beyond the limit is
/// an Outcome.
Outcome run_isolated(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                     const BackendOptions& options, const Limits& limits);

/// Turns an ok outcome into a mismatch when its outputs differ from `expected` (count, dtype, sizes, values).
/// `exact`: the outputs computed in f64, asked for once and only where the accuracy's mode needs them.
using ExactOutputs = std::function<std::vector<Tensor>()>;
Outcome judge(Outcome outcome, std::span<const Tensor> expected, const Accuracy& accuracy,
              const ExactOutputs& exact = {});

}  // namespace whittle

// A graph tried on a backend: does it compile and run there, and does it compute what is expected of it?
#pragma once

#include <span>
#include <string>
#include <vector>

#include "run/outcome.h"

namespace whittle {

/// What is right: given by whoever knows it, or (empty) computed by the reference.
struct Expectation {
    std::vector<Tensor> outputs = {};  ///< one per output of the graph
    std::string from = {};             ///< the file or the program that they come from
};

struct Trial {
    Outcome outcome = {};           ///< of the backend, judged by what is expected
    Expectation expected = {};      ///< never the suspect's own outputs
    std::string no_reference = {};  ///< why nobody knows what is right: the reference's own failure

    /// The outcome is a failure of the backend, which minify would find again; where it is rounding, among others.
    bool failed() const { return outcome.is_failure(); }
    /// "exception at compile: ReluCompileError"; empty for a good outcome.
    std::string text() const;
};

/// Runs `graph` on `backend`, isolated unless it is the reference, and on the reference (eager) in this process unless
/// `known` says what is right.
Trial try_backend(const Graph& graph, std::span<const Tensor> inputs, const Expectation& known, Backend& backend,
                  const BackendOptions& options, const Accuracy& accuracy = {});

}  // namespace whittle

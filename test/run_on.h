// A graph compiled for one run.
#pragma once

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "graph/backend.h"

namespace whittle::test {

/// Where the backend cannot compile the graph, its failure.
inline RunResult run_on(Backend& backend, const Graph& graph, const std::vector<Tensor>& inputs,
                        const BackendOptions& options = {}) {
    CompileResult compiled = backend.compile(graph, options);
    if (auto* failure = std::get_if<BackendFailure>(&compiled)) return std::move(*failure);
    return std::get<std::unique_ptr<Executable>>(compiled)->run(inputs);
}

}  // namespace whittle::test

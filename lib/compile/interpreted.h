// What a backend that differentiates and interprets (Differentiates in graph/abilities.h), or one that rewrites, runs
// in place of a graph, as one graph: a repro of a wrong pass writes it down, and the pass is found by it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "graph/backend.h"

namespace whittle::program {

struct Interpreted {
    Graph
        asked;  ///< the captured graph; where it failed at gradients, the joint graph. With the failure, on its inputs
    Graph instead;  ///< as many outputs, on the same inputs: forward; or forward, and backward behind it
};

/// Of a graph with its failure, by the cut that the backend and the failure's options ask for. Nothing where the
/// backend compiles a part, and where the graph failed at gradients and has none.
std::optional<Interpreted> interpreted_by(const Backend& backend, const Graph& failing);

/// The first outputs of `graph`, which the reference interprets, are other values than `expected`, or it cannot be run
/// on the inputs. Behind them may be what it writes to its inputs.
bool differs(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected,
             const Accuracy& accuracy);

/// The pass after which the graph, which fails, first computes something else or cannot be run; nothing where the
/// backend compiles a part or all passes are right.
std::optional<std::string> wrong_pass(const Backend& backend, const Graph& failing);

}  // namespace whittle::program

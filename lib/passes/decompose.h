// decompose(): composite ops become the ops they are made of, until every op lowers or has no decomposition.
#pragma once

#include <functional>
#include <vector>

#include "ops/core/builder.h"
#include "passes/origins.h"
#include "passes/pass.h"

namespace whittle {

struct DecomposeOptions {
    /// Which of a graph's nodes are taken apart: asked of the given graph and again of each that comes of it, until it
    /// says none. All are calls of composites. Nothing: every composite that does not lower.
    std::function<std::vector<bool>(const Graph& graph)> chosen = {};
    AfterPass after = {};  ///< of calls of decompositions, too
};

/// The same computation in core ops (dialect "aten" when nothing of another dialect is left). An op that lowers stays;
/// so does one that has neither lowering nor decomposition, or whose results' sizes are data of what is computed
/// (ops/core/known.h), for the caller to name. New nodes carry the stack and
/// module path of the node they replace. Throws Error naming the node when its operands do not fit.
Graph decompose(const Graph& graph, const DecomposeOptions& options = {}, Origins* origins = nullptr);

}  // namespace whittle

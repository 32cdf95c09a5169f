// decompose(): composite ops become the ops they are made of, until every op lowers or has no decomposition.
#pragma once

#include <functional>

#include "ops/core/builder.h"
#include "passes/origins.h"

namespace whittle {

struct DecomposeOptions {
    /// Called with what takes the place of the results of each call that is taken apart, those of decompositions
    /// included; may change it.
    std::function<void(GraphBuilder& builder, const Node& call, std::vector<NodeRef>& results)> decomposed = {};
};

/// The same computation in core ops (dialect "aten" when nothing of another dialect is left). An op that lowers stays;
/// so does one that has neither lowering nor decomposition, for the caller to name. New nodes carry the stack and
/// module path of the node they replace. Throws Error naming the node when its operands do not fit.
Graph decompose(const Graph& graph, const DecomposeOptions& options = {}, Origins* origins = nullptr);

}  // namespace whittle

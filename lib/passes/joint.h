// joint(): a graph that computes gradients beside its outputs, by walking it backwards: what AOT autograd calls the
// joint graph. https://pytorch.org/functorch/stable/notebooks/aot_autograd_optimizations.html
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "passes/origins.h"

namespace whittle {

struct JointOptions {
    /// Whose gradients are wanted: placeholders by the name of their node, attributes by their qualified name. Nothing:
    /// of all that require one.
    std::optional<std::set<std::string>> wanted = {};
    /// How many outputs, from the first, get a tangent; behind them are new values of memory. Nothing: all.
    std::optional<std::size_t> outputs = {};
};

/// Placeholders: those of the forward graph, then a tangent for each output that depends on something wanted; outputs:
/// those of the forward graph, then a gradient for each placeholder and attribute that is wanted and that an output
/// depends on.
struct Joint {
    Graph graph;
    std::size_t inputs = 0;                   ///< placeholders of the forward graph
    std::vector<std::size_t> tangents = {};   ///< the output whose tangent each further placeholder is
    std::size_t outputs = 0;                  ///< of the forward graph
    std::vector<std::string> gradients = {};  ///< whose gradient each further output is, named as in JointOptions
};

/// A tangent is contiguous and has dtype and sizes of its output. What is not floating, and ops that have no
/// gradient (detach), end the walk; several gradients of a value are added, its last reader's first. Calls on the way
/// whose op has no rule are decomposed, no others. The graph is functional. Throws Error naming the node for an op
/// without rule and decomposition, and naming what is wanted but is no floating placeholder or attribute.
Joint joint(const Graph& functional, const JointOptions& options = {}, Origins* origins = nullptr);

}  // namespace whittle

// The forward graph of a joint one, as it was differentiated: for who computes its gradients in another way.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// Placeholders: those of the forward graph, then a tangent for each of some outputs. Outputs: those of the forward
/// graph, then gradients.
struct JointShape {
    std::size_t outputs = 0;                  ///< of the forward graph
    std::vector<std::size_t> tangents = {};   ///< the output whose tangent each further placeholder is
    std::vector<std::string> gradients = {};  ///< whose gradient each further output is: a placeholder's name, or an
                                              ///< attribute's
};

/// What the first outputs of a joint graph depend on.
Graph forward_of(const Graph& joint, const JointShape& shape);

}  // namespace whittle

// The forward graph of a joint one, as it was differentiated: for who computes its gradients in another way.
#pragma once

#include "graph/graph.h"
#include "graph/joint_shape.h"

namespace whittle {

/// What the first outputs of a joint graph depend on.
Graph forward_of(const Graph& joint, const JointShape& shape);

}  // namespace whittle

// The gradients of a joint graph by LibTorch's own autograd: the judge of our rules that is not ours.
#pragma once

#include "graph/backend.h"
#include "graph/joint_forward.h"

namespace whittle::aten {

/// As OwnGradients in graph/abilities.h has it: runs the forward graph call by call, and then backward. An op that
/// LibTorch refuses to differentiate is a failure of the run that is `unsupported`.
std::unique_ptr<Executable> differentiated(const Graph& joint, const JointShape& shape);

}  // namespace whittle::aten

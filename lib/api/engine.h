// The engine: gradients go back from tensors to leaves, node by node.
#pragma once

#include <vector>

#include "api/grad_node.h"

namespace whittle::api {

struct BackwardOptions {
    bool retain_graph = false;
    bool create_graph = false;
    /// Only what leads to these is computed.
    std::vector<Edge> inputs = {};
    /// The gradients of `inputs` are the result; else leaves get theirs.
    bool returned = false;
};

/// `gradients`: one for each root. Nodes run later ones first, as soon as all that reads their results has run; hooks
/// see the whole gradient of a tensor. Returns one for each of `inputs`, undefined where none came, if asked to.
TensorList run_backward(const std::vector<Edge>& roots, const TensorList& gradients, const BackwardOptions& options);

}  // namespace whittle::api

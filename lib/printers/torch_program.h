// Short programs in Python that show a failure with PyTorch's own calls, which its users and maintainers read.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/emitter.h"

namespace whittle::printers {

/// What makes another function of the one that has the calls. In statements it is called `graph`.
struct OptimizedGraph {
    std::string by;                       ///< "TorchScript": whose results are printed
    std::string name;                     ///< "scripted": of that function
    std::string made;                     ///< "torch.jit.script(graph)"
    std::vector<std::string> steps = {};  ///< statements, each a line, whose results `made` reads
    std::string before = {};              ///< statements before torch is imported, which read sys and os
    std::string after = {};               ///< statements behind that
    bool module = false;                  ///< `graph` is a module, and parameters are constants in it
    int times = 1;                        ///< what is computed the last time counts
    /// By name, inputs and parameters whose gradients are computed, of a request about gradients.
    std::vector<std::string> gradients = {};
};

/// Of a graph of ATen's calls under short names (with_short_names()). Without `optimized` the calls are made one by
/// one, and what is expected is written down; else it is what `graph` computes. `about`: what is wrong, as lines of a
/// comment. `file`: the program's name. Of a request about gradients, `graph` is the one that is differentiated
/// (short_graph()), where `optimized` names gradients. Not for a hang, which Python does not end.
std::string torch_program(const ShortRequest& request, const Graph& graph, const std::string& about,
                          const std::string& file, const std::optional<OptimizedGraph>& optimized);

/// Why no such program of the graph shows the failure at a glance, as a clause; empty: it does. `can_write`: elements
/// of that type.
std::string not_in_torch_program(const ShortRequest& request, const Graph& graph,
                                 const std::function<bool(DType)>& can_write);

}  // namespace whittle::printers

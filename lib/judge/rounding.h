// How far rounding alone may move what a graph computes: stochastic arithmetic. Tells another order of a sum that
// cancels from a bug, and a wrong small element from the rounding of a large one beside it.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// Of one value.
struct Rounding {
    std::vector<double> sway = {};  ///< of each element; empty: not known
    double terms = 1;               ///< at most so many are added for an element
    double hidden = 1;              ///< and so many inside a composite, whose parts are not moved
};

/// One per output. The graph is computed in f64 several times, in which every input, attribute and result of a call,
/// those of nested graphs, too, is moved by one unit of its own dtype, up or down at random (not what a call selects,
/// and not what is between the parts of a composite); the sway is the largest change against `exact`, its outputs in
/// f64 (Parker 1997, Monte Carlo Arithmetic). Not known of a graph that writes to memory or cannot be computed in f64.
std::vector<Rounding> rounding_of(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> exact);

}  // namespace whittle

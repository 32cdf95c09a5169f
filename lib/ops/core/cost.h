// What computing a call again would cost, as the op's own lowering tells: for who must choose between keeping a value
// and computing it twice.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace whittle {

struct CallCost {
    double steps = 0;  ///< of all its loops
    /// The same, each step by what it reads and computes, where one that copies an element is 2; as the reference's
    /// kernels have it, to which contractions are cheap.
    double work = 0;
    int parts = 0;           ///< of a composite without a kernel: calls that it is taken apart into whenever it runs
    bool contracts = false;  ///< sums products of elements at different places of two tensors: matmul, convolution
};

/// Of a composite, its parts together. Nothing where it cannot be known or the call must not be repeated: its results
/// are random, it runs a nested graph, its op lowers in no way or refuses these operands.
std::optional<CallCost> cost_of(const Graph& graph, const Node& call);

/// How many are added for an element of a call's results at most: the steps of its loops, or, of an op that does not
/// say, all that it reads.
double terms_of(const Graph& graph, const Node& call);

}  // namespace whittle

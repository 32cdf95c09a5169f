// Graph -> kernels: which nodes share a kernel, what is stored, and how each kernel is scheduled. Nothing here knows
// which compiler they are for.
//
// Nodes are lowered in order into the current group. A node that brings a second reduction op closes the group before
// it, so that a kernel is an anchor (matmul, convolution, row reduction, scatter …) with the pointwise ops and views
// around it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "compile/pass_limits.h"
#include "expr/group.h"
#include "graph/value_ref.h"

namespace whittle::program {

/// What must hold of a value before a kernel runs, which cannot refuse it: its elements are places in a dimension.
struct PositionsCheck {
    ValueRef value;
    NodeId node = -1;  ///< the call that reads or writes there
    std::int64_t size = 0;
    bool negatives = false;  ///< see Positions
};

struct Kernel {
    expr::Group group;
    expr::Schedule schedule;
    std::vector<ValueRef> inputs;             ///< one per group.inputs
    std::vector<ValueRef> outputs;            ///< one per group.outputs
    std::vector<NodeId> nodes;                ///< the calls that it computes, ascending
    std::vector<PositionsCheck> checks = {};  ///< of values that are there before it runs
};

struct Plan {
    Graph graph;  ///< every call lowers, or is a getitem
    std::vector<Kernel> kernels;
    std::vector<ValueRef> outputs;  ///< one per output of the graph
};

/// Rules that schedule any group; they may give it more stages (packed operands, accumulators), and compute the same.
using Scheduler = expr::Schedule (*)(expr::Group&);

/// What plan() throws where an op refuses its operands.
class LoweringError : public Error {
  public:
    explicit LoweringError(const Error& error) : Error(error) {}
};

/// Lowers and groups the calls of `core`, all of which lower; asks and counts the passes `fuse` and `inline`. Throws
/// LoweringError when an op refuses its operands, and what the scheduler throws.
Plan plan(const Graph& core, PassLimits& limits, Scheduler scheduler);

/// What the kernel is made of, and what it needs of others: its calls, the values that it reads and writes, and its
/// expressions.
std::string print(const Plan& plan, const Kernel& kernel);

/// A directive that can be switched off.
struct DirectiveText {
    std::string text;        ///< expr::print
    std::vector<int> needs;  ///< positions in the list of those it requires
};
/// The directives that are on, in order, each text once.
std::vector<DirectiveText> directives(const Plan& plan);

}  // namespace whittle::program

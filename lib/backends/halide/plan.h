// Graph -> kernels: which nodes share a kernel, what is stored, and how each kernel is scheduled. Nothing here knows
// Halide.
//
// Nodes are lowered in order into the current group. A node that brings a second reduction op closes the group before
// it, so that a kernel is an anchor (matmul, convolution, row reduction, scatter …) with the pointwise ops and views
// around it.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "backends/halide/pass_limits.h"
#include "expr/group.h"
#include "graph/backend.h"
#include "graph/value_ref.h"

namespace whittle::halide {

struct Kernel {
    expr::Group group;
    expr::Schedule schedule;
    std::vector<ValueRef> inputs;   ///< one per group.inputs
    std::vector<ValueRef> outputs;  ///< one per group.outputs
};

struct Plan {
    Graph graph;  ///< decomposed: every call lowers, or is a getitem
    std::vector<Kernel> kernels;
    std::vector<ValueRef> outputs;  ///< one per output of the graph
    PassLimits limits = {};         ///< counts the applications of passes
};

/// Deliberate bugs, for the tests of minify and repro; never set otherwise.
struct Planted {
    bool schedule = false;      ///< a racy vectorized reduction in the first reduction of every kernel
    std::string lowering = {};  ///< results of this op are lowered as one more than they are
    std::string pass = {};      ///< the second application of this pass makes one more of the value
};

/// The backend option plant_TESTING_ONLY: "schedule", "lowering=OP", "pass=fuse" or "pass=inline". Throws Error for
/// anything else.
Planted planted_from(const BackendOptions& options);

/// Decomposes and lowers. Ops that do not lower, higher-order ones among them, are a BackendFailure with `unsupported`,
/// naming all of them.
std::variant<Plan, BackendFailure> plan(const Graph& graph, const Planted& planted = {}, PassLimits limits = {});

/// As the backend plans it under its options: plant_TESTING_ONLY, pass-limit=PASS=K;… (see PassLimits), and
/// disable=PASS;DIRECTIVE;… (passes, and texts of directives(), in whichever kernel has them; one that none has is a
/// warning).
std::variant<Plan, BackendFailure> plan(const Graph& graph, const BackendOptions& options);

/// A directive that can be switched off.
struct DirectiveText {
    std::string text;        ///< expr::print
    std::vector<int> needs;  ///< positions in the list of those it requires
};
/// The directives that are on, in order, each text once.
std::vector<DirectiveText> directives(const Plan& plan);

/// Targets that neither lower nor decompose into something that does, each once; those of nested graphs of higher-order
/// ops included, which themselves run on the host.
std::vector<std::string> not_lowered(const Graph& graph);

/// Rules that give a correct, reasonably quick kernel for any group.
expr::Schedule schedule(const expr::Group& group);

}  // namespace whittle::halide

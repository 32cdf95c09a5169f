// One kernel of a plan by itself: its calls as a graph for the reference, and the plan of that graph, which has the
// same kernel. And an ability, as those in graph/abilities.h, of who runs kernels so.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "compile/plan.h"
#include "graph/backend.h"
#include "passes/subgraph.h"

namespace whittle::program {

/// The calls between what the kernels before kernel `k` write and what it writes. Inputs are placeholders of the plan's
/// graph, and values that those kernels write; there is one output for each of the kernel's, in its order.
Subgraph part_of(const Plan& plan, std::size_t k);

/// The calls of a functional graph between `given` and `outputs`, which are its outputs in this order. Its inputs are
/// among `given`, or placeholders of the graph that are not.
Subgraph part_between(const Graph& graph, std::span<const ValueRef> given, const std::vector<ValueRef>& outputs);

/// The plan of part_of(plan, k): the kernel with its group and schedule, on the values of the part. Placeholders have
/// the strides that the kernel was compiled for.
Plan alone(const Plan& plan, std::size_t k, const Subgraph& part);

/// A plan of one kernel that is the group under the schedule: it takes what the group takes, and gives what the group
/// gives. Its graph has one call, which nobody interprets.
Plan plan_of(const expr::Group& group, const expr::Schedule& schedule);

/// One compilation, whose kernels are run one by one.
class KernelCompilation {
  public:
    virtual ~KernelCompilation() = default;
    virtual const Plan& plan() const = 0;
    /// Kernel `k`, with the machine code that it has in the whole. The executable takes and gives what part_of() does.
    virtual CompileResult compile(std::size_t k) = 0;
    /// The plan_of() a group, compiled as the kernels of this compilation are.
    virtual CompileResult compile(const expr::Group& group, const expr::Schedule& schedule) = 0;
};

class RunsKernels {
  public:
    virtual ~RunsKernels() = default;
    /// The graph is one that compile() of compile/compile.h is given, without assertions. Throws Error where a pass
    /// refuses it; a failure where it has no plan, or kernels cannot be run alone under the options.
    virtual std::variant<std::unique_ptr<KernelCompilation>, BackendFailure> kernels(const Graph& graph,
                                                                                     const BackendOptions& options) = 0;
};

}  // namespace whittle::program

// A kernel that fails, as a value: what a repro of a code generator shows. And its reduction, to what a maintainer
// reads in a minute.
//
// The order of the steps is that in which each makes room for the next: how it is compiled, schedule, stages, extents,
// dimensions, operands, types, data. Nothing here knows a compiler: whether a smaller case still fails, and in the same
// way, is the caller's answer.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "expr/group.h"
#include "tensor/tensor.h"

namespace whittle::reduce {

struct KernelCase {
    expr::Group group;
    expr::Schedule schedule = {};     ///< every directive is on
    int culprit = -1;                 ///< position of the directive without which it does not fail; -1: there is none
    std::vector<Tensor> inputs = {};  ///< one per group.inputs, row-major
    std::vector<std::string> targets = {};  ///< that it may be compiled for, the plainest last
    bool careful = true;                    ///< whether NaN, -0 and overflow are taken care of in every operation
    bool with_workarounds = true;           ///< whether the passes that work round known bugs are in
};

/// Whether the case fails as it should, and would not without the culprit directive. Asked only of cases whose group
/// keeps the rules of expr/group.h and whose loads are in bounds.
using StillFails = std::function<bool(const KernelCase&)>;

struct KernelReduction {
    KernelCase smallest;
    std::vector<KernelCase> milestones;  ///< what was accepted on the way, the case itself first
    int tried = 0;
    bool out_of_time = false;
};

/// The smallest case that the steps find before `deadline`; `start` itself fails.
KernelReduction reduce_kernel(const KernelCase& start, const StillFails& still_fails,
                              std::chrono::steady_clock::time_point deadline);

/// The same kernel under the names that short programs use: f g h for stages, a b c for inputs (`in` where there is
/// one), x y z w for the loops of a stage, innermost first, and r for those of an update.
KernelCase named(const KernelCase& kernel);

}  // namespace whittle::reduce

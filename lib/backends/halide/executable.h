// A plan whose kernels are compiled, ready to run.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/halide/pipeline.h"
#include "compile/plan.h"
#include "graph/backend.h"

namespace whittle::halide {

/// One kernel of a plan. What depends on constant inputs alone is a kernel of its own, which runs once.
struct CompiledKernel {
    std::shared_ptr<CompiledGroup> once;   ///< null when there is nothing such
    std::vector<std::size_t> once_inputs;  ///< positions in the kernel's inputs
    std::vector<expr::Input> packed;       ///< what it writes, inputs of `each` behind those of the kernel
    std::shared_ptr<CompiledGroup> each;
    std::vector<std::size_t> each_inputs;  ///< positions in the kernel's inputs, for all but the packed

    /// A hash of its machine code.
    std::string code() const;
};

std::unique_ptr<Executable> make_executable(program::Plan plan, std::vector<CompiledKernel> compiled);

}  // namespace whittle::halide

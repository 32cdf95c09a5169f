// The kernels of a plan, compiled: each that differs from the others once, as many at a time as there are processors.
#pragma once

#include <cstddef>
#include <memory>
#include <variant>
#include <vector>

#include "backends/halide/executable.h"
#include "compile/program.h"

namespace whittle::halide {

/// The code of a plan's kernels, which layers and unrolled steps share: asks and counts the pass `share`.
class PlanCode {
  public:
    /// Of what outlives it. Compiles nothing yet.
    PlanCode(program::CompiledProgram& program, const program::Plan& plan, const CompileOptions& options);
    ~PlanCode();
    PlanCode(const PlanCode&) = delete;

    /// Compiles all that is missing.
    void compile();
    /// Kernel `k`, compiled now where it is missing, and told to the observer.
    std::variant<CompiledKernel, BackendFailure> kernel(std::size_t k);
    /// Of each kernel the first that has the same code.
    std::vector<std::size_t> first_alike() const;
    /// Tells the observer what each kernel runs, in texts; of equal ones the first one's.
    void tell_texts() const;

  private:
    struct Work;
    std::unique_ptr<Work> work_;
};

/// One for each kernel of the plan. Of several failures the first in the plan's order.
std::variant<std::vector<CompiledKernel>, BackendFailure> compile_kernels(program::CompiledProgram& program,
                                                                          const program::Plan& plan,
                                                                          const CompileOptions& options);

/// Of each kernel the first whose code it runs, as the pass `share` has it in a compilation of the plan.
std::vector<std::size_t> shared_kernels(program::CompiledProgram& program, const program::Plan& plan);

}  // namespace whittle::halide

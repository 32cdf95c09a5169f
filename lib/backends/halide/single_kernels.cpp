#include "backends/halide/abilities.h"

#include "backends/halide/compile_kernels.h"
#include "backends/halide/planned.h"

namespace whittle::halide {
namespace {

using program::CompiledProgram;
using program::Plan;

class SingleKernels final : public program::KernelCompilation {
  public:
    SingleKernels(std::unique_ptr<CompiledProgram> program, const Plan& plan, CompileOptions options)
        : program_(std::move(program)), plan_(plan), options_(std::move(options)), code_(*program_, plan_, options_) {}

    const Plan& plan() const override { return plan_; }

    CompileResult compile(std::size_t k) override {
        return executable(program::alone(plan_, k, program::part_of(plan_, k)), code_.kernel(k));
    }

    CompileResult compile(const expr::Group& group, const expr::Schedule& schedule) override {
        Plan one = program::plan_of(group, schedule);
        auto kernel = PlanCode(*program_, one, options_).kernel(0);
        return executable(std::move(one), std::move(kernel));
    }

  private:
    static CompileResult executable(Plan one, std::variant<CompiledKernel, BackendFailure> kernel) {
        if (auto* failure = std::get_if<BackendFailure>(&kernel)) return std::move(*failure);
        std::vector<CompiledKernel> compiled;
        compiled.push_back(std::get<CompiledKernel>(std::move(kernel)));
        return make_executable(std::move(one), std::move(compiled));
    }

    const std::unique_ptr<CompiledProgram> program_;
    const Plan& plan_;
    const CompileOptions options_;
    PlanCode code_;
};

}  // namespace

std::variant<std::unique_ptr<program::KernelCompilation>, BackendFailure> single_kernels(
    const Graph& graph, const BackendOptions& options, const CompileOptions& compile) {
    auto program = std::make_unique<CompiledProgram>(graph, options);
    auto plan = planned(*program);
    if (auto* failure = std::get_if<BackendFailure>(&plan)) return std::move(*failure);
    return std::make_unique<SingleKernels>(std::move(program), *std::get<const Plan*>(plan), compile);
}

}  // namespace whittle::halide

#include "compile/finite_differences.h"

#include "backends/eager/interpreted.h"

namespace whittle {
namespace {

/// The gradients of a joint graph by its own rules, unless differences of its outputs speak against them.
class CheckedGradients final : public Executable {
  public:
    CheckedGradients(const Graph& joint, JointShape shape)
        : joint_(joint), shape_(std::move(shape)), interpreted_(interpreted(joint)) {}

    RunResult run(std::span<const Tensor> inputs) override {
        const program::Slopes slopes = program::check_slopes(joint_, shape_, inputs);
        if (!slopes.undecided.empty())
            return BackendFailure{.stage = "run", .op = {}, .message = slopes.undecided, .unsupported = true};
        if (slopes.wrong)
            return BackendFailure{.stage = "run",
                                  .op = {},
                                  .message = "gradient of " + slopes.wrong->of + ": " + slopes.wrong->text(),
                                  .mismatch = "value"};
        return interpreted_->run(inputs);
    }

  private:
    const Graph joint_;
    const JointShape shape_;
    const std::unique_ptr<Executable> interpreted_;
};

/// As eager, and a judge of gradient rules that is not another autograd: gradients are the rules' own, unless they
/// differ from finite differences (compile/finite_differences.h), which is a mismatch of gradients.
class FiniteDifferences final : public InterpretingBackend, public OwnGradients {
  public:
    using InterpretingBackend::InterpretingBackend;
    CompileResult compile_joint(const Graph& joint, const JointShape& shape, const BackendOptions&) override {
        if (std::optional<BackendFailure> failure = refused_by_kernels(joint, name())) return std::move(*failure);
        return std::make_unique<CheckedGradients>(joint, shape);
    }
};

}  // namespace

std::unique_ptr<Backend> make_finite_differences(const BuiltInBackend& row, const FindBackend&) {
    return std::make_unique<FiniteDifferences>(row);
}

}  // namespace whittle

#include "backends/eager/interpreted.h"

namespace whittle {
namespace {

/// Tells a failing run as a wrong capture.
class NoExcept final : public Executable, public AnySize {
  public:
    explicit NoExcept(std::unique_ptr<Executable> inner) : inner_(std::move(inner)) {}

    RunResult run(std::span<const Tensor> inputs) override {
        RunResult result = inner_->run(inputs);
        if (auto* failure = std::get_if<BackendFailure>(&result))
            failure->message =
                "the captured graph throws an exception that the program did not throw: " + failure->message;
        return result;
    }

    std::unique_ptr<Executable> at(const Graph& graph) const override {
        std::unique_ptr<Executable> inner = at_other_sizes(inner_.get(), graph);
        return inner ? std::make_unique<NoExcept>(std::move(inner)) : nullptr;
    }

  private:
    std::unique_ptr<Executable> inner_;
};

/// As eager; an op that throws is reported as what it is here: the program ran, so the graph is not what it ran.
class EagerNoExcept final : public InterpretingBackend {
    using InterpretingBackend::InterpretingBackend;
    CompileResult compiled(const Graph& graph, const BackendOptions&) override {
        return std::make_unique<NoExcept>(interpreted(graph));
    }
};

}  // namespace

std::unique_ptr<Backend> make_eager_noexcept(const BuiltInBackend& row, const FindBackend&) {
    return std::make_unique<EagerNoExcept>(row);
}

}  // namespace whittle

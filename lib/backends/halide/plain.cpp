#include "backends/halide/pipeline_maker.h"
#include "backends/halide/plain_text.h"

namespace whittle::halide {
namespace {

class PlainExecutable final : public Executable {
  public:
    explicit PlainExecutable(const PlainKernel& kernel) : prepared_(kernel.group) {
        PipelineMaker maker(prepared_, kernel.inputs, kernel.careful);
        pipeline_ = maker.make(kernel.schedule, kernel.with_workarounds);
        target_ = kernel.target.empty() ? Halide::get_jit_target_from_environment() : Halide::Target(kernel.target);
        pipeline_.compile_jit(target_);
    }

    RunResult run(std::span<const Tensor>) override {
        Values outputs;
        const auto error = caught([&] {
            const Stage& output = *prepared_.outputs().at(0);
            std::vector<std::int32_t> sizes;
            for (const std::int64_t size : reversed(output.sizes())) sizes.push_back(static_cast<std::int32_t>(size));
            const Halide::Realization realization = pipeline_.realize(sizes, target_);
            const Halide::Buffer<> buffer = realization[0];
            outputs.push_back(
                Tensor::copy_of(buffer.data(), output.dtype, output.sizes(), contiguous_strides(output.sizes())));
        });
        if (error) return BackendFailure{.stage = "run", .message = error->message};
        return outputs;
    }

  private:
    const Prepared prepared_;
    Halide::Pipeline pipeline_;
    Halide::Target target_;
};

}  // namespace

CompileResult compile(const PlainKernel& kernel) {
    std::unique_ptr<Executable> executable;
    const auto error = caught([&] { executable = std::make_unique<PlainExecutable>(kernel); });
    if (error) return BackendFailure{.stage = "compile", .message = error->message};
    return executable;
}

void warm_up_plain() {
    caught([] {
        Halide::Func zero;
        zero() = 0;
        zero.realize();
    });
}

}  // namespace whittle::halide

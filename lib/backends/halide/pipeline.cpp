#include "backends/halide/pipeline.h"

#include <Halide.h>

#include <mutex>

#include "backends/halide/pipeline_maker.h"
#include "base/files.h"
#include "base/subprocess.h"

namespace whittle::halide {

namespace {

using expr::Group;

Halide::Target target_of(const Schedule& schedule, const CompileOptions& options) {
    return Halide::Target(target_for(schedule, options.target));
}

}  // namespace

std::string default_target() {
    static const std::string text = [] {
        Halide::Target target = Halide::get_host_target();
        // AMD's Zen 4 is detected as sapphirerapids, which has instructions (AMX, half arithmetic) that it lacks.
        target.set_feature(Halide::Target::AVX512_SapphireRapids, false);
        target.set_feature(Halide::Target::StrictFloat);
        target.set_feature(Halide::Target::DisableLLVMLoopOpt);  // halves the compile time
        target.set_feature(Halide::Target::NoBoundsQuery);       // a quarter of the rest; every size is static here
        return target.to_string();
    }();
    return text;
}

struct CompiledGroup::Objects {
    explicit Objects(const Group& source) : group(source), prepared(group) {}

    const Group group;
    const Prepared prepared;
    Halide::Pipeline pipeline;
    std::vector<Halide::ImageParam> inputs;
    Halide::Target target;
    std::mutex running;  ///< a pipeline's inputs are set on its parameters
};

CompiledGroup::CompiledGroup(std::unique_ptr<Objects> objects) : objects_(std::move(objects)) {}
CompiledGroup::~CompiledGroup() = default;

std::variant<std::unique_ptr<CompiledGroup>, KernelError> CompiledGroup::compile(const Group& group,
                                                                                 const Schedule& schedule,
                                                                                 const CompileOptions& options) {
    auto objects = std::make_unique<Objects>(group);
    const auto error = caught([&] {
        objects->target = target_of(schedule, options);
        PipelineMaker maker(objects->prepared);
        if (objects->prepared.outputs().empty()) return;
        objects->pipeline = maker.make(schedule);
        objects->inputs = maker.inputs();
        objects->pipeline.compile_jit(objects->target);
    });
    if (error) return *error;
    return std::unique_ptr<CompiledGroup>(new CompiledGroup(std::move(objects)));
}

std::optional<KernelError> CompiledGroup::run(std::span<const void* const> inputs, std::span<void* const> outputs) {
    const Group& group = objects_->group;
    WHITTLE_CHECK(inputs.size() == group.inputs.size() && outputs.size() == group.outputs.size(),
                  "a compiled group was run with another number of buffers");
    const std::lock_guard lock(objects_->running);
    if (objects_->prepared.outputs().empty()) return {};
    return caught([&] {
        for (std::size_t i = 0, used = 0; i < inputs.size(); ++i) {
            const expr::Input& input = group.inputs[i];
            if (used == objects_->inputs.size() || objects_->prepared.inputs()[used] != &input) continue;
            objects_->inputs[used++].set(view(input.dtype, inputs[i], input.sizes, input.strides));
        }
        std::vector<Halide::Buffer<>> results;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const Stage* stage = group.stage(group.outputs[i]);
            const Sizes sizes = stage->sizes();
            if (element_count(sizes) > 0)
                results.push_back(view(stage->dtype, outputs[i], sizes, contiguous_strides(sizes)));
        }
        Halide::Realization realization(results);
        objects_->pipeline.realize(realization, objects_->target);
        for (Halide::ImageParam& input : objects_->inputs) input.reset();
    });
}

namespace {

/// What Halide writes into a file of a pipeline that is made anew; it keeps what it lowers, so each use has its own.
template <class Write>
KernelText written(const Group& group, const Schedule& schedule, const Write& write) {
    std::string text;
    const auto error = caught([&] {
        const Prepared prepared(group);
        if (prepared.outputs().empty()) return;
        PipelineMaker maker(prepared);
        Halide::Pipeline pipeline = maker.make(schedule);
        std::vector<Halide::Argument> arguments;
        for (const Halide::ImageParam& input : maker.inputs()) arguments.emplace_back(input);
        text = write(pipeline, arguments);
    });
    if (error) return *error;
    return text;
}

}  // namespace

KernelText lowered(const Group& group, const Schedule& schedule, const CompileOptions& options) {
    return written(group, schedule, [&](Halide::Pipeline& pipeline, const std::vector<Halide::Argument>& arguments) {
        const TempDir folder;
        const auto path = folder.path() / "kernel.stmt";
        pipeline.compile_to_lowered_stmt(path.string(), arguments, Halide::Text, target_of(schedule, options));
        return read_file(path);
    });
}

KernelText loop_nest(const Group& group, const Schedule& schedule, const CompileOptions&) {
    return written(group, schedule, [](Halide::Pipeline& pipeline, const std::vector<Halide::Argument>&) {
        // Halide prints them to its std::cerr, which is the whole process's: a copy has one of its own.
        return run_forked([&] { return pipeline.print_loop_nest(), 0; }).err;
    });
}

KernelText assembly(const Group& group, const Schedule& schedule, const CompileOptions& options) {
    return written(group, schedule, [&](Halide::Pipeline& pipeline, const std::vector<Halide::Argument>& arguments) {
        const TempDir folder;
        const auto path = folder.path() / "kernel.s";
        const Halide::Target target = target_of(schedule, options).with_feature(Halide::Target::NoRuntime);
        pipeline.compile_to_assembly(path.string(), arguments, "kernel", target);
        return read_file(path);
    });
}

}  // namespace whittle::halide

#include "backends/halide/pipeline.h"

#include <Halide.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "backends/halide/kernel_code.h"
#include "backends/halide/pipeline_maker.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"

namespace whittle::halide {
namespace {

using expr::Group;

Halide::Target target_of(const Schedule& schedule, const CompileOptions& options) {
    return Halide::Target(target_for(schedule, options.target));
}

}  // namespace

namespace {

/// Returns the first instructions that kernels for `wanted` may have and this machine lacks; empty: there are none.
std::string lacking_instructions(const Halide::Target& wanted, const Halide::Target& host) {
    using Halide::Target;
    constexpr Target::Feature kInstructions[] = {Target::SSE41,          Target::AVX,
                                                 Target::AVX2,           Target::FMA,
                                                 Target::FMA4,           Target::F16C,
                                                 Target::AVX512,         Target::AVX512_KNL,
                                                 Target::AVX512_Skylake, Target::AVX512_Cannonlake};
    for (const Target::Feature feature : kInstructions)
        if (wanted.has_feature(feature) && !host.has_feature(feature)) return Target::feature_to_name(feature);
    return {};
}

/// Why kernels for `wanted` cannot run in this process: to load or call them would end it. Empty: they can.
std::string why_not_here(const Halide::Target& wanted) {
    const Halide::Target host = Halide::get_host_target();
    if (wanted.arch != host.arch || wanted.bits != host.bits || wanted.os != host.os)
        return "a target of this machine, " + host.to_string();
    if (const std::string lacking = lacking_instructions(wanted, host); !lacking.empty())
        return "a target without " + lacking + ", which this machine does not have";
    constexpr auto kMangled = Halide::Target::CPlusPlusMangling;  // kernels are looked up by their plain names
    return wanted.has_feature(kMangled) ? "a target without " + Halide::Target::feature_to_name(kMangled) : "";
}

/// As Halide's own JIT takes it: $HL_JIT_TARGET, else this machine.
Halide::Target jit_target() {
    const char* const given = std::getenv("HL_JIT_TARGET");
    if (!given || !*given) return Halide::get_host_target();
    std::string expected = "a Halide target, such as host or x86-64-linux-avx-avx2-f16c-fma-sse41";
    if (Halide::Target::validate_target_string(given)) expected = why_not_here(Halide::Target(given));
    if (!expected.empty())
        throw Error({"environment", "HL_JIT_TARGET"}, "found '" + std::string(given) + "', expected " + expected);
    return Halide::Target(given);
}

/// A feature that halves the compile time; Halide 16 and later do without.
constexpr const char* kLoopSwitch = "disable_llvm_loop_opt";
bool has_loop_switch() { return Halide::Target::feature_from_name(kLoopSwitch) != Halide::Target::FeatureEnd; }

}  // namespace

std::vector<std::string> short_targets() {
    std::vector<std::string> targets = {"host-strict_float", ""};
    if (has_loop_switch()) targets.insert(targets.begin(), targets[0] + "-" + kLoopSwitch);
    return targets;
}

std::string default_target() {
    static const std::string text = [] {
        Halide::Target target = jit_target();  // what follows is in share/doc/how-to/halide.md, too
        // AMD's Zen 4 is detected as sapphirerapids, which has instructions (AMX, half arithmetic) that it lacks.
        target.set_feature(Halide::Target::AVX512_SapphireRapids, false);
        target.set_feature(Halide::Target::StrictFloat);
        if (has_loop_switch()) target.set_feature(Halide::Target::feature_from_name(kLoopSwitch));
        target.set_feature(Halide::Target::NoBoundsQuery);  // a quarter of the rest; every size is static here
        return target.to_string();
    }();
    return text;
}

std::string host_target() { return Halide::get_host_target().to_string(); }

std::string target_code(const std::string& target) {
    using Halide::Target;
    constexpr Target::Feature kDetected = Target::AVX512_SapphireRapids;  // see default_target()
    const Target wanted(target), host = Halide::get_host_target();
    std::string name = "host";
    for (int i = 0; i < Target::FeatureEnd; ++i)
        if (const auto feature = static_cast<Target::Feature>(i);
            wanted.has_feature(feature) && !host.has_feature(feature))
            name += "-" + Target::feature_to_name(feature);
    const bool without = host.has_feature(kDetected) && !wanted.has_feature(kDetected);
    Target made(name);
    made.set_feature(kDetected, !without && made.has_feature(kDetected));
    if (made != wanted) return "Halide::Target(\"" + target + "\")";
    return "Halide::Target(\"" + name + "\")" +
           (without ? ".without_feature(Halide::Target::AVX512_SapphireRapids)" : "");
}

struct CompiledGroup::Objects {
    /// The halide_buffer_t that a kernel gets, but for its address.
    struct Shape {
        Shape(DType dtype, const Sizes& sizes, const Strides& strides, std::size_t position) : position(position) {
            for (std::size_t d = sizes.size(); d-- > 0;)
                dimensions.emplace_back(0, static_cast<int>(sizes[d]), static_cast<int>(strides[d]));
            buffer.type = halide_type(dtype);
            buffer.dimensions = static_cast<int>(dimensions.size());
        }

        halide_buffer_t buffer{};
        std::vector<halide_dimension_t> dimensions;
        std::size_t position;  ///< in the group's inputs or outputs
    };

    std::size_t inputs = 0, outputs = 0;     ///< of the group
    std::vector<Shape> used, written;        ///< those that hold elements, in the kernel's order
    std::shared_ptr<const KernelCode> code;  ///< null when nothing is to be computed
};

CompiledGroup::CompiledGroup(std::unique_ptr<Objects> objects) : objects_(std::move(objects)) {}
CompiledGroup::~CompiledGroup() = default;

std::variant<std::unique_ptr<CompiledGroup>, KernelError> CompiledGroup::compile(const Group& group,
                                                                                 const Schedule& schedule,
                                                                                 const CompileOptions& options,
                                                                                 CodeSource* from) {
    auto objects = std::make_unique<Objects>();
    objects->inputs = group.inputs.size();
    objects->outputs = group.outputs.size();
    std::optional<KernelError> error = caught([&] {
        const Prepared prepared(group);
        for (const expr::Input* input : prepared.inputs())
            objects->used.emplace_back(input->dtype, input->sizes, input->strides,
                                       static_cast<std::size_t>(input - group.inputs.data()));
        for (std::size_t i = 0; i < group.outputs.size(); ++i) {
            const Stage* stage = group.stage(group.outputs[i]);
            const Sizes sizes = stage->sizes();
            if (element_count(sizes) > 0)
                objects->written.emplace_back(stage->dtype, sizes, contiguous_strides(sizes), i);
        }
    });
    if (error) return *error;
    if (objects->written.empty()) return std::unique_ptr<CompiledGroup>(new CompiledGroup(std::move(objects)));
    CodeSource source = CodeSource::compiled;
    auto code = kernel_code(group, schedule, target_for(schedule, options.target), source);
    if (from) *from = source;
    if (auto* failed = std::get_if<KernelError>(&code)) return std::move(*failed);
    objects->code = std::get<std::shared_ptr<const KernelCode>>(std::move(code));
    return std::unique_ptr<CompiledGroup>(new CompiledGroup(std::move(objects)));
}

std::string CompiledGroup::code() const { return objects_->code ? objects_->code->hash : ""; }

std::optional<KernelError> CompiledGroup::run(std::span<const void* const> inputs,
                                              std::span<void* const> outputs) const {
    const Objects& group = *objects_;
    WHITTLE_CHECK(inputs.size() == group.inputs && outputs.size() == group.outputs,
                  "a compiled kernel was run with another number of buffers");
    if (!group.code) return {};
    std::string message;
    void* context = &message;
    const std::size_t count = group.used.size() + group.written.size();
    // Most kernels have few buffers; those need no memory for a call.
    constexpr std::size_t kFew = 16;
    std::array<halide_buffer_t, kFew> few;
    std::array<void*, kFew + 1> few_arguments;
    std::vector<halide_buffer_t> many(count > kFew ? count : 0);
    std::vector<void*> many_arguments(count > kFew ? count + 1 : 0);
    halide_buffer_t* const buffers = count > kFew ? many.data() : few.data();
    void** const arguments = count > kFew ? many_arguments.data() : few_arguments.data();
    arguments[0] = &context;
    std::size_t next = 0;
    const auto add = [&](const Objects::Shape& shape, const void* data) {
        halide_buffer_t& buffer = buffers[next] = shape.buffer;
        buffer.dim = const_cast<halide_dimension_t*>(shape.dimensions.data());  // kernels only read it
        buffer.host = static_cast<std::uint8_t*>(const_cast<void*>(data));
        arguments[++next] = &buffer;
    };
    for (const Objects::Shape& shape : group.used) add(shape, inputs[shape.position]);
    for (const Objects::Shape& shape : group.written) add(shape, outputs[shape.position]);
    const int status = group.code->function(arguments);
    if (status == 0) return {};
    while (message.ends_with('\n')) message.pop_back();
    return KernelError{message.empty() ? "Halide's kernel returned error code " + std::to_string(status) : message};
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

/// Halide counts the variables that it makes, "i.v12", over the whole process. Here they count from 0 in the order of
/// their appearance, so that a kernel reads alike whenever it is compiled.
std::string renumbered(const std::string& nest) {
    constexpr std::string_view kDigits = "0123456789";
    std::map<std::string, std::size_t> numbers;
    std::string text;
    std::size_t at = 0;
    for (std::size_t found; (found = nest.find(".v", at)) != nest.npos;) {
        const std::size_t end = std::min(nest.find_first_not_of(kDigits, found + 2), nest.size());
        text += nest.substr(at, found + 2 - at);
        if (end > found + 2)
            text += std::to_string(numbers.try_emplace(nest.substr(found, end - found), numbers.size()).first->second);
        at = end;
    }
    return text + nest.substr(at);
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
        return renumbered(run_forked([&] { return pipeline.print_loop_nest(), 0; }).err);
    });
}

KernelText assembly(const Group& group, const Schedule& schedule, const CompileOptions& options) {
    return written(group, schedule, [&](Halide::Pipeline& pipeline, const std::vector<Halide::Argument>& arguments) {
        const TempDir folder;
        const auto path = folder.path() / "kernel.s";
        const Halide::Target target = target_of(schedule, options)
                                          .with_feature(Halide::Target::NoRuntime)
                                          .with_feature(Halide::Target::UserContext);  // as kernel_code() compiles
        pipeline.compile_to_assembly(path.string(), arguments, "kernel", target);
        return read_file(path);
    });
}

}  // namespace whittle::halide

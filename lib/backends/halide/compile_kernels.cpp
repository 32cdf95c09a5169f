#include "backends/halide/compile_kernels.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

#include "backends/halide/halide_text.h"
#include "base/log.h"
#include "base/thread_work.h"
#include "base/timeline.h"
#include "compile/observer.h"
#include "expr/canonical.h"
#include "expr/hoist.h"

namespace whittle::halide {
namespace {

using expr::Group;
using expr::Schedule;
using program::CompiledProgram;
using program::Kernel;
using program::Plan;

/// Groups to compile. Layers and unrolled steps share theirs.
class Jobs {
  public:
    Jobs(CompiledProgram& program, const CompileOptions& options)
        : program_(program), options_(options), graph_(span_graph(program.graph(CompileStage::captured).name)) {}

    /// The groups live as long as the jobs.
    std::size_t add(const Group& group, const Schedule& schedule) {
        const auto [known, is_new] = by_key_.try_emplace(expr::key(group, schedule), jobs_.size());
        if (!is_new && program_.limits().apply(PassId::share)) return known->second;
        known->second = jobs_.size();
        jobs_.push_back({&group, &schedule, {}, {}});
        return known->second;
    }

    void run() {
        for_each_on_threads(jobs_.size(), [&](std::size_t i) { compile(jobs_[i]); });
    }

    const std::optional<KernelError>& error(std::size_t job) const { return jobs_[job].error; }
    const std::shared_ptr<CompiledGroup>& compiled(std::size_t job) const { return jobs_[job].compiled; }

  private:
    struct Job {
        const Group* group;
        const Schedule* schedule;
        std::shared_ptr<CompiledGroup> compiled;
        std::optional<KernelError> error;
    };

    void compile(Job& job) const {
        TimedSpan span(SpanKind::kernel, job.group->name, graph_);
        log_debug(LogChannel::lowering,
                  job.group->name + ": Halide compiles " + std::to_string(job.group->stages.size()) + " Funcs");
        CodeSource from = CodeSource::compiled;
        auto result = CompiledGroup::compile(*job.group, *job.schedule, options_, &from);
        span.came_from(name(from));
        if (auto* error = std::get_if<KernelError>(&result))
            job.error = std::move(*error);
        else
            job.compiled = std::move(std::get<std::unique_ptr<CompiledGroup>>(result));
    }

    CompiledProgram& program_;
    const CompileOptions& options_;
    const std::string graph_;
    std::map<std::string, std::size_t> by_key_;
    std::deque<Job> jobs_;
};

/// Positions of inputs of a part in the kernel's.
std::vector<std::size_t> positions(const Group& group, std::span<const expr::Input> inputs) {
    std::vector<std::size_t> found;
    for (const expr::Input& input : inputs)
        found.push_back(static_cast<std::size_t>(group.input(input.name) - group.inputs.data()));
    return found;
}

/// What a kernel needs of the jobs.
struct Parts {
    std::optional<std::size_t> once;
    std::size_t each = 0;
    bool operator==(const Parts&) const = default;
};

/// What is done once of each kernel, where something is.
using HoistedKernels = std::deque<std::optional<expr::Hoisted>>;

/// Tells the observer what each kernel runs, in texts; of equal ones the first one's.
void tell_code(const Plan& plan, const std::vector<Parts>& parts, const HoistedKernels& hoisted,
               const CompileOptions& options) {
    const auto text = [](const KernelText& made) {
        const std::string* shown = std::get_if<std::string>(&made);
        return shown ? *shown : std::string();
    };
    for (std::size_t k = 0; k < plan.kernels.size(); k++) {
        program::KernelTexts told{.code_of =
                                      static_cast<std::size_t>(std::ranges::find(parts, parts[k]) - parts.begin())};
        if (told.code_of == k) {
            const Group& group = hoisted[k] ? hoisted[k]->rest : plan.kernels[k].group;
            const Schedule& schedule = hoisted[k] ? hoisted[k]->rest_schedule : plan.kernels[k].schedule;
            told.output_code = to_halide_cpp(group, schedule, group.name, options.target);
            told.loop_nest = text(loop_nest(group, schedule, options));
            told.assembly = text(assembly(group, schedule, options));
        }
        program::observer()->compiled(k, told);
    }
}

/// Of each kernel of the plan. `hoisted` lives as long as the jobs.
std::vector<Parts> add_all(const Plan& plan, Jobs& jobs, HoistedKernels& hoisted) {
    std::vector<Parts> parts;
    for (const Kernel& kernel : plan.kernels) {
        const auto& split = hoisted.emplace_back(expr::hoist(kernel.group, kernel.schedule));
        Parts of;
        if (split) of.once = jobs.add(split->once, split->once_schedule);
        of.each = split ? jobs.add(split->rest, split->rest_schedule) : jobs.add(kernel.group, kernel.schedule);
        parts.push_back(of);
    }
    return parts;
}

}  // namespace

std::vector<std::size_t> shared_kernels(CompiledProgram& program, const Plan& plan) {
    const CompileOptions options;
    Jobs jobs(program, options);
    HoistedKernels hoisted;
    const std::vector<Parts> parts = add_all(plan, jobs, hoisted);
    std::vector<std::size_t> first;
    for (const Parts& of : parts)
        first.push_back(static_cast<std::size_t>(std::ranges::find(parts, of) - parts.begin()));
    return first;
}

std::variant<std::vector<CompiledKernel>, BackendFailure> compile_kernels(CompiledProgram& program, const Plan& plan,
                                                                          const CompileOptions& options) {
    Jobs jobs(program, options);
    HoistedKernels hoisted;
    const std::vector<Parts> parts = add_all(plan, jobs, hoisted);
    jobs.run();
    std::vector<CompiledKernel> compiled;
    for (std::size_t k = 0; k < plan.kernels.size(); k++) {
        const Group& group = plan.kernels[k].group;
        for (const auto& job : {parts[k].once, std::optional(parts[k].each)})
            if (job && jobs.error(*job))
                return BackendFailure{.stage = "compile", .op = group.name, .message = jobs.error(*job)->message};
        CompiledKernel kernel{
            .once = {}, .once_inputs = {}, .packed = {}, .each = jobs.compiled(parts[k].each), .each_inputs = {}};
        const std::vector<expr::Input>& inputs = hoisted[k] ? hoisted[k]->rest.inputs : group.inputs;
        std::size_t own = inputs.size();
        if (hoisted[k]) {
            kernel.once = jobs.compiled(*parts[k].once);
            kernel.once_inputs = positions(group, hoisted[k]->once.inputs);
            own -= hoisted[k]->once.outputs.size();
            kernel.packed.assign(inputs.begin() + static_cast<std::ptrdiff_t>(own), inputs.end());
        }
        kernel.each_inputs = positions(group, std::span(inputs).first(own));
        compiled.push_back(std::move(kernel));
    }
    if (program::observer() && program::observer()->wants_code()) tell_code(plan, parts, hoisted, options);
    return compiled;
}

}  // namespace whittle::halide

#include "backends/halide/compile_kernels.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <optional>

#include "backends/halide/halide_text.h"
#include "base/log.h"
#include "base/thread_work.h"
#include "base/timeline.h"
#include "compile/observer.h"
#include "expr/canonical.h"
#include "expr/hoist.h"

namespace whittle::halide {
using expr::Group;
using expr::Schedule;
using program::CompiledProgram;
using program::Kernel;
using program::Plan;

/// Groups to compile. Layers and unrolled steps share theirs.
class KernelJobs {
  public:
    KernelJobs(CompiledProgram& program, const CompileOptions& options)
        : program_(program), options_(options), graph_(span_graph(program.graph(CompileStage::captured).name)) {}

    /// The groups live as long as the jobs.
    std::size_t add(const Group& group, const Schedule& schedule) {
        const auto [known, is_new] = by_key_.try_emplace(expr::key(group, schedule), jobs_.size());
        if (!is_new && program_.limits().apply(PassId::share)) return known->second;
        known->second = jobs_.size();
        jobs_.push_back({&group, &schedule, {}, {}});
        return known->second;
    }

    /// Those that were not run yet.
    void run(const std::vector<std::size_t>& wanted) {
        std::vector<Job*> missing;
        for (const std::size_t job : wanted)
            if (Job& one = jobs_[job]; !one.compiled && !one.error) missing.push_back(&one);
        for_each_on_threads(missing.size(), [&](std::size_t i) { compile(*missing[i]); });
    }
    std::size_t size() const { return jobs_.size(); }

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

/// What a kernel needs of the jobs.
struct KernelParts {
    std::optional<std::size_t> once;
    std::size_t each = 0;
    bool operator==(const KernelParts&) const = default;
};

/// What is done once of each kernel, where something is.
using HoistedKernels = std::deque<std::optional<expr::Hoisted>>;

namespace {

/// Positions of inputs of a part in the kernel's.
std::vector<std::size_t> positions(const Group& group, std::span<const expr::Input> inputs) {
    std::vector<std::size_t> found;
    for (const expr::Input& input : inputs)
        found.push_back(static_cast<std::size_t>(group.input(input.name) - group.inputs.data()));
    return found;
}

std::string text_of(const KernelText& made) {
    const std::string* shown = std::get_if<std::string>(&made);
    return shown ? *shown : std::string();
}

}  // namespace

struct PlanCode::Work {
    const Plan& plan;
    const CompileOptions& options;
    KernelJobs jobs;
    HoistedKernels hoisted = {};
    std::vector<KernelParts> parts = {};  ///< one for each kernel

    std::vector<std::size_t> needed_by(std::size_t k) const {
        std::vector<std::size_t> needed = {parts[k].each};
        if (parts[k].once) needed.insert(needed.begin(), *parts[k].once);
        return needed;
    }
};

PlanCode::PlanCode(CompiledProgram& program, const Plan& plan, const CompileOptions& options)
    : work_(new Work{plan, options, KernelJobs(program, options)}) {
    for (const Kernel& kernel : plan.kernels) {
        const auto& split = work_->hoisted.emplace_back(expr::hoist(kernel.group, kernel.schedule));
        KernelParts of;
        if (split) of.once = work_->jobs.add(split->once, split->once_schedule);
        of.each =
            split ? work_->jobs.add(split->rest, split->rest_schedule) : work_->jobs.add(kernel.group, kernel.schedule);
        work_->parts.push_back(of);
    }
}
PlanCode::~PlanCode() = default;

void PlanCode::compile() {
    std::vector<std::size_t> all(work_->jobs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    work_->jobs.run(all);
}

std::variant<CompiledKernel, BackendFailure> PlanCode::kernel(std::size_t k) {
    KernelJobs& jobs = work_->jobs;
    const Group& group = work_->plan.kernels[k].group;
    const std::vector<std::size_t> needed = work_->needed_by(k);
    jobs.run(needed);
    for (const std::size_t job : needed)
        if (const auto& error = jobs.error(job))
            return BackendFailure{.stage = "compile", .op = group.name, .message = error->message};
    CompiledKernel kernel{
        .once = {}, .once_inputs = {}, .packed = {}, .each = jobs.compiled(work_->parts[k].each), .each_inputs = {}};
    const std::optional<expr::Hoisted>& hoisted = work_->hoisted[k];
    const std::vector<expr::Input>& inputs = hoisted ? hoisted->rest.inputs : group.inputs;
    std::size_t own = inputs.size();
    if (hoisted) {
        kernel.once = jobs.compiled(*work_->parts[k].once);
        kernel.once_inputs = positions(group, hoisted->once.inputs);
        own -= hoisted->once.outputs.size();
        kernel.packed.assign(inputs.begin() + static_cast<std::ptrdiff_t>(own), inputs.end());
    }
    kernel.each_inputs = positions(group, std::span(inputs).first(own));
    if (program::observer()) program::observer()->loaded(kernel.code());
    return kernel;
}

std::vector<std::size_t> PlanCode::first_alike() const {
    std::vector<std::size_t> first;
    for (const KernelParts& of : work_->parts)
        first.push_back(static_cast<std::size_t>(std::ranges::find(work_->parts, of) - work_->parts.begin()));
    return first;
}

void PlanCode::tell_texts() const {
    const std::vector<std::size_t> first = first_alike();
    for (std::size_t k = 0; k < first.size(); k++) {
        program::KernelTexts told{.code_of = first[k]};
        if (told.code_of == k) {
            const Kernel& kernel = work_->plan.kernels[k];
            const auto& hoisted = work_->hoisted[k];
            const Group& group = hoisted ? hoisted->rest : kernel.group;
            const Schedule& schedule = hoisted ? hoisted->rest_schedule : kernel.schedule;
            told.output_code = to_halide_cpp(group, schedule, group.name, work_->options.target);
            told.loop_nest = text_of(loop_nest(group, schedule, work_->options));
            told.assembly = text_of(assembly(group, schedule, work_->options));
        }
        program::observer()->compiled(k, told);
    }
}

std::vector<std::size_t> shared_kernels(CompiledProgram& program, const Plan& plan) {
    const CompileOptions options;
    return PlanCode(program, plan, options).first_alike();
}

std::variant<std::vector<CompiledKernel>, BackendFailure> compile_kernels(CompiledProgram& program, const Plan& plan,
                                                                          const CompileOptions& options) {
    PlanCode code(program, plan, options);
    code.compile();
    std::vector<CompiledKernel> compiled;
    for (std::size_t k = 0; k < plan.kernels.size(); k++) {
        auto kernel = code.kernel(k);
        if (auto* failure = std::get_if<BackendFailure>(&kernel)) return std::move(*failure);
        compiled.push_back(std::get<CompiledKernel>(std::move(kernel)));
    }
    if (program::observer() && program::observer()->wants_code()) code.tell_texts();
    return compiled;
}

}  // namespace whittle::halide

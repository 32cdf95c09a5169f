#include "backends/halide/abilities.h"

#include <set>

#include "backends/halide/build_info.h"
#include "backends/halide/compile_kernels.h"
#include "backends/halide/halide_text.h"
#include "backends/halide/planned.h"
#include "base/error.h"
#include "compile/kernel_text.h"
#include "compile/planned.h"

namespace whittle::halide {
using program::Kernel;
using program::KernelFunctions;
using program::Plan;

SuspectCode halide_code(const EmitRequest& request) {
    const Failure& failure = *request.graph.failure;
    program::CompiledProgram program(request.graph, failure.options);
    const auto result = planned(program);
    if (const auto* refused = std::get_if<BackendFailure>(&result)) throw Error(refused->message);
    const Plan& plan = *std::get<const Plan*>(result);
    std::vector<ScheduledGroup> scheduled;
    for (const Kernel& kernel : plan.kernels) scheduled.push_back({&kernel.group, &kernel.schedule});
    std::set<std::string> culprit;
    if (failure.culprit && !failure.culprit->directive.empty()) culprit.insert(failure.culprit->directive);
    const program::Names names(plan.graph, request.outputs);
    const bool shares =
        failure.culprit && failure.culprit->component == "pass" && failure.culprit->op == name(PassId::share);
    const KernelFunctions kernels =
        shares ? KernelFunctions(plan, names, shared_kernels(program, plan)) : KernelFunctions(plan, names);
    return {.includes = "#include <Halide.h>",
            .support = halide_support_cpp(scheduled, culprit),
            .code = kernels.functions("halide",
                                      [&](const Kernel& kernel, const std::string& name) {
                                          return to_halide_cpp(kernel.group, kernel.schedule, name, {}, culprit);
                                      }) +
                    kernels.driver("under_test", "halide"),
            .name = "halide",
            .label = shares ? "Whittle's pass 'share'" : "Halide, or the schedule that Whittle chose",
            .header = description(),
            .lowering = "the lowering",
            .compile_flags = compile_flags(),
            .reads_culprit = true,
            .loops = program::loops_code(plan, request.outputs),
            // Every kernel is compiled when it is called; a loaded machine takes a second or two for one.
            .more_seconds = 2 * static_cast<std::int64_t>(plan.kernels.size())};
}

}  // namespace whittle::halide

#include "compile/loops_code.h"

#include "compile/kernel_text.h"
#include "compile/planned.h"

namespace whittle::program {

LoopsCode loops_code(const Plan& plan, const std::vector<std::string>& outputs, const std::string& driver) {
    const Names names(plan.graph, outputs);
    const KernelFunctions kernels(plan, names);
    std::vector<const expr::Group*> groups;
    for (const Kernel& kernel : plan.kernels) groups.push_back(&kernel.group);
    return {plan.graph, expr::support_cpp(groups),
            kernels.functions("loops", [](const Kernel& kernel, const std::string& name) {
                return expr::to_loops_cpp(kernel.group, name);
            }) + kernels.driver(driver, "loops")};
}

std::optional<LoopsCode> loops_code(const Graph& graph, const std::vector<std::string>& outputs,
                                    const std::string& driver) {
    CompiledProgram program(graph);
    const auto result = planned(
        program, [](expr::Group&) { return expr::Schedule(); }, "a repro");
    const auto* plan = std::get_if<const Plan*>(&result);
    return plan ? std::optional(loops_code(**plan, outputs, driver)) : std::nullopt;
}

}  // namespace whittle::program

#include "backends/halide/planned.h"

#include <utility>

#include "graph/backend_options.h"

namespace whittle::halide {
namespace {

template <RuleUse use, Functions functions>
expr::Schedule scheduled(expr::Group& group) {
    expr::Schedule made = schedule(group, use);
    return functions == Functions::halide ? with_halide_functions(group, std::move(made)) : made;
}

template <Functions functions>
program::Scheduler scheduler_by(RuleUse use) {
    if (use == RuleUse::plain) return scheduled<RuleUse::plain, functions>;
    return use == RuleUse::always ? scheduled<RuleUse::always, functions> : scheduled<RuleUse::automatic, functions>;
}

program::Scheduler scheduler_of(const BackendOptions& options) {
    const RuleUse use = rule_use(options);
    const bool halides = functions_choice(options) == Functions::halide;
    return halides ? scheduler_by<Functions::halide>(use) : scheduler_by<Functions::libm>(use);
}

}  // namespace

Functions functions_choice(const BackendOptions& options) {
    return option_choice(options, "functions", {"libm", "halide"}) == 1 ? Functions::halide : Functions::libm;
}

std::variant<const program::Plan*, BackendFailure> planned(program::CompiledProgram& program) {
    return program::planned(program, scheduler_of(program.options()), "halide");
}

}  // namespace whittle::halide

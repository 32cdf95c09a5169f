#include "backends/halide/planned.h"

namespace whittle::halide {
namespace {

program::Scheduler scheduler_of(const BackendOptions& options) {
    switch (rule_use(options)) {
        case RuleUse::plain:
            return [](expr::Group& group) { return schedule(group, RuleUse::plain); };
        case RuleUse::always:
            return [](expr::Group& group) { return schedule(group, RuleUse::always); };
        default:
            return [](expr::Group& group) { return schedule(group); };
    }
}

}  // namespace

std::variant<const program::Plan*, BackendFailure> planned(program::CompiledProgram& program) {
    return program::planned(program, scheduler_of(program.options()), "halide");
}

}  // namespace whittle::halide

// A program as this backend compiles it.
#pragma once

#include <variant>

#include "backends/halide/definitions.h"
#include "backends/halide/rules/draft.h"
#include "compile/planned.h"
#include "graph/backend.h"

namespace whittle::halide {

/// Which kernels the rules of rules/ take, by the option rules=auto|plain|always: those with enough work; none, so that
/// all have the plain loops; or however small. Throws Error for another word.
enum class RuleUse { automatic, plain, always };
RuleUse rule_use(const BackendOptions& options);

/// Gives any group a correct schedule, for this processor; rules may split stages. Default: the processor that
/// default_target() names.
expr::Schedule schedule(expr::Group& group, RuleUse use = RuleUse::automatic);
expr::Schedule schedule(expr::Group& group, const Machine& machine, RuleUse use = RuleUse::automatic);

/// By the option functions=libm|halide. Throws Error for another word.
Functions functions_choice(const BackendOptions& options);

/// The plan, which the program keeps, by these rules.
std::variant<const program::Plan*, BackendFailure> planned(program::CompiledProgram& program);

}  // namespace whittle::halide

// A program as this backend compiles it: what it cannot take, by name, and the plan of the rest.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "backends/halide/rules/draft.h"
#include "graph/backend.h"
#include "program/program.h"

namespace whittle::halide {

/// Which kernels the rules of rules/ take, by the option rules=auto|plain|always: those with enough work; none, so that
/// all have the plain loops; or however small. Throws Error for another word.
enum class RuleUse { automatic, plain, always };
RuleUse rule_use(const BackendOptions& options);

/// Gives any group a correct schedule, for this processor; rules may split stages. Default: the processor that
/// default_target() names.
expr::Schedule schedule(expr::Group& group, RuleUse use = RuleUse::automatic);
expr::Schedule schedule(expr::Group& group, const Machine& machine, RuleUse use = RuleUse::automatic);

/// Targets that neither lower nor decompose into something that does, each once; those of nested graphs of higher-order
/// ops included, which themselves run on the host.
std::vector<std::string> not_lowered(program::CompiledProgram& program);
std::vector<std::string> not_lowered(const Graph& graph);

/// The plan, which the program keeps. What halide does not implement is a BackendFailure with `unsupported`, naming all
/// ops that do not lower, higher-order ones among them. A directive that is disabled and that no kernel has is a
/// warning.
std::variant<const program::Plan*, BackendFailure> planned(program::CompiledProgram& program);

}  // namespace whittle::halide

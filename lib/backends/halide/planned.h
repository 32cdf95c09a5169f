// A program as this backend compiles it: what it cannot take, by name, and the plan of the rest.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "backends/halide/rules/draft.h"
#include "graph/backend.h"
#include "program/program.h"

namespace whittle::halide {

/// Rules that give a correct, quick kernel for any group; they may split stages (rules/).
expr::Schedule schedule(expr::Group& group);
/// For this processor, not the one that default_target() names.
expr::Schedule schedule(expr::Group& group, const Machine& machine);

/// Targets that neither lower nor decompose into something that does, each once; those of nested graphs of higher-order
/// ops included, which themselves run on the host.
std::vector<std::string> not_lowered(program::CompiledProgram& program);
std::vector<std::string> not_lowered(const Graph& graph);

/// The plan, which the program keeps. What halide does not implement is a BackendFailure with `unsupported`, naming all
/// ops that do not lower, higher-order ones among them. A directive that is disabled and that no kernel has is a
/// warning.
std::variant<const program::Plan*, BackendFailure> planned(program::CompiledProgram& program);

}  // namespace whittle::halide

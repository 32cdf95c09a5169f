// What other releases of a compiler, and other compilers, make of a failing graph: what a tracker's form asks for.
#pragma once

#include "repro/repro.h"

namespace whittle::repro {

/// Since which release it fails: what minify found is in the failure; otherwise the releases are asked. Empty where
/// nobody can say.
std::string releases_of(const Graph& graph, Backend& backend, const Limits& limits);

/// What those of Options::also say, each in the version that it says that it has. One that does not know an op, or
/// fails otherwise, cannot tell. Throws Error where one cannot be started.
void ask_also(const Options& options, Repro& repro);

/// Says in the first lines of each of the programs since which release it fails.
void tell_releases(const Options& options, Repro& repro);

/// What a comment begins with in the language of a program.
std::string comment_mark(const std::filesystem::path& program);

}  // namespace whittle::repro

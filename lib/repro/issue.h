// The text of a bug report for the tracker of the compiler that fails.
#pragma once

#include <string>

#include "repro/emit.h"
#include "repro/repro.h"

namespace whittle::repro {

/// Markdown: a line "Title: …", what happens, the program (within the text where it is short, else by its name), how it
/// is built, what it prints, versions, and, left open, what only a person can say.
std::string issue_text(const Graph& graph, const Emission& emission, const Report& report, const Options& options);

}  // namespace whittle::repro

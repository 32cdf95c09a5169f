// A program that uses Halide, as minify and explain diagnose have it: the scheduling directives that make it fail, and
// of explain diagnose the part of Halide that does, and a repro.
#pragma once

#include <optional>

#include "cli/diagnose.h"
#include "cli/minify_options.h"

namespace whittle::cli {

/// Finds the fewest directives with which the program still fails, and prints them. Returns the exit status. Throws
/// Error for options that a program does not take, and for a program that does not use Halide.
int minify_program(const Tool& tool, const MinifyOptions& options);

/// Prints what is to blame, and writes MODEL.min.json and MODEL.min.cpp. Returns the exit status; nothing, and prints
/// nothing, where the program does not use Halide.
std::optional<int> diagnose_program(const Tool& tool, const CulpritOptions& options);

}  // namespace whittle::cli

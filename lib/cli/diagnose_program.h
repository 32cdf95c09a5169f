// explain diagnose of a program that uses Halide: the directives that make it fail, the part of Halide that does, and a
// repro.
#pragma once

#include <optional>

#include "cli/diagnose.h"

namespace whittle::cli {

/// Prints what is to blame, and writes MODEL.min.json and MODEL.min.cpp. Returns the exit status; nothing, and prints
/// nothing, where the program does not use Halide.
std::optional<int> diagnose_program(const Tool& tool, const CulpritOptions& options);

}  // namespace whittle::cli

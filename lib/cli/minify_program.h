// minify of a program that uses Halide: the scheduling directives that make it fail.
#pragma once

#include "cli/minify_options.h"

namespace whittle::cli {

/// Finds the fewest directives with which the program still fails, and prints them. Returns the exit status. Throws
/// Error for options that a program does not take, and for a program that does not use Halide.
int minify_program(const Tool& tool, const MinifyOptions& options);

/// The folder of the inputs of the pipeline that fails, beside the result: "blur.min.inputs".
std::filesystem::path inputs_folder(std::filesystem::path output);

}  // namespace whittle::cli

// Funcs that external functions compute, as data: a program of the pipeline's own has no such function.
#pragma once

#include <map>
#include <string>

#include "frontends/halide/capture/captured.h"

namespace whittle::halide_capture {

/// By the names of these Funcs: their values where the pipeline needs them to realize `asked`. External functions are
/// called once more. Without those that have several values, and without outputs. Throws Halide's errors, and
/// std::runtime_error for what is realized in another way than as one region.
std::map<std::string, Halide::Buffer<>> external_values(Halide::Pipeline pipeline, const Asked& asked);

}  // namespace whittle::halide_capture

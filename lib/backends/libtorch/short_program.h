// The short programs of LibTorch's own ops: torch:: calls, as its users write them, and the text of a script.
#pragma once

#include <optional>
#include <string>

#include "graph/emitter.h"

namespace whittle {

/// As Emitter::short_program(), of a graph of ATen's calls.
std::optional<ReproProgram> libtorch_program(const ShortRequest& request, std::string& why_not);
/// The same for the backend ts, with its options: a module that is defined by its text, and run twice.
std::optional<ReproProgram> torchscript_program(const ShortRequest& request, std::string& why_not);

}  // namespace whittle

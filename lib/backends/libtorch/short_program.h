// The short program of LibTorch's own ops: torch:: calls, as its users write them.
#pragma once

#include <optional>
#include <string>

#include "graph/emitter.h"

namespace whittle {

/// As Emitter::short_program(), of a graph of ATen's calls.
std::optional<ShortProgram> libtorch_program(const ShortRequest& request, std::string& why_not);

}  // namespace whittle

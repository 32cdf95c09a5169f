// Repros of command backends.
#pragma once

#include <string>
#include <vector>

#include "graph/emitter.h"

namespace whittle {

/// A program that writes the folder that the command reads, runs it, and reads what it wrote. `words` are the
/// command's. Throws Error when the graph has no spelling in the command's format.
SuspectCode command_code(const EmitRequest& request, const std::vector<std::string>& words);

}  // namespace whittle

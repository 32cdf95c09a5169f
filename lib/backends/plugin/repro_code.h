// Repros of backends in shared libraries.
#pragma once

#include <filesystem>
#include <string>

#include "graph/emitter.h"

namespace whittle {

/// A program that loads `library` and calls its backend `name` through the interface of whittle_backend.h.
SuspectCode plugin_code(const EmitRequest& request, const std::filesystem::path& library, const std::string& name);

}  // namespace whittle

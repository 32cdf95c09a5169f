// Repros of backends in shared libraries.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "graph/emitter.h"

namespace whittle {

/// A program that loads `library` and calls its backend `name` through the interface of whittle_backend.h.
SuspectCode plugin_code(const EmitRequest& request, const std::filesystem::path& library, const std::string& name);

/// As Emitter::short_program().
std::optional<ReproProgram> plugin_program(const ShortRequest& request, const std::filesystem::path& library,
                                           const std::string& name, std::string& why_not);

/// whittle_backend.h as it stands here.
std::string_view plugin_header_text();

}  // namespace whittle

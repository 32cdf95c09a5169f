// explain --diff: two models, programs or folders written by trace, and what differs between them.
#pragma once

#include <filesystem>

#include "cli/questions.h"
#include "cli/subject.h"

namespace whittle::cli {

/// Reads both, or runs them, prints what differs, and returns the exit status: 1 when anything does.
int tell_diff(const Tool& tool, const std::filesystem::path& before, const std::filesystem::path& after,
              const SubjectOptions& options, const Shown& shown);

}  // namespace whittle::cli

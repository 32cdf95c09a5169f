// explain diff --values: two runs of a program by hashes of their results; and the operation at which they part as a
// record.
#pragma once

#include "cli/diff.h"

namespace whittle::cli {

int diff_values(const Tool& tool, const DiffOptions& options);

}  // namespace whittle::cli

// trace --hashes: a program's operations by hashes of their results, for explain diff --values; and with --repeat,
// again, to find operations whose results differ from run to run.
#pragma once

#include "cli/trace.h"

namespace whittle::cli {

/// Throws Error for options that need graphs.
void check_usage_of_hashes(const TraceOptions& options);

/// Runs the program into the folder. Returns the exit status: the program's own, or 1 where runs differ.
int trace_hashes(const Tool& tool, const TraceOptions& options, const TraceRequest& request);

}  // namespace whittle::cli

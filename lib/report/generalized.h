// Graphs of a captured program that a later one serves as well: of a function that was compiled for the sizes that it
// saw first, and then for any.
#pragma once

#include <optional>
#include <vector>

#include "report/report.h"
#include "trace/index.h"

namespace whittle::report {

/// The entry of a frame's graph, by its file; null when there is none.
const IndexGraph* entry_of(const TraceIndex& index, const Frame& frame);

/// Of each frame the latest one whose graph makes the same calls at the same lines of the function, and whose guards
/// hold wherever this one's do: with it in the cache nothing would reach this one. Nothing where there is none.
std::vector<std::optional<std::size_t>> generalized_by(const std::vector<Frame>& frames, const TraceIndex& index);

}  // namespace whittle::report

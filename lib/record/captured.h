// Captured frames as parts of an index: their breaks, each once with a count, their guards, what ended each graph.
#pragma once

#include <string>
#include <vector>

#include "capture/output_graph.h"
#include "trace/index.h"

namespace whittle {

/// As an index has it.
IndexBreak break_entry(const capture::GraphBreak& entry, const std::string& frame);
/// The position of the break in index.breaks; one that is there already is counted once more, as often as it happened.
std::size_t add_break(TraceIndex& index, const capture::GraphBreak& entry, const std::string& frame);

/// All breaks of the frame, and its name.
void add_frame(TraceIndex& index, const capture::CapturedFrame& frame);

/// What the index says of a graph by itself: what it updates and relies on …
void describe(IndexGraph& entry, const capture::CapturedGraph& graph);
/// … and as one of the frame's, whose breaks are in the index.
void describe(IndexGraph& entry, const capture::CapturedFrame& frame, const capture::CapturedGraph& graph,
              const TraceIndex& index);

/// The index of frames that are written to no folder; the files are where a folder would have them.
TraceIndex index_of(const std::string& model, const std::vector<capture::CapturedFrame>& frames);

}  // namespace whittle

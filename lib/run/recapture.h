// Capture run again on what a frame record holds: are graphs, breaks, guards and outputs what they were?
#pragma once

#include <string>
#include <vector>

#include "record/frame_record.h"

namespace whittle {

/// The differences, segment by segment: first of the events (results that are inferred otherwise, errors that do not
/// come or read otherwise), then of graph, guards and break, then of outputs. Empty: all is as recorded.
std::vector<std::string> recapture_differences(const FrameRecord& record);

}  // namespace whittle

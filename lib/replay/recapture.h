// Capture run again on what a frame record holds: are graphs, breaks, guards and outputs what they were?
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "trace/frame_record.h"

namespace whittle {

struct Recaptured {
    /// First of the events (results that are inferred otherwise, errors that do not come or read otherwise), graphs,
    /// guards and breaks, segment by segment; then of outputs. Empty: all is as recorded.
    std::vector<std::string> differences = {};
    bool identical = true;  ///< every output that was compared has the bits of the recorded one
};

/// `accuracy`: how outputs are compared whose hashes differ. `to_event`: stops after so many events (inputs and calls,
/// failed ones, too) of the record; of a graph that is not complete then, only its events are compared.
Recaptured recapture(const FrameRecord& record, const Accuracy& accuracy = {},
                     std::optional<std::size_t> to_event = {});

/// "event 3 of 7: %add = aten.add.Tensor(%relu, 1) : f32[2]": the last one up to `to_event`.
std::string last_event(const FrameRecord& record, std::size_t to_event);

}  // namespace whittle

// Frame records: what a frame did while it was captured, event by event, and what capture made of it. Written whether
// or not capture failed or a graph was finished; replay re-runs capture on the events and compares. Data only.
// The file is FRAME.json in a folder records/, with tensors in FRAME.safetensors beside it.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "capture/graph_break.h"
#include "graph/graph.h"

namespace whittle {

/// A call at which capture failed.
struct FailedCall {
    std::size_t before = 0;  ///< so many nodes of the segment came earlier
    Node call = {};          ///< refers to these; without results
    std::string error = {};
};

/// The events of one graph, up to the break that ended it.
struct FrameSegment {
    Graph events = {};                ///< inputs and calls in the order in which the frame issued them; no output node
    std::vector<Tensor> inputs = {};  ///< one per placeholder
    std::vector<FailedCall> failed = {};
    bool keeps_all = false;                            ///< calls stay whether or not their results are wanted
    std::vector<std::string> live = {};                ///< names of the values that the frame still held at the end
    std::optional<capture::GraphBreak> ended_by = {};  ///< nothing: the frame ended

    // What capture made of it; empty where it came to no graph.
    std::string graph = {};                ///< as print() shows it
    std::vector<std::string> guards = {};  ///< their texts
    std::string break_id = {};             ///< of the break, "WB0001"
    std::vector<Tensor> outputs = {};      ///< of the graph, when it ran
};

struct FrameRecord {
    std::string name, frame;
    std::string error = {};  ///< what ended the frame; empty when it returned
    std::vector<FrameSegment> segments = {};
};

/// Capture failed, in one of the calls or as a whole.
bool failed(const FrameRecord& record);
/// The error with which it failed first; empty: it did not.
std::string first_error(const FrameRecord& record);

/// Writes folder/records/NAME.json; returns its path.
std::filesystem::path save_frame_record(const std::filesystem::path& folder, const FrameRecord& record);

/// Throws Error with file and JSON pointer.
FrameRecord load_frame_record(const std::filesystem::path& file);

/// The JSON Schema of frame records.
nlohmann::ordered_json frame_record_schema();

/// True when the JSON file says that it is one.
bool is_frame_record(const std::filesystem::path& file);

}  // namespace whittle

// What `trace` does: runs each captured frame once and keeps it as graph and record in a folder, with an index.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capture/output_graph.h"
#include "graph/backend.h"
#include "record/index.h"
#include "record/record.h"

namespace whittle {

/// A captured frame and the values to run it on.
struct FrameToTrace {
    std::string name = "main";
    std::string file = {};  ///< it was captured from, for messages
    const Graph& graph;
    const std::vector<Tensor>& inputs;    ///< one per placeholder
    const std::vector<Tensor>& expected;  ///< one per output; empty when nobody knows them
    std::string expected_from = {};       ///< where they come from
};

struct TracedFrame {
    std::filesystem::path graph = {};                  ///< relative to the folder
    std::optional<std::filesystem::path> record = {};  ///< relative to the folder
    std::string expected_from = {};                    ///< of the record
    std::string failure = {};  ///< why the backend's run was no good, with the class of the failure; else empty
    bool minifiable = false;   ///< that is the backend's fault; not where it supports no such graph
};

enum class RecordPolicy { always, on_error, never };

/// Removes index, graphs and records that an earlier trace left in `folder`. Throws Error.
void remove_trace(const std::filesystem::path& folder);

class TraceFolder {
  public:
    /// Removes graphs and records that an earlier trace left in `folder`. `backend` is what the user called it.
    TraceFolder(std::filesystem::path folder, std::string model, std::string backend,
                std::map<std::string, std::string> environment);

    /// Runs the frame: the reference in this process, others isolated. The record's expected outputs are those given,
    /// else what the reference computes; never the backend's own. Throws Error when that is needed and the reference
    /// cannot run the frame.
    TracedFrame add(const FrameToTrace& frame, Backend& backend, const BackendOptions& options, RecordPolicy policy);

    /// The graphs of a captured frame, each with what capture noticed. Where capture has the values, the graph is run
    /// on them and what the program computed is expected; else there is no record. `from` says who computed it:
    /// "LibTorch".
    std::vector<TracedFrame> add(const capture::CapturedFrame& frame, const std::string& from, Backend& backend,
                                 const BackendOptions& options, RecordPolicy policy);
    /// What capture could not see.
    void note(const std::string& text) { index_.notes.push_back(text); }

    const TraceIndex& index() const { return index_; }
    /// Writes index.json, last: a folder without it is unfinished.
    void finish() const;

  private:
    std::filesystem::path folder_;
    TraceIndex index_;
};

}  // namespace whittle

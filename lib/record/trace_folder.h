// What `trace` does: runs each captured frame once and keeps it as graph and record in a folder, with an index.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/output_graph.h"
#include "judge/capture_check.h"
#include "judge/frames.h"
#include "trace/folder.h"

namespace whittle {

/// A captured frame and the values to run it on.
struct FrameToTrace {
    std::string name = "main";
    std::string file = {};  ///< it was captured from, for messages
    FailingCase asked;      ///< without an accuracy: results are compared as its record says
    std::string inputs_from = {};
    /// A program computed the given outputs while it was captured: a graph that computes something else was captured
    /// wrongly.
    bool observed = false;
    bool again = false;              ///< another run of a graph that was added before …
    std::string capture_fault = {};  ///< … and what was found of it then
};

struct TracedFrame {
    std::string frame = {};
    std::int64_t ops = 0;                              ///< of the graph
    std::filesystem::path graph = {};                  ///< relative to the folder
    std::optional<std::filesystem::path> record = {};  ///< relative to the folder
    std::string inputs_from = {}, expected_from = {};  ///< of the record
    std::string failure = {};                          ///< why the reference cannot run it; else empty
    std::string capture_fault = {};  ///< how the graph computes something else than is expected; no backend ran it then
    /// Of a backward pass: how the gradients that the program got differ from those of rules (judge/gradient_check.h).
    std::vector<std::string> gradient_faults = {};
    /// Of the backend that ran it; nothing where none did: the graph has a fault, or nobody can run it.
    std::optional<JudgedFrame> judged = {};
    bool runnable =
        true;  ///< backends can run the graph; else one that reads model files may know it by the file alone
};

/// The trace that is in the folder is removed when this one has something to write.
class TraceFolder : public TraceWriter {
  public:
    /// `backend` is what the user called it.
    TraceFolder(const std::filesystem::path& folder, std::span<const std::filesystem::path> models, std::string backend,
                std::map<std::string, std::string> environment);

    /// How graphs are checked whose outputs are given. Without it: always.
    void check_with(const CaptureCheck& check) { check_ = check; }

    /// Checks the frame where its outputs are given, then runs it: the reference in this process, others isolated. The
    /// record's expected outputs are those given, else what the reference computes; never the backend's own. Throws
    /// Error when that is needed and the reference cannot run the frame.
    TracedFrame add(const FrameToTrace& frame, Backend& backend, RecordPolicy policy);

    /// The graphs of a captured frame, each with what capture noticed. Where capture has the values, the graph is run
    /// on them and what the program computed is expected; else there is no record. `from` says who computed it:
    /// "LibTorch".
    std::vector<TracedFrame> add(const capture::CapturedFrame& frame, const std::string& from, Backend& backend,
                                 const Suspect& suspect, RecordPolicy policy);

  private:
    CaptureCheck check_{CheckPolicy::always};
};

/// Checks the records of a folder that a program wrote by itself; those with a fault are written again with it, and the
/// index takes what was found.
void check_records(const std::filesystem::path& folder, TraceIndex& index, CaptureCheck& check);

}  // namespace whittle

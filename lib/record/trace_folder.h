// What `trace` does: runs each captured frame once and keeps it as graph and record in a folder, with an index.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/output_graph.h"
#include "graph/backend.h"
#include "judge/capture_check.h"
#include "judge/judge.h"
#include "trace/folder.h"

namespace whittle {

/// A captured frame and the values to run it on.
struct FrameToTrace {
    std::string name = "main";
    std::string file = {};  ///< it was captured from, for messages
    const Graph& graph;
    const std::vector<Tensor>& inputs;                 ///< one per placeholder
    const std::vector<Tensor>& expected;               ///< one per output; empty when nobody knows them
    std::string inputs_from = {}, expected_from = {};  ///< where they come from
    /// A program computed `expected` while it was captured: a graph that computes something else was captured wrongly.
    bool observed = false;
    bool again = false;               ///< another run of a graph that was added before …
    std::string capture_fault = {};   ///< … and what was found of it then
    const OnnxFile* given = nullptr;  ///< the file that it was read from, as FailingCase has it
};

struct TracedFrame {
    std::string frame = {};
    std::int64_t ops = 0;                              ///< of the graph
    std::filesystem::path graph = {};                  ///< relative to the folder
    std::optional<std::filesystem::path> record = {};  ///< relative to the folder
    std::string inputs_from = {}, expected_from = {};  ///< of the record
    std::string failure = {};                          ///< why the reference cannot run it; else empty
    std::string capture_fault = {};  ///< how the graph computes something else than is expected; no backend ran it then
    /// Of a backward pass: how the gradients that the program got differ from those of rules (run/gradient_check.h).
    std::vector<std::string> gradient_faults = {};
    /// Of the backend that ran it; nothing where none did: the graph has a fault, or nobody can run it.
    std::optional<Judgement> judgement = {};
};

class TraceFolder {
  public:
    /// The trace that is in `folder` is removed when this one has something to write. `backend` is what the user called
    /// it.
    TraceFolder(const std::filesystem::path& folder, std::span<const std::filesystem::path> models, std::string backend,
                std::map<std::string, std::string> environment);

    /// How graphs are checked whose outputs are given. Without it: always.
    void check_with(const CaptureCheck& check) { check_ = check; }

    /// Checks the frame where its outputs are given, then runs it: the reference in this process, others isolated. The
    /// record's expected outputs are those given, else what the reference computes; never the backend's own. Throws
    /// Error when that is needed and the reference cannot run the frame.
    TracedFrame add(const FrameToTrace& frame, Backend& backend, const BackendOptions& options, RecordPolicy policy);

    /// The graphs of a captured frame, each with what capture noticed. Where capture has the values, the graph is run
    /// on them and what the program computed is expected; else there is no record. `from` says who computed it:
    /// "LibTorch".
    std::vector<TracedFrame> add(const capture::CapturedFrame& frame, const std::string& from, Backend& backend,
                                 const BackendOptions& options, RecordPolicy policy);
    /// What the program's operations took.
    void op_times(std::vector<OpTime> times) { writer_.index().op_times = std::move(times); }
    /// Where its functions were called from.
    void callers(std::vector<IndexCaller> callers) { writer_.index().callers = std::move(callers); }
    /// What capture could not see.
    void note(const std::string& text) { writer_.index().notes.push_back(text); }
    /// A file that somebody else writes into the folder as part of the trace; relative to it.
    void add_file(const std::filesystem::path& file) { writer_.add_file(file); }

    const TraceIndex& index() const { return writer_.index(); }
    /// Writes index.json as it is at the end.
    void finish() { writer_.save(); }

  private:
    TraceWriter writer_;
    CaptureCheck check_{CheckPolicy::always};
};

/// Checks the records of a folder that a program wrote by itself; those with a fault are written again with it, and the
/// index takes what was found.
void check_records(const std::filesystem::path& folder, TraceIndex& index, CaptureCheck& check);

}  // namespace whittle

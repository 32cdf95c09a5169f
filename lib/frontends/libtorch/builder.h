// build_frames(): the event file of a LibTorch program as captured frames: graphs in ATen, cut at breaks.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capture/output_graph.h"
#include "frontends/libtorch/fold.h"
#include "frontends/libtorch/frames.h"
#include "frontends/libtorch/processes.h"

namespace whittle::libtorch {

struct BuildOptions {
    Level level = Level::core;
    std::vector<std::string> functions = {};    ///< only frames of these; else those that main calls
    std::size_t most_variants = kMostVariants;  ///< of one graph that are kept
    bool dynamic_shapes = false;                ///< see Cutter
    /// The program's "exit status 1", "killed by SIGSEGV", kStillRuns, for the notes.
    std::string ended = {};
};
inline constexpr std::string_view kStillRuns = "still running";

/// How often an op was called in executions of a frame, and how long that took.
struct OpTime {
    std::string frame, op;
    std::int64_t calls = 0;
    double seconds = 0;
};

/// How often a frame's function was called from one place.
struct Caller {
    std::string frame;
    std::vector<StackFrame> stack;  ///< without the function itself, innermost first
    std::int64_t calls = 0;
};

struct CapturedProgram {
    std::vector<capture::CapturedFrame> frames;  ///< in order of their first op; those without graphs are left out
    std::vector<std::string> notes;              ///< what the capture could not see
    std::vector<std::string> last;               ///< of each process that recorded its last operations: which
    std::vector<OpTime> op_times;                ///< by frame, the longest first; where the file has times
    std::vector<Caller> callers;                 ///< of the frames, the first kMostCallers places
    std::int64_t op_count = 0;                   ///< that LibTorch ran, at the level asked for
};

inline constexpr std::size_t kMostCallers = 500;

/// What the processes of a capture did, put together.
struct Collected;

/// The processes of a capture, one after the other, as one program: equal graphs of theirs are told once.
class ProgramBuilder {
  public:
    /// `processes`: those that will be added.
    ProgramBuilder(BuildOptions options, std::vector<ProcessIdentity> processes);
    ~ProgramBuilder();
    ProgramBuilder(const ProgramBuilder&) = delete;
    ProgramBuilder& operator=(const ProgramBuilder&) = delete;

    /// The next process; `file` is not needed afterwards.
    void add(const EventFile& file);
    CapturedProgram finish();

  private:
    std::unique_ptr<Collected> collected_;
};

/// Of one process. Graphs are verified. A graph that only makes tensors (ones, rand …) is none: what it makes are
/// inputs.
CapturedProgram build_frames(const EventFile& file, const BuildOptions& options);

}  // namespace whittle::libtorch

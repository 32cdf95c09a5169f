// trace(): what was captured becomes a folder of graphs and records, each graph run once. Of models and of LibTorch
// programs the folder is written here; a program of our own API has written its own, which is checked and completed.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "judge/frames.h"
#include "record/launch/program.h"
#include "record/trace_folder.h"

namespace whittle {

struct TraceRequest {
    std::filesystem::path folder = {};
    std::vector<std::filesystem::path> models = {};  ///< what is traced, as the index names it: program_identity()
    Suspect suspect = {};                            ///< what runs the graphs; may be the reference
    RecordPolicy records = RecordPolicy::always;
    CheckPolicy check = CheckPolicy::budget;  ///< a program's budget is a part of the time it ran
    std::map<std::string, std::string> environment = {};
    /// A folder where a program that uses Halide records the runs of its pipelines; empty: they are not recorded.
    std::filesystem::path halide = {};
    /// Reads the folder's frames with values for their inputs; asked of programs of our own API only.
    std::function<std::vector<LoadedFrame>(const std::filesystem::path& folder)> load = {};
};

/// One of several models or frames that could not be traced.
struct NotTraced {
    std::string file = {};
    Error error;
};

struct Traced {
    std::filesystem::path folder = {};
    TraceIndex index = {};
    std::vector<TracedFrame> frames = {};  ///< one for each run of a graph
    std::vector<NotTraced> not_traced = {};
    std::vector<JudgedFrame> judged = {};  ///< of our own API: its frames, run once more
    /// Runs of pipelines of a program that uses Halide.
    struct HalideRecord {
        std::filesystem::path file = {};  ///< relative to the folder
        std::string pipeline = {};
        std::size_t runs = 0;
    };
    std::vector<HalideRecord> halide = {};
    std::vector<std::string> unseen = {};  ///< what capture could not see: it may be why results differ
    std::vector<std::string> code = {};    ///< on the functions that were written as C++
    std::string status = {}, ending = {};  ///< of a program
    bool compared = false;                 ///< with LibTorch, of which records hold the results
    bool by_reference = false;             ///< it ran the frames, and has no failures that minify would find

    /// What the judge said, of all frames and runs.
    std::vector<JudgedFrame> all_judged() const;
    /// Of the frames, those that failed, whoever is to blame.
    std::size_t failures() const;
    /// minify would find a failure again.
    bool minifiable() const;
    /// A file that was given fails, and the graph that was read from it does not.
    bool only_file() const;
    /// Somewhere the suspect computes something else than is expected.
    bool wrong() const;
    /// Nothing failed, and every graph computes what was observed.
    bool good() const;
    /// Of all frames: the worst of what the judge said, `fails` where a graph computes something else than was
    /// observed.
    Verdict verdict() const;
};

/// The frames of all models: one list for each. `before` is told each frame before it is run, `after` how it went, or
/// `failed` why it could not: the reference cannot run a frame whose results nobody knows. Throws Error when a folder
/// cannot be written, and that of a frame that is the only one; with no frame traced, the folder is left as it was.
struct TraceObserver {
    std::function<void(const LoadedFrame&)> before = [](const LoadedFrame&) {};
    std::function<void(const TracedFrame&)> after = [](const TracedFrame&) {};
    std::function<void(const Error&)> failed = [](const Error&) {};
};
Traced trace(const std::vector<LoadedFrame>& frames, const TraceRequest& request, const TraceObserver& observer);

/// A program's run. Throws Error as above.
Traced trace(const RanProgram& ran, const TraceRequest& request);
/// run_program() for such a trace; while it runs, what was captured so far is in the folder, too.
RanProgram run_to_trace(ProgramRequest program, const TraceRequest& request);

/// Nothing went wrong with it, and nothing was left unjudged.
bool is_good(const TracedFrame& traced);

/// A line or two for each graph and record that was written, and what went wrong.
std::string to_text(const TracedFrame& traced, const std::filesystem::path& folder);
/// "not traced: bad.json, worse.json", a line, where there are any.
std::string not_traced_text(const Traced& traced);
/// The line with the command that replays the records: accepting what is rounding, else under another backend.
std::string next_replay(const Traced& traced);
/// What is said of a program's trace, a line each; `quiet`: of what went wrong alone.
std::vector<std::string> to_lines(const Traced& traced, bool quiet);
nlohmann::json to_json(const Traced& traced);

}  // namespace whittle

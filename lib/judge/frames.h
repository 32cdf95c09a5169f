// Frames as the programs judge them: what the judge is asked of each, what it said, and the lines that tell it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "judge/frame.h"
#include "judge/judge.h"

namespace whittle {

/// Graphs with what the backend cannot compile of each, as far as its runs have told.
using KnownSupport = std::vector<std::pair<Graph, std::vector<std::string>>>;

/// By which a frame's results are compared: what the suspect was asked with, else as its record or its failure says.
Accuracy accuracy_for(const LoadedFrame& frame, const Suspect& suspect);
/// What the judge is asked of a frame, by accuracy_for(); it refers to the frame.
FailingCase case_of(const LoadedFrame& frame, const Suspect& suspect);

/// Takes the graph, the inputs and the scope of exact_case() (judge/exact.h); where its data are others, the outputs
/// and the file that belonged to the old ones are gone.
void make_exact(LoadedFrame& frame, std::uint64_t seed);

/// The Python interpreter that ran the program that the frame was captured from, as its record or failure says; empty:
/// none, or it is not known.
std::string interpreter_of(const LoadedFrame& frame);

/// The judge's verdict on up to `runs` runs: of the first that fails, else of the last.
Judgement judge_repeatedly(const LoadedFrame& frame, const Suspect& suspect, Backend& backend, int runs);

/// A frame, and the judge's verdict on it.
struct JudgedFrame {
    std::string name = {}, file = {};
    Verdict verdict = Verdict::not_judged;
    std::string reason = {};  ///< as Judgement has it
    std::vector<std::string> compared = {};
    std::vector<std::vector<std::string>> agree = {};
    bool wrong = false;      ///< it fails, for it computes something else than is expected
    bool only_file = false;  ///< Judgement has a reason for it
};
JudgedFrame judged_frame(std::string name, std::string file, const Judgement& judgement);

inline std::string text_of(const JudgedFrame& frame) { return text_of(frame.verdict, frame.reason, frame.compared); }

/// Those with this verdict, in their order; of several runs of a frame with one reason the first.
std::vector<JudgedFrame> with_verdict(const std::vector<JudgedFrame>& frames, Verdict verdict);
/// worst() of them.
Verdict verdict_of(const std::vector<JudgedFrame>& frames);
/// "right: 3 graphs, compared with eager" and "not judged: NAME (FILE): reason", a line each; FAIL lines are not among
/// them. Without frames: that no graph was run.
std::string verdict_text(const std::string& backend, const std::vector<JudgedFrame>& frames);

/// What runs on a backend showed.
struct TriedFrames {
    std::vector<JudgedFrame> frames = {};
    KnownSupport support = {};
};

/// The judge's verdict on each frame. What a frame's record expects is what is right, else what the reference computes.
TriedFrames try_frames(const std::vector<LoadedFrame>& frames, Backend& backend, const Suspect& suspect);

/// Adds "verdict", and where they are not empty "reason", "compared" and "agree".
void add_verdict(nlohmann::json& json, const JudgedFrame& frame);
/// The same of all frames together: the verdict is verdict_of(), the rest that of the frames with this verdict.
void add_verdict(nlohmann::json& json, const std::vector<JudgedFrame>& frames);
nlohmann::json to_json(const JudgedFrame& frame);

/// "halide compiles and runs it …", of a judge that counts `tier` as failures.
std::string passing_text(const std::string& backend, Tier tier);

}  // namespace whittle

// What a report is about: graphs, with what was noticed while they were captured, and what a backend fails on of them.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "judge/frames.h"
#include "record/ran_program.h"
#include "report/report.h"
#include "report/static_report.h"

namespace whittle::report {

struct Subject {
    std::string model = {};                 ///< what it is called: a file, or of a program its program_identity()
    std::vector<std::string> program = {};  ///< the program that was run, and its arguments; empty: none was
    std::vector<Frame> frames = {};
    std::optional<TraceIndex> index = {};         ///< of what was captured from a program
    std::string ended = {};                       ///< "was killed by SIGSEGV"; empty: with status 0, or no program
    std::vector<cpp::Analysis> predictions = {};  ///< of its sources, to be held against the index
    /// Where the frames are that a backend was run on: a model, or a folder with what a program recorded. Empty: none
    /// was run, nor was it to be recorded.
    std::filesystem::path runnable = {};
    bool tried = false;                    ///< a backend was run on them, on as many as there are
    std::vector<JudgedFrame> judged = {};  ///< what the judge said of them

    /// The words by which a command of ours gets it, with options of that command: "model.onnx --backend halide",
    /// "/usr/bin/python3 --backend halide -- train.py".
    std::vector<std::string> words(const std::vector<std::string>& options = {}) const;

    std::vector<JudgedFrame> failing() const { return with_verdict(judged, Verdict::fails); }
    Profile profile = {};  ///< as far as somebody measured it, see add_profile()
};

/// The graphs of a model file; of a folder that trace wrote with its index.
Subject subject_of(const std::filesystem::path& model, std::vector<LoadedFrame> graphs);

/// What the program's run showed.
Subject subject_of(const RanProgram& ran);

/// Throws Error where nothing was captured that they could be held against.
void predict(Subject& subject, std::vector<cpp::Analysis> predictions);

/// The graphs of the program's run, in the order of its index.
std::vector<Frame> graphs_of(const RanProgram& ran);

/// Writes what a LibTorch program recorded into `folder`, as trace does, and tries it on the backend: what fails minify
/// would find again. Throws Error when the reference cannot run what has no recorded results.
TriedFrames try_frames(const RanProgram& ran, const std::filesystem::path& folder, Backend& backend,
                       const Suspect& suspect);

/// What the subject's frames showed on a backend; also tells them what is known of its support for their graphs.
void note_tried(Subject& subject, TriedFrames tried);

/// The graph that a failing frame is about: the frame may be a record of it. Empty when none is known.
std::string graph_of(const Subject& subject, const JudgedFrame& failing);

inline constexpr std::size_t kMostProfiled = 32;  ///< graphs

/// What compiling and running the first kMostProfiled frames with different graphs on the suspect takes, one behind the
/// other (replay/profile.h). `code`: with the texts of kernels. Throws Error for a backend that is not there.
Profile profile(const std::vector<LoadedFrame>& frames, const Suspect& suspect, bool code);

/// Into subject.profile: `measured`, behind what the program itself did when it was captured; graphs that nobody ran
/// have their memory by liveness.
void add_profile(Subject& subject, Profile measured = {});

/// The report on it: where capture stopped or the backend would.
Report report(const Subject& subject, const Backend& backend);

/// Why what a program does is not all in one graph, a line: its first break, or that it failed, or ran nothing that is
/// captured. Empty: it is.
std::string fullgraph_text(const Subject& subject, const Report& report);

/// The report with what fails in front of it and what was predicted behind it.
std::string to_text(const Subject& subject, const Report& report, const TextOptions& options);
nlohmann::json to_json(const Subject& subject, const Report& report);

}  // namespace whittle::report

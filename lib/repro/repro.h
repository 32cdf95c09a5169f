// repro.cpp: one standalone C++ file that shows a failure and needs nothing of Whittle. It is declared good only after
// it was built and run. There are two forms:
//  - the short program, in the shape of the compiler's own tests: one kernel, reduced, and one comparison; or, for
//    compilers of ONNX, a folder with the model and a script of the compiler's own calls. It is what is written where
//    it shows the failure;
//  - the harness: inputs, expected outputs, the same computation as plain loops, the compiler under suspicion, and a
//    comparison that says who is to blame.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graph/emitter.h"
#include "graph/graph.h"
#include "judge/frame.h"
#include "judge/suspect.h"
#include "repro/cpp_data.h"

namespace whittle::repro {

/// What is asked for. The programs declare their options into it (cli/repro.h).
struct Options {
    std::filesystem::path output = {};  ///< -o; see file(). A name in .py: a script, see PythonRepro
    /// A folder with everything that it takes to show the failure elsewhere.
    std::optional<std::filesystem::path> bundle = {};
    /// The whole graph with its data, loops and verdict, where a short program of one kernel could do, too.
    bool harness = false;
    bool anonymize = false;   ///< nothing of the user's but what the failure needs, see anonymize() in repro/steps.h
    std::int64_t runs = 3;    ///< of the verification; 0: it is neither built nor run
    std::int64_t alarm = 60;  ///< seconds after which the suspect counts as hung
    /// After which the pipeline of a Halide program is made no smaller; nothing: a minute.
    std::optional<std::chrono::seconds> time_limit = {};
    /// Values of the inputs and floating-point parameters, by their name. "auto": the smallest that still fails in the
    /// same way, of zeros, ones, small whole numbers, random (made up by the program itself) and real values.
    std::string data = "auto";
    /// Where the text of a bug report goes; nothing: nowhere, of a bundle its ISSUE.md.
    std::optional<std::filesystem::path> issue = {};
    std::optional<std::string> title = {};  ///< of a report, in the user's words; nothing: what the failure is
    std::vector<std::string> notes = {};    ///< the user's own words on what is wrong: the first lines of a report
    /// Of a report: other releases of the compiler, or other compilers, that are asked for the same graph.
    std::vector<std::string> also = {};
    std::vector<std::string> checked = {};  ///< what the user states on versions that were not run: lines of a report

    // What nobody types.
    std::filesystem::path graph = {};                     ///< where the graph is from, for messages
    std::string command = {};                             ///< what the user typed, for the header
    std::map<std::string, std::string> environment = {};  ///< for the header, and all of it for a bundle

    /// Where the program is written: `output`, or repro.cpp, a bundle's in its folder.
    std::filesystem::path file() const;
    /// The first part of the program's name, "repro".
    std::string stem() const { return file().stem().string(); }
    /// Whether a program that was written is what was asked for: it was verified, or nobody wanted that.
    bool accepts(bool verified) const { return verified || runs == 0; }
};

/// A repro as it grows: what it shows, the program, what became of that.
struct Repro {
    Graph graph = {};  ///< with its failure: a backend, its signature and one input per placeholder
    /// What the suspect, a backend that interprets, runs in place of the graph: written down as loops, in place of a
    /// backend's own part.
    std::optional<Graph> instead = {};
    /// The graph is a joint one, whose gradients the suspect computes in its own way …
    std::optional<JointShape> gradients = {};
    std::optional<Graph> differentiated = {};  ///< … of this graph, which the suspect gets
    /// With Options::anonymize: tensors whose values are made up, and those, by their new names, whose values the
    /// failure needs: the user's own.
    std::optional<std::size_t> replaced = {};
    std::vector<std::string> kept = {};

    Data data = Data::real;
    std::map<std::size_t, std::uint64_t> seeds = {};  ///< of inputs that the program makes up (made_up, Data::random)
    std::vector<std::string> passing = {};            ///< data that was tried and does not fail
    std::vector<Tensor> expected = {};                ///< one tensor per output, from the reference

    std::string send_to = {};   ///< whoever mends it
    std::string releases = {};  ///< since which it fails (diagnose/release_history.h); empty: unknown
    /// What those of Options::also say: "also wrong in 4.12.0, 5.0.0; right in 5.1.0", of a failure that ends the
    /// program "also fails in …"; empty: none was asked.
    std::string also = {};
    bool right_in_all_others = false;

    ReproProgram program = {};
    std::optional<int> tried = {};  ///< of a kernel's: how many smaller kernels were tried
    std::string not_short = {};     ///< why there is no short program, where one was looked for: a clause

    bool verified = false;              ///< all runs failed (with a rate: one), and the control passed
    int runs = 0, of = 0;               ///< runs that showed the failure, of so many
    std::string message = {};           ///< its own last words, or why verification failed
    std::string printed = {};           ///< all that the last run wrote to its standard output
    bool varies = false;                ///< another run wrote something else, or did not fail with memory filled
    std::filesystem::path output = {};  ///< where it was written, with …
    std::vector<std::filesystem::path> sidecars = {};  ///< … the files that it reads, and the other programs

    const Failure& failure() const { return *graph.failure; }
    bool is_short() const { return !program.summary.empty(); }
};

/// How the frame fails on the suspect, asked once; nothing where it does not. Throws Error where the reference cannot
/// run it, and where the suspect says that it does not support it.
std::optional<Failure> failure_of(const LoadedFrame& frame, const Suspect& suspect);

/// Whether the failure of the frame's graph shows again, alike or in another way, in any of Options::runs runs, or as
/// many as its rate wants, that take no longer than Options::alarm. True where the reference cannot tell. Throws Error
/// where the backend is not there or the reference cannot run the graph.
bool reproduces(const LoadedFrame& frame, const Options& options);
/// Of one that does not: what is right, what was recorded, and what the user can do. `compared`: results were, whatever
/// the failure is.
std::string gone_text(const Failure& failure, bool compared);

/// Of a graph with its failure, by the backend that the failure names, `backend` where somebody has it already, or who
/// compiled for that what failed.
///
/// Of what fails in some runs only, the failure's signature says at which rate: what a compilation draws is in the
/// program or is not, so it is written until one that shows the failure comes, and run as often as graph/rate.h wants.
/// Writes the file (and sidecars) whether or not it verifies; a repro that does not show the failure is reported with
/// verified == false. Throws Error when the graph has no failure or one that a command judged, when the backend does
/// not offer Emitter and nothing is run `instead`, and when it cannot write the graph down.
Repro write_repro(const Graph& graph, const Options& options, Backend* backend = nullptr);

/// What the programs print of a repro. `failure` is the one that was asked for.
std::string to_text(const Repro& repro, const Failure& failure, const Options& options);
nlohmann::json to_json(const Repro& repro, const Options& options);

/// By which a shell finds one.
inline constexpr char kPython[] = "python3";

/// repro.py: a graph of ATen calls as a script of PyTorch calls, with its inputs and what the reference computes of
/// them: for who knows PyTorch, and to put the same operations under one of its compilers.
struct PythonRepro {
    std::filesystem::path output;
    std::vector<std::filesystem::path> sidecars = {};
    bool verified = false;          ///< PyTorch was run, and computes what the reference computes
    std::string message = {};       ///< what the run said, or why there was none
    std::string python = kPython;   ///< the interpreter that ran the program, else one that has PyTorch
    std::string mode = "inductor";  ///< the script's argument: the newest compiler that this PyTorch has
};
/// Writes the file whether or not it verifies. Throws Error as printers::python_script(), and where the reference
/// cannot run the frame.
PythonRepro write_python(const LoadedFrame& frame, const Options& options);
std::string to_text(const PythonRepro& repro, const Options& options);
nlohmann::json to_json(const PythonRepro& repro);

}  // namespace whittle::repro

// repro.cpp: one standalone C++ file that shows a failure and needs nothing of Whittle. It is declared good only after
// it was built and run. There are two forms:
//  - the short program, in the shape of the compiler's own tests: one kernel, reduced, and one comparison; or, for
//    compilers of ONNX, a folder with the model and a script of the compiler's own calls. It is what is written where
//    it shows the failure;
//  - the harness: inputs, expected outputs, the same computation as plain loops, the compiler under suspicion, and a
//    comparison that says who is to blame.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backends/spec.h"
#include "graph/backend.h"
#include "graph/graph.h"
#include "graph/joint_shape.h"
#include "judge/outcome.h"
#include "repro/cpp_data.h"

namespace whittle::repro {

struct Options {
    std::filesystem::path output = "repro.cpp";
    std::string command = {};  ///< what the user typed, for the header
    bool verify = true;
    int runs = 3;  ///< of the verification
    /// Values of the inputs and floating-point parameters. Nothing: the smallest that still fails in the same way, of
    /// zeros, ones, small whole numbers, random (made up by the program itself) and real values.
    std::optional<Data> data = Data::real;
    /// What the suspect, a backend that interprets, runs in place of the graph: written down as loops, in place of a
    /// backend's own part.
    std::optional<Graph> instead = {};
    /// The graph is a joint one, whose gradients the suspect computes in its own way.
    std::optional<JointShape> gradients = {};
    Limits limits = {};                                   ///< of the runs that try data
    std::chrono::seconds alarm{60};                       ///< after which the suspect counts as hung
    std::map<std::string, std::string> environment = {};  ///< for the header, and all of it for a bundle
    /// A folder with everything that it takes to show the failure elsewhere; `output` is its repro.cpp.
    bool bundle = false;
    /// Where the text of a bug report goes; nothing: nowhere, of a bundle its ISSUE.md.
    std::optional<std::filesystem::path> issue = {};
    /// The whole graph with its data, loops and verdict, where a short program of one kernel could do, too.
    bool harness = false;
    /// Of a report: other releases of the compiler, or other compilers, that are asked for the same graph.
    std::vector<BackendSpec> also = {};
    std::string title = {};                 ///< of a report, in the user's words; empty: what the failure is
    std::vector<std::string> notes = {};    ///< the user's own words on what is wrong: the first lines of a report
    std::vector<std::string> checked = {};  ///< what the user states on versions that were not run: lines of a report
    bool anonymize = false;                 ///< nothing of the user's but what the failure needs, see repro/anonymize.h
};

/// What other releases, or other compilers, make of the graph.
struct Also {
    /// "also wrong in 4.12.0, 5.0.0; right in 5.1.0"; of a failure that ends the program "also fails"; empty: none was
    /// asked.
    std::string text = {};
    bool is_right_in_all = false;
};

/// What became of another program beside the first.
struct OtherReport {
    std::string name;
    bool ran = false;          ///< what it needs is installed
    bool verified = false;     ///< all of its runs failed
    std::string message = {};  ///< "repro.py: 3 of 3 runs fail"
    std::string printed = {};  ///< all that the last run wrote to its standard output
    std::string runs_on = {};  ///< what it needs, in which version, where its probe says so: "PyTorch 1.13.0"
};

struct Report {
    std::filesystem::path output;
    std::vector<std::filesystem::path> sidecars;  ///< large tensors, named by hash, beside the output
    bool verified = false;                        ///< all runs failed (with a rate: one), and the control passed
    int runs = 0, of = 0;                         ///< runs that showed the failure, of so many
    std::string control = {};  ///< what must pass, and did when verified: "conv.vectorize(x, 8) switched off"
    std::vector<std::string> arguments = {};  ///< that it is run with here
    std::string compile_command;              ///< one line for a shell, in the output's folder; empty: nothing is built
    std::string run_command;                  ///< what follows it there
    std::string get = {};                     ///< the shell command that brings what the program needs elsewhere
    std::vector<OtherReport> others = {};     ///< of those that are written beside it
    Data data = Data::real;
    std::vector<Data> passing = {};  ///< data that was tried and does not fail
    std::string message;             ///< the repro's own last words, or why verification failed
    std::string printed = {};        ///< all that the last run wrote to its standard output
    bool varies = false;             ///< another run wrote something else, or did not fail with memory filled
    std::size_t lines = 0;           ///< of the file
    bool short_program = false;
    /// Of a kernel's: how many smaller kernels were tried.
    std::optional<int> tried = {};
    /// With Options::anonymize: tensors whose values are made up, and those whose values the failure needs.
    std::optional<std::size_t> replaced = {};
    std::vector<std::string> kept = {};
    Also also = {};              ///< what those of Options::also say
    std::string not_short = {};  ///< why there is no short program, where one was looked for: a clause
};

/// Of what fails in some runs only, the failure's signature says at which rate: what a compilation draws is in the
/// program or is not, so it is written until one that shows the failure comes, and run as often as graph/rate.h wants.
/// `backend` is the one of the failure. `graph` carries a failure with the backend, its signature and one input per
/// placeholder. Writes the file (and sidecars) whether or not it verifies; a repro that does not show the failure is
/// reported with verified == false. Throws Error when the graph has no failure, when the
/// backend does not offer Emitter and nothing is run `instead`, and when it cannot write the graph down.
Report write_repro(const Graph& graph, Backend& backend, const Options& options);

}  // namespace whittle::repro

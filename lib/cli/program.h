// MODEL arguments that are programs: run under capture, with what comes out of it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "capture/output_graph.h"
#include "trace/index.h"

namespace whittle::cli {

class Tool;

/// How a program is captured. Options --level, --function, --capture-limit, --capture-seconds and what follows `--`.
struct ProgramOptions {
    std::vector<std::string> arguments = {};
    std::vector<std::string> functions = {};
    std::string level = "core";
    std::int64_t limit_mb = 2048, limit_seconds = 600;

    void declare(Tool& tool);
    /// Throws Error when something was given that only a program takes.
    void refuse_for_model(const std::filesystem::path& model) const;
};

struct RanProgram {
    int exit_code = 0, signal = 0;  ///< of the program; signal 0: it exited
    std::string status;             ///< "exit status 0", "killed by SIGSEGV"
    double seconds = 0;             ///< that it ran
    std::vector<capture::CapturedFrame> frames = {};
    std::vector<std::string> notes = {};  ///< what could not be seen
    bool captured = false;                ///< LibTorch ran and was watched
    /// What a program that is written against our own API told of itself.
    std::optional<TraceIndex> own = {};
    std::vector<Graph> own_graphs = {};  ///< one per graph of the index
};

/// What a program that is written against our own API is asked to do.
struct OwnTrace {
    std::optional<std::filesystem::path> folder = {};  ///< for its trace; else it is read and removed
    std::string records = "never";                     ///< as --record
    std::string backend = {};                          ///< instead of the program's own
};

/// Runs it; its output goes where ours goes (stdout to stderr when asked). `with_data`: with the values of inputs,
/// weights and results. Throws Error when it cannot be started and for a damaged event file.
RanProgram run_program(const std::filesystem::path& program, const ProgramOptions& options, bool with_data,
                       bool stdout_to_stderr, const OwnTrace& own = {});

/// Ends this process as the program ended: with its exit status, or by its signal.
int end_as(const RanProgram& program);

}  // namespace whittle::cli

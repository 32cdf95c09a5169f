// trace: which models are traced, how, and what a trace must be; and how that is told.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/model.h"
#include "cli/program.h"
#include "cli/run_options.h"
#include "record/launch/trace.h"
#include "report/report.h"

namespace whittle::cli {

class Tool;

struct TraceOptions : RunOptions {
    std::vector<std::filesystem::path> models = {};
    std::filesystem::path output = "whittle-out";
    ProgramOptions program = {};
    std::string record = "always";
    std::optional<std::string> fullgraph = {};
    std::optional<std::filesystem::path> pt2 = {};
    bool joint = false, minify = false, force = false, hashes = false;
    std::optional<std::int64_t> repeat = {}, last = {};
    std::string until = "nan";

    void declare(Tool& tool);
    /// Throws Error for options that exclude each other, for a trace that would be written over what it reads, and for
    /// what cannot be traced together: inputs are those of one model, and a program stands alone, for what follows it
    /// may be meant for it. Also for a folder that holds something else (require_replaceable()), and for a program's
    /// options where there is none.
    void check_usage() const;
};

struct ModelsToTrace {
    std::vector<std::filesystem::path> models = {};  ///< that were read
    std::vector<LoadedFrame> frames = {};
    std::vector<NotTraced> unread = {};
};
/// The graphs of models that are no programs. One that is its whole model is called as the model is among those of the
/// folder: exporters call theirs all alike ("torch_jit"). So is its frame where several models are traced, and others
/// say whose they are. They run on the backend, which may know ops that Whittle does not. Throws Error for a single
/// model that cannot be read; of several, such a one leaves the others as they are.
ModelsToTrace models_to_trace(const TraceOptions& options);

/// Whether --fullgraph has nothing to say against the frames of a model, or what a program was captured as; else says
/// what, on stderr.
bool is_whole(const Tool& tool, const TraceOptions& options, const std::string& model,
              const std::vector<report::Frame>& frames, const TraceIndex* captured = nullptr);

/// Traces the models, or runs the program, into the folder. Returns the exit status: a program's own unless that is 0
/// and something failed.
int trace(const Tool& tool, const TraceOptions& options);

// trace --hashes: a program's operations by hashes of their results, for explain diff --values; and with --repeat,
// again, to find operations whose results differ from run to run.

/// Throws Error unless the models are one program or TorchScript module, whose run `option` records.
void require_run(const TraceOptions& options, const std::string& option);

/// Throws Error for options that need graphs.
void check_usage_of_hashes(const TraceOptions& options);

/// Runs the program into the folder. Returns the exit status: the program's own, or 1 where runs differ.
int trace_hashes(const Tool& tool, const TraceOptions& options, const TraceRequest& request);

}  // namespace whittle::cli

// What trace is asked of its models: which runs are recorded, what is checked, and what a trace must be.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/backend_choice.h"
#include "cli/model.h"
#include "record/launch/trace.h"
#include "report/report.h"

namespace whittle::cli {

class Tool;
struct ProgramOptions;
struct UsedFiles;

/// --record.
struct RecordOptions {
    std::string record = "always";

    void declare(Tool& tool);
    RecordPolicy records() const;
    /// Throws Error where none are written, which an option needs.
    void require(const std::string& option, const std::string& why) const;
};

/// Of "budget", "always" and "never".
CheckPolicy check_policy_called(const std::string& name);

/// --fullgraph, and what it demands.
struct WholeOptions {
    std::optional<std::string> fullgraph = {};

    void declare(Tool& tool);
    /// Whether neither has anything to say against a model's graph, or what a program was captured as; else says what,
    /// on stderr.
    bool hold(const Tool& tool, const report::Frame& frame) const;
    bool hold(const Tool& tool, const TraceIndex& captured, const std::vector<report::Frame>& frames) const;

  private:
    bool tell(const Tool& tool, const report::Report& report, const std::vector<report::Frame>& frames) const;
};

/// --joint and --write-pt2: what becomes of the graphs.
struct GraphOptions {
    bool joint = false;
    std::optional<std::filesystem::path> pt2 = {};

    void declare(Tool& tool);
    /// Throws Error for gradients of what is run, whose graphs are not there before.
    void check(const std::filesystem::path& model) const;
    /// Makes the frames what is to be traced: with their gradients, where that is asked for. What results are expected
    /// of a file was about the captured graph. Of several graphs, those that cannot be differentiated are reported on
    /// stderr and left out. Throws Error where that leaves none.
    void apply(const Tool& tool, std::vector<LoadedFrame>& frames) const;
    /// Writes the one graph as PyTorch's export. Throws Error where there are several.
    void write(const std::vector<report::Frame>& frames) const;

  private:
    void write(std::span<const Graph* const> graphs) const;
};

/// What trace reads, and what it writes beside its folder.
UsedFiles files_of_trace(std::span<const std::filesystem::path> models, const InputOptions& inputs,
                         const ProgramOptions& program, const GraphOptions& graphs);

/// Throws Error for a trace that would be written over what it reads, and for what cannot be traced together: inputs
/// are those of one model, and a program stands alone, for what follows it may be meant for it. Also for a folder that
/// holds something else (require_replaceable()), and for a program's options where there is none.
void check_traced(std::span<const std::filesystem::path> models, const InputOptions& inputs,
                  const ProgramOptions& program, const std::filesystem::path& folder, bool force);

struct ModelsToTrace {
    std::vector<std::filesystem::path> models = {};  ///< that were read
    std::vector<LoadedFrame> frames = {};
    std::vector<NotTraced> unread = {};
};
/// The graphs of models that are no programs. One that is its whole model is called as the model is among those of
/// `folder`: exporters call theirs all alike ("torch_jit"). So is its frame where several models are traced, and others
/// say whose they are. They run on `backend`, which may know ops that Whittle does not. Throws Error for a single model
/// that cannot be read; of several, such a one leaves the others as they are.
ModelsToTrace models_to_trace(std::span<const std::filesystem::path> models, const InputOptions& inputs,
                              const BackendChoice& backend, const std::filesystem::path& folder);

}  // namespace whittle::cli

// MODEL arguments that are run under capture, programs and TorchScript modules: the options of their capture, and how a
// program of ours ends as they did.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/model.h"
#include "record/launch/program.h"
#include "record/trace_folder.h"

namespace whittle::cli {

class Tool;

/// What --capture KEY=VALUE sets.
struct CaptureSettings {
    std::string level = "core";
    CheckPolicy check = CheckPolicy::budget;
    std::optional<std::int64_t> limit_mb = {}, seconds = {};  ///< none: as ProgramRequest has them
    std::int64_t save_every = 10;
};

/// How a program is captured. Options --function, --compile, --capture and what follows `--`.
struct ProgramOptions {
    std::vector<std::string> arguments = {};
    std::vector<std::string> functions = {};
    bool profile_recompiles = false;                                   ///< no cache limit hides one
    std::vector<std::string> compile_options = {}, capture_keys = {};  ///< NAME=VALUE

    void declare(Tool& tool);
    /// Throws Error for a key that there is not, for one that is given twice, and for a value that it cannot have.
    CaptureSettings capture() const;
    /// What a trace names them by: a program by its program_identity().
    std::vector<std::filesystem::path> identities(std::span<const std::filesystem::path> models) const;
    /// Throws Error when something was given that only a program takes.
    void refuse_for_model(const std::filesystem::path& model) const;
    /// A program's stdout is its own, unless the tool prints JSON there. `inputs` are of a TorchScript module; a
    /// program takes none. Throws Error for options that are not for the one or the other.
    ProgramRequest request(const Tool& tool, const std::filesystem::path& program, const InputOptions& inputs) const;
};

/// Ends this process as the program ended: with its exit status, or by its signal.
int end_as(const RanProgram& program);

}  // namespace whittle::cli

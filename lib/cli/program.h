// MODEL arguments that are run under capture, programs and TorchScript modules: the options of their capture, and how a
// program of ours ends as they did.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/model.h"
#include "record/launch/program.h"

namespace whittle::cli {

class Tool;

/// How a program is captured. Options --level, --function, --cache-size-limit, --capture-limit, --capture-seconds and
/// what follows `--`.
struct ProgramOptions {
    std::vector<std::string> arguments = {};
    std::vector<std::string> functions = {};
    std::string level = "core";
    std::optional<std::int64_t> cache_size_limit = {};
    bool profile_recompiles = false;                ///< no cache limit hides one
    std::vector<std::string> compile_options = {};  ///< NAME=VALUE
    std::int64_t limit_mb = 2048, limit_seconds = 600;

    void declare(Tool& tool);
    /// Throws Error when something was given that only a program takes.
    void refuse_for_model(const std::filesystem::path& model) const;
    /// A program's stdout is its own, unless the tool prints JSON there. `inputs` are of a TorchScript module; a
    /// program takes none. Throws Error for options that are not for the one or the other.
    ProgramRequest request(const Tool& tool, const std::filesystem::path& program, const InputOptions& inputs) const;
};

/// Ends this process as the program ended: with its exit status, or by its signal.
int end_as(const RanProgram& program);

}  // namespace whittle::cli

// The options of every program: machine output, log, debug folder, colors, help.
#pragma once

#include <filesystem>
#include <string>

#include "cli/tool.h"

namespace whittle::cli {

struct SharedOptions {
    Shared shared;
    std::string log_spec, color = "auto", progress = "auto";
    std::filesystem::path debug_dir;
    bool help = false, version = false;

    /// Declares them behind the program's own.
    void declare(Tool& tool);
    /// Does what they ask for: colors, progress, the log.
    void configure();
};

}  // namespace whittle::cli

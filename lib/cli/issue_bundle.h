// `repro env --bundle`: what a report to another project needs besides the repro, as a folder that can be read before
// it is sent.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/tool.h"

namespace whittle::cli {

struct IssueBundleOptions {
    std::filesystem::path folder = {};      ///< empty: none is asked for
    std::vector<std::string> command = {};  ///< run, and its output kept

    void declare(Tool& tool);
};

/// Writes environment.txt (versions, processor and its vector features, Halide's target, compilers, variables that
/// change what is compiled), and, where there is a command, command.txt and log.txt: what it printed under the log; and
/// left_out.txt: what none of them has. The user's and the machine's names and the home folder are replaced in all of
/// them. Throws Error for a folder that holds something, and where a file cannot be written.
void write_issue_bundle(const Tool& tool, const IssueBundleOptions& options);

}  // namespace whittle::cli

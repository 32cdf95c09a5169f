// whittle: one name for all programs. It becomes the program that is asked for, which lies beside it, as git does;
// fuzz, cache and help are its own.
#pragma once

#include <string>
#include <vector>

#include "cli/tool.h"

namespace whittle::umbrella {

/// Runs what the line asks for; `tool` has whittle's own commands. Returns the exit status; where another program is
/// asked for, that runs in place of this one.
int run(cli::Tool& tool, int argc, char** argv);

/// Declares `trace` … `replay` as commands of whittle.
void list_programs(cli::Tool& tool);

/// The commands that `whittle help` describes: all but itself.
std::vector<std::string> described_names(const cli::Tool& tool);

/// What `whittle help NAME` does: opens the manual page, where there is a terminal and the page is installed; else
/// becomes `NAME --help`. Throws Error for an unknown name.
int help(cli::Tool& tool, const std::string& name);

}  // namespace whittle::umbrella

// What shells complete, from a program's declared options: scripts for bash, zsh and fish. Plain data in, text out.
#pragma once

#include <string>
#include <string_view>

#include "cli/pages.h"

namespace whittle::cli {

/// Returns the script that completes the program's options, the words of choices, sub-commands, and files elsewhere.
/// `program` is what it is installed as; of "whittle minify" it is the part for whittle's script. `commands` are
/// the parts for its own sub-commands, one behind the other. `shell`: bash, zsh or fish.
std::string completion_script(const PageText& page, std::string_view shell, const std::string& program,
                              const std::string& commands);

}  // namespace whittle::cli

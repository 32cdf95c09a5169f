// What shells complete behind `whittle`: its commands, and behind each what that command takes.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::umbrella {

/// The script for `shell` of whittle's own script and those of its commands (cli/completion.h), by name.
std::string with_commands(std::string_view shell, const std::string& own,
                          const std::vector<std::pair<std::string, std::string>>& commands);

}  // namespace whittle::umbrella

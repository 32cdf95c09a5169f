// Command lines as they were typed, and how they are typed again with another option.
#pragma once

#include <string>
#include <vector>

namespace whittle {

/// The command with the option, "--minify" or "--accuracy=fp64": in place of the one that it has of that name, for most
/// options are refused when given twice; else before "--", behind which the arguments of another program follow.
std::vector<std::string> with_option(std::vector<std::string> command, const std::string& option);

}  // namespace whittle

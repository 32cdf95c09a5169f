// Command lines: the names of our programs, and how a line that was typed is typed again with another option.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace whittle {

/// Returns the name under which one of our programs ("minify") is installed: with WHITTLE_PROGRAM_PREFIX of CMake.
std::string program_called(const std::string& tool);

/// The command with the option, "--minify" or "--accuracy=fp64": in place of the one that it has of that name, for most
/// options are refused when given twice; else behind its own options. `own`: how many words are the command's own, its
/// name among them; behind them stands a program that takes the rest. No number: all words before "--".
std::vector<std::string> with_option(std::vector<std::string> command, const std::string& option,
                                     std::optional<std::size_t> own = {});

}  // namespace whittle

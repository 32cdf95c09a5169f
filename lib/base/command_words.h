// Command lines: how our programs are called, and how a line that was typed is typed again with another option.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whittle {

/// Returns the name under which one of our programs ("minify") is installed: with WHITTLE_PROGRAM_PREFIX of CMake.
std::string installed_name(const std::string& tool);

/// Returns the words that call one of our programs ("minify", "minify answer"), and `arguments` behind them: its
/// installed name; or {"whittle", "minify"}, if this one was called so or is whittle.
std::vector<std::string> program_words(const std::string& tool, std::vector<std::string> arguments = {});
/// The same without arguments, as text.
std::string program_called(const std::string& tool);

/// What `whittle` gives the program "minify" that it becomes as argv[0]: "whittle minify".
std::string called_by_whittle(const std::string& tool);
/// Takes from argv[0] how this program was called. Before any other thread starts.
void remember_call(std::string_view argv0);

/// The command with the option, "--minify" or "--accuracy=fp64": in place of the one that it has of that name, for most
/// options are refused when given twice; else behind its own options. `own`: how many words are the command's own, its
/// name among them; behind them stands a program that takes the rest. No number: all words before "--".
std::vector<std::string> with_option(std::vector<std::string> command, const std::string& option,
                                     std::optional<std::size_t> own = {});

}  // namespace whittle

// The pages made of a program's declared options: help (plain text, at most 80 columns) and the OPTIONS section of its
// manual page. Plain data in, text out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle::cli {

struct OptionText {
    std::string names = {};  ///< "-o,--output", or a positional's name
    std::string value = {};  ///< "FILE"; empty for flags
    std::string help = {};
    std::string heading = {};
    std::string example = {};  ///< a command line, below the help
    // What shells complete behind it, see Tool:
    std::function<std::vector<std::string>()> offered = {};  ///< words
    bool offers_list = false;                                ///< of them
    bool offers_files = false;                               ///< beside the words, where there are any
};

struct PageText {
    std::string name, arguments, summary;
    std::vector<OptionText> arguments_help, options;
    std::vector<std::pair<std::string, std::string>> examples;  ///< command, what it does
    std::string exit_one;              ///< what exit status 1 means; empty when it never occurs
    std::vector<OptionText> commands;  ///< sub-commands: "answer FOLDER", and what each does, maybe with an example
};

/// The long one, "--output"; else the only one.
std::string long_name(std::string_view names);

/// The names of its sub-commands.
std::vector<std::string> command_words(const PageText& page);

std::string help_page(const PageText& page);
std::string man_page_options(const PageText& page);
/// The environment variables; without `compiles`, of a program that captures nothing, those alone that every program
/// reads.
std::string man_page_variables(bool compiles);

/// The shells that there are scripts for.
std::vector<std::string> completed_shells();

/// Returns the script that completes the program's options, the words of choices, sub-commands, and files elsewhere.
/// `program` is what it is installed as; of "whittle minify" it is the part for whittle's script. `commands` are
/// the parts for its own sub-commands, one behind the other. `shell`: one of completed_shells().
std::string completion_script(const PageText& page, std::string_view shell, const std::string& program,
                              const std::string& commands);

}  // namespace whittle::cli

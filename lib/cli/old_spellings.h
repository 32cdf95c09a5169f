// Options that got another spelling: the old one is accepted, but not shown, for one release. One table, which the
// parser, the tests and share/doc/reference/old-spellings.md read.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

struct OldSpelling {
    std::string_view program;  ///< "minify"; empty: every program
    /// A flag "--export", an option with the name of its value "--runs N", or with one of its words "--hyperlink
    /// never".
    std::string_view old;
    /// What is written now, the value under the same name: an option "--repeat N", a command "diff BEFORE" or "report
    /// --note TEXT", or an environment variable "WHITTLE_LOG_FILE=FILE". Where the program still declares the old
    /// option that does as before, and this is advice only.
    std::string_view now;
};

std::span<const OldSpelling> old_spellings();
// `tool` is "repro", or "repro report" for a command.

/// Whether the option is an old spelling.
bool is_old_spelling(std::string_view tool, std::string_view name);
/// Whether the word is an old spelling that takes the next word of the line as its value.
bool old_spelling_takes_next(std::string_view tool, std::string_view word);

/// A command line as it is written now.
struct Respelled {
    std::vector<std::string> words = {};
    std::vector<std::string> variables = {};  ///< "WHITTLE_LOG_FILE=log.txt", to be set
    std::vector<std::string> old = {};        ///< the names of old spellings that were replaced
    std::vector<std::string> advice = {};     ///< "--test-must-fail …" of those that were not
};
/// `words` are the options and arguments of the tool, without what belongs to another program; `declares` says which
/// options it still has. Throws Error for a value that is missing, and for two commands at once.
Respelled respelled(std::string_view tool, std::span<const std::string> words,
                    const std::function<bool(const std::string&)>& declares);

/// share/doc/reference/old-spellings.md.
std::string old_spellings_page();

}  // namespace whittle::cli

// What a program says of itself on stderr: errors, hints and warnings, in the form of git's and cargo's.
#pragma once

#include <string>
#include <string_view>

namespace whittle {
class Error;
}

namespace whittle::cli {

class Tool;

/// On stderr: "NAME: error: TEXT", NAME as the user typed it, and below it "hint: HINT", one line each.
void report_error(const Tool& tool, const Error& error);

/// The error that ends the program. With --json, stdout has it too, as {"error": {"message", "hint", "file",
/// "position"}} without what is empty: a script reads one stream.
void print_error(const Tool& tool, const Error& error);

/// One line on stderr: "NAME: warning: TEXT".
void warn(const Tool& tool, std::string_view text);
/// "NAME: note: TEXT".
void note(const Tool& tool, std::string_view text);

}  // namespace whittle::cli

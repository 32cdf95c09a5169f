// What the texts of reports have in common: colors, tables, numbered reasons, and lists that are cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "judge/outcome.h"
#include "report/show.h"

namespace whittle::report {

class Painter {
  public:
    explicit Painter(const TextOptions& options) : on_(options.color) {}
    std::string bold(const std::string& text) const { return in("1", text); }
    std::string red(const std::string& text) const { return in("31", text); }
    /// `code` is a terminal's: "32" is green. Empty: as it is.
    std::string in(const std::string& code, const std::string& text) const {
        return on_ && !code.empty() ? "\033[" + code + "m" + text + "\033[0m" : text;
    }

  private:
    bool on_;
};

using Row = std::vector<std::string>;
struct TableForm {
    std::size_t right = 0;    ///< how many columns, from the first, are set to the right
    std::size_t most = 0;     ///< rows below the header; 0: all
    std::size_t columns = 0;  ///< of the screen: rows are cut there; 0: no limit
};
/// The first row is the header. Columns that no other row fills are left out.
std::string table(const std::vector<Row>& rows, const TableForm& form);

/// "file.cpp:12": the innermost frame. Empty where there is none.
std::string line_of(const std::vector<StackFrame>& stack);
/// "whole graph: mismatch: …" on a line: how a graph as it is has ended.
std::string whole_text(const Outcome& outcome);

/// A break reason with its number, its first places, all of them if verbose, and a hint, if there is one.
std::string reason_text(int number, const std::string& heading, const std::vector<std::string>& places,
                        std::string_view hint, const TextOptions& options);

/// How many of a list are shown: as shown_of() of base/words.h has it, or all if verbose.
std::size_t shown_of(std::size_t all, std::size_t most, const TextOptions& options);
/// "and 3 more (--verbose lists all)", on a line behind so many blanks; empty where all are shown.
std::string rest_text(std::size_t blanks, std::size_t all, std::size_t shown);

}  // namespace whittle::report

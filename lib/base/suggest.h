// What a user may do next: close spellings of a mistyped name, for the hints of "unknown …" errors, and the command
// that ends a report.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace whittle {

/// Damerau-Levenshtein distance in its "optimal string alignment" form: insertions, deletions, substitutions and swaps
/// of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "did you mean 'halide'?" for the closest of `known` (at most a third of its letters differ, and not the only one of
/// an option "-o"; or it starts with `name`), else "".
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

/// "next: COMMAND\n", the label as wide as those of the report. Empty without a command: callers have none where the
/// command would not work.
std::string next_line(const std::string& command, std::size_t width = 6);

}  // namespace whittle

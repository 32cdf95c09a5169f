// Parts of reports on the directives of a program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "reduce/schedule/minimize.h"

namespace whittle::reduce {

/// "culprit:    TEXT", a line; without a name the text alone, below that of the line before.
std::string report_row(std::string_view name, const std::string& text);
/// A line for each directive: its number, whether it is a cause, itself, and where it is.
std::string needed_text(const std::vector<NeededDirective>& all);
/// What could not be recorded.
std::string notes_text(const halide_program::Program& program);
nlohmann::json to_json(const NeededDirective& needed);

/// The keys of the directives that fell away or moved in a run, since others were left out.
std::set<std::string> fallen_in(const halide_program::Program& program);

}  // namespace whittle::reduce

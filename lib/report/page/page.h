// The report as one HTML file that needs nothing else: `explain --html`.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/divergence.h"
#include "report/subject.h"
#include "report/trace_diff.h"

namespace whittle::html {

struct PageFacts {
    const report::Subject& subject;
    report::Report report;
    /// By the name of the graph that was compared.
    std::map<std::string, report::FrameDivergence> accuracy = {};
    /// By the name of a graph that is computed wrong: why its values were not compared.
    std::map<std::string, std::string> not_compared = {};
    std::map<std::string, std::string> environment = {};
    std::vector<std::string> command = {};   ///< that made the page
    std::size_t own_words = command.size();  ///< of it: Tool::own_words()
    bool source = true;                      ///< the text of source files is part of it
    /// What minify found, as its --json says it, and the repros that were written, as those of repro; or null.
    const nlohmann::json* minified = nullptr;
    const nlohmann::json* repros = nullptr;
    /// The schedule of a program that uses Halide, as explain --json says it, and as text; or null.
    const nlohmann::json* schedule = nullptr;
    std::string schedule_text = {};
    std::optional<report::TraceDiff> diff = {};  ///< what the subject has otherwise than an earlier one
};

/// What the page shows, in the terms of share/report/README.md: the values that explain --json prints, under the same
/// names, with the graphs' nodes, places in sources, findings and what became of each function.
nlohmann::json page_data(PageFacts facts);

/// Its findings stand in the page as a table, and the report as text, for readers without JavaScript.
std::string page(PageFacts facts);

/// Takes the text of source files out of the report, unless the page is to have it: of a break its kind alone is left,
/// for a reason may quote a statement.
void hide_source(PageFacts& facts);

}  // namespace whittle::html

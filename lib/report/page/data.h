// What the page of `explain --html` shows, as JSON: facts only, in the terms of share/report/README.md. The page draws
// them; nothing here is worded for one of its views but the findings.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "report/frame_divergence.h"
#include "report/subject.h"
#include "report/trace_diff.h"

namespace whittle::html {

struct PageFacts {
    const report::Subject& subject;
    const report::Report& report;
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
    /// What the subject has otherwise than an earlier one; or null.
    const report::TraceDiff* diff = nullptr;
};

nlohmann::json page_data(const PageFacts& facts);

}  // namespace whittle::html

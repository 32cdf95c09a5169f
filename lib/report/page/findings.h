// What a reader is told first: what fails, then what breaks, then what is compiled again; each with the next command.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "report/page/page.h"
#include "report/page/sources.h"

namespace whittle::html {

/// Adds `findings` [{"level", "title", "detail", "place", "command", "go"}], worst first: a verified repro before all,
/// then what fails, graphs that fail for one cause together, with `graphs` and where it is known the first wrong `op`
/// and `node`. `go` is the view of the page. No command asks for what `minify` of the data has. And `headline` {"text",
/// "place", "where", "more"} of the worst failure, with the number of the others; null where nothing failed.
void add_findings(const PageFacts& facts, nlohmann::json& data, Sources& sources);

/// The command that made the page, with `option` in place of the page and of what followed the failures up: inputs,
/// tolerances and the program's arguments are as they were.
std::string asking(const PageFacts& facts, const std::string& option);

/// "failed", "nan", "break", "recompiled", as far as they hold of a function of the page, worst first; else "ok".
nlohmann::json status_of(const PageFacts& facts, const nlohmann::json& frame);

}  // namespace whittle::html

// What a reader is told first: what fails, then what breaks, then what is compiled again; each with the next command.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "html/data.h"
#include "html/sources.h"

namespace whittle::html {

/// [{"level", "title", "detail", "place", "command", "go"}], worst first: a verified repro before all, then what fails,
/// graphs that fail for one cause together, with `graphs` and where it is known the first wrong `op` and `node`. `go`
/// is the view of the page. `minified` is of minified_json(), empty where nothing was minimized; no command asks for
/// what it has.
nlohmann::json findings_json(const PageFacts& facts, const nlohmann::json& minified, Sources& sources);

/// The command that made the page, with `option` in place of the page and of what followed the failures up: inputs,
/// tolerances and the program's arguments are as they were.
std::vector<std::string> asking(const PageFacts& facts, const std::string& option);

/// Of a break, as the page tells it: without source its kind alone, for a reason may quote a statement.
std::string reason_text(const PageFacts& facts, const std::string& reason, std::string_view id);

/// {"text", "place", "more"} of the worst failure among the findings, with the number of the others; null where nothing
/// failed.
nlohmann::json headline_of(const nlohmann::json& findings);

/// "failed", "nan", "break", "recompiled", as far as they hold of a function of the page, worst first; else "ok".
nlohmann::json status_of(const PageFacts& facts, const nlohmann::json& frame);

/// The graph that a failing frame is about: the frame may be a record of it. Empty when none is known.
std::string graph_of(const debug::Subject& subject, const debug::JudgedFrame& failing);

}  // namespace whittle::html

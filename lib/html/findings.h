// What a reader is told first: what fails, then what breaks, then what is compiled again; each with the next command.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "html/data.h"
#include "html/sources.h"

namespace whittle::html {

/// [{"level", "title", "detail", "place", "command", "go"}], worst first. `go` is the view of the page.
nlohmann::json findings_json(const PageFacts& facts, Sources& sources);

/// "failed", "nan", "break", "recompiled", as far as they hold of a function of the page, worst first; else "ok".
nlohmann::json status_of(const PageFacts& facts, const nlohmann::json& frame);

/// The graph that a failing frame is about: the frame may be a record of it. Empty when none is known.
std::string graph_of(const debug::Subject& subject, const debug::FailingFrame& failing);

}  // namespace whittle::html

// What minify and repro wrote, for the page: with the texts of their files, so that it outlives them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "report/page/sources.h"

namespace whittle::html {

/// A list of results as `minify --json` prints one, each with `graph_text`, its operations as `nodes` [{"id", "op",
/// "mod", "at"}], whom to `report_to`, the command `without` the guilty directive and, where one was written, `repro`:
/// as `repro --json` prints it, with `text`. `results` is what minify prints of a model with one graph or several;
/// `repros` may be null.
nlohmann::json minified_json(const nlohmann::json& results, const nlohmann::json* repros, Sources& sources);

}  // namespace whittle::html

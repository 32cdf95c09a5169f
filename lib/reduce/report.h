// What a search found and what it took, as text and as JSON.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "reduce/minimize_frame.h"

namespace whittle::reduce {

/// "3 ops (onnx.Shape 2, onnx.Gather 1)".
std::string folded_text(const std::map<std::string, std::size_t>& folded);

/// What is printed where there is nothing to minimize. `seen` are the judge's words.
std::string not_failing_text(const Request& request, const std::string& judge, const std::string& seen);

/// Lines "what:       how", the minimized graph and the next command; or why there is none.
std::string to_text(const Minimized& minimized, const Request& request);
/// What is printed before the failures of several graphs are minimized.
std::string to_text(const Findings& found, const Request& request, const std::vector<LoadedFrame>& frames);
/// And before each: "a.json; 3 others fail in the same way: b.json, c.json, d.json".
std::string to_text(const Findings::Failing& failing);

nlohmann::json to_json(const Minimized& minimized);
nlohmann::json to_json(const MinimizedModel& model);
nlohmann::ordered_json minify_output_schema();

}  // namespace whittle::reduce

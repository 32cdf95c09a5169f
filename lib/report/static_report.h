// What `explain static` prints: the breaks predicted from the source of a program, and, when the program has also
// been captured, which of them were seen. Matching is by source range, since compilers give different columns.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "frontends/cpp/analysis.h"
#include "report/show.h"
#include "trace/index.h"

namespace whittle::report {

/// "File "toy.cpp", line 9, columns 5-24, in toy_example" and the source line; counts, break reasons, one hint each: as
/// explain prints observed breaks.
std::string to_text(const cpp::Analysis& analysis, const TextOptions& options);

/// The first break that is sure to happen, for --fullgraph: "found a graph break at toy.cpp:9: …". Empty when there is
/// none.
std::string first_break_text(const cpp::Analysis& analysis);

/// file, functions, graph_break_count, possible_break_count (of them, those that may happen), break_reasons: as to_json
/// of a Report, with column ranges and the text of the expression.
nlohmann::json to_json(const cpp::Analysis& analysis);

/// What was predicted for each file beside what was seen: each observed break is that of the prediction at the
/// innermost place of its stack that fits best, by kind and range. Files without either are left out.
std::string joined_text(const std::vector<cpp::Analysis>& files, const std::vector<IndexBreak>& breaks,
                        const TextOptions& options);
/// For each file: file, predicted_and_seen, predicted_only, seen_only: lists of places.
nlohmann::json joined_json(const std::vector<cpp::Analysis>& files, const std::vector<IndexBreak>& breaks);

}  // namespace whittle::report

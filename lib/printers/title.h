// The title of a bug report: a failing graph and what is wrong with it, in a line that a list of issues has room for.
#pragma once

#include <string>

#include "graph/emitter.h"
#include "graph/schema.h"

namespace whittle {

/// What a title says beside the graph and the failure.
struct TitleWords {
    std::string message = {};  ///< an exception's, where the failure's are not what a title has
    std::string how = {};      ///< behind the types: " at opset 11", " in TorchScript"
    std::string when = {};     ///< ", from ORT_ENABLE_BASIC on"
    std::string pass = {};     ///< the one that is culprit
};

/// "Softmax<axis=0>(x) of float[1, 2] at opset 11 gives 1, expected 0.5, where …, by PASS": formula_of(), types_of(),
/// what_is_wrong() and where_of(), of any length. `graph` is the request's under short names.
std::string whole_statement(const ShortRequest& request, const Graph& graph, const SchemaSource* schemas,
                            const TitleWords& words);

/// The same where it is short. Of a long one the first that is short: "PASS: Sub(x, Pow(x, 2)) gives …"; "PASS takes
/// Sub(mean, x) for Sub(x, mean) and gives …", by the request's near case; the formula with what matters alone, "PASS:
/// Norm(Transpose(x), …) gives …"; or else "PASS: Sub, Pow of float[4] gives …": the ops without their operands, in
/// order, each once, with attributes where there is room. An exception's words are cut, or left out.
std::string report_title(const ShortRequest& request, const Graph& graph, const SchemaSource* schemas,
                         const TitleWords& words);

/// Bytes of a title: GitHub allows 256 characters, and shows fewer.
inline constexpr std::size_t kMostOfTitle = 200;

/// With a full stop, but behind what was cut.
std::string as_sentence(const std::string& text);

}  // namespace whittle

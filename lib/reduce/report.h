// What a search found and what it took, as text and as JSON.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/release_history.h"
#include "judge/divergence.h"
#include "judge/judge.h"
#include "reduce/minimize.h"

namespace whittle::reduce {

/// What a search left behind.
struct Written {
    std::filesystem::path output = {};
    /// Of the model, where a backend was asked and not a command.
    std::optional<Judgement> judgement = {};
    std::size_t replayed = 0;                               ///< answers taken from the journal
    std::vector<std::filesystem::path> drifted = {};        ///< one per Minimized::drifted
    std::optional<Closeness> closeness = {};                ///< of wrong results: rounding noise, or more
    std::optional<diagnose::ReleaseHistory> releases = {};  ///< of a compiler of which several are installed
    std::map<std::string, std::size_t> folded = {};         ///< by op: of the file, and no part of what was minimized
    bool fails_on_nothing = false;                          ///< a graph that does nothing fails alike
    bool stored = false;                                    ///< the failure that was followed is the one of the file
};

/// "3 ops (onnx.Shape 2, onnx.Gather 1)".
std::string folded_text(const std::map<std::string, std::size_t>& folded);

/// The verdict on the model.
whittle::Verdict verdict_of(const Minimized& result, const Written& written);
nlohmann::json to_json(const Minimized& result, const Written& written);
nlohmann::ordered_json minify_output_schema();

/// Lines "what:       how"; the graph and what to run next are the caller's.
std::string report(const Minimized& result, const Written& written);

}  // namespace whittle::reduce

#include "debug/divergence.h"

#include <nlohmann/json.hpp>

#include "backends/registry.h"

namespace whittle::debug {

FrameDivergence diverge(const LoadedFrame& frame, const Suspect& suspect) {
    return {.file = frame.file.string(),
            .backend = suspect.spec.text(),
            .divergence = whittle::diverge(frame.graph, frame.inputs, *find_backend(suspect.spec, suspect.options),
                                           suspect.options, suspect.limits, suspect.accuracy)};
}

std::string to_text(const FrameDivergence& divergence, const explain::DivergenceTextOptions& options) {
    return explain::to_text(divergence.divergence, divergence.file, divergence.backend, options);
}

nlohmann::json to_json(std::span<const FrameDivergence> all) {
    nlohmann::json list = nlohmann::json::array();
    for (const FrameDivergence& one : all) {
        list.push_back(explain::to_json(one.divergence));
        list.back()["file"] = one.file;
    }
    return {{"backend", all.empty() ? "" : all.back().backend}, {"divergence", std::move(list)}};
}

}  // namespace whittle::debug

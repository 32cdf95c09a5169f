#include "html/minified.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "graph/json.h"
#include "graph/json_text.h"
#include "graph/text.h"

namespace whittle::html {

using nlohmann::json;

namespace {

constexpr std::size_t kMostText = std::size_t(1) << 20;

/// Nothing for a file that is gone, or that a graph is not read from.
std::string graph_text(const json& result) {
    const std::string file = result.value("output", "");
    if (!file.ends_with(".json")) return {};
    try {
        return as_utf8(print(load_graph(file)));
    } catch (const Error&) {
        return {};
    }
}

std::string file_text(const std::string& file) {
    try {
        return as_utf8(read_file(file, kMostText));
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

json minified_json(const json& results, const json* repros) {
    json all = results.contains("results") ? results["results"] : json::array({results});
    for (json& result : all) {
        result["graph_text"] = graph_text(result);
        if (!repros || result["graph_text"] == "") continue;
        const auto stem = [](const json& of) {
            return std::filesystem::path(of.value("output", "")).replace_extension();
        };
        for (const json& repro : *repros)
            if (stem(repro) == stem(result)) {
                result["repro"] = repro;
                result["repro"]["text"] = file_text(repro.value("output", ""));
            }
    }
    return all;
}

}  // namespace whittle::html

#include "report/page/parts.h"

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "diagnose/diagnosis_report.h"
#include "formats/json.h"
#include "formats/json_text.h"
#include "graph/text.h"

namespace whittle::html {

using nlohmann::json;

namespace {

constexpr std::size_t kMostShownText = std::size_t(1) << 20;

/// Null where it is not there any more.
std::unique_ptr<Backend> backend_of(const Failure& failure) {
    try {
        return find_backend(BackendSpec(failure.backend), failure.options);
    } catch (const Error&) {
        return nullptr;
    }
}

/// What is left, as text and as operations that know their places. Nothing for a file that is gone, or that a graph is
/// not read from.
void add_graph(json& result, Sources& sources) {
    result["graph_text"] = "";
    result["nodes"] = json::array();
    const std::string file = result.value("output", "");
    if (!file.ends_with(".json")) return;
    try {
        const Graph graph = load_graph(file);
        result["graph_text"] = as_utf8(print(graph));
        for (const Node& node : graph.nodes)
            if (node.kind == NodeKind::call)
                result["nodes"].push_back({{"id", node.name},
                                           {"op", node.target},
                                           {"mod", as_utf8(node.module_path)},
                                           {"at", sources.places(node.stack)}});
        if (!graph.failure || graph.failure->backend.empty()) return;
        const auto backend = backend_of(*graph.failure);
        result["report_to"] = diagnose::where_to_report(graph, backend.get());
        if (!backend) return;
        if (const auto command = diagnose::last_good_command(graph, file, *backend); !command.empty())
            result["without"] = shell_quote(command);
    } catch (const Error&) {  // the page is about the rest, then
    }
}

std::string file_text(const std::string& file) {
    try {
        return as_utf8(read_file(file, kMostShownText));
    } catch (const Error&) {
        return {};
    }
}

}  // namespace

json minified_json(const json& results, const json* repros, Sources& sources) {
    json all = results.contains("results") ? results["results"] : json::array({results});
    for (json& result : all) {
        add_graph(result, sources);
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

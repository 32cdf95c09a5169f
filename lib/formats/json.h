// Graph files: NAME.json (schema in share/schema/graph.schema.json) with tensors in NAME.safetensors beside it.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "graph/graph.h"

namespace whittle {

class SharedTensors;

/// Writes `path` and, when some tensor has more than a few elements, its sidecar (safetensors named like the JSON file,
/// keyed by content hash, equal tensors stored once): both or neither, see formats/sidecar.h. A file of that name which
/// Whittle did not write, or which another graph in the folder uses, is left alone, and so is the one that the graph at
/// `path` has: the tensors go to NAME.2.safetensors then. That of a graph which `path` held before is removed at the
/// end, when nothing else in the folder names it.
void save_graph(const Graph& graph, const std::filesystem::path& path);

/// As save_graph(); no tensors are written where a file in the folder has all of them, which the graph then names.
void save_graph_sharing(const Graph& graph, const std::filesystem::path& path);

/// As save_graph(), to a `path` that is not there yet: NAME.safetensors is a link to one of `shared`, which is written
/// where there is none.
void save_graph(const Graph& graph, const std::filesystem::path& path, SharedTensors& shared);

/// Whether `path` holds already what save_graph would write there, and its sidecar exists where one is needed.
bool is_saved(const Graph& graph, const std::filesystem::path& path);

/// Reads what save_graph wrote; tensors are views of the mapped sidecar, checked against their hashes. The graph is
/// verified at Stage::captured. Throws Error with file and JSON pointer. A newer minor version is read; another major
/// version is refused.
Graph load_graph(const std::filesystem::path& path);

/// The parts of save_graph for those who keep them elsewhere (the plug-in ABI): returns the JSON text and adds the
/// tensors that it refers to, by key, to `tensors`. Deterministic.
std::string graph_to_json(const Graph& graph, std::map<std::string, Tensor>& tensors);

/// The graph of graph_to_json's text and tensors; `file` names it in errors.
Graph graph_from_json(const std::string& text, const std::map<std::string, Tensor>& tensors, const std::string& file);

/// The JSON Schema of graph files.
nlohmann::ordered_json graph_schema();

/// The member "format" of a JSON file's top level, without reading much further than it; empty when there is none.
std::string format_of_json(const std::filesystem::path& path);

/// The format of recorded runs of Halide's pipelines (frontends/halide/runs.h).
inline constexpr const char* kHalideRunsFormat = "whittle.halide_runs";

/// JSON text → value with a cap on nesting, so that hostile input cannot overflow the stack. Throws Error with byte
/// offset.
nlohmann::json parse_json(const std::string& text, const std::string& file);

}  // namespace whittle

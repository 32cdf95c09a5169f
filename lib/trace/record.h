// Records: a captured frame with its inputs and expected outputs, as files; data only, never code.
// A folder written by `trace`:
//   index.json            what was traced: model, frames, graphs, breaks, records, environment
//   graphs/NAME.json      the graphs (+ .safetensors)
//   records/NAME.json     a record: graph by relative path and hash, tensors in NAME.safetensors, hash per event
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle {

struct Record {
    std::string name;
    std::string frame = "main";
    std::string backend = "eager";  ///< what it was recorded with: replay's default
    std::map<std::string, std::string> backend_options = {};
    std::vector<Tensor> inputs;           ///< one per placeholder
    std::vector<Tensor> expected;         ///< one per output; none where nobody computed them
    std::string expected_from = "eager";  ///< a backend, or the file the outputs were given in; empty: nobody
    Accuracy accuracy = {};               ///< how a replay is judged
    std::string capture_fault = {};       ///< how the graph computes something else than was observed; else empty
    std::map<std::string, std::string> environment = {};
};

/// In an environment: the Python interpreter that ran the program, by its path.
inline constexpr char kInterpreterKey[] = "python";

/// Writes the graph as graphs/NAME.json of `folder`, or NAME_1, NAME_2 … when another graph has that name; an equal
/// graph that is there already is shared, and so are the tensors of one that has all of its. Returns its path.
std::filesystem::path save_captured_graph(const std::filesystem::path& folder, const Graph& graph);

/// Writes graph and record into `folder` (layout above); returns the record's path.
std::filesystem::path save_record(const std::filesystem::path& folder, const Graph& graph, const Record& record);

struct LoadedRecord {
    Record record;
    Graph graph;
    std::filesystem::path file;
};

/// Throws Error with file and JSON pointer; a tensor whose hash differs from the recorded one is refused.
LoadedRecord load_record(const std::filesystem::path& file);

/// The JSON Schema of records.
nlohmann::ordered_json record_schema();

/// True when the JSON file says that it is a record (not a graph).
bool is_record(const std::filesystem::path& file);

}  // namespace whittle

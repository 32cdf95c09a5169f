// The failure of a minimized graph that is stored as ONNX, which has no place for it: MODEL.onnx.failure.json beside
// it.
#pragma once

#include <filesystem>
#include <optional>

#include "graph/graph.h"

namespace whittle {

/// MODEL.onnx -> MODEL.onnx.failure.json.
std::filesystem::path failure_path(const std::filesystem::path& model);

/// Writes graph.failure beside `model`, with the graph's placeholders, in the format of graph files. The failure must
/// be set.
void save_failure(const Graph& graph, const std::filesystem::path& model);

/// The failure beside `model`; nothing when there is no such file. Throws Error when its inputs do not fit the
/// placeholders of `graph`, which was read from `model`: then the two files are not of one minimization.
std::optional<Failure> load_failure(const Graph& graph, const std::filesystem::path& model);

}  // namespace whittle

// The failure of a minimized graph that is stored as ONNX, which has no place for it: MODEL.onnx.failure.json beside
// it.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "graph/graph.h"

namespace whittle {

/// MODEL.onnx -> MODEL.onnx.failure.json.
std::filesystem::path failure_path(const std::filesystem::path& model);

/// Writes `contents` as `model` and graph.failure, which must be set, beside it, with the graph's placeholders, in the
/// format of graph files. Killed at any time, it leaves a model and the failure that belongs to it: until the model is
/// there its failure lies in MODEL.onnx.failure.HASH.json, with the hash of `contents`. Throws Error.
void save_failing_model(const Graph& graph, const std::filesystem::path& model, std::string_view contents);

/// The failure beside `model`; nothing when there is no such file. Throws Error when its inputs do not fit the
/// placeholders of `graph`, which was read from `model`: then the two files are not of one minimization.
std::optional<Failure> load_failure(const Graph& graph, const std::filesystem::path& model);

}  // namespace whittle

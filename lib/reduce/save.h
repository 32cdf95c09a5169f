// Minimized graphs on disk, and the names of the search's modes.
#pragma once

#include <filesystem>
#include <string_view>

#include "graph/graph.h"
#include "reduce/search.h"

namespace whittle::reduce {

/// By the extension of `path`: .json holds the failure too; .onnx gets PATH.failure.json beside it.
void save_minimized(const Graph& graph, const std::filesystem::path& path);

/// "auto" "bisect" "linear" "ddmin".
Mode mode_from_name(std::string_view name);

}  // namespace whittle::reduce

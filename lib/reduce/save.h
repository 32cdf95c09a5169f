// Minimized graphs on disk.
#pragma once

#include <filesystem>

#include "graph/graph.h"

namespace whittle::reduce {

/// By the extension of `path`: .json holds the failure too; .onnx gets PATH.failure.json beside it.
void save_minimized(const Graph& graph, const std::filesystem::path& path);

}  // namespace whittle::reduce

// Minimized graphs on disk.
#pragma once

#include <filesystem>

#include "frontends/onnx/save.h"
#include "graph/graph.h"

namespace whittle::reduce {

/// Of a result, which is written after each step of a search: weights inside are held twice more while it is, in a
/// message and in its bytes, and written anew each time. Less than kMostInside.
inline constexpr std::size_t kMostInResult = std::size_t(1) << 28;

/// By the extension of `path`: .json holds the failure too; .onnx gets PATH.failure.json beside it, and files of
/// weights where they all are more than `most_inside` bytes. Those that only the model had that was there before are
/// removed.
void save_minimized(const Graph& graph, const std::filesystem::path& path, std::size_t most_inside = kMostInResult);

}  // namespace whittle::reduce

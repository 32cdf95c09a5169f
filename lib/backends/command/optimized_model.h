// optimized_model(): the file that a compiler made of a graph, for who takes it apart where values of the graph are.
#pragma once

#include <filesystem>
#include <memory>

#include "backends/command/exchange.h"
#include "graph/onnx_file.h"

namespace whittle {

/// `file`: what the compiler made of the graph that was written under these names; it is read now. Files of parts go
/// into the folder. Throws Error where the file cannot be read.
std::unique_ptr<OptimizedModel> optimized_model(const Graph& graph, const ModelNames& names,
                                                const std::filesystem::path& file, const std::filesystem::path& folder);

}  // namespace whittle

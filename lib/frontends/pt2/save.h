// Graph -> .pt2, what torch.export.load() reads: the way back from what was found in C++ to Python. Entry point:
// save_pt2().
//
// The program is of PyTorch's training dialect (ATen's ops as they are called, in-place ones among them): parameters
// are what requires a gradient, all else that the graph holds are buffers; an op's results have names of their own, as
// a file has no getitem. Archive and schema are those of PyTorch 2.9 (schema 8.14), whose weights are raw.
// https://github.com/pytorch/pytorch/blob/main/torch/_export/serde/schema.py
#pragma once

#include <filesystem>

#include "graph/graph.h"

namespace whittle::pt2 {

/// The file appears whole or not at all. Throws Error for a graph of another dialect and for ops that PyTorch has not,
/// naming them, for element types that the format has not, and where the file cannot be written.
void save_pt2(const std::filesystem::path& path, const Graph& graph);

}  // namespace whittle::pt2

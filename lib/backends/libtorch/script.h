// A graph as a TorchScript module. Includes LibTorch's headers: for the files of this folder.
#pragma once

// First: clang 14 wants its types complete before the other headers use them.
#include <ATen/core/ivalue.h>

#include <torch/csrc/jit/api/module.h>

#include <map>
#include <string>

#include "backends/libtorch/memory.h"
#include "graph/graph.h"

namespace whittle::aten {

struct Script {
    torch::jit::Module module;                   ///< its forward() gives a tuple of the graph's outputs
    std::map<std::string, std::string> members;  ///< of each attribute of the graph, what it is called in the module
};

/// Each call is a call of the operator that LibTorch's dispatcher has of that name, in-place ones too; what it has not
/// is decomposed. Attributes are lent to the module as its parameters. Throws Error for nested graphs, for a call that
/// does not fit LibTorch's schema, and for one that TorchScript takes for another overload.
Script script(const Graph& graph);

}  // namespace whittle::aten

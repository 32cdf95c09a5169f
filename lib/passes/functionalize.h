// functionalize(): in-place operations and writes through views become operations that only compute. What PyTorch calls
// by the same name: https://dev-discuss.pytorch.org/t/functionalization-in-pytorch-everything-you-wanted-to-know
#pragma once

#include <string>
#include <vector>

#include "ops/core/builder.h"
#include "ops/core/memory.h"
#include "ops/core/not_implemented.h"
#include "passes/origins.h"
#include "passes/pass.h"

namespace whittle {

/// The input or attribute called `input` takes the value of output `output` once the graph has run.
struct MemoryUpdate {
    std::string input;  ///< name of a placeholder or get_attr node of the new graph
    std::size_t output = 0;
    bool operator==(const MemoryUpdate&) const = default;
};

struct FunctionalizeOptions {
    AfterPass after = {};
};

struct Functionalized {
    Graph graph;                        ///< verifies at Stage::functional when all ops are registered
    std::vector<MemoryUpdate> updates;  ///< in the order of the nodes; their outputs follow those of the original
};

/// What functionalize() throws of a node.
class FunctionalizeError : public NotImplemented {
  public:
    FunctionalizeError(NodeId failed, const Error& error)
        : NotImplemented(error.where(), error.message(), error.hint()), node(failed) {}
    NodeId node;  ///< of the graph that was given
};

/// The same computation without writes: a write to a value replaces it for every later reader, of it and of all that
/// share its memory (schemas tell which results are views; whether reshape, contiguous and to copy is decided by the
/// recorded strides); so does batch norm in training to its running statistics. Throws FunctionalizeError for an op
/// that writes and has no functional form, for a write that would change dtype category or sizes, for a write through a
/// view that shows an element twice, and for writes inside the nested graphs of a call. Values that only share memory
/// outside the graph are not known to.
Functionalized functionalize(const Graph& graph, const FunctionalizeOptions& options = {}, Origins* origins = nullptr);

}  // namespace whittle

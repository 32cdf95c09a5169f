// A graph in which a backend requested a break: compiled in pieces before, at and after the node that it named.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <variant>

#include "graph/backend.h"

namespace whittle::api {

/// Told of each break: the graph, the node, and the backend's reason.
using OnBreakRequest = std::function<void(const Graph&, const Node&, const std::string& reason)>;

/// As Backend::compile, but a BreakRequest is carried out: the node it names runs on the reference, what is before and
/// behind it is compiled, again with whatever breaks the backend asks for. So are calls of ops that the program
/// declared (register_op()) and the backend lacks, of which nobody is told. The graph is functional. Throws Error for a
/// request that names no call of the graph. Of a graph with gradients, `part` is which of its two parts this is.
CompileResult compile_with_breaks(Backend& backend, const BackendOptions& options, const Graph& graph,
                                  std::optional<CompileStage> part, const OnBreakRequest& on_break);

}  // namespace whittle::api

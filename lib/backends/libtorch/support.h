// What the backends that call LibTorch have in common: what it does not run, and the libraries that teach it more.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/backend.h"
#include "graph/graph.h"
#include "graph/schema.h"

namespace whittle::aten {

/// Targets of calls, those of nested graphs included, that LibTorch has not and that decompose into nothing it has; and
/// of those that read or give an element type that it has not.
std::vector<std::string> not_in_libtorch(const Graph& graph);

/// Of an op with nested graphs, as cond.
bool has_nested_graph(const Schema& schema);

/// The option that names shared libraries (between ':') which register ops with TORCH_LIBRARY.
inline constexpr std::string_view kLibrary = "library";
/// What they register is there from then on. Throws Error for one that cannot be loaded.
void load_libraries(const BackendOptions& options);
/// The same error, where they are only tried: in a copy of this process, for their constructors may do anything.
void check_libraries(const BackendOptions& options);

}  // namespace whittle::aten

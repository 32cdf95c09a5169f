// Graph and record files as the programs read them: what a file states of its calls is held against what the ops say.
// load_graph() and load_record() know no ops and believe the file; a wrong size would surface much later, as a
// compiler's failure.
#pragma once

#include <filesystem>

#include "graph/graph.h"
#include "trace/record.h"

namespace whittle {

/// Ops that the registry does not have: a user's own, which only some backend may know.
enum class UnknownOps {
    refuse,
    keep  ///< with the results that the file states
};

/// load_graph(), then check_calls().
Graph load_checked_graph(const std::filesystem::path& file, UnknownOps unknown);

/// load_record(), then check_calls() on its graph.
LoadedRecord load_checked_record(const std::filesystem::path& file, UnknownOps unknown);

/// The arguments of every call, nested graphs included, fit the op's schema, and its results have the number, dtypes
/// and sizes that inference gives. Throws Error naming `file`, the node, what was found and what was expected.
void check_calls(const Graph& graph, const std::filesystem::path& file, UnknownOps unknown);

}  // namespace whittle

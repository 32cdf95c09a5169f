// Graph and record files as the programs read them: what a file states of its calls is held against what the ops say.
// load_graph() and load_record() know no ops and believe the file; a wrong size would surface much later, as a
// compiler's failure.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "trace/record.h"

namespace whittle {

/// The backend that asks whether what a file states of results is what is inferred of them.
inline constexpr char kInfersAnew[] = "pre_dispatch_eager";

struct Checks {
    bool results = true;  ///< that they are as inferred; not asked of a graph whose failure says that they are not
                          ///< (kInfersAnew)
};

/// load_graph(), then check_calls(). What the graph writes of what it is given (an input, a buffer of a model, batch
/// norm's running statistics) becomes further outputs, the values at the end: a graph in a file is a function of its
/// inputs. Of one that writes into what it has computed nothing changes.
Graph load_checked_graph(const std::filesystem::path& file, Checks checks = {});
/// The same of a graph that was read from `file` otherwise. What it writes, by source, is added to `updates`, in the
/// order of the further outputs.
Graph checked_graph(Graph graph, const std::filesystem::path& file, Checks checks = {},
                    std::vector<std::string>* updates = nullptr);

/// load_record(), with the graph as load_checked_graph() gives it. What further outputs are expected to be, the
/// reference says.
LoadedRecord load_checked_record(const std::filesystem::path& file, Checks checks = {});

/// The arguments of every call, nested graphs included, fit the op's schema, and its results have the number, dtypes
/// and sizes that inference gives; of opaque calls (ops/core/opaque.h) the file is believed. Throws Error naming
/// `file`, the node, what was found and what was expected.
void check_calls(const Graph& graph, const std::filesystem::path& file, Checks checks = {});

}  // namespace whittle

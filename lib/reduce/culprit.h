// find_culprit(): which part of the compiler is to blame for the failure of a minimized graph.
#pragma once

#include <functional>
#include <optional>

#include "graph/failure.h"
#include "graph/graph.h"
#include "run/outcome.h"

namespace whittle::reduce {

struct CulpritOptions {
    Limits limits = {};
    /// True: stop (an interrupt).
    std::function<bool()> stop = {};
};

/// For the backend halide, whose parts we know; nothing for others, when interrupted, and when the graph does not fail
/// as recorded. `graph` carries its failure. The search of search.h finds the fewest schedule directives with which it
/// still fails. Where it fails without any, the passes before and the lowering of each op are checked against the
/// reference; then passes are switched off (pass_limits.h) and the application with which it begins to fail is
/// bisected; what remains is the compiler itself.
std::optional<Culprit> find_culprit(const Graph& graph, Backend& backend, const CulpritOptions& options);

}  // namespace whittle::reduce

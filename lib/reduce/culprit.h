// find_culprit(): which part of the compiler is to blame for the failure of a minimized graph.
#pragma once

#include <functional>
#include <optional>

#include "graph/failure.h"
#include "graph/graph.h"
#include "run/suspect.h"

namespace whittle::reduce {

struct CulpritOptions {
    Limits limits = {};
    /// True: stop (an interrupt).
    std::function<bool()> stop = {};
};

/// Of a backend that offers Switchable; nothing for others, when interrupted, and when the graph does not fail as
/// recorded. `graph` carries its failure. The search of search.h finds the fewest directives with which it still fails.
/// Where it fails without any, the backend is asked what was wrong before them; then passes are switched off and the
/// application with which it begins to fail is bisected; what remains is the compiler itself.
std::optional<Culprit> find_culprit(const Graph& graph, Backend& backend, const CulpritOptions& options);

}  // namespace whittle::reduce

// diagnose(): which part of the compiler is to blame for the failure of a minimized graph, and whether wrong results
// are more than rounding noise.
#pragma once

#include <functional>
#include <optional>

#include "graph/failure.h"
#include "graph/graph.h"
#include "run/divergence.h"
#include "run/suspect.h"

namespace whittle::debug {

struct DiagnoseOptions {
    Limits limits = {};
    /// True: stop (an interrupt).
    std::function<bool()> stop = {};
};

struct Diagnosis {
    /// Of a backend that offers Switchable; nothing for others, when interrupted, when the graph does not fail as
    /// recorded, and where rounding explains all: another order of it is no fault of a lowering. That a directive makes
    /// it is worth knowing.
    std::optional<Culprit> culprit = {};
    /// Of wrong results: whether they are rounding noise.
    std::optional<Closeness> closeness = {};
};

/// `graph` carries its failure. The search of reduce/search.h finds the fewest directives with which it still fails.
/// Where it fails without any, the backend is asked what was wrong before them; then passes are switched off and the
/// application with which it begins to fail is bisected (bisect.h); what remains is the compiler itself. Throws
/// Interrupted.
Diagnosis diagnose(const Graph& graph, Backend& backend, const DiagnoseOptions& options);

}  // namespace whittle::debug

// Graphs that are interpreted as C++ that a debugger stops in, where the debug folder has the part `step`.
#pragma once

#include "graph/run_observer.h"

namespace whittle::api {

/// Whether graphs that are compiled now are stepped through.
bool steps();

/// Writes each graph as a file of the debug folder, builds and loads it. A graph that cannot be is said once, as a
/// warning, and is interpreted.
class CodeStepper final : public GraphStepper {
  public:
    std::unique_ptr<Executable> step(const Graph& graph) override;
};

}  // namespace whittle::api

// Live stepping: a graph that a backend interprets runs as code that a debugger stops in. Who can write and load such
// code is above this folder (api/stepping.h), and is told here to those that interpret.
#pragma once

#include <memory>

#include "graph/backend.h"

namespace whittle {

class GraphStepper {
  public:
    virtual ~GraphStepper() = default;
    /// What computes the same as interpreting the graph. Null where it cannot be stepped through, which was said.
    virtual std::unique_ptr<Executable> step(const Graph& graph) = 0;
};

/// This thread's, or null.
GraphStepper* graph_stepper();

class Stepping {
  public:
    explicit Stepping(GraphStepper* stepper);
    ~Stepping();
    Stepping(const Stepping&) = delete;
    Stepping& operator=(const Stepping&) = delete;

  private:
    GraphStepper* const before_;
};

}  // namespace whittle

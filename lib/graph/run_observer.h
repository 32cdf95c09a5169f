// Who wants to see a run go on: after each call that is interpreted, or each kernel, how long it took and what the run
// holds then. Of one thread, as long as an ObservingRuns lives; executables that are one piece tell nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "base/exchanged.h"
#include "graph/backend.h"

namespace whittle {

class RunObserver {
  public:
    struct Held {
        std::string_view value;  ///< the node that computed it
        std::int64_t bytes;      ///< of its memory; 0 where another value that is held has the same
    };
    virtual ~RunObserver() = default;
    /// `step`: a call by its node's name, or a kernel by its own. `held`: before what it read for the last time is
    /// freed; without parameters.
    virtual void ran(std::string_view step, double seconds, std::span<const Held> held) = 0;
};

struct ObservingRuns : Exchanged<RunObserver*> {
    /// Null: nobody, inside of a step that is told as one.
    explicit ObservingRuns(RunObserver* observer);
};

/// This thread's, or null.
RunObserver* run_observer();

// Live stepping: a graph that a backend interprets runs as code that a debugger stops in. Who can write and load such
// code is above this folder (api/stepping.h), and is told here to those that interpret.

class GraphStepper {
  public:
    virtual ~GraphStepper() = default;
    /// What computes the same as interpreting the graph. Null where it cannot be stepped through, which was said.
    virtual std::unique_ptr<Executable> step(const Graph& graph) = 0;
};

/// This thread's, or null.
GraphStepper* graph_stepper();

struct Stepping : Exchanged<GraphStepper*> {
    explicit Stepping(GraphStepper* stepper);
};

}  // namespace whittle

#include "graph/run_observer.h"

namespace whittle {

static thread_local RunObserver* current_observer = nullptr;

RunObserver* run_observer() { return current_observer; }
ObservingRuns::ObservingRuns(RunObserver* observer) : Exchanged(current_observer, observer) {}

static thread_local GraphStepper* stepper_here = nullptr;

GraphStepper* graph_stepper() { return stepper_here; }
Stepping::Stepping(GraphStepper* stepper) : Exchanged(stepper_here, stepper) {}

}  // namespace whittle

#include "graph/stepping.h"

namespace whittle {

static thread_local GraphStepper* stepper_here = nullptr;

GraphStepper* graph_stepper() { return stepper_here; }
Stepping::Stepping(GraphStepper* stepper) : Exchanged(stepper_here, stepper) {}

}  // namespace whittle

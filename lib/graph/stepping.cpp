#include "graph/stepping.h"

#include <utility>

namespace whittle {

static thread_local GraphStepper* stepper_here = nullptr;

GraphStepper* graph_stepper() { return stepper_here; }

Stepping::Stepping(GraphStepper* stepper) : before_(std::exchange(stepper_here, stepper)) {}
Stepping::~Stepping() { stepper_here = before_; }

}  // namespace whittle

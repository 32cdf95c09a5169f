#include "graph/run_observer.h"

namespace whittle {

static thread_local RunObserver* current_observer = nullptr;

RunObserver* run_observer() { return current_observer; }
ObservingRuns::ObservingRuns(RunObserver* observer) : Exchanged(current_observer, observer) {}

}  // namespace whittle

#include "graph/run_observer.h"

#include <utility>

namespace whittle {
namespace {

thread_local RunObserver* current = nullptr;

}  // namespace

RunObserver* run_observer() { return current; }

ObservingRuns::ObservingRuns(RunObserver* observer) : before_(std::exchange(current, observer)) {}
ObservingRuns::~ObservingRuns() { current = before_; }

}  // namespace whittle

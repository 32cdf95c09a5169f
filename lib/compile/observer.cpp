#include "compile/observer.h"

namespace whittle::program {

static thread_local CompileObserver* current = nullptr;

CompileObserver* observer() { return current; }
Observing::Observing(CompileObserver* observer) : Exchanged(current, observer) {}

}  // namespace whittle::program

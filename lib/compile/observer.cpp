#include "compile/observer.h"

#include <utility>

namespace whittle::program {
namespace {

thread_local CompileObserver* current = nullptr;

}  // namespace

CompileObserver* observer() { return current; }

Observing::Observing(CompileObserver* observer) : before_(std::exchange(current, observer)) {}
Observing::~Observing() { current = before_; }

}  // namespace whittle::program

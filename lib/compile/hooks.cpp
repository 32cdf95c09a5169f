#include "compile/hooks.h"

#include <utility>

namespace whittle::program {
namespace {

AfterPass& installed() {
    static AfterPass hook;
    return hook;
}

}  // namespace

const AfterPass& after_pass() { return installed(); }

void set_after_pass(AfterPass hook) { installed() = std::move(hook); }

}  // namespace whittle::program

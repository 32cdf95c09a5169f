#include "capture/hooks.h"

#include <utility>

namespace whittle::capture {
namespace {

Hooks& installed() {
    static Hooks hooks;
    return hooks;
}

}  // namespace

const Hooks& hooks() { return installed(); }

void set_hooks(Hooks hooks) { installed() = std::move(hooks); }

}  // namespace whittle::capture

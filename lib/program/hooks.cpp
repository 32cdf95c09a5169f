#include "program/hooks.h"

#include <utility>

namespace whittle::program {
namespace {

Hooks& installed() {
    static Hooks hooks;
    return hooks;
}

}  // namespace

const Hooks& hooks() { return installed(); }

void set_hooks(Hooks hooks) { installed() = std::move(hooks); }

}  // namespace whittle::program

// Preloaded into a program of Whittle by scripts/planted: plants the bug that $PLANTED_BUG names. The program's own
// children are free of it.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "planted/bugs.h"

namespace {

[[gnu::constructor]] void plant() {
    unsetenv("LD_PRELOAD");
    const char* bug = std::getenv("PLANTED_BUG");
    try {
        whittle::program::set_hooks(whittle::planted_bug(bug ? bug : ""));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "planted: %s\n", error.what());
        std::exit(2);
    }
}

}  // namespace

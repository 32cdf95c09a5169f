// Preloaded into one of Whittle's programs by scripts/planted: injects the bug that $PLANTED_BUG names. Children that
// the program starts do not have it.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "base/error.h"
#include "capture/hooks.h"
#include "planted/bugs.h"

namespace {

constexpr std::string_view kCapture = "capture=";

/// Capture of a call of the op fails, as a bug of its own would.
void plant_in_capture(const std::string& op) {
    whittle::capture::set_hooks(
        {.issued = [op](const whittle::Node& call) { WHITTLE_CHECK(call.target != op, "a planted bug"); }});
}

[[gnu::constructor]] void plant() {
    unsetenv("LD_PRELOAD");
    const char* bug = std::getenv("PLANTED_BUG");
    if (bug && std::string_view(bug).starts_with(kCapture)) return plant_in_capture(bug + kCapture.size());
    try {
        whittle::program::set_after_pass(whittle::planted_bug(bug ? bug : ""));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "planted: error: %s\n", error.what());
        std::exit(2);
    }
}

}  // namespace

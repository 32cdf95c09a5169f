// Preloaded into one of Whittle's programs by scripts/planted: injects the bug that $PLANTED_BUG names. Children that
// the program starts do not have it.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "capture/hooks.h"
#include "ops/core/registry.h"
#include "planted/bugs.h"

namespace {

constexpr std::string_view kCapture = "capture=";

/// Capture of a call of the op fails, as a bug of its own would.
void plant_in_capture(const std::string& op) {
    const whittle::Registry& ops = whittle::Registry::instance();
    if (!ops.find(op)) ops.require(op);  // throws
    whittle::capture::set_hooks(
        {.issued = [op](const whittle::Node& call) { WHITTLE_CHECK(call.target != op, "a planted bug"); }});
}

void print_help() {
    std::printf(
        "usage: planted BUG PROGRAM [ARGUMENT...]\n\n"
        "Run a program of Whittle with a bug injected into its compilations, to show that\n"
        "Whittle finds the bug.\n\nBugs:\n%s%s%s\n"
        "OP is the name of an op, such as aten.relu.default.\n",
        whittle::planted_bugs_text().c_str(),
        whittle::planted_bug_line("capture=OP", "capture of a call of OP fails").c_str(),
        whittle::planted_bug_line("BUG+BUG", "two bugs, in different steps").c_str());
}

[[gnu::constructor]] void plant() {
    unsetenv("LD_PRELOAD");
    const char* const given = std::getenv("PLANTED_BUG");
    const std::string bug = given ? given : "";
    try {
        if (bug == "--help") {
            print_help();
            std::exit(0);
        }
        if (bug.starts_with(kCapture)) return plant_in_capture(bug.substr(kCapture.size()));
        whittle::program::set_after_pass(whittle::planted_bug(bug));
    } catch (const whittle::Error& error) {
        std::fprintf(stderr, "planted: error: %s\nhint: %s\n", error.message().c_str(),
                     (error.hint().empty() ? "planted --help lists the bugs" : error.hint()).c_str());
        std::exit(2);
    }
}

}  // namespace

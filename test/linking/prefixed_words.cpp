// What programs call each other where they are installed under a prefix: linked with lib/base/command_words.cpp as it
// is compiled with WHITTLE_PROGRAM_PREFIX=whittle-.
#include <cstdio>

#include "base/command_words.h"

using namespace whittle;

int main() {
    int wrong = 0;
    const auto check = [&](const std::string& got, const char* expected) {
        if (got == expected) return;
        std::printf("got '%s', expected '%s'\n", got.c_str(), expected);
        ++wrong;
    };
    check(installed_name("minify"), "whittle-minify");
    check(program_called("minify answer"), "whittle-minify answer");
    check(program_words("repro", {"minify.json"}).back(), "minify.json");
    check(program_called("whittle fuzz"), "whittle fuzz");  // it has no other name
    remember_call("/usr/bin/whittle-trace");
    check(program_called("replay"), "whittle-replay");
    remember_call(called_by_whittle("trace"));
    check(program_called("replay"), "whittle replay");
    return wrong;
}

// What the short programs of all backends say in C++.
#include "printers/short_program.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace whittle;

TEST_CASE("an element differs in C++ as its expected values are", "[short_program]") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto differs = [](const std::vector<double>& expected, double tolerance) {
        return differs_in_cpp(expected, tolerance, "y", "e");
    };
    CHECK(differs({1, 2}, 0) == "y != e");
    CHECK(differs({1, 2}, 0.5) == "!(std::fabs(y - e) <= 0.5)");
    CHECK(differs({std::nan("")}, 0.5) == "!std::isnan(y)");
    CHECK(differs({kInfinity, -kInfinity}, 0.5) == "y != e");
    CHECK(differs({1, kInfinity}, 0.5) == "y != e && !(std::fabs(y - e) <= 0.5)");
    CHECK(differs({1, std::nan("")}, 0) == "y != e && !(std::isnan(y) && std::isnan(e))");
}

TEST_CASE("a short program includes what it uses, and is built by one line", "[short_program]") {
    CHECK(standard_includes("printf(\"ok\");") == "#include <cstdio>");
    CHECK(standard_includes("signal(SIGSEGV, [](int) { _exit(1); }); x = NAN; memcpy(a, b, 1);") ==
          "#include <cmath>\n#include <csignal>\n#include <cstdio>\n#include <cstring>\n#include <unistd.h>");
    CHECK(build_line("folder/a.cpp", {"-ldl"}, {"./b.so"}) == "g++ -std=c++17 -O1 a.cpp -o a -ldl && ./a ./b.so");
    CHECK(ends_by_failure({.kind = "crash", .stage = "run", .detail = "signal 63"}, 5) ==
          "    signal(63, [](int) { _exit(1); });\n");
    CHECK(ends_by_failure({.kind = "timeout", .stage = "run", .detail = ""}, 5) ==
          "    signal(SIGALRM, [](int) { _exit(1); });\n    alarm(5);\n");
    CHECK(ends_by_failure({.kind = "mismatch", .stage = "run", .detail = "value"}, 5) == "");
}

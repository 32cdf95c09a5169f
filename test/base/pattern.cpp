#include "base/pattern.h"

#include <catch2/catch.hpp>

#include "base/error.h"

using namespace whittle;

TEST_CASE("a pattern is found anywhere in a text, however long") {
    const Pattern pattern("--fail-regex", "a.*b$");
    CHECK(pattern.found_in("xa..b"));
    CHECK_FALSE(pattern.found_in("ab c"));
    // A backtracking matcher overflows its stack here.
    CHECK(pattern.found_in("a" + std::string(std::size_t(4) << 20, 'x') + "b"));
    CHECK_FALSE(pattern.found_in("a" + std::string(std::size_t(4) << 20, 'x') + "c"));
    CHECK_FALSE(Pattern("--fail-regex", "(x+x+)+y").found_in(std::string(10000, 'x')));  // nor does it take for ever
}

TEST_CASE("a text that is no pattern is an Error that shows where") {
    CHECK_THROWS_WITH(Pattern("--filter", "conv(a|b"), Catch::Contains("--filter") && Catch::Contains("conv(a|b"));
    CHECK_THROWS_WITH(Pattern("--filter", "ab[z-a]"),
                      Catch::Contains("--filter: character 4") && Catch::Contains("z-a"));
    CHECK_THROWS_WITH(Pattern("--fail-regex", "(a)\\1"), Catch::Contains("no back-references"));
}

TEST_CASE("what a pattern's groups matched") {
    const Pattern pattern("(\\w+) is( not)?");
    CHECK(pattern.groups_of("this is") == std::vector<std::string>{"this", ""});
    CHECK(pattern.groups_of("this is not") == std::vector<std::string>{"this", " not"});
    CHECK_FALSE(pattern.groups_of("this is so"));
    CHECK(Pattern("s[0-9]+").replaced("s0, 3, s12", "-1") == "-1, 3, -1");
}

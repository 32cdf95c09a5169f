#include "report/text_parts.h"

#include <catch2/catch.hpp>

using namespace whittle::report;

TEST_CASE("tables are as wide as their cells, without columns that nothing fills") {
    std::vector<Row> rows = {{"time", "none", "what"}, {"1", "", "a"}, {"12345", "", "b c"}};
    CHECK(table(rows, {.right = 1}) == "   time  what\n      1  a\n  12345  b c\n");
    CHECK(table(rows, {.columns = 8}) == "  time …\n  1    …\n  12345…\n");
    CHECK(table(rows, {.most = 1}) == "  time   what\n  1      a\n  12345  b c\n");
    rows.push_back({"2", "", "d"});
    CHECK(table(rows, {.most = 1}) == "  time   what\n  1      a\n  and 2 more (--verbose lists all)\n");
}

TEST_CASE("a reason has its first places and its hint") {
    const std::vector<std::string> places = {"   1\n", "   2\n", "   3\n", "   4\n", "   5\n"};
    CHECK(reason_text(2, "why", places, "do", {}) ==
          "\n2. why\n   1\n   2\n   3\n   and 2 more (--verbose lists all)\n   hint: do\n");
    CHECK(reason_text(1, "why", places, "", {.verbose = true}) == "\n1. why\n   1\n   2\n   3\n   4\n   5\n");
}

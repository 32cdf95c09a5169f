#include "reduce/schedule/items.h"

#include <catch2/catch.hpp>

namespace {

using namespace whittle::reduce;
using whittle::halide_program::Directive;

TEST_CASE("a directive falls with those that make its loops, and not with others") {
    const std::vector<Directive> items{{.number = 3, .owner = "f", .name = "split"},
                                       {.number = 4, .owner = "f", .name = "split", .needs = {3}},
                                       {.number = 6, .owner = "g", .name = "vectorize", .needs = {1}},
                                       {.number = 7, .owner = "f.update(0)", .name = "unroll", .needs = {4}}};
    const Problem problem = problem_of(items);
    CHECK(problem.count == 4);
    CHECK(problem.legal({1, 2, 3}) == Set{2});
    CHECK(problem.legal({0, 2, 3}) == Set{0, 2});
    CHECK(problem.legal({0, 1, 3}) == Set{0, 1, 3});
    CHECK(problem.neighbours[3] == std::vector<int>{1, 1});
    CHECK(problem.neighbours[2].empty());
}

}  // namespace

#include "passes/joint.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "graph/text.h"

using namespace whittle;
using Catch::Matchers::Contains;

TEST_CASE("a graph whose outputs need nothing that is wanted is its own joint graph", "[joint]") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[3]
  %y = aten.mul.Tensor(%x, %x) : f32[3]
  return (%y)
}
)");
    const Joint joint = whittle::joint(graph);
    CHECK(same_structure(joint.graph, graph));
    CHECK(joint.tangents.empty());
    CHECK(joint.gradients.empty());
}

TEST_CASE("only ops without a rule are decomposed, and one without decomposition is named", "[joint]") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[3] grad
  %z = user.branch(%x) : f32[3]
  return (%z)
}
)");
    CHECK_THROWS_WITH(whittle::joint(graph), Contains("no gradient of user.branch"));
    CHECK_THROWS_AS(whittle::joint(graph, {.wanted = std::set<std::string>{"nothing"}}), Error);
}

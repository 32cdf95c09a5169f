#include "passes/subgraph.h"

#include <catch2/catch.hpp>

#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/registry.h"

using namespace whittle;

namespace {

const char* const kDiamond = R"(graph diamond {
  %x = placeholder["x"] : f32[2, 4]
  %w = get_attr["w"] : f32[4]
  %a = aten.relu.default(%x) : f32[2, 4]
  %b = aten.mul.Tensor(%a, %w) : f32[2, 4]
  %s = aten.sort.default(%b) : (f32[2, 4], i64[2, 4])
  %v = getitem(%s, 0) : f32[2, 4]
  %i = getitem(%s, 1) : i64[2, 4]
  %c = aten.add.Tensor(%v, %a) : f32[2, 4]
  return (%c, %i)
}
)";

/// The printed graph that the named calls of the diamond make.
std::string kept(const std::vector<std::string>& names, Subgraph* out = nullptr) {
    const Graph graph = parse(kDiamond);
    std::vector<NodeId> ids;
    for (NodeId id : graph.calls())
        for (const std::string& name : names)
            if (graph.nodes[static_cast<std::size_t>(id)].name == name) ids.push_back(id);
    Subgraph part = subgraph(graph, ids);
    verify(part.graph, Stage::captured, Registry::instance());
    if (out) *out = part;
    return print(part.graph);
}

}  // namespace

TEST_CASE("a subgraph of all calls is the graph", "[subgraph]") {
    Subgraph whole;
    CHECK(kept({"a", "b", "s", "c"}, &whole) == kDiamond);
}

TEST_CASE("cut values become inputs and unread values outputs", "[subgraph]") {
    CHECK(kept({"b", "c"}) == R"(graph diamond {
  %a = placeholder["a"] : f32[2, 4]
  %v = placeholder["v"] : f32[2, 4]
  %w = get_attr["w"] : f32[4]
  %b = aten.mul.Tensor(%a, %w) : f32[2, 4]
  %c = aten.add.Tensor(%v, %a) : f32[2, 4]
  return (%c, %b)
}
)");
}

TEST_CASE("getitems live with their producer", "[subgraph]") {
    Subgraph part;
    CHECK(kept({"s"}, &part) == R"(graph diamond {
  %b = placeholder["b"] : f32[2, 4]
  %s = aten.sort.default(%b) : (f32[2, 4], i64[2, 4])
  %v = getitem(%s, 0) : f32[2, 4]
  %i = getitem(%s, 1) : i64[2, 4]
  return (%i, %v)
}
)");
    const Graph graph = parse(kDiamond);
    REQUIRE(part.inputs.size() == 1);
    CHECK(graph.nodes[static_cast<std::size_t>(part.inputs[0].node)].name == "b");
    REQUIRE(part.outputs.size() == 2);
    CHECK(part.outputs[0].index == 1);
}

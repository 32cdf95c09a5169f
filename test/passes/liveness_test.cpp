#include "passes/liveness.h"

#include <catch2/catch.hpp>

#include "graph/text.h"

using namespace whittle;

TEST_CASE("a value is held from its node to its last reader, a view holds what it shows", "[liveness]") {
    const Graph graph = parse(R"(graph g {
        %x = placeholder["x"] : f32[4]
        %w = get_attr["w"] : f32[1000]
        %a = aten.neg.default(%x) : f32[4]
        %v = aten.view.default(%a, [2, 2]) : f32[2, 2]
        %b = aten.exp.default(%x) : f32[4]
        %c = aten.relu.default(%v) : f32[2, 2]
        %d = aten.relu.default(%b) : f32[4]
        return (%d)
    })");
    const Liveness live(graph);
    const auto names = [&](NodeId id) {
        std::string text;
        for (const NodeId held : live.held(id)) text += graph.node({held}).name + " ";
        return text;
    };
    CHECK(names(2) == "x a ");
    CHECK(names(4) == "x a b ");
    CHECK(names(5) == "x a b c ");  // the view is what needs a
    CHECK(names(6) == "x b d ");
    CHECK(live.bytes(5) == 64);
    CHECK(live.bytes(6) == 48);
    CHECK(own_bytes(graph, 1) == 0);
    CHECK(own_bytes(graph, 3) == 0);
}

#include "ops/core/cost.h"

#include <catch2/catch.hpp>

#include "graph/text.h"

using namespace whittle;

namespace {

/// Of %y in a graph with operands %a, %b and %c.
std::optional<CallCost> cost(const std::string& a, const std::string& b, const std::string& call) {
    const Graph graph = parse("graph g {\n  %a = placeholder[\"a\"] : " + a + "\n  %b = placeholder[\"b\"] : " + b +
                              "\n  %c = placeholder[\"c\"] : f32[3]\n  %y = " + call + "\n  return (%y)\n}\n");
    return cost_of(graph, *graph.find("y"));
}

}  // namespace

TEST_CASE("a call costs the steps of its loops", "[cost]") {
    CHECK(cost("f32[4, 5]", "f32[4, 5]", "aten.relu.default(%a) : f32[4, 5]").value().steps == 20);
    CHECK(cost("f32[4, 5]", "f32[4, 5]", "aten.relu6.default(%a) : f32[4, 5]").value().steps == 20);
    CHECK(cost("f32[4, 5]", "f32[5]", "aten.add.Tensor(%a, %b) : f32[4, 5]").value().steps == 20);
    CHECK(cost("f32[4, 5]", "f32[5]", "aten.sum.dim_IntList(%a, [1]) : f32[4]").value().steps == 4 + 20);
    CHECK(cost("f32[2, 3]", "f32[3, 4]", "aten.mm.default(%a, %b) : f32[2, 4]").value().steps == 8 + 24);
    CHECK(cost("f32[0, 5]", "f32[5]", "aten.add.Tensor(%a, %b) : f32[0, 5]").value().steps == 0);
}

TEST_CASE("products of elements at different places that are summed are contractions", "[cost]") {
    const auto contracts = [](const std::string& a, const std::string& b, const std::string& call) {
        return cost(a, b, call).value().contracts;
    };
    CHECK(contracts("f32[2, 3]", "f32[3, 4]", "aten.mm.default(%a, %b) : f32[2, 4]"));
    CHECK(contracts("f32[2, 3]", "f32[4, 3]", "aten.linear.default(%a, %b) : f32[2, 4]"));
    CHECK(contracts("f32[1, 2, 8]", "f32[2, 1, 3]",
                    "aten.convolution.default(%a, %b, none, [1], [0], [1], false, [0], 2) : f32[1, 2, 6]"));
    CHECK_FALSE(contracts("f32[2, 3]", "f32[2, 3]", "aten.mul.Tensor(%a, %b) : f32[2, 3]"));
    CHECK_FALSE(contracts("f32[2, 3]", "f32[2, 3]", "aten.var.correction(%a, [1]) : f32[2]"));
    CHECK_FALSE(contracts("f32[2, 3]", "f32[2, 3]", "aten._softmax.default(%a, 1, false) : f32[2, 3]"));
    CHECK_FALSE(contracts("f32[2, 3]", "f32[2, 3]", "aten._softmax_backward_data.default(%a, %b, 1, f32) : f32[2, 3]"));
}

TEST_CASE("nobody knows what random, refused and unknown calls cost", "[cost]") {
    CHECK_FALSE(cost("f32[4]", "f32[4]", "aten.bernoulli.p(%a, 0.5) : f32[4]"));
    CHECK_FALSE(cost("f32[4]", "f32[4]", "aten.dropout.default(%a, 0.5, true) : f32[4]"));
    CHECK_FALSE(cost("f32[4]", "f32[4]", "user.op(%a) : f32[4]"));
    // Training would have to update the running statistics.
    CHECK_FALSE(cost("f32[2, 3, 4]", "f32[3]",
                     "aten.native_batch_norm.default(%a, none, none, %b, %c, true, 0.1, 1e-05) : f32[2, 3, 4]"));
}

// Gradient rules against differences of outputs.
#include "compile/finite_differences.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "compile/gradients.h"
#include "graph/text.h"
#include "ops/core/custom.h"
#include "ops/core/interpreter.h"
#include "passes/no_grad.h"

using namespace whittle;
using Catch::Contains;

namespace {

struct Case {
    Graph joint;
    JointShape shape;
    std::vector<Tensor> inputs;

    program::Slopes slopes() const { return program::check_slopes(joint, shape, inputs); }
};

Case of(const std::string& text, const std::vector<Tensor>& inputs,
        const std::map<std::string, Tensor>& parameters = {}) {
    Graph graph = parse(text);
    for (const auto& [name, value] : parameters) graph.attributes[name] = value.with_requires_grad(true);
    const auto made = program::differentiate_whole(graph);
    REQUIRE(made);
    INFO(made->refused);
    REQUIRE(made->refused.empty());
    return {made->joint.graph,
            {made->joint.outputs, made->joint.tangents, made->joint.gradients},
            made->joint_inputs(inputs)};
}

/// The joint graph with the last call of `from` in it made one of `to`.
Case with_wrong_rule(Case right, const std::string& from, const std::string& to) {
    const auto found = std::find_if(right.joint.nodes.rbegin(), right.joint.nodes.rend(),
                                    [&](const Node& node) { return node.target == from; });
    REQUIRE(found != right.joint.nodes.rend());
    found->target = to;
    return right;
}

const std::string kLayer = R"(graph g {
  %x = placeholder["x"] : f32[2, 3] grad
  %w = get_attr["w"] : f32[3, 3] grad
  %h = aten.mm.default(%x, %w) : f32[2, 3] grad
  %y = aten.sigmoid.default(%h) : f32[2, 3] grad
  return (%y)
})";
const Tensor kX =
    Tensor::of<float>({0.5, -1, 2, 0.25, 3, -0.75}).as_strided({2, 3}, {3, 1}, 0).with_requires_grad(true);
const Tensor kW = Tensor::of<float>({0.3, -0.2, 0.5, 0.1, 0.7, -0.4, 0.9, 0.2, -0.6}).as_strided({3, 3}, {3, 1}, 0);

}  // namespace

TEST_CASE("gradients that are right are found so, of inputs and of parameters", "[gradients]") {
    const program::Slopes slopes = of(kLayer, {kX}, {{"w", kW}}).slopes();
    CHECK(slopes.undecided == "");
    CHECK_FALSE(slopes.wrong);
}

TEST_CASE("a wrong rule is found, with whose gradient it is and both slopes", "[gradients]") {
    const Case wrong =
        with_wrong_rule(of(kLayer, {kX}, {{"w", kW}}), "aten.sigmoid_backward.default", "aten.tanh_backward.default");
    const program::Slopes slopes = wrong.slopes();
    REQUIRE(slopes.wrong);
    CHECK((slopes.wrong->of == "x" || slopes.wrong->of == "w"));
    CHECK(slopes.wrong->by_rules != Approx(slopes.wrong->by_outputs).epsilon(1e-3));
    CHECK_THAT(slopes.wrong->text(), Contains("finite differences in f64 give"));
}

TEST_CASE("one gradient that is wrong among two that are right is the one that is named", "[gradients]") {
    const Case wrong = with_wrong_rule(of(R"(graph g {
  %x = placeholder["x"] : f32[3] grad
  %z = placeholder["z"] : f32[3] grad
  %a = aten.exp.default(%x) : f32[3] grad
  %b = aten.sin.default(%z) : f32[3] grad
  %y = aten.add.Tensor(%a, %b) : f32[3] grad
  return (%y)
})",
                                          {Tensor::of<float>({0.5, -1, 2}), Tensor::of<float>({0.5, -1, 2})}),
                                       "aten.cos.default", "aten.sin.default");
    const program::Slopes slopes = wrong.slopes();
    REQUIRE(slopes.wrong);
    CHECK(slopes.wrong->of == "z");
}

TEST_CASE("where the outputs have a kink nobody can say", "[gradients]") {
    const std::string relu = R"(graph g {
  %x = placeholder["x"] : f32[2] grad
  %y = aten.relu.default(%x) : f32[2] grad
  return (%y)
})";
    CHECK_THAT(of(relu, {Tensor::of<float>({0, 0})}).slopes().undecided, Contains("smooth"));
    const program::Slopes beside = of(relu, {Tensor::of<float>({0.5, -1})}).slopes();
    CHECK(beside.undecided == "");
    CHECK_FALSE(beside.wrong);
}

TEST_CASE("what gradients end at stands still", "[gradients]") {
    // By differences of all that x does it would be 2x.
    const program::Slopes slopes = of(R"(graph g {
  %x = placeholder["x"] : f32[2] grad
  %d = aten.detach.default(%x) : f32[2]
  %y = aten.mul.Tensor(%x, %d) : f32[2] grad
  return (%y)
})",
                                      {Tensor::of<float>({2, 3})})
                                       .slopes();
    CHECK(slopes.undecided == "");
    CHECK_FALSE(slopes.wrong);
}

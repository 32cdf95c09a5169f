#include "judge/divergence.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>

#include "graph/abilities.h"
#include "graph/text.h"
#include "planted_backend.h"
#include "tensor/random.h"

using namespace whittle;

namespace {

Tensor mapped(const Tensor& tensor, const std::function<float(float)>& f) {
    std::vector<float> values = tensor.values<float>();
    for (float& value : values) value = f(value);
    return Tensor::of(values, tensor.sizes());
}

Divergence diverged(const Graph& graph, const std::vector<Tensor>& inputs, PlantedBackend& suspect,
                    const Accuracy& accuracy = {}) {
    return diverge(graph, inputs, suspect, {}, {}, accuracy);
}

const Graph kChain = parse(
    "graph chain {\n  %x = placeholder[\"x\"] : f32[3]\n  %a = aten.neg.default(%x) : f32[3]\n"
    "  %b = aten.exp.default(%a) : f32[3]\n  %c = aten.neg.default(%b) : f32[3]\n  return (%c)\n}\n");

/// Wrong in backward alone.
const Graph kTrained = parse(
    "graph trained {\n  %x = placeholder[\"x\"] : f32[3] grad\n  %a = aten.neg.default(%x) : f32[3] grad\n"
    "  %y = aten.tanh.default(%a) : f32[3] grad\n  return (%y)\n}\n");

Tensor wrong_tanh_backward(const Node& node, const Tensor& value) {
    return node.target == "aten.tanh_backward.default" ? mapped(value, [](float x) { return x + 1; }) : value;
}

class PlantedOwnGradients final : public PlantedBackend, public OwnGradients {
  public:
    CompileResult compile_joint(const Graph& joint, const JointShape&, const BackendOptions& options) override {
        return compile(joint, options);
    }
};

}  // namespace

TEST_CASE("where gradients are wrong, the values are those of the joint graph", "[divergence]") {
    const std::vector<Tensor> inputs = {Tensor::of({1.f, 2.f, 3.f})};
    PlantedBackend suspect;
    suspect.on_result = wrong_tanh_backward;
    const Divergence found = diverged(kTrained, inputs, suspect);
    CHECK(found.plain.failed_at_gradients());
    CHECK(found.joint);
    CHECK(found.only_forward == "");
    REQUIRE(found.values.size() == 4);
    REQUIRE(found.first);
    CHECK(found.values[*found.first].op == "aten.tanh_backward.default");
    CHECK(found.values[1].closeness == Closeness::close);
}

TEST_CASE("where the joint graph cannot be compared, only forward values are, which blames nothing", "[divergence]") {
    const std::vector<Tensor> inputs = {Tensor::of({1.f, 2.f, 3.f})};
    PlantedBackend in_two_parts;
    in_two_parts.on_result = wrong_tanh_backward;
    in_two_parts.on_compile = [](const Graph& graph) {
        const auto has = [&](const char* op) { return std::ranges::count(graph.nodes, op, &Node::target) > 0; };
        if (has("aten.tanh.default") && has("aten.tanh_backward.default")) throw std::runtime_error("no joint graphs");
    };
    PlantedOwnGradients own;
    own.on_result = wrong_tanh_backward;
    for (PlantedBackend* const suspect : {&in_two_parts, static_cast<PlantedBackend*>(&own)}) {
        const Divergence found = diverged(kTrained, inputs, *suspect);
        CHECK(found.plain.failed_at_gradients());
        CHECK_FALSE(found.joint);
        CHECK(found.failure == "");
        CHECK(found.only_forward == (suspect == &own
                                         ? "planted computes the gradients itself, without Whittle's joint graph"
                                         : "planted fails on the joint graph if every value of the graph is an output: "
                                           "exception: no joint graphs"));
        CHECK(found.values.size() == 2);
        CHECK_FALSE(found.first);
    }
}

TEST_CASE("the first value that differs is named, and later ones that follow from it", "[divergence]") {
    PlantedBackend suspect;
    suspect.on_result = [](const Node& node, Tensor value) {
        return node.target == "aten.exp.default" ? mapped(value, [](float x) { return x + 1; }) : value;
    };
    const Divergence found = diverged(kChain, {Tensor::of({1.f, 2.f, 3.f})}, suspect);
    CHECK(found.plain.kind == Outcome::Kind::mismatch);
    REQUIRE(found.values.size() == 3);
    REQUIRE(found.first);
    CHECK(found.values[*found.first].node == "b");
    CHECK(found.values[0].closeness == Closeness::close);
    CHECK(found.values[2].closeness == Closeness::differs);
    CHECK(found.values[1].error.max_abs == Approx(1));
}

TEST_CASE("a NaN is born where no operand has one", "[divergence]") {
    PlantedBackend suspect;
    suspect.on_result = [](const Node& node, Tensor value) {
        return node.name == "a" ? mapped(value, [](float) { return NAN; }) : value;
    };
    const Divergence found = diverged(kChain, {Tensor::of({1.f, 2.f, 3.f})}, suspect);
    REQUIRE(found.values.size() == 3);
    CHECK(found.values[0].born.nan);
    CHECK_FALSE(found.values[0].born.infinity);
    CHECK(found.values[0].error.misplaced == 3);
    CHECK_FALSE(found.values[1].born);  // inherited
    for (const ValueDivergence& value : found.values) CHECK_FALSE(value.born_in_reference);

    PlantedBackend right;  // exp(1000) is infinite in f32, for both
    const Divergence both = diverged(kChain, {Tensor::of({-1000.f, 2.f, 3.f})}, right);
    CHECK(both.values[1].born.infinity);
    CHECK_FALSE(both.values[1].born.nan);
    CHECK(both.values[1].born_in_reference.infinity);
    CHECK_FALSE(both.first);
}

TEST_CASE("another order of a sum is noise, a wrong sum of the same size of error is not", "[divergence]") {
    Random random(1);
    std::vector<float> values(20000);
    for (float& value : values) value = static_cast<float>(random.uniform());
    const std::vector<Tensor> inputs = {Tensor::of(values, {20000})};
    const Graph graph = parse(
        "graph sum {\n  %x = placeholder[\"x\"] : f32[20000]\n  %s = aten.sum.default(%x) : f32[]\n"
        "  return (%s)\n}\n");
    const Accuracy strict{.mode = Accuracy::Mode::strict};
    float naive = 0;
    for (const float value : values) naive += value;
    PlantedBackend reordered, wrong;
    reordered.on_result = [&](const Node&, const Tensor& value) { return mapped(value, [&](float) { return naive; }); };
    wrong.on_result = [&](const Node&, const Tensor& value) {
        return mapped(value, [](float x) { return x * 1.001f; });  // one term in a thousand is lost
    };
    REQUIRE(naive != evaluate(graph, inputs)[0].values<float>()[0]);
    CHECK(diverged(graph, inputs, reordered, strict).values.at(0).closeness == Closeness::noise);
    CHECK_FALSE(diverged(graph, inputs, reordered, strict).first);
    CHECK(diverged(graph, inputs, wrong, strict).values.at(0).closeness == Closeness::differs);
}

TEST_CASE("a sum that cancels may be off by its terms, a small element beside a large one may not", "[divergence]") {
    const Graph sum = parse(
        "graph sum {\n  %x = placeholder[\"x\"] : f32[3]\n  %s = aten.sum.default(%x) : f32[]\n  return (%s)\n}\n");
    const std::vector<Tensor> terms = {Tensor::of({1e8f, 1.f, -1e8f})};
    PlantedBackend reordered, wrong;
    reordered.on_result = [](const Node&, const Tensor& value) { return mapped(value, [](float) { return 0.f; }); };
    wrong.on_result = [](const Node&, const Tensor& value) { return mapped(value, [](float x) { return x + 1e4f; }); };
    CHECK(diverged(sum, terms, reordered).values.at(0).closeness == Closeness::noise);
    CHECK(diverged(sum, terms, wrong).values.at(0).closeness == Closeness::differs);

    const Graph relu = parse(
        "graph relu {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = aten.relu.default(%x) : f32[2]\n"
        "  return (%y)\n}\n");
    PlantedBackend small;
    small.on_result = [](const Node&, const Tensor& value) {
        return mapped(value, [](float x) { return x < 2 ? 1.5f : x; });
    };
    CHECK(diverged(relu, {Tensor::of({1e6f, 1.f})}, small).values.at(0).closeness == Closeness::differs);
}

TEST_CASE("how many elements there are excuses no element, nor does a comparison that rounding could turn",
          "[divergence]") {
    const Graph relu = parse(
        "graph relu {\n  %x = placeholder[\"x\"] : f16[10000]\n  %y = aten.relu.default(%x) : f16[10000]\n"
        "  return (%y)\n}\n");
    std::vector<float> values(10000, 1000.f);
    values[7] = 1.f;
    PlantedBackend small;
    small.on_result = [](const Node&, const Tensor& value) {
        return mapped(value, [](float x) { return x < 2 ? 1.5f : x; }).to(DType::f16);
    };
    CHECK(diverged(relu, {Tensor::of(values, {10000}).to(DType::f16)}, small).values.at(0).closeness ==
          Closeness::differs);

    const Graph mask = parse(
        "graph mask {\n  %x = placeholder[\"x\"] : f32[4]\n  %m = aten.amax.default(%x) : f32[]\n"
        "  %e = aten.eq.Tensor(%x, %m) : bool[4]\n  %y = aten.mul.Tensor(%x, %e) : f32[4]\n  return (%y)\n}\n");
    PlantedBackend zeros;
    zeros.on_result = [](const Node& node, const Tensor& value) {
        return node.name == "y" ? mapped(value, [](float) { return 0.f; }) : value;
    };
    const Divergence masked = diverged(mask, {Tensor::of({1.f, 4.f, 2.f, 3.f})}, zeros);
    CHECK(masked.values.back().closeness == Closeness::differs);
}

TEST_CASE("elements in another order are no noise", "[divergence]") {
    const Graph graph = parse(
        "graph rows {\n  %x = placeholder[\"x\"] : f32[2, 3]\n  %t = aten.t.default(%x) : f32[3, 2] strides[1, 3]\n"
        "  %y = aten.as_strided.default(%t, [6], [1]) : f32[6]\n  return (%y)\n}\n");
    PlantedBackend transposed;
    transposed.on_result = [](const Node& node, const Tensor& value) {
        return node.name == "y" ? Tensor::of({1.f, 4.f, 2.f, 5.f, 3.f, 6.f}) : value;
    };
    const Tensor x = Tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    CHECK(diverged(graph, {x}, transposed).values.back().closeness == Closeness::differs);
}

TEST_CASE("random ops draw the same for both sides", "[divergence]") {
    const Graph graph = parse(
        "graph dice {\n  %x = placeholder[\"x\"] : f32[100]\n  %r = aten.rand_like.default(%x) : f32[100]\n"
        "  %y = aten.add.Tensor(%x, %r) : f32[100]\n  return (%y)\n}\n");
    PlantedBackend right;
    const Divergence found = diverged(graph, {Tensor(DType::f32, {100})}, right);
    CHECK_FALSE(found.plain.failed());
    CHECK_FALSE(found.first);
}

#include "passes/no_grad.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "passes/functionalize.h"
#include "passes/joint.h"

namespace whittle {
namespace {

const char* const kCaptured = R"(graph captured {
  %w = placeholder["w"] : f32[2] grad
  %x = placeholder["x"] : f32[2]
  %frozen = aten.mul.Tensor(%w, %x) : f32[2]
  %cosine = aten.cos.default(%w) : f32[2] grad
  %made = aten.relu.default(%x) : f32[2]
  %written = aten.add_.Tensor(%made, %w) : f32[2]
  %tracked = aten.mul_.Tensor(%made, %w) : f32[2] grad
  %result = aten.add.Tensor(%frozen, %cosine) : f32[2] grad
  return (%result, %made)
})";

int detaches(const Graph& graph) {
    int count = 0;
    for (const Node& node : graph.nodes) count += node.target == "aten.detach.default";
    return count;
}

}  // namespace

TEST_CASE("what was computed without gradients is detached, and nothing else", "[passes]") {
    const Graph graph = end_gradients(parse(kCaptured));
    CHECK(detaches(graph) == 2);  // behind the product, and before the sum that is written
    const Graph functional = functionalize(graph).graph;
    const Graph joined = joint(functional).graph;
    const std::vector<Tensor> inputs = {
        Tensor::of(std::vector<float>{1, 2}, {2}), Tensor::of(std::vector<float>{3, 4}, {2}),
        Tensor::of(std::vector<float>{1, 1}, {2}), Tensor::of(std::vector<float>{1, 1}, {2})};
    const std::vector<Tensor> outputs = evaluate(joined, inputs);
    const std::vector<double> gradient = outputs.back().values<double>();
    // made = (relu(x) + w, detached) * w, and so its gradient is that sum.
    CHECK(gradient[0] == Approx(-std::sin(1.0) + 3 + 1));
    CHECK(gradient[1] == Approx(-std::sin(2.0) + 4 + 2));
}

TEST_CASE("the call at which the gradients of the outputs end is found", "[passes]") {
    const auto end_of = [](const char* result) {
        const Graph graph = parse(std::string(R"(graph ended {
  %w = placeholder["w"] : f32[2] grad
  %inside = aten.mul.Tensor(%w, %w) : f32[2]
  %after = aten.mul.Tensor(%inside, 2) : f32[2] grad
  %whole = aten.cos.default(%w) : f32[2] grad
  return ()") + result + ")\n}");
        const std::optional<NodeId> end = where_gradients_end(graph);
        return end ? graph.node({*end}).name : "";
    };
    CHECK(end_of("%after") == "inside");
    CHECK(end_of("%whole").empty());
    CHECK(end_of("%inside").empty());  // an output that has none
}

}  // namespace whittle

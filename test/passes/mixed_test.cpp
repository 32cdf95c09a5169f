// Mixed precision: which calls compute in the half type, and where values are converted.
#include "passes/mixed.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"

using namespace whittle;

namespace {

Graph chain() {
    Graph graph = parse(R"(graph g {
        %x = placeholder["x"] : f32[2]
        %w = get_attr["w"] : f32[2]
        %a = aten.mul.Tensor(%x, %w) : f32[2]
        %b = aten.exp.default(%a) : f32[2]
        %c = aten.add.Tensor(%b, %w) : f32[2]
        return (%c)
    })");
    graph.attributes["w"] = Tensor::of<float>({1.5f, 12});
    return graph;
}

NodeId id_of(const Graph& graph, const std::string& name) {
    return static_cast<NodeId>(graph.find(name) - graph.nodes.data());
}

}  // namespace

TEST_CASE("all calls in f16 overflow where f32 does not", "[mixed]") {
    const Graph graph = chain();
    const MixedPrecision made = mixed(graph, DType::f16, {});
    verify(made.graph, Stage::captured, Registry::instance());
    CHECK(made.halved.size() == 3);
    CHECK(made.graph.find("b")->meta().dtype == DType::f16);
    CHECK(made.graph.attributes.size() == 1);  // the weight in f16 alone
    CHECK(made.graph.attributes.begin()->second.dtype() == DType::f16);
    const std::vector<Tensor> inputs = {Tensor::of<float>({1, 1})};
    const std::vector<Tensor> values = evaluate(made.graph, inputs);
    CHECK(values[0].dtype() == DType::f32);
    CHECK(std::isinf(values[0].values<float>()[1]));
}

TEST_CASE("kept calls compute in f32, and nothing else does", "[mixed]") {
    const Graph graph = chain();
    const MixedPrecision made = mixed(graph, DType::f16, {id_of(graph, "b"), id_of(graph, "c")});
    verify(made.graph, Stage::captured, Registry::instance());
    CHECK(made.halved == std::vector<NodeId>{id_of(graph, "a")});
    CHECK(made.graph.find("a")->meta().dtype == DType::f16);
    CHECK(made.graph.find("b")->meta().dtype == DType::f32);
    const std::vector<Tensor> inputs = {Tensor::of<float>({1, 1})};
    CHECK(same_bits(evaluate(made.graph, inputs)[0], evaluate(graph, inputs)[0]));
    const MixedPrecision none = mixed(graph, DType::f16, {id_of(graph, "a"), id_of(graph, "b"), id_of(graph, "c")});
    CHECK(none.halved.empty());
    CHECK(same_structure(none.graph, graph));
}

TEST_CASE("results that are read one by one, comparisons and dtypes that calls name", "[mixed]") {
    const Graph graph = parse(R"(graph g {
        %x = placeholder["x"] : f32[4]
        %m = aten.max.dim(%x, 0) : (f32[], i64[])
        %v = getitem(%m, 0) : f32[]
        %i = getitem(%m, 1) : i64[]
        %g = aten.gt.Scalar(%x, 0.5) : bool[4]
        %f = aten._to_copy.default(%g, dtype=f32) : f32[4]
        %s = aten.add.Tensor(%f, %v) : f32[4]
        return (%s, %i)
    })");
    const MixedPrecision made = mixed(graph, DType::bf16, {});
    verify(made.graph, Stage::captured, Registry::instance());
    CHECK(made.graph.find("v")->meta().dtype == DType::bf16);
    CHECK(made.graph.find("i")->meta().dtype == DType::i64);
    CHECK(made.graph.find("f")->meta().dtype == DType::bf16);
    const std::vector<Tensor> inputs = {Tensor::of<float>({0, 1, 2, 0.25f})};
    CHECK(same_bits(evaluate(made.graph, inputs)[0], evaluate(graph, inputs)[0]));  // small numbers are exact
    CHECK(same_bits(evaluate(made.graph, inputs)[1], evaluate(graph, inputs)[1]));
}

TEST_CASE("a graph that writes to memory has no mixed form", "[mixed]") {
    const Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = aten.relu_.default(%x) : f32[2]\n  return (%y)\n}\n");
    CHECK_THROWS_AS(mixed(graph, DType::f16, {}), Error);
}

// aot_eager and its variants: outputs are eager's, gradients are computed beside them, and a wrong cut is told.
#include <catch2/catch.hpp>

#include "backends/debug/debug.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "planted/bugs.h"
#include "tensor/random.h"

namespace whittle {
namespace {

using Make = std::unique_ptr<Backend> (*)();
constexpr Make kVariants[] = {make_aot_eager_backend, make_aot_eager_default_partitioner_backend,
                              make_aot_eager_decomp_partition_backend};

/// Writes to its input; relu6 is a composite.
Graph training() {
    Graph graph = parse(R"(graph training {
  %x = placeholder["x"] : f32[4, 3]
  %w = get_attr["w"] : f32[3, 2] grad
  %scaled = aten.mul_.Scalar(%x, 2) : f32[4, 3]
  %h = aten.mm.default(%scaled, %w) : f32[4, 2]
  %a = aten.relu6.default(%h) : f32[4, 2]
  %y = aten.tanh.default(%a) : f32[4, 2]
  return (%y)
}
)");
    Random random(2);
    graph.attributes["w"] = random_tensor(DType::f32, {3, 2}, random).with_requires_grad(true);
    return graph;
}

RunResult run(Backend& backend, const Graph& graph, const BackendOptions& options = {}) {
    Random random(1);
    const std::vector<Tensor> inputs = {random_tensor(DType::f32, {4, 3}, random)};
    CompileResult compiled = backend.compile(graph, options);
    if (auto* failure = std::get_if<BackendFailure>(&compiled)) return std::move(*failure);
    return std::get<std::unique_ptr<Executable>>(compiled)->run(inputs);
}

std::string failure_of(const RunResult& result) {
    const auto* failure = std::get_if<BackendFailure>(&result);
    return failure ? failure->message : "";
}

}  // namespace

TEST_CASE("aot backends give eager's outputs and what is written", "[aot]") {
    Random random(1);
    const std::vector<Tensor> expected = evaluate(training(), std::vector{random_tensor(DType::f32, {4, 3}, random)});
    REQUIRE(expected.size() == 2);
    for (const Make make : kVariants) {
        const RunResult result = run(*make(), training());
        CAPTURE(make()->name(), failure_of(result));
        const auto* values = std::get_if<Values>(&result);
        REQUIRE(values);
        REQUIRE(values->size() == 2);
        for (std::size_t i = 0; i < 2; ++i) CHECK(same_bits(values->at(i), expected[i]));
    }
}

TEST_CASE("aot backends tell a wrong cut by the gradient that it changes", "[aot]") {
    const Planted bug("partition");
    for (const Make make : kVariants) {
        const RunResult result = run(*make(), training());
        CHECK_THAT(failure_of(result), Catch::Contains("the gradient of 'w' is another one"));
        CHECK(std::get<BackendFailure>(result).mismatch == "value");
    }
    Graph inference = training();
    inference.attributes["w"] = inference.attributes["w"].with_requires_grad(false);
    for (Node& node : inference.nodes)
        for (ValueMeta& meta : node.results) meta.requires_grad = false;
    CHECK(failure_of(run(*make_aot_eager_backend(), inference)) == "");
}

TEST_CASE("decompositions of the joint graph are checked, too", "[aot]") {
    const Planted bug("decompose=aten.hardtanh.default");
    CHECK(failure_of(run(*make_aot_eager_backend(), training())) == "");
    CHECK_THAT(failure_of(run(*make_aot_eager_decomp_partition_backend(), training())),
               Catch::Contains("the gradient of 'w' is another one"));
}

}  // namespace whittle

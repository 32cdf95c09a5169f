// aot_eager and its variants: outputs are eager's. Their gradients are in test/run/gradients_test.cpp.
#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "run_on.h"
#include "tensor/compare.h"
#include "tensor/random.h"

namespace whittle {
namespace {

constexpr const char* kVariants[] = {"aot_eager", "aot_eager_default_partitioner", "aot_eager_decomp_partition"};

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

RunResult run_training(Backend& backend, const BackendOptions& options = {}) {
    Random random(1);
    return test::run_on(backend, training(), {random_tensor(DType::f32, {4, 3}, random)}, options);
}

std::string message_of_failure(const RunResult& result) {
    const auto* failure = std::get_if<BackendFailure>(&result);
    return failure ? failure->message : "";
}

}  // namespace

TEST_CASE("aot backends give eager's outputs and what is written", "[aot]") {
    Random random(1);
    const std::vector<Tensor> expected = evaluate(training(), std::vector{random_tensor(DType::f32, {4, 3}, random)});
    REQUIRE(expected.size() == 2);
    for (const char* name : kVariants) {
        const RunResult result = run_training(*find_backend(name));
        CAPTURE(name, message_of_failure(result));
        const auto* values = std::get_if<Values>(&result);
        REQUIRE(values);
        REQUIRE(values->size() == 2);
        for (std::size_t i = 0; i < 2; ++i) CHECK(same_bits(values->at(i), expected[i]));
    }
}

TEST_CASE("fw and bw name the backends of the two parts", "[aot]") {
    Random random(1);
    const std::vector<Tensor> expected = evaluate(training(), std::vector{random_tensor(DType::f32, {4, 3}, random)});
    const auto backend = find_backend("aot_eager");
    for (const BackendOptions& options : {BackendOptions{{"fw", "halide"}}, BackendOptions{{"bw", "halide"}},
                                          BackendOptions{{"fw", "explain(eager)"}, {"bw", "aot_eager"}}}) {
        const RunResult result = run_training(*backend, options);
        CAPTURE(message_of_failure(result));
        const auto* values = std::get_if<Values>(&result);
        REQUIRE(values);
        REQUIRE(values->size() == 2);
        for (std::size_t i = 0; i < 2; ++i) CHECK(!compare(values->at(i), expected[i], Accuracy{}));
    }
    check_options(*backend, {{"fw", "halide"}, {"asserts", "off"}});
    CHECK_THROWS_WITH(check_options(*backend, {{"bw", "halid"}}), Catch::Contains("unknown backend 'halid'"));
    CHECK_THROWS_WITH(check_options(*backend, {{"bw", "halide"}, {"asserts", "maybe"}}),
                      Catch::Contains("backend option asserts"));
}

}  // namespace whittle

// The deliberately buggy backends, through the registry, in each dialect.
#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "run_on.h"
#include "tensor/compare.h"

using namespace whittle;

namespace {

Graph graph_around(const std::string& op) {
    Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[4]
  %w = get_attr["w"] : f32[4]
  %n = aten.add.Tensor(%x, %w) : f32[4]
  %r = )" + op + R"((%n) : f32[4]
  %y = aten.neg.default(%r) : f32[4]
  return (%y, %n)
})");
    graph.attributes["w"] = Tensor::of({0.5f, 0.5f, 0.5f, 0.5f});
    return graph;
}

const Tensor kInput = Tensor::of({-2.f, -1.f, 0.f, 3.f});
const char* const kRelus[] = {"aten.relu.default", "onnx.Relu"};

RunResult run_by_name(const std::string& backend, const Graph& graph) {
    return test::run_on(*find_backend(backend), graph, {kInput});
}

}  // namespace

TEST_CASE("relu_compile_error refuses a relu") {
    for (const char* relu : kRelus) {
        CompileResult result = find_backend("relu_compile_error_TESTING_ONLY")->compile(graph_around(relu), {});
        const BackendFailure failure = std::get<BackendFailure>(result);
        CHECK(failure.stage == "compile");
        CHECK(failure.op == relu);
        CHECK(failure.message == "ReluCompileError");
        CHECK_FALSE(failure.unsupported);
    }
}

TEST_CASE("relu_runtime_error compiles a relu and fails when it runs") {
    for (const char* relu : kRelus) {
        const BackendFailure failure =
            std::get<BackendFailure>(run_by_name("relu_runtime_error_TESTING_ONLY", graph_around(relu)));
        CHECK(failure.stage == "run");
        CHECK(failure.op == relu);
        CHECK(failure.message == "ReluRuntimeError");
    }
}

TEST_CASE("relu_accuracy_error computes relu(x) as x + 1") {
    for (const char* relu : kRelus) {
        const Values values = std::get<Values>(run_by_name("relu_accuracy_error_TESTING_ONLY", graph_around(relu)));
        REQUIRE(values.size() == 2);
        CHECK(values[0].values<float>() == std::vector<float>{0.5f, -0.5f, -1.5f, -4.5f});
        CHECK(values[1].values<float>() == std::vector<float>{-1.5f, -0.5f, 0.5f, 3.5f});
    }
}

TEST_CASE("without a relu they are right") {
    const Graph graph = graph_around("aten.exp.default");
    const std::vector<Tensor> expected = evaluate(graph, std::span(&kInput, 1));
    for (const char* name : {"relu_compile_error_TESTING_ONLY", "relu_runtime_error_TESTING_ONLY",
                             "relu_accuracy_error_TESTING_ONLY", "eager"}) {
        const Values values = std::get<Values>(run_by_name(name, graph));
        REQUIRE(values.size() == expected.size());
        for (std::size_t i = 0; i < values.size(); ++i) CHECK(same_bits(values[i], expected[i]));
    }
}

TEST_CASE("an op that nobody knows is unsupported, not a bug") {
    for (const char* name : {"relu_accuracy_error_TESTING_ONLY", "eager"}) {
        const Graph graph = graph_around("example.frobnicate");
        const BackendFailure failure = std::get<BackendFailure>(run_by_name(name, graph));
        CHECK(failure.unsupported);
        CHECK(failure.op == "example.frobnicate");
        CHECK(unsupported_by(*find_backend(name), graph) == std::vector<std::string>{"example.frobnicate"});
    }
}

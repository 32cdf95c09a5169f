// aot_eager and its variants: outputs are eager's, gradients are computed beside them, and a wrong cut is told.
#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "planted/bugs.h"
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

RunResult run(Backend& backend, const Graph& graph, const BackendOptions& options = {}) {
    Random random(1);
    const std::vector<Tensor> inputs = {random_tensor(DType::f32, {4, 3}, random)};
    CompileResult compiled = backend.compile(graph, options);
    if (auto* failure = std::get_if<BackendFailure>(&compiled)) return std::move(*failure);
    return std::get<std::unique_ptr<Executable>>(compiled)->run(inputs);
}

/// eager, but for an op that it says it does not take.
class WithoutHardtanh final : public Backend, public Support {
  public:
    std::string name() const override { return "aot_test_without_hardtanh"; }
    std::string description() const override { return "eager without a composite"; }
    std::vector<std::string> unsupported(const Graph& graph) const override {
        std::vector<std::string> targets;
        for (const Node& node : graph.nodes)
            if (node.target.starts_with("aten.hardtanh")) targets.push_back(node.target);
        return targets;
    }
    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        return find_backend("eager")->compile(graph, options);
    }
};

std::string failure_of(const RunResult& result) {
    const auto* failure = std::get_if<BackendFailure>(&result);
    return failure ? failure->message : "";
}

}  // namespace

TEST_CASE("aot backends give eager's outputs and what is written", "[aot]") {
    Random random(1);
    const std::vector<Tensor> expected = evaluate(training(), std::vector{random_tensor(DType::f32, {4, 3}, random)});
    REQUIRE(expected.size() == 2);
    for (const char* name : kVariants) {
        const RunResult result = run(*find_backend(name), training());
        CAPTURE(name, failure_of(result));
        const auto* values = std::get_if<Values>(&result);
        REQUIRE(values);
        REQUIRE(values->size() == 2);
        for (std::size_t i = 0; i < 2; ++i) CHECK(same_bits(values->at(i), expected[i]));
    }
}

TEST_CASE("aot backends tell a wrong cut by the gradient that it changes", "[aot]") {
    const Planted bug("partition");
    for (const char* name : kVariants) {
        const RunResult result = run(*find_backend(name), training());
        CHECK_THAT(failure_of(result), Catch::Contains("the gradient of 'w' is another one"));
        CHECK(std::get<BackendFailure>(result).mismatch == "value");
    }
    Graph inference = training();
    inference.attributes["w"] = inference.attributes["w"].with_requires_grad(false);
    for (Node& node : inference.nodes)
        for (ValueMeta& meta : node.results) meta.requires_grad = false;
    CHECK(failure_of(run(*find_backend("aot_eager"), inference)) == "");
}

TEST_CASE("decompositions of the joint graph are checked, too", "[aot]") {
    const Planted bug("decompose=aten.hardtanh.default");
    CHECK(failure_of(run(*find_backend("aot_eager"), training())) == "");
    CHECK_THAT(failure_of(run(*find_backend("aot_eager_decomp_partition"), training())),
               Catch::Contains("the gradient of 'w' is another one"));
}

TEST_CASE("fw and bw name the backends of the two parts", "[aot]") {
    Random random(1);
    const std::vector<Tensor> expected = evaluate(training(), std::vector{random_tensor(DType::f32, {4, 3}, random)});
    const auto backend = find_backend("aot_eager");
    for (const BackendOptions& options : {BackendOptions{{"fw", "halide"}}, BackendOptions{{"bw", "halide"}},
                                          BackendOptions{{"fw", "explain(eager)"}, {"bw", "aot_eager"}}}) {
        const RunResult result = run(*backend, training(), options);
        CAPTURE(failure_of(result));
        const auto* values = std::get_if<Values>(&result);
        REQUIRE(values);
        REQUIRE(values->size() == 2);
        for (std::size_t i = 0; i < 2; ++i) CHECK(!compare(values->at(i), expected[i], Accuracy{}));
    }
    check_options(*backend, {{"fw", "halide"}, {"asserts", "off"}});
    CHECK_THROWS_WITH(check_options(*backend, {{"bw", "halid"}}), Catch::Contains("there is no backend 'halid'"));
    CHECK_THROWS_WITH(check_options(*backend, {{"bw", "halide"}, {"asserts", "maybe"}}),
                      Catch::Contains("backend option asserts"));
}

TEST_CASE("each part is compiled by the backend that is named for it", "[aot]") {
    // Only halide lowers. Backward is given the tangent hyperbolic that forward computed, or computes it again.
    const Planted bug("lower=aten.tanh.default");
    const auto wrong_gradient = [](const char* partition, const char* part) {
        const RunResult result =
            run(*find_backend("aot_eager"), training(), {{"partition", partition}, {part, "halide"}});
        return failure_of(result).find("the gradient of 'w' is another one") != std::string::npos;
    };
    CHECK(wrong_gradient("default", "fw"));
    CHECK(!wrong_gradient("default", "bw"));
    CHECK(!wrong_gradient("min_cut", "fw"));
    CHECK(wrong_gradient("min_cut", "bw"));
}

TEST_CASE("decompositions=backend takes apart what the named backends do not take", "[aot]") {
    const Planted bug("decompose=aten.hardtanh.default");
    const auto fails = [](const BackendOptions& options) {
        return failure_of(run(*find_backend("aot_eager"), training(), options)) != "";
    };
    CHECK(fails({{"decompositions", "core"}}));
    CHECK(!fails({{"decompositions", "backend"}}));
    CHECK(!fails({{"decompositions", "backend"}, {"fw", "eager"}, {"bw", "eager"}}));
    add_backend("aot_test_without_hardtanh", [] { return std::make_unique<WithoutHardtanh>(); });
    CHECK(fails({{"decompositions", "backend"}, {"fw", "aot_test_without_hardtanh"}}));
}

}  // namespace whittle

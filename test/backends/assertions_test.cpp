// Assertions of a graph hold whatever runs it: where one fails, op, place, message and value are told.
#include <catch2/catch.hpp>
#include <map>

#include "backends/registry.h"
#include "compile/compile.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "passes/assertions.h"
#include "passes/dce.h"

using namespace whittle;

namespace {

/// What it refuses is read by nobody, and, where it `writes`, written over afterwards.
Graph refusing(bool writes, std::int64_t size = 2) {
    const std::string type = "f32[" + std::to_string(size) + "]";
    Graph graph = parse("graph g {\n  %x = placeholder[\"x\"] : " + type +
                        "\n  %s = aten.sum.default(%x) : f32[]\n"
                        "  %positive = aten.gt.Scalar(%s, 0) : bool[]\n"
                        "  %a = aten._functional_assert_async.msg(%positive, \"the sum is positive\", %s) : f32[]\n" +
                        (writes ? "  %z = aten.fill_.Scalar(%positive, true) : bool[]\n"
                                  "  %w = aten.mul_.Scalar(%x, 2) : " +
                                      type + "\n"
                                : "  %w = aten.mul.Scalar(%x, 2) : " + type + "\n") +
                        "  return (%w)\n}\n");
    for (Node& node : graph.nodes)
        if (node.name == "a") node.stack = {{"model.cpp", 12, 1, "f", ""}};
    return graph;
}

std::unique_ptr<Executable> compiled_by(const std::string& name, const Graph& graph) {
    static std::map<std::string, std::unique_ptr<Backend>> backends;  // they outlive what they compile
    std::unique_ptr<Backend>& backend = backends[name];
    if (!backend) backend = find_backend(name);
    CompileResult result = program::compile(*backend, graph, {});
    if (const auto* failure = std::get_if<BackendFailure>(&result)) FAIL(failure->message);
    auto* const executable = std::get_if<std::unique_ptr<Executable>>(&result);
    REQUIRE(executable);
    return std::move(*executable);
}

constexpr const char* kBackends[] = {"eager",          "eager_noexcept", "eager_debug",
                                     "roundtrip",      "aot_eager",      "aot_eager_default_partitioner",
                                     "explain(eager)", "halide"};

}  // namespace

TEST_CASE("every backend runs the assertions of a graph", "[assertions]") {
    for (const char* name : kBackends) {
        INFO(name);
        const auto executable = compiled_by(name, refusing(false));
        const RunResult good = executable->run(std::vector<Tensor>{Tensor::of<float>({3, -1})});
        REQUIRE(std::holds_alternative<Values>(good));
        REQUIRE(std::get<Values>(good).size() == 1);
        CHECK(std::get<Values>(good)[0].values<float>() == std::vector<float>{6, -2});
        const RunResult bad = executable->run(std::vector<Tensor>{Tensor::of<float>({-3, 1})});
        REQUIRE(std::holds_alternative<BackendFailure>(bad));
        const auto& failure = std::get<BackendFailure>(bad);
        CHECK(failure.stage == "run");
        CHECK_THAT(failure.message,
                   Catch::Contains("graph g, node %a (aten._functional_assert_async.msg), model.cpp:12") &&
                       Catch::Contains("the sum is positive: found -2"));
    }
}

TEST_CASE("an assertion is about the value as it was there, and what is written comes behind the outputs",
          "[assertions]") {
    for (const char* name : {"eager", "eager_noexcept", "roundtrip", "aot_eager"}) {
        INFO(name);
        const auto executable = compiled_by(name, refusing(true));
        const RunResult good = executable->run(std::vector<Tensor>{Tensor::of<float>({3, -1})});
        REQUIRE(std::holds_alternative<Values>(good));
        REQUIRE(std::get<Values>(good).size() == 2);  // the output, and what the input is at the end
        CHECK(std::get<Values>(good)[1].values<float>() == std::vector<float>{6, -2});
        const RunResult bad = executable->run(std::vector<Tensor>{Tensor::of<float>({-3, 1})});
        REQUIRE(std::holds_alternative<BackendFailure>(bad));
        CHECK_THAT(std::get<BackendFailure>(bad).message, Catch::Contains("the sum is positive: found -2"));
    }
}

TEST_CASE("at other sizes assertions are run, too", "[assertions]") {
    const auto first = compiled_by("eager_noexcept", refusing(false));
    const auto second = at_other_sizes(first.get(), refusing(false, 3));
    REQUIRE(second);
    CHECK(std::holds_alternative<Values>(second->run(std::vector<Tensor>{Tensor::of<float>({1, 1, 1})})));
    CHECK(std::holds_alternative<BackendFailure>(second->run(std::vector<Tensor>{Tensor::of<float>({1, -1, -1})})));
}

TEST_CASE("dead code goes, assertions stay", "[assertions]") {
    const Graph graph = refusing(false);
    CHECK(dce(graph).calls().size() == graph.calls().size());
    CHECK(dce(without_assertions(graph)).calls().size() == 1);
    const AssertedOutputs outputs = assertions_as_outputs(graph);
    CHECK(outputs.graph.outputs().size() == 3);
    CHECK(outputs.outputs == 1);
    REQUIRE(outputs.asserted.size() == 1);
    CHECK(outputs.asserted[0].message == "the sum is positive");
}

TEST_CASE("an assertion about a number is refused by name", "[assertions]") {
    const Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : bool[]\n"
        "  %a = aten._functional_assert_async.msg(%x, \"holds\", 3) : bool[]\n"
        "  return (%x)\n}\n");
    CHECK_THROWS_WITH(assertions_as_outputs(graph),
                      Catch::Contains("%a") && Catch::Contains("found a number as 'dep_token', expected a tensor"));
}

#include "backends/plugin/plugin.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "tensor/compute.h"

using namespace whittle;

namespace {

/// One of the libraries that test/CMakeLists.txt builds from plugins/example.c.
std::filesystem::path library(const std::string& name) {
    return std::filesystem::path(WHITTLE_TEST_PLUGINS) / ("plugin_" + name + ".so");
}

std::unique_ptr<Backend> example_backend(const std::string& name) { return load_plugin(library("many"), name); }

const char* const kNeg = R"(graph g {
  %x = placeholder["x"] : f32[2]
  %y = aten.neg.default(%x) : f32[2]
  return (%y)
})";

CompileResult compile_example(const std::string& backend, const BackendOptions& options = {}) {
    return example_backend(backend)->compile(parse(kNeg), options);
}

RunResult run_example(const std::string& backend, const BackendOptions& options = {}) {
    CompileResult compiled = compile_example(backend, options);
    REQUIRE(std::holds_alternative<std::unique_ptr<Executable>>(compiled));
    const Tensor input = Tensor::of({3.f, -4.f});
    return std::get<std::unique_ptr<Executable>>(compiled)->run(std::span(&input, 1));
}

}  // namespace

TEST_CASE("a plug-in in C compiles, takes options and runs") {
    const Values values = std::get<Values>(run_example("identity", {{"scale", "0.5"}}));
    REQUIRE(values.size() == 1);
    CHECK(values[0].values<float>() == std::vector<float>{1.5f, -2.f});
    CHECK(example_backend("identity")->name() == "identity");
    CHECK(example_backend("identity")->description() == "returns its inputs");
}

TEST_CASE("an executable outlives its backend and runs again") {
    std::unique_ptr<Executable> executable;
    {
        const std::unique_ptr<Backend> backend = example_backend("identity");
        executable = std::move(std::get<std::unique_ptr<Executable>>(backend->compile(parse(kNeg), {})));
    }
    for (const float value : {1.f, 2.f}) {
        const Tensor input = Tensor::of({value, value});
        CHECK(same_bits(std::get<Values>(executable->run(std::span(&input, 1)))[0], input));
    }
}

TEST_CASE("what a plug-in does not implement is told apart from failing") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2]
  %y = aten.sin.default(%x) : f32[2]
  return (%y)
})");
    const BackendFailure failure = std::get<BackendFailure>(example_backend("identity")->compile(graph, {}));
    CHECK(failure.unsupported);
    CHECK(failure.stage == "compile");
    CHECK(failure.op == "aten.sin.default");
    CHECK(failure.message == "sin is not implemented");
    CHECK(unsupported_by(*example_backend("identity"), graph) == std::vector<std::string>{"aten.sin.default"});
    CHECK(unsupported_by(*example_backend("identity"), parse(kNeg)).empty());
    CHECK(offered<Support>(*example_backend("identity")));
    CHECK_FALSE(offered<Support>(*example_backend("silent")));  // it has no such function
}

TEST_CASE("a plug-in may ask for a break or a skip") {
    const BreakRequest stop = std::get<BreakRequest>(compile_example("asks_break"));
    CHECK(stop.reason == "stop here");
    CHECK(stop.node == 1);
    CHECK(std::get<SkipRequest>(compile_example("asks_skip")).reason == "too small to bother");
    CHECK_THAT(std::get<BackendFailure>(compile_example("asks_bad_break")).message, Catch::Contains("'nowhere'"));
}

TEST_CASE("failures carry the plug-in's words, or say that it gave none") {
    CHECK(std::get<BackendFailure>(compile_example("silent")).message == "failed without a message");
    CHECK(std::get<BackendFailure>(compile_example("unknown_status")).message == "returned the unknown status 99");
    const BackendFailure failure = std::get<BackendFailure>(run_example("fails"));
    CHECK(failure.stage == "run");
    CHECK(failure.op == "aten.neg.default");
    CHECK(failure.message == "kernel fault");
    CHECK_FALSE(failure.unsupported);
    CHECK(std::get<BackendFailure>(run_example("silent_run")).message == "failed without a message");
}

TEST_CASE("outputs that break the rules are failures") {
    const std::pair<const char*, const char*> cases[] = {
        {"nothing", "output 0 of 1 is missing"},
        {"twice", "output 0 was passed twice"},
        {"index_7", "output 7 does not exist: expected 1 output"},
        {"dtype_99", "output 0: found dtype 99, expected 0 to 16"},
        {"rank_minus_1", "output 0: found rank -1"},
        {"no_sizes", "output 0: found rank 1 and no sizes, expected rank 0 to 64 and a pointer to the sizes"},
        {"negative_size", "output 0: found sizes [-2]"},
        {"overflow", "expected a tensor of fewer than 2^63 elements"},
        {"large", "expected a tensor that fits in memory"},
        {"no_data", "output 0: found no data for sizes [2], expected a pointer to the elements"},
        {"misaligned", "output 0: found data that is not aligned"},
        {"null_output", "output 0 is a null pointer"},
    };
    for (const auto& [name, expected] : cases) {
        const RunResult result = run_example(name);
        REQUIRE(std::holds_alternative<BackendFailure>(result));
        CHECK(std::get<BackendFailure>(result).stage == "run");
        CHECK_THAT(std::get<BackendFailure>(result).message,
                   Catch::StartsWith("returned success, but ") && Catch::Contains(expected));
    }
}

TEST_CASE("outputs may be strided, expanded, empty, and bools of any byte") {
    CHECK(std::get<Values>(run_example("backwards"))[0].values<float>() == std::vector<float>{6, 4});
    CHECK(std::get<Values>(run_example("expanded"))[0].values<float>() == std::vector<float>{3, 3, 3, 3});
    CHECK(std::get<Values>(run_example("empty"))[0].sizes() == Sizes{0});
    const Tensor bools = std::get<Values>(run_example("bools"))[0];
    CHECK(same_bits(bools, Tensor::of(std::vector<bool>{false, true, true, true}, {4})));
}

TEST_CASE("attributes come by name, large ones by hash too, nested ones after their graph") {
    Graph nested = parse("graph n {\n  %x = placeholder[\"x\"] : f32[2]\n  return (%x)\n}");
    nested.attributes["w"] = Tensor::of({7.f});
    for (const bool large : {false, true}) {
        Graph graph = parse(kNeg);
        if (large)
            graph.attributes["w"] = Tensor::of(std::vector<float>(100, 7.f), {100});
        else
            graph.subgraphs["body"] = std::make_shared<const Graph>(nested);
        const BackendFailure failure = std::get<BackendFailure>(example_backend("attributes")->compile(graph, {}));
        CHECK(failure.op == (large ? "w" : "body/w"));
        CHECK(failure.message == (large ? "has a hash" : "is in the JSON"));
    }
}

TEST_CASE("the only backend of a library needs no name") {
    CHECK(load_plugin(library("one"), "")->name() == "identity");
    CHECK_THROWS_WITH(load_plugin(library("many"), ""), Catch::Contains("expected the name of one backend"));
    CHECK_THROWS_WITH(example_backend("identiti"),
                      Catch::Contains("'identiti'") && Catch::Contains("did you mean 'identity'?"));
    CHECK(plugin_backends(library("many")).size() == 25);
}

TEST_CASE("a file that is no plug-in is an Error that says why") {
    TempDir folder;
    CHECK_THROWS_WITH(load_plugin(folder.path() / "none.so", ""), Catch::Contains("found no such file"));
    write_file(folder.path() / "text.so", "hello");
    CHECK_THROWS_WITH(load_plugin(folder.path() / "text.so", ""), Catch::Contains("cannot load the library"));
    CHECK_THROWS_WITH(load_plugin(library("no_symbol"), ""), Catch::Contains("'whittle_backends'"));
    CHECK_THROWS_WITH(load_plugin(library("version_2"), ""),
                      Catch::Contains("found interface version 2.0, expected 1.x"));
    CHECK_THROWS_WITH(load_plugin(library("no_run"), ""),
                      Catch::Contains("found no value of the member 'run' of a whittle_backend, expected a value"));
}

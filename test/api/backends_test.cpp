// Functions of the program as backends.
#define WHITTLE_API_IMPLEMENTATION
#include <whittle/whittle.h>

#include <catch2/catch.hpp>

#include "base/files.h"

using namespace whittle::api;

namespace {

Tensor network(const Tensor& x) { return relu(x + 1.0) * 2.0; }
Tensor line(const Tensor& x) { return (x + 1.0) * 2.0; }

/// As PyTorch's debugging guide has it: fails if the graph contains relu.
BackendAnswer toy_compiler(const BackendGraph& graph) {
    for (const BackendNode& node : graph.nodes)
        if (node.target == "aten.relu.default") throw std::out_of_range("no relu");
    return graph;
}

}  // namespace

TEST_CASE("a function is a backend, and what it throws is nested in a BackendError") {
    register_backend("toy_compiler", toy_compiler);
    for (const BackendName& backend : {BackendName("toy_compiler"), BackendName(toy_compiler)}) {
        CAPTURE(backend);
        CHECK(compile(line, {.backend = backend})(full({2}, 3)).to_vector<float>() == std::vector<float>{8, 8});
        const auto fails = compile(network, {.backend = backend});
        CHECK_THROWS_WITH(fails(ones({2})), Catch::Contains("toy_compiler failed at compile of graph network_0") &&
                                                Catch::Contains("no relu"));
        try {
            fails(ones({2}));
        } catch (const BackendError& error) {
            CHECK_THROWS_AS(std::rethrow_if_nested(error), std::out_of_range);
        }
    }
}

TEST_CASE("a backend whose code calls the function that it is run for is refused, not waited for") {
    std::function<Tensor(const Tensor&)> compiled;
    const auto calls_itself = [&](const BackendGraph&) {
        return [&](const TensorList& inputs) { return TensorList{compiled(inputs.at(0))}; };
    };
    compiled = compile(line, {.backend = calls_itself});
    CHECK_THROWS_WITH(compiled(ones({2})), Catch::Contains("while its graph is compiled or run on this thread"));
}

TEST_CASE("a backend function answers with a callable, a rewritten graph, or nothing") {
    int runs = 0;
    const auto counting = [&](const BackendGraph& graph) {
        CHECK(graph.inputs.size() == 1);
        CHECK(graph.inputs[0].sizes == std::vector<std::int64_t>{2});
        return [&runs, graph](const TensorList& inputs) {
            ++runs;
            return graph(inputs);
        };
    };
    const auto counted = compile(network, {.backend = counting});
    const std::vector<float> right = {4, 0};
    const Tensor x = tensor<float>({1, -2});
    CHECK(counted(x).to_vector<float>() == right);
    CHECK(counted(x).to_vector<float>() == right);
    CHECK(runs == 2);
    const auto nothing = [](const BackendGraph&) { return BackendAnswer(); };
    CHECK(compile(network, {.backend = nothing})(x).to_vector<float>() == right);
    const auto without_relu = [](const BackendGraph& graph) {
        std::string text = graph.text;
        text.replace(text.find("aten.relu.default"), 17, "aten.neg.default");
        return BackendAnswer::rewritten(text);
    };
    CHECK(compile(network, {.backend = without_relu})(x).to_vector<float>() == std::vector<float>{-4, 2});
    CHECK_THROWS_AS(compile(network, {.backend = without_relu, .verify = true})(x), VerifyError);
}

TEST_CASE("what a backend function returns is held against the graph, and what it writes is its own") {
    const Tensor x = ones({2});
    const auto answer = [](std::function<TensorList(const TensorList&)> callable) {
        return [callable = std::move(callable)](const BackendGraph&) { return BackendAnswer(callable); };
    };
    const auto run = [&](std::function<TensorList(const TensorList&)> callable) {
        return compile(line, {.backend = answer(std::move(callable))})(x);
    };
    CHECK_THROWS_WITH(run([](const TensorList&) { return TensorList(); }),
                      Catch::Contains("got 0 outputs, expected 1"));
    CHECK_THROWS_WITH(run([](const TensorList&) { return TensorList{ones({3})}; }),
                      Catch::Contains("output 0 is f32[3], expected f32[2]"));
    CHECK_THROWS_WITH(run([](const TensorList&) { return TensorList{Tensor()}; }), Catch::Contains("undefined tensor"));
    const auto writing = [](const TensorList& inputs) {
        Tensor own = inputs.at(0);
        own.add_(1.0);
        return TensorList{own};
    };
    CHECK(run(writing).to_vector<float>() == std::vector<float>{2, 2});
    CHECK(x.to_vector<float>() == std::vector<float>{1, 1});
}

TEST_CASE("names of backends are told apart, and minify is not asked about a function") {
    CHECK_THROWS_WITH(register_backend("halide", toy_compiler), Catch::Contains("'halide' already, which is built in"));
    CHECK_THROWS_WITH(register_backend("cmd:true", toy_compiler), Catch::Contains("expected one that is no path"));
    CHECK_THROWS_WITH(register_backend("none", nullptr), Catch::Contains("no function for 'none'"));
    const whittle::TempDir folder("backends-test");
    const auto log = folder.path() / "log";
    set_logs("", log.string());
    CHECK_THROWS_AS(compile(network, {.backend = toy_compiler,
                                      .repro_after = "capture",
                                      .base_dir = (folder.path() / "kept").string()})(ones({2})),
                    BackendError);
    set_logs("", "");
    CHECK(std::filesystem::exists(folder.path() / "kept" / "records" / "network_0.json"));
    CHECK_THAT(whittle::read_file(log), Catch::Contains("is a function of this program, which minify cannot run"));
}

// Functions of the program as backends.
#include <whittle/whittle.h>

#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/files.h"

using namespace whittle;

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

TEST_CASE("what a function as backend throws of a backward graph is nested in what asking for gradients throws") {
    const auto forward_only = [](const BackendGraph& graph) -> BackendAnswer {
        if (graph.name.ends_with("_backward")) throw std::out_of_range("no backward");
        return graph;
    };
    Tensor x = ones({2});
    x.requires_grad_();
    const Tensor y = compile(line, {.backend = forward_only})(x).sum();
    for (int i = 0; i < 2; ++i) try {
            y.backward({}, true);
            FAIL("it has gradients");
        } catch (const BackendError& error) {
            CHECK_THAT(error.what(), Catch::Contains("no backward"));
            CHECK_THROWS_AS(std::rethrow_if_nested(error), std::out_of_range);
        }
}

TEST_CASE("a backend whose code calls the function that it is run for is refused, not waited for") {
    std::function<Tensor(const Tensor&)> compiled;
    const auto calls_itself = [&](const BackendGraph&) {
        return [&](const TensorList& inputs) { return TensorList{compiled(inputs.at(0))}; };
    };
    compiled = compile(line, {.backend = calls_itself});
    CHECK_THROWS_WITH(compiled(ones({2})),
                      Catch::Contains("while this thread compiles or runs the graph of this function"));
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

TEST_CASE("names of backends are told apart") {
    CHECK_THROWS_WITH(register_backend("halide", toy_compiler), Catch::Contains("cannot add a backend 'halide'"));
    CHECK_THROWS_WITH(register_backend("cmd:true", toy_compiler),
                      Catch::Contains("expected a name that is neither a path"));
    CHECK_THROWS_WITH(register_backend("none", nullptr), Catch::Contains("an empty function for 'none'"));
}

namespace {

/// As the graph says; of a relu, `wrong` of its results.
BackendAnswer with_relu(const BackendGraph& graph, void (*wrong)(TensorList& results)) {
    for (const BackendNode& node : graph.nodes)
        if (node.target == "aten.relu.default")
            return BackendAnswer([graph, wrong](const TensorList& inputs) {
                TensorList results = graph(inputs);
                wrong(results);
                return results;
            });
    return graph;
}

/// What the log says of a function as backend that fails, and the graph that it was minimized to.
struct Kept {
    std::string log, graph;
};
Kept kept_of(BackendFunction backend, int level, const std::string& after = "capture") {
    const TempDir folder("backends-test");
    const auto log = folder.path() / "log";
    set_logs("", log.string());
    const auto longer = [](Tensor x) { return ((x * 2 - 1).relu().exp() + 3).tanh(); };
    CHECK_THROWS(compile(longer, {.backend = std::move(backend),
                                  .repro_after = after,
                                  .repro_level = level,
                                  .base_dir = (folder.path() / "kept").string(),
                                  .name = "longer"})(ones({2}).requires_grad_(after == "aot")));
    set_logs("", "");
    const auto records = folder.path() / "kept" / "records";
    CHECK(std::filesystem::exists(records / "longer_0.json"));
    const auto minimized = records / "longer_0.min.json";
    return {read_file(log), std::filesystem::exists(minimized) ? read_file(minimized) : ""};
}

}  // namespace

TEST_CASE("what a function as backend fails on is minimized in children of this process") {
    using Catch::Contains;
    const auto throws = [](const BackendGraph& graph) {
        return with_relu(graph, [](TensorList&) { throw std::runtime_error("no relu today"); });
    };
    const auto miscomputes = [](const BackendGraph& graph) {
        return with_relu(graph, [](TensorList& results) { results[0] = results[0] + 1; });
    };
    for (const auto& [backend, level, words] : {std::tuple(BackendFunction(toy_compiler), 2, "no relu"),
                                                std::tuple(BackendFunction(throws), 2, "no relu today"),
                                                std::tuple(BackendFunction(miscomputes), 4, "mismatch")}) {
        CAPTURE(words);
        const Kept kept = kept_of(backend, level);
        CHECK_THAT(kept.log, Contains("minimized from 6 to 1 op: ") && Contains("longer_0.min.json"));
        CHECK_THAT(kept.graph, Contains("aten.relu.default") && Contains(words));
        CHECK_THAT(kept.graph, !Contains("aten.tanh.default"));
    }
    // With gradients the forward graph fails, which has a name of its own; a candidate without any is the graph itself.
    const Kept forward = kept_of(toy_compiler, 2, "aot");
    CHECK_THAT(forward.log, Contains("to 1 op: "));
    CHECK_THAT(forward.graph, Contains("aten.relu.default") && !Contains("aten.tanh.default"));
    const Kept first = kept_of(toy_compiler, 1);
    CHECK_THAT(first.log, Contains("because only this process has the backend"));
    CHECK(first.graph.empty());
}

TEST_CASE("what a function as backend fails on in a backward pass is kept and minimized, too") {
    using Catch::Contains;
    const auto in_backward = [](std::function<void(TensorList & gradients)> act) {
        return BackendFunction([act](const BackendGraph& graph) -> BackendAnswer {
            if (graph.name.find("backward") == std::string::npos) return graph;
            return BackendAnswer([graph, act](const TensorList& inputs) {
                TensorList gradients = graph(inputs);
                act(gradients);
                return gradients;
            });
        });
    };
    const auto throws = [](TensorList&) { throw std::runtime_error("no gradients today"); };
    const auto miscomputes = [](TensorList& gradients) { gradients[0] = gradients[0] + 1; };
    for (const auto& [backend, level, words] : {std::tuple(in_backward(throws), 2, "no gradients today"),
                                                std::tuple(in_backward(miscomputes), 4, "mismatch")}) {
        CAPTURE(words);
        const TempDir folder("backends-test");
        const auto log = folder.path() / "log";
        set_logs("", log.string());
        const auto function =
            compile([](Tensor x) { return ((x * 2).relu().exp() + 3).sum(); }, {.backend = backend,
                                                                                .repro_after = "capture",
                                                                                .repro_level = level,
                                                                                .base_dir = folder.path().string(),
                                                                                .name = "f"});
        CHECK_THROWS(function(ones({2}).requires_grad_()).backward());
        set_logs("", "");
        const auto records = folder.path() / "records";
        REQUIRE(std::filesystem::exists(records / "f_0_backward.json"));
        CHECK_THAT(read_file(log), Contains("to 1 op: ") && Contains("f_0_backward.min.json"));
        CHECK_THAT(read_file(records / "f_0_backward.min.json"), Contains(words));
    }
}

TEST_CASE("a function as backend that aborts is minimized, and the process lives on") {
    // It aborts where it is asked again: the process itself would not come to ask.
    const pid_t own = getpid();
    const auto aborts = [own](const BackendGraph& graph) {
        for (const BackendNode& node : graph.nodes)
            if (node.target == "aten.relu.default") {
                if (getpid() != own) std::abort();
                throw std::runtime_error("it would abort");
            }
        return BackendAnswer(graph);
    };
    const Kept kept = kept_of(aborts, 2);
    CHECK_THAT(kept.log, Catch::Contains("minimized from 6 to 1 op: "));
    CHECK_THAT(kept.graph, Catch::Contains("SIGABRT") && Catch::Contains("aten.relu.default"));
}

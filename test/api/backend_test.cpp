// Backends that fail, give wrong results, ask for breaks or skip; explain() inside a program.
#define WHITTLE_API_IMPLEMENTATION
#include <whittle/whittle.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <thread>

#include "api/frame.h"
#include "api/piecewise.h"
#include "backends/eager/eager.h"
#include "base/files.h"
#include "environment_variable.h"
#include "ops/core/interpreter.h"
#include "ops/core/memory.h"
#include "planted_backend.h"
#include "replay/recapture.h"
#include "trace/frame_record.h"

using namespace whittle;
using test::EnvironmentVariable;

namespace {

api::Tensor network(const api::Tensor& x) {
    const api::Tensor y = api::relu(x + 1.0);
    return y * 2.0;
}

/// Asks for a break at every relu, and otherwise is eager.
class Picky final : public Backend {
  public:
    std::string name() const override { return "picky"; }
    std::string description() const override { return "breaks at relu"; }
    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        if (skips) return SkipRequest{"it does not like it"};
        for (std::size_t i = 0; i < graph.nodes.size(); ++i)
            if (graph.nodes[i].target == "aten.relu.default")
                return BreakRequest{"no relu here", static_cast<NodeId>(i)};
        compiled.push_back(graph.name);
        return eager_->compile(graph, options);
    }
    bool skips = false;
    std::vector<std::string> compiled;

  private:
    std::unique_ptr<Backend> eager_ = make_eager_backend();
};

/// eager, and tells of each boxed call how many other owners the first input has; writes to inputs where it is told.
class Owners final : public Backend {
  public:
    std::string name() const override { return "owners"; }
    std::string description() const override { return "looks at who owns inputs"; }
    CompileResult compile(const Graph& graph, const BackendOptions&) override {
        return std::make_unique<Run>(graph, *this);
    }
    std::vector<long> others;
    bool writes = false, writes_boxed = false;

  private:
    struct Run final : Executable {
        Run(Graph g, Owners& o) : graph(std::move(g)), owners(o) {}
        RunResult run(std::span<const Tensor> inputs) override { return computed(inputs, owners.writes); }
        RunResult run_boxed(Values&& inputs) override {
            owners.others.push_back(inputs.at(0).storage().use_count() - 1);
            return computed(inputs, owners.writes_boxed);
        }
        RunResult computed(std::span<const Tensor> inputs, bool write) const {
            Values outputs = evaluate(graph, inputs);
            for (Tensor& output : outputs) output = own_copy(output);
            if (write) Tensor(inputs[0]).mutable_data<float>()[0] = 7;
            return outputs;
        }
        Graph graph;
        Owners& owners;
    };
};

}  // namespace

TEST_CASE("a backend's failure keeps its words and names it") {
    const EnvironmentVariable path("WHITTLE_BACKEND_PATH", WHITTLE_TEST_BACKENDS);
    const TempDir folder("api-backend");
    const EnvironmentVariable after("WHITTLE_REPRO_AFTER", "capture"), base("WHITTLE_BASE_DIR", folder.path().string());
    const EnvironmentVariable level("WHITTLE_REPRO_LEVEL", "1");
    const auto fails = api::compile(network, {.backend = "relu_compile_error_TESTING_ONLY"});
    CHECK_THROWS_AS(fails(api::ones({2})), api::BackendError);
    CHECK_THROWS_WITH(
        fails(api::ones({2})),
        Catch::Contains("backend relu_compile_error_TESTING_ONLY failed at compile") && Catch::Contains("of network"));
    CHECK(std::filesystem::exists(folder.path() / "records" / "network_0.json"));
    const auto breaks = api::compile(network, {.backend = "relu_runtime_error_TESTING_ONLY"});
    CHECK_THROWS_WITH(breaks(api::ones({2})), Catch::Contains("failed at run"));
    CHECK((api::ones({1}) + 1.0).item<float>() == 2);
    CHECK_THROWS_WITH(api::compile(network, {.backend = "halid"})(api::ones({2})), Catch::Contains("halide"));
}

TEST_CASE("verify refuses wrong results, and leaves inputs as they were") {
    const EnvironmentVariable path("WHITTLE_BACKEND_PATH", WHITTLE_TEST_BACKENDS);
    const api::Tensor x = api::ones({2});
    const std::string backend = "relu_accuracy_error_TESTING_ONLY";
    CHECK(api::compile(network, {.backend = backend})(x).to_vector<float>() != network(x).to_vector<float>());
    CHECK_THROWS_AS(api::compile(network, {.backend = backend, .verify = true})(x), api::VerifyError);
    const auto writes = api::compile(
        [](const api::Tensor& t) {
            t.add_(1.0);
            return api::relu(t);
        },
        {.backend = backend, .verify = true});
    CHECK_THROWS_WITH(writes(x), Catch::Contains("output 0"));
    CHECK(x.to_vector<float>() == std::vector<float>{1, 1});
    CHECK(api::compile(network, {.backend = "halide", .verify = true})(x).equal(network(x)));
}

TEST_CASE("verify tells what a backend writes to, and restores it") {
    const auto compiled = api::compile(network, {.verify = true});
    auto owned = std::make_unique<Owners>();
    Owners& backend = *owned;
    compiled.state().backend = std::move(owned);
    const api::Tensor x = api::full({2}, 3.0).requires_grad_();
    const api::Tensor y = compiled(x);
    backend.writes_boxed = true;
    CHECK_THROWS_WITH(y.sum().backward(), Catch::Contains("backward: the backend wrote to input 0"));
    backend.writes = true;
    CHECK_THROWS_WITH(compiled(x), Catch::Contains("wrote to input 0") && Catch::Contains("got 7, expected 3"));
    CHECK_THROWS_AS(compiled(x), api::VerifyError);
    CHECK(x.to_vector<float>() == std::vector<float>{3, 3});
}

TEST_CASE("what is saved for backward is handed over when it is not needed again") {
    const auto compiled = api::compile([](const api::Tensor& x) { return api::tanh(x).exp(); });
    auto owned = std::make_unique<Owners>();
    const Owners& backend = *owned;
    compiled.state().backend = std::move(owned);
    const api::Tensor x = api::full({2}, 0.5).requires_grad_();
    const auto sum = [&] { return compiled(x * 1.0).sum(); };
    const api::Tensor first = sum();
    first.backward({}, true);
    first.backward();
    REQUIRE(backend.others.size() == 2);
    CHECK(backend.others[0] > backend.others[1]);
    CHECK(backend.others[1] == 0);
}

TEST_CASE("a break that the backend asks for is carried out") {
    const auto compiled = api::compile(network);
    auto backend = std::make_unique<Picky>();
    Picky& picky = *backend;
    compiled.state().backend = std::move(backend);
    CHECK(compiled(api::full({2}, -3)).to_vector<float>() == std::vector<float>{0, 0});
    CHECK(compiled(api::full({2}, 3)).to_vector<float>() == std::vector<float>{8, 8});
    CHECK(picky.compiled.size() == 2);
    CHECK(compiled.stats().breaks == 1);
    picky.compiled.clear();
    picky.skips = true;
    CHECK(compiled(api::full({3}, 3)).to_vector<float>() == std::vector<float>{8, 8, 8});
    CHECK(compiled(api::full({4}, 3)).numel() == 4);
    CHECK(picky.compiled.empty());
    CHECK(compiled.stats().graphs == 2);  // the second one eagerly; then the function is no longer captured
}

TEST_CASE("values that are read before and behind a requested break are kept") {
    const auto f = [](const api::Tensor& x) {
        const api::Tensor y = x + 1.0, z = y * 3.0;
        return api::relu(z) + y + z;
    };
    const auto compiled = api::compile(f);
    compiled.state().backend = std::make_unique<Picky>();
    CHECK(compiled(api::full({2}, 3)).equal(f(api::full({2}, 3))));
}

TEST_CASE("while a backend compiles, the function's numbers can be read") {
    PlantedBackend planted;
    const auto compiled = api::compile(network, {.name = "network"});
    std::atomic<bool> answered = false;
    planted.on_compile = [&](const Graph&) {
        std::thread asker([&] {
            answered = compiled.stats().calls == 1;
            answered.notify_all();
        });
        // A backend may take minutes; this one gives up.
        for (int i = 0; i < 200 && !answered; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
        asker.detach();
        CHECK(answered);
    };
    compiled.state().backend = std::make_unique<PlantedBackend>(planted);
    CHECK(compiled(api::ones({2})).sum().item<float>() == 8);
}

TEST_CASE("arguments get their names on one thread while another one calls the function") {
    constexpr int kArguments = 900;
    const auto function = api::make_function({.cache_limit = 1, .name = "f"}, nullptr, "f");
    const auto describe = [](api::Visitor& visitor) {
        for (std::size_t i = 0; i < kArguments; ++i) {
            visitor.enter(i);
            visitor.opaque("int");
            visitor.leave();
        }
    };
    api::run_frame(*function, describe, [] {});  // makes the specialization that is executed
    std::atomic<bool> go = false;
    std::jthread namer([&] {
        api::Execution execution(*function, nullptr, 0);
        while (!go) std::this_thread::yield();
        for (int i = 0; i < kArguments; ++i)
            execution.argument_named("arg" + std::to_string(i), "the_long_name_of_argument_" + std::to_string(i));
    });
    go = true;
    for (int i = 0; i < 200; ++i) api::run_frame(*function, describe, [] {});
    CHECK(api::stats(*function).calls == 201);
}

TEST_CASE("explain tells what a function does") {
    const api::Explanation explanation = api::explain_with(
        {.name = "f", .arg_names = {"x"}},
        [](const api::Tensor& x) {
            const api::Tensor y = x * 2.0;
            return y.sum().item<float>() > 0 ? y + 1.0 : y;
        },
        api::ones({2}));
    CHECK(explanation.graph_count == 2);
    CHECK(explanation.graph_break_count == 1);
    CHECK(explanation.op_count == 3);
    CHECK(explanation.break_reasons == std::vector<std::string>{"item()"});
    CHECK(explanation.ops_per_graph ==
          std::vector<std::vector<std::string>>{{"aten.mul.Tensor", "aten.sum.default"}, {"aten.add.Tensor"}});
    CHECK(explanation.out_guards.at(0).at(2) == "L['x']: f32[2] strides=[1]");
    CHECK_THAT(explanation.text, Catch::Contains("Whittle produced 2 graphs, with 1 graph break and 3 ops."));
    CHECK_THAT(explanation.text, Catch::Contains("backend_test.cpp\", line"));
}

TEST_CASE("what is kept of a failure is an option, too") {
    const EnvironmentVariable path("WHITTLE_BACKEND_PATH", WHITTLE_TEST_BACKENDS);
    const TempDir folder("api-backend");
    const auto fails = api::compile(network, {.backend = "relu_compile_error_TESTING_ONLY",
                                              .repro_after = "aot",
                                              .repro_level = 1,
                                              .base_dir = folder.path().string(),
                                              .name = "network"});
    CHECK_THROWS_AS(fails(api::ones({2})), api::BackendError);
    CHECK(std::filesystem::exists(folder.path() / "records" / "network_0.json"));
    CHECK_THROWS_WITH(api::compile(network, {.repro_after = "lunch"}), Catch::Contains("expected 'capture' or 'aot'"));
    CHECK_THROWS_WITH(api::compile(network, {.repro_level = 5}), Catch::Contains("expected 1 to 4"));
}

TEST_CASE("capture that fails leaves its events") {
    const TempDir folder("api-events");
    const auto fails = api::compile(
        [](const api::Tensor& x) {
            const api::Tensor y = api::relu(x);
            if (y.sum().item<float>() > 0) return api::mm(y, y);
            return y;
        },
        {.replay_record = folder.path().string(), .name = "f"});
    CHECK_THROWS(fails(api::ones({2, 3})));
    const FrameRecord record = load_frame_record(folder.path() / "records" / "f_frame.json");
    REQUIRE(record.segments.size() == 2);
    CHECK(record.segments[0].break_id == "WB0003");
    CHECK(record.segments[0].outputs.size() == 2);
    REQUIRE(record.segments[1].failed.size() == 1);
    CHECK(record.segments[1].failed[0].call.target == "aten.mm.default");
    CHECK(recapture(record).differences.empty());
    CHECK(fails(api::zeros({2, 3})).sum().item<float>() == 0);
}

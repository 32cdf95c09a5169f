// Forward and backward as one question: gradients are computed beside outputs, and what is wrong in them is told as
// such.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "backends/registry.h"
#include "base/error.h"
#include "compile/gradients.h"
#include "compile/observer.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "judge/outcome.h"
#include "ops/core/interpreter.h"
#include "passes/no_grad.h"
#include "planted/bugs.h"
#include "tensor/random.h"

using namespace whittle;
using Catch::Contains;

namespace {

constexpr const char* kVariants[] = {"aot_eager", "aot_eager_default_partitioner", "aot_eager_decomp_partition"};

/// Writes to its input; relu6 is a composite.
const std::string kTraining = R"(graph training {
  %x = placeholder["x"] : f32[4, 3]
  %b = placeholder["b"] : f32[2] grad
  %w = get_attr["w"] : f32[3, 2] grad
  %scaled = aten.mul_.Scalar(%x, 2) : f32[4, 3]
  %h = aten.addmm.default(%b, %scaled, %w) : f32[4, 2] grad
  %a = aten.relu6.default(%h) : f32[4, 2] grad
  %y = aten.tanh.default(%a) : f32[4, 2] grad
  return (%y)
}
)";

Graph training(std::string text = kTraining) {
    Graph graph = parse(text);
    Random random(2);
    graph.attributes["w"] = random_tensor(DType::f32, {3, 2}, random).with_requires_grad(true);
    return graph;
}

std::vector<Tensor> some_inputs() {
    Random random(1);
    return {random_tensor(DType::f32, {4, 3}, random), random_tensor(DType::f32, {2}, random)};
}

Outcome run(const std::string& backend, const Graph& graph, const BackendOptions& options = {}) {
    const std::vector<Tensor> inputs = some_inputs(), expected = evaluate(graph, inputs);
    return judge(run_isolated(graph, inputs, *find_backend(backend), options, {}), graph, inputs, expected, {});
}

/// eager, but for an op that it says it does not take.
class WithoutHardtanh final : public Backend, public Support {
  public:
    std::string name() const override { return "gradients_test_without_hardtanh"; }
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

/// The sum of the first output times its tangent in f64.
double sum_of(const Graph& graph, const std::vector<Tensor>& inputs) {
    const std::vector<double> values = evaluate(graph, inputs).at(0).values<double>(),
                              tangents = program::differentiate_whole(graph)->tangents.at(0).values<double>();
    return std::inner_product(values.begin(), values.end(), tangents.begin(), 0.0);
}

Tensor shifted(const Tensor& tensor, std::size_t at, double by) {
    std::vector<double> values = tensor.values<double>();
    values[at] += by;
    return Tensor::of(values, tensor.sizes()).to(tensor.dtype());
}

}  // namespace

TEST_CASE("gradients of the weighted sum of the outputs come with the outputs", "[run][gradients]") {
    const std::vector<Tensor> inputs = some_inputs();
    for (const char* name : kVariants) {
        const Outcome outcome = run(name, training());
        CAPTURE(outcome.message);
        CHECK(outcome.kind == Outcome::Kind::ok);
        CHECK(outcome.outputs.size() == 2);  // and what x is in the end
        REQUIRE(outcome.gradients.size() == 2);
        const std::vector<double> gradient = outcome.gradients[0].values<double>();
        for (std::size_t i = 0; i < gradient.size(); ++i) {  // by finite differences
            constexpr double kStep = 1e-2;
            const std::vector<Tensor> up = {inputs[0], shifted(inputs[1], i, kStep)},
                                      down = {inputs[0], shifted(inputs[1], i, -kStep)};
            CHECK(gradient[i] ==
                  Approx((sum_of(training(), up) - sum_of(training(), down)) / (2 * kStep)).epsilon(1e-2).margin(1e-3));
        }
    }
}

TEST_CASE("a wrong cut is told by the gradient that it changes", "[run][gradients]") {
    const Planted bug("partition");
    for (const char* name : kVariants) {
        const Outcome outcome = run(name, training());
        CHECK_THAT(outcome.message, Contains("gradient of input 1 (b) [0]: got"));
        CHECK(signature_of(outcome).text() == "mismatch (value) at run of backward");
    }
}

TEST_CASE("an error that cancels in a sum of outputs is found", "[run][gradients]") {
    const std::string text = R"(graph scores {
  %x = placeholder["x"] : f32[2, 3] grad
  %y = aten._softmax.default(%x, 1, false) : f32[2, 3] grad
  return (%y)
}
)";
    const Graph graph = parse(text);
    const std::vector<Tensor> inputs = {some_inputs()[0].as_strided({2, 3}, {3, 1}, 0)};
    const std::vector<Tensor> expected = evaluate(graph, inputs);
    Outcome outcome = run_isolated(graph, inputs, *find_backend("aot_eager"), {}, {});
    CHECK(judge(outcome, graph, inputs, expected, {}).kind == Outcome::Kind::ok);
    outcome.gradients = {Tensor(DType::f32, {2, 3})};  // which it has from ones
    CHECK(signature_of(judge(outcome, graph, inputs, expected, {})).text() == "mismatch (value) at run of backward");
}

TEST_CASE("tangents are small, exact in each dtype, and the same each time", "[gradients]") {
    const auto tangents = [](const std::string& dtype) {
        const Graph graph = parse("graph g {\n  %x = placeholder[\"x\"] : " + dtype +
                                  "[40] grad\n  %y = aten.relu.default(%x) : " + dtype + "[40] grad\n  return (%y)\n}");
        return program::differentiate_whole(graph)->tangents.at(0).values<double>();
    };
    const std::vector<double> values = tangents("f64");
    CHECK(tangents("bf16") == values);
    CHECK(tangents("f64") == values);
    for (const double value : values) CHECK((value != 0 && std::fabs(value) <= 2));
    CHECK(std::ranges::any_of(values, [](double value) { return value < 0; }));
}

TEST_CASE("decompositions of the joint graph are checked, too", "[run][gradients]") {
    const Planted bug("decompose=aten.hardtanh.default");
    CHECK(run("aot_eager", training()).kind == Outcome::Kind::ok);
    CHECK_THAT(run("aot_eager_decomp_partition", training()).message, Contains("output 0"));
}

TEST_CASE("an error of a pass is a failure, unless the pass says that it has no form for a call", "[run][gradients]") {
    struct Restored {
        ~Restored() { program::set_after_pass({}); }
    } const restored;
    program::set_after_pass([](const Application& done) {
        if (done.pass == PassId::decompose) throw Error("a bug");
    });
    Graph inference = without_requires_grad(training());
    const Outcome outcome = run("aot_eager_decomp_partition", inference);
    CHECK(outcome.kind == Outcome::Kind::exception);
    CHECK(outcome.message == "a bug");
}

TEST_CASE("each part is compiled by the backend that is named for it", "[run][gradients]") {
    // Only halide lowers. Backward is given the tangent hyperbolic that forward computed, or computes it again.
    const Planted bug("lower=aten.tanh.default");
    const auto part = [](const char* partition, const char* named) {
        BackendOptions options = {{"partition", partition}, {named, "halide"}};
        if (partition == std::string("min_cut")) options["memory-budget"] = "0";
        const Outcome outcome = run("aot_eager", training(), options);
        CAPTURE(partition, named, outcome.message);
        return outcome.kind == Outcome::Kind::ok ? "right" : outcome.part.empty() ? "forward" : outcome.part;
    };
    CHECK(part("default", "fw") == "forward");
    CHECK(part("default", "bw") == "right");
    CHECK(part("min_cut", "fw") == "forward");
    CHECK(part("min_cut", "bw") == "backward");
}

TEST_CASE("decompositions=backend takes apart what the named backends do not take", "[run][gradients]") {
    const Planted bug("decompose=aten.hardtanh.default");
    const auto fails = [](const BackendOptions& options) { return run("aot_eager", training(), options).failed(); };
    CHECK(fails({{"decompositions", "core"}}));
    CHECK(!fails({{"decompositions", "backend"}}));
    CHECK(!fails({{"decompositions", "backend"}, {"fw", "eager"}, {"bw", "eager"}}));
    add_backend("gradients_test_without_hardtanh", [] { return std::make_unique<WithoutHardtanh>(); });
    CHECK(fails({{"decompositions", "backend"}, {"fw", "gradients_test_without_hardtanh"}}));
}

TEST_CASE("halide is given both parts of its own cut", "[run][gradients]") {
    const Outcome good = run("halide", training());
    CAPTURE(good.message, good.no_gradients);
    CHECK(good.kind == Outcome::Kind::ok);
    CHECK(good.gradients.size() == 2);
    const Planted bug("lower=aten.neg.default");
    CHECK(signature_of(run("halide", training())).text() == "mismatch (value) at run of backward");
}

TEST_CASE("gradients are asked for where an output requires one, and said why not", "[run][gradients]") {
    std::string text = kTraining;
    for (std::size_t at; (at = text.find(" grad\n", text.find("%h"))) != std::string::npos;) text.erase(at, 5);
    CHECK(run("aot_eager", training(text)).gradients.empty());
    CHECK(run("aot_eager", training(text)).no_gradients == "");

    text = kTraining;
    text.insert(text.find("  return"),
                "  %p = aten.sigmoid.default(%x) : f32[4, 3]\n  %r = aten.bernoulli.default(%p) : f32[4, 3]\n");
    const Outcome random = run("aot_eager", training(text));
    CHECK(random.gradients.empty());
    CHECK_THAT(random.no_gradients, Contains("random"));
}

TEST_CASE("what fails at gradients can be looked at by itself", "[run][gradients]") {
    Graph failing = training();
    Failure& failure = failing.failure.emplace();
    failure.signature = {"mismatch", "run", "value", "backward"};
    failure.inputs = some_inputs();
    const Graph backward = program::backward_alone(failing, *find_backend("aot_eager"));
    CHECK(backward.failure->signature.part == "");
    const Values expected = program::reference_gradients(*program::differentiate(training()), some_inputs());
    const std::vector<Tensor> gradients = evaluate(backward, backward.failure->inputs);
    REQUIRE(gradients.size() == expected.size());
    for (std::size_t i = 0; i < gradients.size(); ++i) CHECK(!compare(gradients[i], expected[i], Accuracy{}));
}

TEST_CASE("who runs a graph and who judges it differentiate it once", "[gradients]") {
    struct Count final : program::CompileObserver {
        int joints = 0;
        void made(program::Stage stage, const Graph&) override { joints += stage == program::Stage::joint; }
        void planned(const program::Plan&, const program::SourceNames&) override {}
        void generated(const program::Kernel&, const std::string&) override {}
    } count;
    const program::Observing observing(&count);
    CHECK(run("aot_eager", training()).kind == Outcome::Kind::ok);
    CHECK(count.joints == 1);  // what the child does is not seen here, and it is given the same
}

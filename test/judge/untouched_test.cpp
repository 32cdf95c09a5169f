// What a backend writes of what it is given is a failure of its own.
#include "judge/untouched.h"

#include <catch2/catch.hpp>
#include <functional>

#include "graph/text.h"
#include "judge/outcome.h"
#include "ops/core/interpreter.h"
#include "ops/core/memory.h"

using namespace whittle;

namespace {

/// Computes what eager does, and afterwards writes 7 to the element 1 of what `spoils` picks.
class Clobberer final : public Backend {
  public:
    using Spoils = std::function<const Tensor*(const Graph&, std::span<const Tensor>)>;
    explicit Clobberer(Spoils spoils) : spoils_(std::move(spoils)) {}
    std::string name() const override { return "clobberer"; }
    std::string description() const override { return "for tests"; }
    CompileResult compile(const Graph& graph, const BackendOptions&) override {
        return std::make_unique<Run>(graph, spoils_);
    }

  private:
    struct Run final : Executable {
        Run(Graph g, const Spoils& s) : graph(std::move(g)), spoils(s) {}
        RunResult run(std::span<const Tensor> inputs) override {
            Values outputs = evaluate(graph, inputs);
            for (Tensor& output : outputs) output = own_copy(output);
            if (const Tensor* given = spoils(graph, inputs)) {
                Tensor spoilt = *given;
                spoilt.mutable_data<float>()[1] = 7;
            }
            return outputs;
        }
        Graph graph;
        const Spoils& spoils;
    };
    Spoils spoils_;
};

Graph product() {
    Graph graph = parse(R"(graph product {
  %x = placeholder["x"] : f32[2]
  %y = placeholder["y"] : f32[2]
  %w = get_attr["w"] : f32[2] grad
  %p = aten.mul.Tensor(%x, %w) : f32[2] grad
  %s = aten.add.Tensor(%p, %y) : f32[2] grad
  return (%s)
}
)");
    graph.attributes["w"] = Tensor::of<float>({3, 4}).with_requires_grad(true);
    return graph;
}

Outcome outcome_of(Clobberer::Spoils spoils) {
    Clobberer backend(std::move(spoils));
    const std::vector<Tensor> inputs = {Tensor::of<float>({1, 2}), Tensor::of<float>({5, 6})};
    Outcome outcome = run_in_process(product(), inputs, backend, {});
    CHECK(inputs[0].values<float>() == std::vector<float>{1, 2});
    CHECK(inputs[1].values<float>() == std::vector<float>{5, 6});
    return outcome;
}

bool is_backward(const Graph& graph) { return graph.find("y") == nullptr; }

}  // namespace

TEST_CASE("a backend that leaves alone what it is given is right", "[run]") {
    const Outcome outcome = outcome_of([](const Graph&, std::span<const Tensor>) { return nullptr; });
    CAPTURE(outcome.message);
    CHECK(outcome.kind == Outcome::Kind::ok);
    CHECK(outcome.gradients.size() == 1);
}

TEST_CASE("a backend that writes to an input is told so, and the input is restored", "[run]") {
    const Outcome outcome = outcome_of(
        [](const Graph& graph, std::span<const Tensor> inputs) { return is_backward(graph) ? nullptr : &inputs[1]; });
    CHECK(signature_of(outcome).text() == "mismatch (written_input) at run");
    CHECK_THAT(outcome.message, Catch::StartsWith("the backend wrote to input 1 (y): [1]: got 7, expected 6"));
    CHECK(outcome.outputs.empty());
}

TEST_CASE("what a backend writes to at backward is told as backward's", "[run]") {
    const Outcome outcome = outcome_of([](const Graph& graph, std::span<const Tensor> inputs) {
        return is_backward(graph) ? &inputs.back() : nullptr;
    });
    CHECK(signature_of(outcome).text() == "mismatch (written_input) at run of backward");
    CHECK_THAT(outcome.message, Catch::Contains("(tangent_s): [1]: got 7, expected -2"));
}

TEST_CASE("a backend that writes to a parameter is told so", "[run]") {
    const Outcome outcome = outcome_of([](const Graph& graph, std::span<const Tensor>) {
        return is_backward(graph) ? nullptr : &graph.attributes.at("w");
    });
    CHECK(signature_of(outcome).text() == "mismatch (written_parameter) at run");
    CHECK(outcome.message == "the backend wrote to parameter 'w'");
}

TEST_CASE("inputs that share memory are all as they were", "[run]") {
    const Tensor whole = Tensor::of<float>({1, 2, 3});
    const std::vector<Tensor> inputs = {whole.as_strided({2}, {1}, 0), whole.as_strided({2}, {1}, 1)};
    const Graph graph = product();
    Untouched given(graph, inputs);
    Tensor written = inputs[0];
    written.mutable_data<float>()[1] = -0.0F;
    const auto found = given.restore();
    REQUIRE(found);
    CHECK(found->detail == "written_input");
    CHECK(whole.values<float>() == std::vector<float>{1, 2, 3});
    CHECK_FALSE(given.restore());
}

// Whose rule it is when another judge has other gradients than ours.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "backends/eager/eager.h"
#include "backends/registry.h"
#include "diagnose/components.h"
#include "diagnose/diagnose.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "judge/outcome.h"
#include "ops/core/interpreter.h"

using namespace whittle;

namespace {

using Disagrees = std::function<bool(const Graph& joint)>;

/// As eager; its own gradients are ours, and twice as large for some graphs.
class Judge final : public Backend, public OwnGradients {
  public:
    explicit Judge(Disagrees disagrees) : disagrees_(std::move(disagrees)) {}
    std::string name() const override { return "wrong_rule_test"; }
    std::string description() const override { return "eager with an opinion"; }
    CompileStage consumes() const override { return CompileStage::captured; }
    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        return make_eager_backend()->compile(graph, options);
    }
    CompileResult compile_joint(const Graph& joint, const JointShape& shape, const BackendOptions&) override {
        return std::make_unique<Joint>(joint, shape.outputs, disagrees_(joint) ? 2 : 1);
    }

  private:
    class Joint final : public Executable {
      public:
        Joint(Graph graph, std::size_t outputs, double factor)
            : graph_(std::move(graph)), outputs_(outputs), factor_(factor) {}
        RunResult run(std::span<const Tensor> inputs) override {
            Values values = evaluate(graph_, inputs);
            for (std::size_t i = outputs_; i < values.size(); ++i) {
                std::vector<double> scaled = values[i].to(DType::f64).values<double>();
                for (double& value : scaled) value *= factor_;
                values[i] = Tensor::of(scaled, values[i].sizes()).to(values[i].dtype());
            }
            return values;
        }

      private:
        const Graph graph_;
        const std::size_t outputs_;
        const double factor_;
    };

    const Disagrees disagrees_;
};

bool calls(const Graph& graph, std::string_view target) {
    return std::ranges::any_of(graph.nodes, [&](const Node& node) { return node.target == target; });
}

/// A value that is read twice, a write, and a constant.
Graph failing_at_gradients() {
    Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2] grad
  %w = get_attr["w"] : f32[2] grad
  %t = aten.tanh.default(%x) : f32[2] grad
  %s = aten.mul.Tensor(%t, %t) : f32[2] grad
  %e = aten.exp.default(%s) : f32[2] grad
  %u = aten.mul_.Tensor(%e, %w) : f32[2] grad
  return (%e)
})");
    graph.attributes["w"] = Tensor::of<float>({3, 4}).with_requires_grad(true);
    graph.failure.emplace();
    graph.failure->backend = "eager";
    graph.failure->signature = {"mismatch", "run", "value", "backward"};
    graph.failure->inputs = {Tensor::of<float>({0.5, -1}).with_requires_grad(true)};
    return graph;
}

/// finite_differences, where the calls of a rule compute another one's.
class Spoilt final : public Backend, public OwnGradients {
  public:
    explicit Spoilt(std::string rule) : rule_(std::move(rule)) {}
    std::string name() const override { return "spoilt"; }
    std::string description() const override { return "a judge of wrong rules"; }
    CompileStage consumes() const override { return CompileStage::captured; }
    CompileResult compile(const Graph& graph, const BackendOptions& options) override {
        return judge_->compile(graph, options);
    }
    CompileResult compile_joint(const Graph& joint, const JointShape& shape, const BackendOptions& options) override {
        Graph spoilt = joint;
        for (Node& node : spoilt.nodes)
            if (node.target == rule_) node.target = "aten.sigmoid_backward.default";
        return offered<OwnGradients>(*judge_)->compile_joint(spoilt, shape, options);
    }

  private:
    const std::string rule_;
    const std::unique_ptr<Backend> judge_ = find_backend("finite_differences");
};

Outcome judged(Backend& backend) {
    const Graph graph = failing_at_gradients();
    const std::vector<Tensor>& inputs = graph.failure->inputs;
    return judge(run_isolated(graph, inputs, backend, {}, {}), graph, inputs, evaluate(graph, inputs), {});
}

std::optional<Culprit> culprit_of_rules(Backend& judge) {
    const Graph failing = failing_at_gradients();
    const Limits limits;
    diagnose::Asker asker(failing, judge, limits);
    return diagnose::wrong_rule(asker);
}
std::optional<Culprit> culprit_of_rules(const Disagrees& disagrees) {
    Judge judge(disagrees);
    return culprit_of_rules(judge);
}

}  // namespace

TEST_CASE("gradients are compared with those of who has its own", "[gradients]") {
    Judge agrees([](const Graph&) { return false; }), differs([](const Graph&) { return true; });
    CHECK(judged(agrees).kind == Outcome::Kind::ok);
    const Outcome outcome = judged(differs);
    CHECK(outcome.kind == Outcome::Kind::mismatch);
    CHECK(outcome.part == "backward");
    CHECK_THAT(outcome.message, Catch::Contains("gradient of input 0 (x)"));
}

TEST_CASE("the rule that disagrees by itself is named", "[gradients]") {
    for (const std::string op : {"aten.tanh.default", "aten.exp.default"}) {
        const auto found = culprit_of_rules([&](const Graph& joint) { return calls(joint, op); });
        REQUIRE(found);
        CHECK(found->component == "gradient");
        CHECK(found->op == op);
        CHECK(found->text() == "gradient rule of " + op);
    }
}

TEST_CASE("finite differences name a wrong rule, without another autograd", "[gradients]") {
    Spoilt right(""), wrong("aten.tanh_backward.default");
    CHECK(judged(right).kind == Outcome::Kind::ok);
    const Outcome outcome = judged(wrong);
    CHECK(signature_of(outcome) == failing_at_gradients().failure->signature);
    CHECK_THAT(outcome.message, Catch::Contains("gradient of x") && Catch::Contains("finite differences"));
    const auto found = culprit_of_rules(wrong);
    REQUIRE(found);
    CHECK(found->text() == "gradient rule of aten.tanh.default");
}

TEST_CASE("where each rule is right by itself, the joint graph is wrong", "[gradients]") {
    const auto found = culprit_of_rules(
        [](const Graph& joint) { return calls(joint, "aten.tanh.default") && calls(joint, "aten.exp.default"); });
    REQUIRE(found);
    CHECK(found->text() == "pass joint");
    // What a call reads twice is added up by whoever puts rules together.
    const auto added = culprit_of_rules([](const Graph& joint) {
        return std::ranges::any_of(joint.nodes, [](const Node& node) {
            return node.target == "aten.mul.Tensor" && node.args.size() == 2 && node.args[0] == node.args[1];
        });
    });
    REQUIRE(added);
    CHECK(added->text() == "pass joint");
}

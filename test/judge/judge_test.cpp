#include "judge/judge.h"
#include "compile/gradients.h"

#include <catch2/catch.hpp>
#include <stdexcept>

#include "backends/eager/eager.h"
#include "base/module.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "planted_backend.h"

using namespace whittle;
using Catch::Contains;

namespace {

const Graph& relu_graph() {
    static const Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = aten.relu.default(%x) : f32[2]\n  return (%y)\n}\n");
    return graph;
}

const std::vector<Tensor> kJudged = {Tensor::of<float>({-1, 2})};

/// Adds `error` to every result.
PlantedBackend off_by(float error) {
    PlantedBackend backend;
    backend.on_result = [error](const Node&, const Tensor& value) {
        std::vector<float> values = value.values<float>();
        for (float& x : values) x += error;
        return Tensor::of(values, value.sizes());
    };
    return backend;
}

/// Gives these results, whatever the graph is.
class Optimizing final : public Backend, public Switchable {
  public:
    Optimizing(std::vector<float> optimized, std::vector<float> plain)
        : optimized_(std::move(optimized)), plain_(std::move(plain)) {}
    std::string name() const override { return "planted"; }
    std::string description() const override { return "for tests"; }
    CompileResult compile(const Graph&, const BackendOptions& options) override {
        return std::make_unique<Gives>(options.empty() ? optimized_ : plain_);
    }
    std::unique_ptr<Inspection> inspect(const Graph&, const BackendOptions&) override {
        return std::make_unique<Look>();
    }
    BackendOptions without(BackendOptions, const std::vector<std::string>&) const override { return {{"off", "all"}}; }
    BackendOptions limited(BackendOptions options, const std::string&, int) const override { return options; }

  private:
    struct Look final : Inspection {
        const Parts& parts() const override { return found; }
        Parts found = {.directives = {{"optimizer"}}, .directive_is = "optimizer"};
    };
    struct Gives final : Executable {
        explicit Gives(std::vector<float> given) : values(std::move(given)) {}
        RunResult run(std::span<const Tensor>) override {
            return std::vector<Tensor>{Tensor::of(values, {static_cast<std::int64_t>(values.size())})};
        }
        std::vector<float> values;
    };
    std::vector<float> optimized_, plain_;
};

Judgement said_of(Backend& backend, Expectation given = {}, const Graph& graph = relu_graph()) {
    return judge({graph, kJudged, std::move(given), {.spec = "planted", .tier = Tier::computes}}, backend);
}

}  // namespace

TEST_CASE("what computes the same is right, and the judgement says compared with what", "[judge]") {
    PlantedBackend good;
    const Judgement said = said_of(good);
    CHECK(said.right());
    CHECK(said.compared == std::vector<std::string>{"eager"});
    CHECK(said.agree.empty());
    CHECK(text_of(said) == "right: matches eager");
    const Judgement given = said_of(good, {{Tensor::of<float>({0, 2})}, "data"});
    CHECK(given.right());
    CHECK(given.compared == std::vector<std::string>{"data"});
}

TEST_CASE("a backend that has nothing to run is not judged", "[judge]") {
    Graph constant{.name = "g", .dialect = "aten"};
    constant.output({constant.get_attr("c", Tensor::of<float>({1, 2}))});
    CHECK(leaves_nothing_to_run(constant));
    CHECK_FALSE(leaves_nothing_to_run(relu_graph()));
    PlantedBackend good;
    const Judgement said = judge({constant, {}, {}, {.spec = "planted", .tier = Tier::computes}}, good);
    CHECK(text_of(said) == "not judged: no operation is left to run: the results of the graph are constants");
}

TEST_CASE("what nobody else can run is compared with the backend's own form without optimization", "[judge]") {
    const Graph foreign =
        parse("graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = mine.op.default(%x) : f32[2]\n  return (%y)\n}\n");
    Optimizing good({0, 2}, {0, 2}), wrong({0, 3}, {0, 2});
    const Judgement right = said_of(good, {}, foreign);
    CHECK(right.right());
    CHECK(right.compared == std::vector<std::string>{"planted without optimization"});
    const Judgement fails = said_of(wrong, {}, foreign);
    CHECK(fails.fails());
    CHECK(fails.agree == std::vector<std::vector<std::string>>{{"planted"}, {"planted without optimization"}});
}

TEST_CASE("two forms of one compiler are one witness", "[judge]") {
    Optimizing wrong({1, 2}, {1, 2});
    const Judgement said = said_of(wrong);
    CHECK(said.fails());
    REQUIRE(said.agree.size() == 2);
    CHECK(said.agree[0] == std::vector<std::string>{"planted", "planted without optimization"});
    CHECK(said.agree[1][0] == "eager");
    CHECK(said_of(wrong, {{Tensor::of<float>({0, 7})}, "data"}).fails());
}

TEST_CASE("what computes something else fails", "[judge]") {
    PlantedBackend wrong = off_by(1);
    const Judgement said = said_of(wrong);
    CHECK(said.fails());
    CHECK_THAT(said.reason, Contains("mismatch at run: output 0 [0]: got 1, expected 0"));
    const Judgement given = said_of(wrong, {{Tensor::of<float>({0, 2})}, "data"});
    CHECK(given.fails());
    REQUIRE(given.agree.size() == 2);
    CHECK(given.agree[0] == std::vector<std::string>{"planted"});
    CHECK(given.agree[1][0] == "expected");
    CHECK(given.agree[1][1] == "eager");
}

TEST_CASE("given results that nobody else computes are what is wrong", "[judge]") {
    PlantedBackend good;
    const Judgement said = said_of(good, {{Tensor::of<float>({0, 3})}, "data"});
    CHECK(said.verdict == Verdict::not_judged);
    REQUIRE(said.agree.size() == 2);
    CHECK(said.agree[0][0] == "planted");
    CHECK(said.agree[0][1] == "eager");
    CHECK(said.agree[1] == std::vector<std::string>{"expected"});
    CHECK_THAT(said.reason, Contains("agree; the expected outputs (data) differ: output 0 [1]: got 2, expected 3"));
    // The reference itself, where LibTorch can be asked.
    if (!has_module("libtorch")) return;
    const Judgement eager =
        judge({relu_graph(), kJudged, {{Tensor::of<float>({0, 3})}, "data"}, {.spec = "eager", .tier = Tier::computes}},
              *make_eager_backend());
    CHECK(eager.verdict == Verdict::not_judged);
    CHECK(eager.agree == std::vector<std::vector<std::string>>{{"eager", "libtorch"}, {"expected"}});
}

TEST_CASE("a backend that differs from the given results and from the reference fails", "[judge]") {
    PlantedBackend wrong = off_by(1);
    const Judgement said = said_of(wrong, {{Tensor::of<float>({0, 7})}, "data"});
    CHECK(said.fails());
    CHECK(said.agree.size() == 3);
}

TEST_CASE("how it ends is judged before what it computes", "[judge]") {
    PlantedBackend refuses;
    refuses.on_compile = [](const Graph&) { throw std::runtime_error("no"); };
    const Judgement said = said_of(refuses);
    CHECK(said.fails());
    CHECK(said.reason == "exception at compile: no");
    CHECK(said.compared.empty());
}

TEST_CASE("what the reference refuses in the same words is no failure of the backend", "[judge]") {
    const Graph graph = parse(R"(graph regions opset("": 17) {
        %x = placeholder["x"] : f32[1, 1, 4, 4]
        %r = placeholder["r"] : f32[1, 4]
        %b = placeholder["b"] : i64[1]
        %y = onnx.RoiAlign(%x, %r, %b) : f32[1, 1, 1, 1]
        return (%y)
    })");
    const std::vector<Tensor> inputs = {Tensor(DType::f32, {1, 1, 4, 4}), Tensor(DType::f32, {1, 4}),
                                        Tensor(DType::i64, {1})};
    const auto said = [&](Backend& backend, Tier tier) {
        return judge({graph, inputs, {}, {.spec = "planted", .tier = tier}}, backend);
    };
    for (const Tier tier : {Tier::computes, Tier::ends}) {
        PlantedBackend same;  // it interprets the graph, too
        const Judgement refused = said(same, tier);
        CHECK(refused.verdict == Verdict::not_judged);
        CHECK_THAT(refused.reason,
                   Contains("the reference backend fails with the same error: ") && Contains("found sampling_ratio=0"));
        PlantedBackend other;
        other.on_compile = [](const Graph&) { throw std::runtime_error("no such region"); };
        CHECK(said(other, tier).fails());
    }
}

TEST_CASE("random draws are not judged by their values, only by how they end", "[judge]") {
    const Graph dice = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = aten.rand_like.default(%x) : f32[2]\n  return "
        "(%y)\n}\n");
    PlantedBackend good, refuses;
    const Judgement said = said_of(good, {}, dice);
    CHECK(said.verdict == Verdict::not_judged);
    CHECK(said.reason == "aten.rand_like.default draws random numbers");
    const Graph unread = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = aten.rand_like.default(%x) : f32[2]\n  %z = "
        "aten.neg.default(%x) : f32[2]\n  return (%z)\n}\n");
    CHECK(said_of(good, {}, unread).verdict == Verdict::right);
    refuses.on_compile = [](const Graph&) { throw std::runtime_error("no"); };
    CHECK(said_of(refuses, {}, dice).fails());
}

TEST_CASE("a difference that is rounding is right", "[judge]") {
    const Graph cancels = parse(R"(graph g {
      %x = placeholder["x"] : f32[2]
      %large = aten.add.Scalar(%x, 10000.0) : f32[2]
      %small = aten.sub.Scalar(%large, 10000.0) : f32[2]
      return (%small)
    })");
    const std::vector<Tensor> inputs = {Tensor::of<float>({0.1F, 0.2F})};
    PlantedBackend good;
    const Expectation other{{Tensor::of<float>({0.1004F, 0.2004F})}, "data"};  // in another order
    const Judgement said = judge({cancels, inputs, other, {.spec = "planted", .tier = Tier::computes}}, good);
    CHECK(said.right());
    CHECK_THAT(said.reason, Contains("within rounding"));
    const Expectation wrong{{Tensor::of<float>({0.3F, 0.2F})}, "data"};
    CHECK_FALSE(judge({cancels, inputs, wrong, {.spec = "planted", .tier = Tier::computes}}, good).right());
    PlantedBackend off = off_by(1);
    const Judgement fails = judge({cancels, inputs, {}, {.spec = "planted", .tier = Tier::computes}}, off);
    CHECK(fails.fails());
    CHECK_THAT(fails.reason, Contains("exceeds 4 times the tolerance, so the tolerance decides"));
}

TEST_CASE("rounding at one place excuses nothing at another, nor wrong gradients", "[judge]") {
    const Graph graph = parse(R"(graph g {
      %x = placeholder["x"] : f32[2] grad
      %c = placeholder["c"] : f32[2]
      %large = aten.add.Tensor(%x, %c) : f32[2] grad
      %small = aten.sub.Tensor(%large, %c) : f32[2] grad
      return (%small)
    })");
    const auto of = [](float a, float b) { return Tensor::of<float>({a, b}, {2}); };
    const std::vector<Tensor> inputs = {of(300, 0.7F), of(1e10F, 0)};  // the first is lost: 0, in f64 300
    const auto told = [&](const Tensor& got, const Tensor& expected, Values gradients) {
        Outcome outcome{.kind = Outcome::Kind::mismatch, .outputs = {got}, .gradients = std::move(gradients)};
        return excuse(graph, inputs, outcome, std::vector<Tensor>{expected}, {}).has_value();
    };
    CHECK(told(of(0, 0.7F), of(-200, 0.7F), {}));
    CHECK_FALSE(told(of(0, 0.7F), of(0, 0.3F), {}));  // what is expected is wrong
    const std::vector<float> tangents = program::differentiate_whole(graph)->tangents.at(0).values<float>();
    CHECK(told(of(0, 0.7F), of(-200, 0.7F), {of(tangents[0], tangents[1])}));
    CHECK_FALSE(told(of(0, 0.7F), of(-200, 0.7F), {of(tangents[0], tangents[1] + 1)}));
}

TEST_CASE("the worst verdict of several counts", "[judge]") {
    using enum Verdict;
    CHECK(worst(std::vector{right, not_judged, fails}) == fails);
    CHECK(worst(std::vector{right, not_judged}) == not_judged);
    CHECK(worst(std::vector{right, right}) == right);
    CHECK(worst({}) == not_judged);
}

TEST_CASE("a recorded failure is asked about again", "[judge]") {
    Graph graph = relu_graph();
    graph.failure = Failure{
        .backend = "planted", .signature = {.kind = "mismatch", .stage = "run", .detail = "value"}, .inputs = kJudged};
    const std::vector<Tensor> expected = {Tensor::of<float>({0, 2})};
    const Question question{.graph = graph, .expected = expected};
    PlantedBackend good, wrong = off_by(1), refuses, odd;
    refuses.on_compile = [](const Graph&) { throw std::runtime_error("no"); };
    odd.on_result = [](const Node&, const Tensor&) { return Tensor::of<float>({0, 2, 3}); };
    CHECK(still_fails(question, wrong));
    CHECK(ask_again(question, good).again == Again::right);
    CHECK(ask_again(question, refuses).again == Again::otherwise);
    CHECK(ask_again(question, odd).again == Again::otherwise);  // its sizes are wrong
    Question any = question;
    any.any_values = true;
    CHECK(ask_again(any, odd).again == Again::fails);
    CHECK(ask_again(any, refuses).again == Again::otherwise);

    graph.failure->signature = {.kind = "exception", .stage = "compile", .detail = "yes"};
    CHECK(ask_again(question, refuses).again == Again::otherwise);  // in other words
    Question words = question;
    words.any_words = true;
    CHECK(ask_again(words, refuses).again == Again::fails);
    CHECK(ask_again(words, wrong).again == Again::right);  // results do not count …
    words.compares = true;
    CHECK(ask_again(words, wrong).again == Again::otherwise);  // … unless that is asked for
}

// Rounding in gradients, by the bounds of the joint graph's ops, and where intervals are too wide to decide.
#include <catch2/catch.hpp>
#include <cmath>
#include <utility>

#include "compile/gradients.h"
#include "graph/text.h"
#include "judge/explained.h"
#include "judge/interval.h"
#include "judge/judge.h"
#include "ops/core/interpreter.h"
#include "planted_backend.h"

using namespace whittle;
using Catch::Contains;

namespace {

/// The gradient of w is the sum of x times the tangents, whose terms cancel.
struct Cancelling {
    Graph graph = parse(R"(graph cancels {
  %x = placeholder["x"] : f32[4, 1]
  %w = placeholder["w"] : f32[1, 1] grad
  %y = aten.mm.default(%x, %w) : f32[4, 1] grad
  return (%y)
}
)");
    std::vector<Tensor> inputs;

    Cancelling() {
        std::vector<float> terms = {10, -10, 9.5F, -9.5F};
        const std::vector<float> tangents = program::differentiate_whole(graph)->tangents.at(0).values<float>();
        for (std::size_t i = 0; i < terms.size(); ++i) terms[i] /= tangents.at(i);
        inputs = {Tensor::of(terms, {4, 1}), Tensor::of(std::vector<float>{0.5F}, {1, 1})};
    }

    /// How far rounding may move the gradient.
    double radius() const {
        const auto made = program::differentiate_whole(graph);
        REQUIRE(made);
        const program::Part alone = program::gradients_alone(*made, inputs);
        const auto intervals = intervals_of(alone.graph, alone.inputs, {});
        REQUIRE(intervals);
        return intervals->at(0).full.most();
    }
};

/// Adds to the one product with a single element: the gradient.
PlantedBackend with_gradient_off_by(double error) {
    PlantedBackend backend;
    backend.on_result = [error](const Node& node, const Tensor& value) {
        if (node.target != "aten.mm.default" || value.numel() != 1) return value;
        const double moved = value.values<double>()[0] + error;
        return Tensor::of(std::vector<float>{static_cast<float>(moved)}, value.sizes());
    };
    return backend;
}

/// A batch norm of equal values, whose variance is zero, and what it computes with a mean that was added in f32: off by
/// rounding, 316 times as far.
struct EqualValues {
    static constexpr std::size_t kCount = 256;  // of a channel
    Graph graph = parse(R"(graph equal_values {
  %x = placeholder["x"] : f32[4, 2, 8, 8] grad
  %w = placeholder["w"] : f32[2] grad
  %b = aten._native_batch_norm_legit.no_stats(%x, %w, none, true, 0.1, 1e-05) : (f32[4, 2, 8, 8] grad, f32[2], f32[2])
  %y = getitem(%b, 0) : f32[4, 2, 8, 8] grad
  return (%y)
}
)");
    std::vector<Tensor> inputs = {Tensor::of(std::vector<float>(2 * kCount, 0.1F), {4, 2, 8, 8}),
                                  Tensor::of(std::vector<float>{1, 1}, {2})};
    std::vector<Tensor> expected = evaluate(graph, inputs);

    /// (0.1 - mean) / sqrt(0 + 1e-5).
    static float wrong_by() {
        float sum = 0;
        for (std::size_t i = 0; i < kCount; ++i) sum += 0.1F;
        return (0.1F - sum / kCount) / std::sqrt(1e-5F);
    }
    RoundingDecision decided(float value) const {
        const std::vector<Tensor> got = {Tensor::of(std::vector<float>(2 * kCount, value), {4, 2, 8, 8})};
        return explained_by_rounding(graph, inputs, got, expected, {});
    }
};

}  // namespace

TEST_CASE("a gradient whose terms cancel may differ by what rounding explains, and by no more", "[gradients]") {
    const Cancelling c;
    const double radius = c.radius();
    REQUIRE(radius > 1.2e-5);  // beyond the tolerance …
    REQUIRE(radius < 4e-5);    // … and narrow enough to decide
    const auto said = [&](double error) {
        PlantedBackend backend = with_gradient_off_by(error);
        return judge({c.graph, c.inputs, {}, {.spec = "planted", .tier = Tier::computes}}, backend);
    };
    for (const double error : {0.9 * radius, -0.9 * radius}) {
        const Judgement right = said(error);
        INFO(right.reason);
        CHECK(right.right());
        CHECK_THAT(right.reason,
                   Contains("within rounding error at gradient of input 1 (w) [0, 0]: the difference of ") &&
                       Contains("is within the rounding error of aten.mm.default"));
    }
    for (const double error : {1.1 * radius, 2 * radius, -2 * radius}) {
        const Judgement fails = said(error);
        INFO(fails.reason);
        CHECK(fails.fails());
        CHECK(fails.beyond_rounding);
        CHECK(fails.outcome.failed_at_gradients());
    }
}

TEST_CASE("a recorded failure of gradients does not show again where rounding explains it", "[gradients]") {
    const Cancelling c;
    const std::vector<Tensor> expected = evaluate(c.graph, c.inputs);
    Graph failing = c.graph;
    failing.failure =
        Failure{.backend = "planted", .signature = {"mismatch", "run", "value", "backward"}, .inputs = c.inputs};
    PlantedBackend rounds = with_gradient_off_by(0.9 * c.radius()), wrong = with_gradient_off_by(2 * c.radius());
    CHECK(ask_again({.graph = failing, .expected = expected}, rounds).again == Again::right);
    CHECK(still_fails({.graph = failing, .expected = expected}, wrong));
}

TEST_CASE("a batch norm of equal values differs by the rounding of its mean", "[gradients]") {
    const EqualValues equal;
    const float wrong_by = EqualValues::wrong_by();
    REQUIRE(std::fabs(wrong_by) > 5e-5F);  // beyond the tolerance
    const RoundingDecision outputs = equal.decided(wrong_by);
    INFO(outputs.why);
    CHECK(outputs.explained);
    CHECK(outputs.too_wide);
    CHECK_THAT(outputs.why,
               Contains("within rounding error: rounding each intermediate value by a few units in the last place"));
    const RoundingDecision far = equal.decided(6 * wrong_by);  // inside the interval, but no rounding goes so far
    INFO(far.why);
    CHECK_FALSE(far.explained);
    CHECK(far.inside);
    CHECK_THAT(far.why, Contains("so the tolerance decides"));
    const RoundingDecision outside = equal.decided(1);
    CHECK_FALSE(outside.explained);
    CHECK(outside.outside);

    // The gradient of w adds the normalized values times the tangents.
    const auto made = program::differentiate_whole(equal.graph);
    REQUIRE(made);
    Values gradients = program::reference_gradients(*made, equal.inputs);
    REQUIRE(gradients.size() == 2);
    std::vector<float> wrong(2);
    const std::vector<float> tangents = made->tangents.at(0).values<float>();
    for (std::size_t i = 0; i < tangents.size(); ++i) wrong[i / 64 % 2] += wrong_by * tangents[i];
    const auto found = [&](const std::vector<float>& sums) {
        gradients[1] = Tensor::of(sums, {2});
        Outcome outcome{.kind = Outcome::Kind::mismatch,
                        .stage = "run",
                        .part = "backward",
                        .outputs = equal.expected,
                        .gradients = gradients};
        return excuse(equal.graph, equal.inputs, outcome, equal.expected, {});
    };
    const auto excused = found(wrong);
    REQUIRE(excused);
    CHECK(excused->verdict == Verdict::right);
    CHECK_FALSE(found({5, 5}));
}

TEST_CASE("of a suspect that fails beyond rounding, what rounding may explain is another failure", "[gradients]") {
    const Graph graph = parse(
        "graph sum {\n  %x = placeholder[\"x\"] : f32[1000]\n  %s = aten.sum.default(%x) : f32[]\n"
        "  return (%s)\n}\n");
    std::vector<float> alternating(1000, 1);
    for (std::size_t i = 1; i < alternating.size(); i += 2) alternating[i] = -1;
    const std::vector<Tensor> inputs = {Tensor::of(alternating, {1000})}, expected = evaluate(graph, inputs);
    const auto found = [&](double got, const Suspect& suspect) {
        Outcome outcome{.kind = Outcome::Kind::mismatch, .outputs = {Tensor::of(Scalar(got), DType::f32)}};
        return excuse(graph, inputs, outcome, expected, suspect);
    };
    const Suspect beyond{.beyond_rounding = true};
    CHECK_FALSE(found(0.01, {}));
    const auto inside = found(0.01, beyond);
    REQUIRE(inside);
    CHECK(inside->verdict == Verdict::not_judged);
    CHECK_THAT(inside->why, Contains("so the tolerance decides"));
    CHECK_FALSE(found(5, beyond));
}

TEST_CASE("where rounding explains the outputs and not the gradients, the gradients fail", "[gradients]") {
    const Cancelling c;
    const std::vector<Tensor> expected = evaluate(c.graph, c.inputs);
    std::vector<float> outputs = expected[0].values<float>();
    const float exact = std::exchange(outputs[0], std::nextafter(outputs[0], 100.0F));
    // A smaller tolerance than usual, so that the outputs differ by one step.
    Suspect suspect;
    suspect.accuracy.emplace().tolerances[DType::f32] = {.rtol = 0, .atol = 0.9 * std::fabs(outputs[0] - exact)};
    Outcome outcome{.kind = Outcome::Kind::mismatch,
                    .stage = "run",
                    .outputs = {Tensor::of(outputs, {4, 1})},
                    .gradients = {Tensor::of(std::vector<float>{1}, {1, 1})}};
    CHECK_FALSE(excuse(c.graph, c.inputs, outcome, expected, suspect));
    CHECK(outcome.failed_at_gradients());
    CHECK_THAT(outcome.message, Contains("gradient of input 1 (w) [0, 0]: got 1, expected "));
    CHECK(outcome.outputs[0].values<float>() == outputs);
}

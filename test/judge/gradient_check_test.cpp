// Gradients of captured backward passes against rules and joint graphs.
#include "judge/gradient_check.h"

#include <catch2/catch.hpp>

#include "backends/eager/eager.h"
#include "base/files.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "record/trace_folder.h"
#include "tensor/random.h"

using namespace whittle;
using Catch::Contains;

namespace {

/// A graph as a program would have been captured, with what the reference computes as what was observed.
capture::CapturedGraph captured(const std::string& text, std::vector<Tensor> inputs) {
    capture::CapturedGraph graph{.graph = parse(text), .inputs = std::move(inputs)};
    graph.outputs = evaluate(graph.graph, graph.inputs);
    return graph;
}

/// LibTorch's nodes say whose gradient they compute.
void of(capture::CapturedGraph& graph, const std::string& node, const std::string& call) {
    for (Node& known : graph.graph.nodes)
        if (known.name == node) known.module_path = "net, backward of %" + call;
}

const std::string kForward = R"(graph step_0 {
  %x = placeholder["x"] : f32[2, 3]
  %w = placeholder["w"] : f32[3, 3] grad
  %b = placeholder["b"] : f32[3] grad
  %h = aten.mm.default(%x, %w) : f32[2, 3] grad
  %s = aten.add.Tensor(%h, %b) : f32[2, 3] grad
  %y = aten.tanh.default(%s) : f32[2, 3] grad
  %loss = aten.sum.default(%y) : f32[] grad
  return (%loss, %y)
}
)";

/// What LibTorch runs for it, where `tanh` computes tanh's gradient of %g and %y.
std::string backward(const std::string& tanh, const std::string& more = {}) {
    return R"(graph step_1 {
  %loss = placeholder["loss"] : f32[]
  %y = placeholder["y"] : f32[2, 3]
  %x = placeholder["x"] : f32[2, 3]
  %one = aten.ones_like.default(%loss) : f32[]
  %g = aten.expand.default(%one, [2, 3]) : f32[2, 3] strides[0, 0]
  %d = )" + tanh +
           R"( : f32[2, 3]
  %gb = aten.sum.dim_IntList(%d, [0]) : f32[3]
  %xt = aten.t.default(%x) : f32[3, 2] strides[1, 3]
  %gw = aten.mm.default(%xt, %d) : f32[3, 3]
)" + more + "  return (%gb, %gw)\n}\n";
}

capture::CapturedFrame frame_of(const std::string& forward, const std::string& backward) {
    Random random(3);
    const std::vector<Tensor> inputs = {random_tensor(DType::f32, {2, 3}, random),
                                        random_tensor(DType::f32, {3, 3}, random),
                                        random_tensor(DType::f32, {3}, random)};
    capture::CapturedFrame frame{.name = "step", .function = "step"};
    frame.graphs.push_back(captured(forward, inputs));
    const std::vector<Tensor> results = frame.graphs[0].outputs;
    frame.graphs.push_back(captured(backward, {results.at(0), results.at(1), inputs[0]}));
    for (const auto& [node, call] : std::vector<std::pair<std::string, std::string>>{
             {"g", "loss"}, {"d", "y"}, {"xt", "h"}, {"gw", "h"}, {"gb2", "h"}})
        of(frame.graphs[1], node, call);
    frame.graphs[0].number = 7;
    frame.graphs[1].differentiates = {7};
    return frame;
}

std::vector<GradientVerdict> verdicts(const std::string& forward, const std::string& backward) {
    return check_gradients(frame_of(forward, backward));
}

}  // namespace

TEST_CASE("a backward pass that computes the rules' gradients is found good, call by call and as a whole") {
    const auto found = verdicts(kForward, backward("aten.tanh_backward.default(%g, %y)"));
    REQUIRE(found.size() == 1);
    CHECK(found[0].graph == 1);
    CHECK(found[0].differences.empty());
    CHECK(found[0].calls == 3);   // sum, tanh, mm; the gradient of add is handed on
    CHECK(found[0].leaves == 2);  // w and b
    CHECK(found[0].leaves_unchecked.empty());
}

TEST_CASE("a gradient that is not the rule's is told with the call, and each leaf that it reaches") {
    const auto found = verdicts(kForward, backward("aten.mul.Tensor(%g, %y)"));
    REQUIRE(found.size() == 1);
    REQUIRE(found[0].differences.size() == 3);
    CHECK_THAT(found[0].differences[0],
               Contains("%y") &&
                   Contains("LibTorch's gradient of %s in aten.tanh.default differs from Whittle's gradient rule"));
    CHECK_THAT(found[0].differences[1], Contains("the gradient of w in the joint graph of step_0"));
    CHECK_THAT(found[0].differences[2], Contains("the gradient of b"));
}

TEST_CASE("a gradient that is lost on the way is told though each call's is right") {
    // Of two uses of w the second one's gradient is not added.
    const std::string twice = R"(graph step_0 {
  %x = placeholder["x"] : f32[2, 3]
  %w = placeholder["w"] : f32[3, 3] grad
  %b = placeholder["b"] : f32[3]
  %h = aten.mm.default(%x, %w) : f32[2, 3] grad
  %s = aten.mm.default(%h, %w) : f32[2, 3] grad
  %y = aten.tanh.default(%s) : f32[2, 3] grad
  %loss = aten.sum.default(%y) : f32[] grad
  return (%loss, %y)
}
)";
    const auto found = verdicts(twice, backward("aten.tanh_backward.default(%g, %y)"));
    REQUIRE(found.size() == 1);
    REQUIRE_FALSE(found[0].differences.empty());
    CHECK_THAT(found[0].differences.back(),
               Contains("the gradient of w in the joint graph of step_0 matches no gradient that LibTorch computed"));
}

TEST_CASE("each use of an operand has a gradient of its own, which LibTorch sums between calls") {
    const std::string square = R"(graph step_0 {
  %w = placeholder["w"] : f32[3] grad
  %square = aten.mul.Tensor(%w, %w) : f32[3] grad
  %three = aten.cat.default([%w, %square, %w]) : f32[9] grad
  %loss = aten.sum.default(%three) : f32[] grad
  return (%loss)
}
)";
    // The engine adds the gradients of w in the order in which they come, so that no value is the one of %square.
    const auto backward = [](const std::string& first) {
        return R"(graph step_1 {
  %loss = placeholder["loss"] : f32[]
  %w = placeholder["w"] : f32[3]
  %one = aten.ones_like.default(%loss) : f32[]
  %g = aten.expand.default(%one, [9]) : f32[9] strides[0]
  %c0 = aten.narrow.default(%g, 0, 0, 3) : f32[3] strides[0]
  %c1 = aten.narrow.default(%g, 0, 3, 3) : f32[3] strides[0]
  %c2 = aten.narrow.default(%g, 0, 6, 3) : f32[3] strides[0]
  %s0 = )" + first +
               R"( : f32[3]
  %s1 = aten.mul.Tensor(%c1, %w) : f32[3]
  %a0 = aten.add.Tensor(%c0, %c2) : f32[3]
  %a1 = aten.add.Tensor(%a0, %s1) : f32[3]
  %a2 = aten.add.Tensor(%a1, %s0) : f32[3]
  return (%a2)
}
)";
    };
    const auto verdict = [&](const std::string& first) {
        capture::CapturedFrame frame{.name = "step", .function = "step"};
        const Tensor w = Tensor::of<float>({1, 2, 3});
        frame.graphs.push_back(captured(square, {w}));
        frame.graphs.push_back(captured(backward(first), {frame.graphs[0].outputs.at(0), w}));
        for (const auto& [node, call] : std::vector<std::pair<std::string, std::string>>{
                 {"g", "loss"}, {"c0", "three"}, {"c1", "three"}, {"c2", "three"}, {"s0", "square"}, {"s1", "square"}})
            of(frame.graphs[1], node, call);
        frame.graphs[0].number = 7;
        frame.graphs[1].differentiates = {7};
        return check_gradients(frame).at(0);
    };
    const GradientVerdict right = verdict("aten.mul.Tensor(%c1, %w)");
    CHECK(right.differences.empty());
    CHECK(right.calls == 3);
    CHECK(right.leaves == 1);
    // One that is wrong shows in the sum.
    CHECK_FALSE(verdict("aten.mul.Scalar(%w, 3)").differences.empty());
}

TEST_CASE("where a hook of the program's changes a gradient, leaves are not held against the joint graph") {
    const auto found = verdicts(
        kForward, backward("aten.tanh_backward.default(%g, %y)", "  %hooked = aten.mul.Scalar(%gb, 2) : f32[3]\n"));
    REQUIRE(found.size() == 1);
    CHECK(found[0].differences.empty());
    CHECK(found[0].calls == 3);
    CHECK(found[0].leaves == 0);
    CHECK_THAT(found[0].leaves_unchecked,
               Contains("a hook or custom autograd function of the program computes gradients"));
}

TEST_CASE("a part of a backward pass is not held against the joint graph, nor against rules where a call is cut") {
    capture::CapturedFrame frame = frame_of(kForward, backward("aten.mul.Tensor(%g, %y)"));
    REQUIRE(check_gradients(frame).at(0).differences.size() == 3);  // one of a call, two of leaves
    frame.graphs[1].partial = "the graph is a part of a backward pass";
    auto found = check_gradients(frame);
    REQUIRE(found.size() == 1);
    CHECK(found[0].leaves == 0);
    CHECK(found[0].leaves_unchecked == "the graph is a part of a backward pass");
    CHECK(found[0].calls == 3);
    REQUIRE(found[0].differences.size() == 1);
    CHECK_THAT(found[0].differences[0], Contains("aten.tanh.default differs from Whittle's gradient rule"));
    frame.graphs[1].partial_calls = {"y"};
    found = check_gradients(frame);
    REQUIRE(found.size() == 1);
    CHECK(found[0].calls == 2);
    CHECK(found[0].differences.empty());
}

TEST_CASE("gradients are held against the forward pass that they are of, and against no other's values") {
    capture::CapturedFrame frame = frame_of(kForward, backward("aten.tanh_backward.default(%g, %y)"));
    capture::CapturedGraph own = frame.graphs[0];
    // An earlier execution had the same operations and other weights, and so had one that ran in between.
    Random random(5);
    const auto other = [&] {
        return captured(kForward, {random_tensor(DType::f32, {2, 3}, random), random_tensor(DType::f32, {3, 3}, random),
                                   random_tensor(DType::f32, {3}, random)});
    };
    frame.graphs[0] = other();
    frame.graphs[0].number = 3;
    frame.graphs.insert(frame.graphs.begin() + 1, other());
    frame.graphs[1].number = 9;
    auto found = check_gradients(frame);
    REQUIRE(found.size() == 1);
    CHECK(found[0].graph == 2);
    CHECK(found[0].differences.empty());
    CHECK(found[0].calls == 0);
    CHECK_THAT(found[0].leaves_unchecked,
               Contains("starts outside the graphs of this function, or at a graph whose values are unknown"));
    // Its own values stand with it where an equal graph stands for the graph.
    frame.graphs[2].forward.push_back(std::move(own));
    found = check_gradients(frame);
    CHECK(found.at(0).differences.empty());
    CHECK(found.at(0).calls == 3);
    CHECK(found.at(0).leaves == 2);
}

TEST_CASE("a gradient that the program did not ask for is no difference, though others have its sizes") {
    // autograd::grad(loss, {w}): the gradient of v, of the same sizes, is computed by nobody.
    const std::string forward = R"(graph step_0 {
  %x = placeholder["x"] : f32[2, 3]
  %w = placeholder["w"] : f32[3, 3] grad
  %v = placeholder["v"] : f32[3, 3] grad
  %h = aten.mm.default(%x, %w) : f32[2, 3] grad
  %y = aten.mm.default(%h, %v) : f32[2, 3] grad
  %loss = aten.sum.default(%y) : f32[] grad
  return (%loss)
}
)";
    const std::string backward = R"(graph step_1 {
  %loss = placeholder["loss"] : f32[]
  %x = placeholder["x"] : f32[2, 3]
  %v = placeholder["v"] : f32[3, 3]
  %one = aten.ones_like.default(%loss) : f32[]
  %g = aten.expand.default(%one, [2, 3]) : f32[2, 3] strides[0, 0]
  %vt = aten.t.default(%v) : f32[3, 3] strides[1, 3]
  %gh = aten.mm.default(%g, %vt) : f32[2, 3]
  %xt = aten.t.default(%x) : f32[3, 2] strides[1, 3]
  %gw = aten.mm.default(%xt, %gh) : f32[3, 3]
  return (%gw)
}
)";
    Random random(3);
    const std::vector<Tensor> inputs = {random_tensor(DType::f32, {2, 3}, random),
                                        random_tensor(DType::f32, {3, 3}, random),
                                        random_tensor(DType::f32, {3, 3}, random)};
    capture::CapturedFrame frame{.name = "step", .function = "step"};
    frame.graphs.push_back(captured(forward, inputs));
    frame.graphs.push_back(captured(backward, {frame.graphs[0].outputs.at(0), inputs[0], inputs[2]}));
    frame.graphs[0].number = 0;
    frame.graphs[1].differentiates = {0};
    for (const auto& [node, call] : std::vector<std::pair<std::string, std::string>>{
             {"g", "loss"}, {"vt", "y"}, {"gh", "y"}, {"xt", "h"}, {"gw", "h"}})
        of(frame.graphs[1], node, call);
    const auto found = check_gradients(frame);
    REQUIRE(found.size() == 1);
    CHECK(found[0].differences.empty());
    CHECK(found[0].calls == 3);
    CHECK(found[0].leaves == 1);  // w
}

namespace {

/// The pass does not start at the output.
std::string forward_without_loss() {
    std::string forward = kForward;
    return forward.replace(forward.find("  return (%loss, %y)"), 20,
                           "  %weight = aten.mul.Tensor(%loss, 0) : f32[] grad\n  return (%weight, %y)");
}

}  // namespace

TEST_CASE("an output that nobody has a gradient of is no loss") {
    const auto found = verdicts(forward_without_loss(), backward("aten.tanh_backward.default(%g, %y)"));
    REQUIRE(found.size() == 1);
    CHECK(found[0].differences.empty());
    CHECK(found[0].leaves == 0);
    CHECK_THAT(found[0].leaves_unchecked, Contains("does not start at a scalar loss"));
}

TEST_CASE("a trace tells gradients that differ in a note and of the graph that computed them") {
    const auto eager = make_eager_backend();
    const auto traced_with = [&](const std::string& tanh, const CaptureCheck& check) {
        const TempDir folder("gradients");
        const std::vector<std::filesystem::path> models{"model"};
        TraceFolder trace(folder.path(), models, "eager", {});
        trace.check_with(check);
        const std::vector<TracedFrame> traced =
            trace.add(frame_of(kForward, backward(tanh)), "LibTorch", *eager, {}, RecordPolicy::always);
        REQUIRE(traced.size() == 2);
        CHECK(traced[0].gradient_faults.empty());
        CHECK(trace.index().notes.size() == traced[1].gradient_faults.size());
        for (const std::string& note : trace.index().notes) CHECK_THAT(note, Contains("gradients of step_1 differ: "));
        return traced[1].gradient_faults.size();
    };
    CHECK(traced_with("aten.tanh_backward.default(%g, %y)", CaptureCheck(CheckPolicy::always)) == 0);
    CHECK(traced_with("aten.mul.Tensor(%g, %y)", CaptureCheck(CheckPolicy::always)) == 3);
    CHECK(traced_with("aten.mul.Tensor(%g, %y)", CaptureCheck(CheckPolicy::never)) == 0);
    CHECK(traced_with("aten.mul.Tensor(%g, %y)", CaptureCheck(CheckPolicy::budget, 0)) == 0);
}

TEST_CASE("a trace notes which gradients were not compared, and why") {
    const TempDir folder("gradients");
    const std::vector<std::filesystem::path> models{"model"};
    TraceFolder trace(folder.path(), models, "eager", {});
    trace.check_with(CaptureCheck(CheckPolicy::always));
    const capture::CapturedFrame frame =
        frame_of(forward_without_loss(), backward("aten.tanh_backward.default(%g, %y)"));
    trace.add(frame, "LibTorch", *make_eager_backend(), {}, RecordPolicy::always);
    REQUIRE(trace.index().notes.size() == 1);
    CHECK_THAT(trace.index().notes[0], Contains("the gradients of inputs and parameters in step_1 were not compared") &&
                                           Contains("does not start at a scalar loss"));
}

TEST_CASE("a frame without a backward pass has no verdict") {
    capture::CapturedFrame frame{.name = "step", .function = "step"};
    frame.graphs.push_back(
        captured("graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = aten.exp.default(%x) : f32[2]\n"
                 "  return (%y)\n}\n",
                 {Tensor::of<float>({1, 2}, {2})}));
    CHECK(check_gradients(frame).empty());
}

#include "frontends/libtorch/fold.h"

#include <catch2/catch.hpp>

#include "graph/text.h"
#include "ops/core/interpreter.h"

using namespace whittle;
using namespace whittle::libtorch;
using capture::CapturedFrame;
using capture::CapturedGraph;
using capture::Source;

namespace {

constexpr const char* kScale = R"(
graph scale {
  %x = placeholder["L['arg0']"] : f32[2]
  %mul = aten.mul.Scalar(%x, 2.0) : f32[2]
  return (%mul)
}
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
        text.replace(at, what.size(), by);
    return text;
}

/// An execution of "scale" with one graph, called from line `line` of main.
CapturedFrame execution(const std::string& text, int line = 20) {
    CapturedGraph graph{.graph = parse(text)};
    for (const NodeId id : graph.graph.placeholders())
        graph.sources.push_back(*Source::parse(graph.graph.node({id}).target));
    for (Node& node : graph.graph.nodes)
        node.stack = {{"app.cpp", 3, 7, "scale", "x * 2"}, {"app.cpp", line, 1, "main", "scale(x)"}};
    graph.ended_by = capture::GraphBreak{capture::BreakKind::item,
                                         "item",
                                         "aten.item.default",
                                         {{"app.cpp", 4, 1, "scale", ""}, {"app.cpp", line, 1, "main", ""}}};
    CapturedFrame frame{.function = "scale", .file = "app.cpp"};
    frame.breaks.push_back(*graph.ended_by);
    frame.graphs.push_back(std::move(graph));
    return frame;
}

std::vector<CapturedFrame> folded(const std::vector<CapturedFrame>& executions) {
    FrameFolder folder;
    for (const CapturedFrame& execution : executions) folder.add(execution);
    return folder.finish();
}

}  // namespace

TEST_CASE("of a write through a view that moves, the view's number is what differs") {
    const std::string row = R"(
graph scale {
  %x = placeholder["L['arg0']"] : f32[2, 2]
  %clone = aten.clone.default(%x) : f32[2, 2]
  %select = aten.select.int(%clone, 0, ROW) : f32[2]
  %relu_ = aten.relu_.default(%select) : f32[2]
  return (%clone)
}
)";
    const auto written = [&](const std::string& number) {
        CapturedFrame frame = execution(replaced(row, "ROW", number));
        capture::functionalize(frame.graphs.front());
        return frame;
    };
    const std::vector<CapturedFrame> frames = folded({written("0"), written("1")});
    REQUIRE(frames.size() == 1);
    REQUIRE(frames[0].graphs.size() == 2);
    CHECK(frames[0].graphs[1].graph.find("relu__1")->target == "aten.select_scatter.default");
    CHECK(frames[0].graphs[1].difference == "aten.select.int index == 0, now 1");
    CHECK(frames[0].recompiles.size() == 1);
}

TEST_CASE("equal graphs of one function are one, wherever it was called from and its inputs came from") {
    const std::string live = replaced(kScale, "L['arg0']", "___live[3]");
    const std::vector<CapturedFrame> frames = folded({execution(kScale), execution(kScale, 30), execution(live)});
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].calls == 3);
    REQUIRE(frames[0].graphs.size() == 1);
    CHECK(frames[0].graphs[0].runs == 3);
    CHECK(frames[0].recompiles.empty());
    REQUIRE(frames[0].breaks.size() == 2);  // its callers' lines are told
    CHECK(frames[0].breaks[0].count == 2);
    CHECK(frames[0].breaks[1].count == 1);
}

TEST_CASE("another operation, place, parameter or break makes another graph, and no recompile") {
    CapturedFrame other_place = execution(kScale), other_break = execution(kScale);
    for (Node& node : other_place.graphs[0].graph.nodes) node.stack[0].line = 9;
    other_break.graphs[0].ended_by->reason = "print";
    const std::vector<CapturedFrame> frames =
        folded({execution(kScale), execution(replaced(kScale, "mul.Scalar", "add.Scalar")), other_place, other_break});
    REQUIRE(frames.size() == 1);
    REQUIRE(frames[0].graphs.size() == 4);
    for (const CapturedGraph& graph : frames[0].graphs) {
        CHECK(graph.runs == 1);
        CHECK_FALSE(graph.variant_of);
    }
    CHECK(frames[0].recompiles.empty());
}

TEST_CASE("a number, a size and requires_grad that differ are recompiles, counted by what differs") {
    const auto guard_of = [](const std::string& what, const std::string& by) {
        const std::vector<CapturedFrame> frames = folded({execution(kScale), execution(replaced(kScale, what, by))});
        REQUIRE(frames.at(0).graphs.size() == 2);
        CHECK(frames[0].graphs[1].variant_of == std::size_t{0});
        REQUIRE(frames[0].recompiles.size() == 1);
        CHECK_FALSE(frames[0].recompiles[0].advice.empty());
        CHECK(frames[0].recompiles[0].guard.text() == frames[0].graphs[1].difference);
        return frames[0].recompiles[0].guard.text();
    };
    CHECK(guard_of("2.0", "3.5") == "aten.mul.Scalar other == 2, now 3.5");
    CHECK(guard_of("[2]", "[5]") == "L['arg0'] size 0 == 2, now 5");
    CHECK(guard_of(": f32[2]", ": f32[2] grad") == "L['arg0'] requires_grad == false, now true");

    std::vector<CapturedFrame> steps;
    for (int i = 0; i < 12; ++i) steps.push_back(execution(replaced(kScale, "2.0", std::to_string(i) + ".5")));
    steps.push_back(execution(replaced(kScale, "2.0", "0.5")));
    FrameFolder folder;
    for (const CapturedFrame& step : steps) folder.add(step);
    const CapturedFrame frame = folder.finish().at(0);
    CHECK(frame.calls == 13);
    CHECK(frame.graphs.size() == kMostVariants);
    CHECK(frame.graphs[0].runs == 2);
    REQUIRE(frame.recompiles.size() == 1);
    CHECK(frame.recompiles[0].count == 11);
    CHECK(folder.dropped() == 12 - static_cast<std::int64_t>(kMostVariants));

    FrameFolder three(3);
    for (const CapturedFrame& step : steps) three.add(step);
    CHECK(three.finish().at(0).graphs.size() == 3);
    CHECK(three.dropped() == 9);
}

namespace {

constexpr const char* kTwoNumbers = R"(
graph scale {
  %x = placeholder["L['arg0']"] : f32[2]
  %mul = aten.mul.Scalar(%x, A) : f32[2]
  %mul_1 = aten.mul.Scalar(%mul, B) : f32[2]
  return (%mul_1)
}
)";

/// An execution that multiplies by both numbers; the variables "a" and "b" had them if they are told.
CapturedFrame two_numbers(const std::string& a, const std::string& b, bool told = false) {
    CapturedFrame frame = execution(replaced(replaced(kTwoNumbers, "A", a), "B", b));
    if (told)
        for (const char* call : {"mul", "mul_1"})
            frame.graphs[0].named_numbers.insert(frame.graphs[0].named_numbers.end(),
                                                 {{call, std::stod(a), "a"}, {call, std::stod(b), "b"}});
    return frame;
}

/// "GUARD: COUNT, SHARED" for each recompile.
std::vector<std::string> causes(const CapturedFrame& frame) {
    std::vector<std::string> all;
    for (const capture::Recompile& one : frame.recompiles)
        all.push_back(one.guard.text() + ": " + std::to_string(one.count) + ", " + std::to_string(one.shared));
    return all;
}

std::vector<std::string> number_guards(const CapturedGraph& graph) {
    std::vector<std::string> all;
    for (const capture::Guard& guard : graph.guards)
        if (guard.as<capture::ScalarEqual>()) all.push_back(guard.text());
    return all;
}

}  // namespace

TEST_CASE("each number that differs is a cause of the recompile, and a guard of all graphs") {
    using Texts = std::vector<std::string>;
    const CapturedFrame frame =
        folded({two_numbers("1.5", "2.5"), two_numbers("3.5", "4.5"), two_numbers("1.5", "5.5")}).at(0);
    REQUIRE(frame.graphs.size() == 3);
    // The third differs least from the first: in the second number alone.
    CHECK(causes(frame) == Texts{"aten.mul.Scalar (%mul) other == 1.5, now 3.5: 1, 0",
                                 "aten.mul.Scalar (%mul_1) other == 2.5, now 4.5: 2, 1"});
    CHECK(number_guards(frame.graphs[0]) ==
          Texts{"aten.mul.Scalar (%mul) other == 1.5", "aten.mul.Scalar (%mul_1) other == 2.5"});
    CHECK(number_guards(frame.graphs[2]) ==
          Texts{"aten.mul.Scalar (%mul) other == 1.5", "aten.mul.Scalar (%mul_1) other == 5.5"});
    CHECK(frame.graphs[1].difference ==
          "aten.mul.Scalar (%mul) other == 1.5, now 3.5; aten.mul.Scalar (%mul_1) other == 2.5, now 4.5");
    CHECK(frame.graphs[2].difference == "aten.mul.Scalar (%mul_1) other == 2.5, now 5.5");
    CHECK(number_guards(folded({two_numbers("1.5", "2.5")}).at(0).graphs.at(0)).empty());
}

TEST_CASE("a number is called as the variable that had it in all calls") {
    using Texts = std::vector<std::string>;
    CapturedFrame frame = folded({two_numbers("1.5", "2.5", true), two_numbers("3.5", "4.5", true)}).at(0);
    CHECK(causes(frame) == Texts{"L['a'] == 1.5, now 3.5: 1, 0", "L['b'] == 2.5, now 4.5: 1, 1"});
    CHECK(number_guards(frame.graphs.at(1)) == Texts{"L['a'] == 3.5", "L['b'] == 4.5"});
    // In the first call either variable may be what multiplies; in the second it is known.
    frame = folded({two_numbers("2", "2", true), two_numbers("3", "2", true)}).at(0);
    CHECK(causes(frame) == Texts{"L['a'] == 2, now 3: 1, 0"});
    // Where both always had the same number, neither is known to be it; and operands that are always equal are one.
    frame = folded({two_numbers("2", "2", true), two_numbers("3", "3", true)}).at(0);
    CHECK(causes(frame) == Texts{"aten.mul.Scalar other == 2, now 3: 1, 0"});
}

TEST_CASE("an element of a list is a number, too") {
    const std::string view =
        replaced(kScale, "aten.mul.Scalar(%x, 2.0) : f32[2]", "aten.sum.dim_IntList(%x, [0], true) : f32[1]");
    const std::vector<CapturedFrame> frames = folded({execution(view), execution(replaced(view, "[0]", "[-1]"))});
    CHECK(causes(frames.at(0)) == std::vector<std::string>{"aten.sum.dim_IntList dim[0] == 0, now -1: 1, 0"});
}

TEST_CASE("values of a few runs are kept, and only of those that the graph stands for") {
    const auto run = [](float value) {
        CapturedFrame frame = execution(kScale);
        frame.graphs[0].inputs = {Tensor::of(std::vector<float>{value, 1}, {2})};
        frame.graphs[0].outputs = evaluate(frame.graphs[0].graph, frame.graphs[0].inputs);
        return frame;
    };
    CapturedFrame without = run(9);
    without.graphs[0].outputs.clear();
    const std::vector<CapturedFrame> frames = folded({run(1), without, run(2), run(3), run(4), run(5)});
    const CapturedGraph& graph = frames.at(0).graphs.at(0);
    CHECK(graph.runs == 6);
    REQUIRE(graph.more_runs.size() == kMostRuns - 1);
    for (const capture::RecordedRun& kept : graph.more_runs)
        CHECK(same_bits(evaluate(graph.graph, kept.inputs).at(0), kept.outputs.at(0)));
}

namespace {

/// An execution with what probes told of it.
CapturedFrame told(const std::string& text, std::int64_t n, bool way, std::int64_t ignored = 0) {
    CapturedFrame frame = execution(text);
    frame.graphs[0].guards = {
        capture::Guard::scalar(Source::local("ignored"), ignored), capture::Guard::scalar(Source::local("n"), n),
        capture::Guard(Source::condition("n > 2", 5), capture::Outcomes{{way}}, {{"app.cpp", 5, 9, "scale", "n > 2"}})};
    return frame;
}

}  // namespace

TEST_CASE("where probes told of the calls, a recompile is told in the terms of the program") {
    const std::string other = replaced(kScale, "2.0", "3.0");
    const std::vector<CapturedFrame> frames = folded({told(kScale, 2, false), told(other, 3, false)});
    REQUIRE(frames.at(0).recompiles.size() == 1);
    CHECK(frames[0].recompiles[0].guard.text() == "L['n'] == 2, now 3");
    CHECK(frames[0].recompiles[0].stack.at(0).line == 3);  // of the operation that it is a number of
    CHECK(frames[0].graphs.at(1).difference == "L['n'] == 2, now 3");
    // A size tells itself.
    const std::string larger = replaced(kScale, "f32[2]", "f32[5]");
    CHECK(folded({told(kScale, 2, false), told(larger, 3, false)})[0].recompiles.at(0).guard.text() ==
          "L['arg0'] size 0 == 2, now 5");
}

TEST_CASE("another way through the function is a recompile, told at its branch") {
    const std::string other = replaced(kScale, "mul.Scalar", "add.Scalar");
    std::vector<CapturedFrame> frames = folded({told(kScale, 3, true), told(other, 3, false), told(kScale, 3, true)});
    REQUIRE(frames.at(0).recompiles.size() == 1);
    CHECK(frames[0].recompiles[0].guard.text() == "(n > 2) is true, now false");
    CHECK(frames[0].recompiles[0].stack.at(0) == StackFrame{"app.cpp", 5, 9, "scale", "n > 2"});
    CHECK(frames[0].recompiles[0].count == 1);
    frames = folded({told(kScale, 3, true), told(other, 1, false)});
    CHECK(frames[0].recompiles.at(0).guard.text() == "L['n'] == 3, now 1");
    CHECK(frames[0].recompiles.at(0).stack.at(0).line == 5);
}

TEST_CASE("a number that makes no other graph is no guard") {
    const std::vector<CapturedFrame> frames = folded({told(kScale, 3, true, 7), told(kScale, 3, true, 8)});
    REQUIRE(frames.at(0).graphs.size() == 1);
    CHECK(frames[0].recompiles.empty());
    REQUIRE(frames[0].graphs[0].guards.size() == 2);
    CHECK(frames[0].graphs[0].guards[0].text() == "L['n'] == 3");
}

TEST_CASE("a backward pass that is kept has its own execution's values of a graph that is not") {
    const std::string backward = replaced(replaced(kScale, "scale", "back"), "mul", "neg");
    const std::string neg = replaced(backward, "aten.neg.Scalar(%x, 2.0)", "aten.neg.default(%x)");
    const auto step = [&](std::int64_t number, float value, const std::string& pass) {
        CapturedFrame frame = execution(kScale), second = execution(pass);
        CapturedGraph& forward = frame.graphs[0];
        forward.number = number;
        forward.inputs = {Tensor::of<float>({value, value}, {2})};
        forward.outputs = evaluate(forward.graph, forward.inputs);
        frame.graphs.push_back(second.graphs[0]);
        frame.graphs[1].number = number + 1;
        frame.graphs[1].differentiates = {number, -1};
        return frame;
    };
    const std::string accumulates = replaced(neg, "neg.default(%x)", "exp.default(%x)");
    const std::vector<CapturedFrame> frames = folded({step(0, 1, neg), step(2, 2, neg), step(4, 3, accumulates)});
    REQUIRE(frames.at(0).graphs.size() == 3);  // scale, and two backward passes
    CHECK(frames[0].graphs[1].forward.empty());
    const std::vector<CapturedGraph>& kept = frames[0].graphs[2].forward;
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].number == 4);
    CHECK(kept[0].variant_of == std::size_t{0});
    CHECK(same_bits(kept[0].outputs.at(0), Tensor::of<float>({6, 6}, {2})));
}

TEST_CASE("one tensor in the place of two, and two in the place of one, is a recompile by the identity of inputs") {
    const std::string one = R"(
graph scale {
  %a = placeholder["L['a']"] : f32[2]
  %add = aten.add.Tensor(%a, %a) : f32[2]
  return (%add)
}
)",
                      two = R"(
graph scale {
  %a = placeholder["L['a']"] : f32[2]
  %b = placeholder["L['b']"] : f32[2]
  %add = aten.add.Tensor(%a, %b) : f32[2]
  return (%add)
}
)";
    const auto guard = [](const std::string& first, const std::string& then) {
        const std::vector<CapturedFrame> frames = folded({execution(first), execution(then)});
        REQUIRE(frames.at(0).graphs.size() == 2);
        REQUIRE(frames[0].recompiles.size() == 1);
        return frames[0].recompiles[0].guard.text();
    };
    CHECK(guard(one, two) == "L['b'] is L['a'], now a different tensor");
    CHECK_THAT(guard(two, one), Catch::Contains("L['b']") && Catch::Contains("now the same tensor as L['a']"));
    CHECK(folded({execution(two), execution(replaced(two, "(%a, %b)", "(%b, %a)"))})[0].recompiles.empty());
}

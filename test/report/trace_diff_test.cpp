#include "report/trace_diff.h"

#include <catch2/catch.hpp>

#include "graph/text.h"

using namespace whittle;
using namespace whittle::report;

namespace {

Frame frame_calling(const std::string& function, const std::string& name, const std::string& op) {
    return {.name = function,
            .graph = parse("graph " + name + " {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = " + op +
                           "(%x) : f32[2]\n  return (%y)\n}")};
}

TraceDiff compared(const std::vector<Frame>& before, const std::vector<Frame>& after, Report a = {}, Report b = {}) {
    return diff(Capture{before, a}, Capture{after, b}, Accuracy());
}

BreakReason break_at(int line, const std::string& text) {
    return {.kind = BreakKind::item,
            .op = "aten.item",
            .reason = "a tensor's value",
            .places = {{"", {{"a.cpp", line, 0, "step", text}}, 1}},
            .count = 1};
}

}  // namespace

TEST_CASE("graphs of a function are known again by what they compute, renamed functions by their graphs") {
    const std::vector<Frame> before = {frame_calling("f", "g0", "aten.relu.default"),
                                       frame_calling("f", "g1", "aten.neg.default")};
    const std::vector<Frame> after = {frame_calling("f", "g0", "aten.neg.default"),
                                      frame_calling("h", "g1", "aten.relu.default")};
    const TraceDiff found = compared(before, after);
    CHECK(found.same());
    CHECK(found.same_graphs == 2);
}

TEST_CASE("graphs that came and went are told by name") {
    const std::vector<Frame> before = {frame_calling("f", "g0", "aten.relu.default")};
    std::vector<Frame> after = before;
    after.push_back(frame_calling("f", "g1", "aten.neg.default"));
    REQUIRE(compared(before, after).added.size() == 1);
    CHECK(compared(before, after).added[0].name == "g1");
    REQUIRE(compared(after, before).gone.size() == 1);
    CHECK_FALSE(compared(after, before).same());
}

TEST_CASE("a break that moved to another line is the same break") {
    Report before, after;
    before.break_reasons = {break_at(3, "x.item()")};
    after.break_reasons = {break_at(30, "x.item()")};
    CHECK(compared({}, {}, before, after).same());
    after.break_reasons[0].places[0].user_stack[0].text = "y.item()";
    const TraceDiff found = compared({}, {}, before, after);
    REQUIRE(found.breaks.size() == 2);
    CHECK(found.breaks[0].after + found.breaks[1].after == 1);
}

TEST_CASE("the first line counts breaks that are new, gone, and as often no more") {
    Report before, after;
    before.break_reasons = {break_at(3, "x.item()"), break_at(4, "y.item()")};
    after.break_reasons = {break_at(3, "x.item()"), break_at(5, "z.item()")};
    after.break_reasons[0].places[0].count = 2;
    const std::string text = to_text(compared({}, {}, before, after), {});
    CHECK(text.substr(0, text.find('\n')) ==
          " -> : 1 new graph break, 1 graph break is gone, 1 graph break happens more or less often");
}

TEST_CASE("a guard that only one side has is a difference") {
    const std::vector<Frame> frames = {frame_calling("f", "g0", "aten.relu.default")};
    Report before, after;
    before.graphs = {{IndexGraph{.name = "g0", .guards = {IndexGuard("L['n'] == 3")}}}};
    after.graphs = {{IndexGraph{.name = "g0", .guards = {IndexGuard("L['n'] == 4")}}}};
    const TraceDiff found = compared(frames, frames, before, after);
    REQUIRE(found.changed.size() == 1);
    CHECK(found.changed[0].guards_gone == std::vector<std::string>{"L['n'] == 3"});
    CHECK(found.changed[0].guards_new == std::vector<std::string>{"L['n'] == 4"});
}

TEST_CASE("of inputs that differ the outputs are not compared") {
    const std::vector<Frame> frames = {frame_calling("f", "g0", "aten.relu.default")};
    const Report report;
    const Tensor one = Tensor::of({1.F, 1.F}), two = Tensor::of({2.F, 2.F});
    const auto with = [&](const Tensor& input, const Tensor& output) {
        return std::vector<LoadedFrame>{{.graph = frames[0].graph, .inputs = {input}, .expected = {output}}};
    };
    const auto value = [&](const auto& before, const auto& after) {
        const TraceDiff found = diff({frames, report, before}, {frames, report, after}, Accuracy());
        return found.values.empty() ? "" : found.values[0].value + " " + found.values[0].difference;
    };
    CHECK(value(with(one, two), with(one, two)) == "");
    CHECK(value(with(one, one), with(one, two)) == "output 0 [0]: 2, was 1; 2 of 2 values differ, by 1 at most");
    CHECK(value(with(one, one), with(two, two)) == "input x [0]: 2, was 1; 2 of 2 values differ, by 1 at most");
    CHECK(value(with(one, one), with(one, two.as_strided({1, 2}, {2, 1}, 0))) == "output 0 sizes: [1, 2], was [2]");
}

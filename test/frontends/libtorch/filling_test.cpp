// Constants of a program, and memory that it fills.
#include <algorithm>
#include <string>
#include <vector>

#include "made_up_program.h"
#include "ops/core/interpreter.h"

using namespace whittle;
using namespace whittle::libtorch;

TEST_CASE("a constant of the program, torch::tensor, is an input and nothing random; memory to write to is none") {
    const TempDir folder;
    const auto sources = [&](bool computed) {
        const EventFile file = program(folder, [&](EventWriter& w) {
            const FakeTensor x{.id = 1}, made{.id = 2}, filled{.id = 2, .version = 1}, y{.id = 3};
            const FakeTensor element{.id = 4, .sizes = {}, .storage = 2},
                written{.id = 4, .sizes = {}, .version = 1, .storage = 2};
            w.snapshot(x, {1, 2, 3});
            w.call(kEmpty, {}, {made}, {3});
            w.call(kSelect, {made}, {element}, {0, 0});
            if (computed)
                w.call(kAddInPlace, {element, {.id = 5, .sizes = {}}}, {written}, {1});
            else
                w.call(kFill, {element}, {written}, {5});
            w.snapshot(filled, {5, 2, 3});
            w.call(kMul, {x, filled}, {y});
        });
        std::vector<std::string> texts;
        for (const capture::CapturedGraph& graph : only_frame(file).graphs)
            for (const capture::Source& source : graph.sources) texts.push_back(source.text());
        return texts;
    };
    CHECK(sources(false) == std::vector<std::string>{"L['arg0']", "L['constant0']"});
    const std::vector<std::string> computed = sources(true);
    CHECK(std::ranges::find(computed, "L['memory0']") != computed.end());
}

TEST_CASE("a view of a constant is its reader's, one that leads to a write is part of the constant") {
    const TempDir folder;
    const auto ops = [&](bool written) {
        const EventFile file = program(folder, [&](EventWriter& w) {
            const FakeTensor x{.id = 1, .sizes = {}}, made{.id = 2}, filled{.id = 2, .version = 1};
            const FakeTensor element{.id = 4, .sizes = {}, .version = 1, .storage = 2},
                set{.id = 4, .sizes = {}, .version = 2, .storage = 2};
            w.snapshot(x, {3});
            w.call(kEmpty, {}, {made}, {3});
            w.call(kFill, {made}, {filled}, {5});
            w.call(kSelect, {filled}, {element}, {0, 0});
            w.snapshot(filled, {5, 5, 5});
            w.snapshot(element, {5});
            if (written) w.call(kFill, {element}, {set}, {7});
            w.call(kMul, {x, written ? set : element}, {{.id = 3, .sizes = {}}});
        });
        std::vector<std::string> targets;
        const Graph graph = only_frame(file).graphs.at(0).graph;
        for (const NodeId id : graph.calls()) targets.push_back(graph.node({id}).target);
        return targets;
    };
    CHECK(ops(false) == std::vector<std::string>{"aten.select.int", "aten.mul.Tensor"});
    CHECK(ops(true) == std::vector<std::string>{"aten.mul.Tensor"});
}

TEST_CASE("torch.tensor() stays a constant when the program writes to it; a number that LibTorch made is one, too") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        constexpr std::uint32_t kDetach = 90, kNegInPlace = 91;
        w.define(kDetach, "aten::detach_", "", "aten::detach_(Tensor(a!) self) -> Tensor(a!)");
        const FakeTensor made{.id = 2}, filled{.id = 2, .version = 1}, number{.id = 5, .sizes = {}};
        w.define(kNegInPlace, "aten::neg_", "", "aten::neg_(Tensor(a!) self) -> Tensor(a!)");
        const FakeTensor added{.id = 2, .version = 2}, negated{.id = 2, .version = 3};
        const FakeTensor other{.id = 4}, other_negated{.id = 4, .version = 1}, other_filled{.id = 4, .version = 2};
        w.call(kEmpty, {}, {made}, {3});
        w.call(kDetach, {filled}, {filled});
        w.snapshot(filled, {5, 2, 3});
        w.snapshot(number, {0.25});
        w.call(kAddInPlace, {filled, number}, {added}, {1});
        w.call(kNegInPlace, {added}, {negated});
        w.call(kRelu, {negated}, {{.id = 3}});
        // Computed with this memory alone, and a number written when the constant was complete: nothing of the
        // constant.
        w.call(kEmpty, {}, {other}, {3});
        w.call(kDetach, {other}, {other});
        w.snapshot(other, {1, 2, 3});
        w.call(kNegInPlace, {other}, {other_negated});
        w.call(kFill, {other_negated}, {other_filled}, {7});
        w.call(kMul, {other_filled, negated}, {{.id = 6}});
    });
    const capture::CapturedFrame frame = only_frame(file);
    REQUIRE(frame.graphs.size() == 1);
    std::vector<std::string> targets, sources;
    const Graph& graph = frame.graphs[0].graph;
    for (const NodeId id : graph.calls()) targets.push_back(graph.node({id}).target);
    for (const capture::Source& source : frame.graphs[0].sources) sources.push_back(source.text());
    CHECK(targets == std::vector<std::string>{"aten.add.Tensor", "aten.neg.default", "aten.relu.default",
                                              "aten.neg.default", "aten.fill.Scalar", "aten.mul.Tensor"});
    CHECK(sources == std::vector<std::string>{"L['constant0']", "L['constant1']", "L['constant2']"});
}

TEST_CASE("a frame that only fills what it is given has a graph; a power in place is the one of a tensor") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        constexpr std::uint32_t kPow = 92;
        w.define(kPow, "aten::pow_", "Scalar", "aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)");
        const FakeTensor given{.id = 2}, filled{.id = 2, .version = 1}, raised{.id = 2, .version = 2};
        w.snapshot(given, {1, 2, 3});
        w.call(kFill, {given}, {filled}, {7});
        w.call(kItem, {{.id = 3, .sizes = {}}}, {});
        w.call(kPow, {filled}, {raised}, {2});
    });
    const capture::CapturedFrame frame = only_frame(file);
    REQUIRE(frame.graphs.size() == 2);
    const auto target = [&](std::size_t i) {
        const Graph& graph = frame.graphs[i].graph;
        return graph.node({graph.calls().at(0)}).target;
    };
    CHECK(target(0) == "aten.fill.Scalar");
    CHECK(frame.graphs[0].graph.outputs().size() == 1);
    CHECK(target(1) == "aten.pow.Tensor_Scalar");
}

TEST_CASE("what is drawn in place is a random input, of a part of a tensor a break") {
    const TempDir folder;
    const auto captured = [&](bool part) {
        const EventFile file = program(folder, [&](EventWriter& w) {
            constexpr std::uint32_t kNormal = 93;
            w.define(kNormal, "aten::normal_", "", "aten::normal_(Tensor(a!) self) -> Tensor(a!)");
            const FakeTensor x{.id = 1}, y{.id = 2}, drawn{.id = 2, .version = 1};
            const FakeTensor element{.id = 4, .sizes = {}, .storage = 2},
                element_drawn{.id = 4, .sizes = {}, .version = 1, .storage = 2};
            w.snapshot(x, {1, 2, 3});
            w.call(kMul, {x, x}, {y});
            if (part) {
                w.call(kSelect, {y}, {element}, {0, 0});
                w.call(kNormal, {element}, {element_drawn});
            } else {
                w.call(kNormal, {y}, {drawn});
            }
            w.call(kMul, {drawn, x}, {{.id = 3}});
        });
        return only_frame(file);
    };
    const capture::CapturedFrame whole = captured(false), part = captured(true);
    CHECK(whole.breaks.empty());
    REQUIRE(part.breaks.size() == 1);
    CHECK(part.breaks[0].kind == capture::BreakKind::mutation);
    CHECK(part.graphs.size() == 2);
}

TEST_CASE("resize_ shows what was computed, makes memory of what nobody wrote, and else is a break") {
    const TempDir folder;
    // How a resize_() of x * x, or of empty(), from `had` elements to `has`, read by relu(), is captured.
    const auto resized = [&](bool computed, std::int64_t had, std::int64_t has,
                             std::vector<std::int64_t> strides = {}) {
        return only_frame(program(folder, [&](EventWriter& w) {
            const FakeTensor x{.id = 1, .sizes = {had}}, made{.id = 2, .sizes = {had}, .strides = strides};
            const FakeTensor is{.id = 2, .sizes = {has}, .version = 1};
            if (computed)
                w.call(kMul, {x, x}, {made});
            else
                w.call(kEmpty, {}, {made}, {had});
            w.call(kResize, {made}, {is}, {has});
            w.snapshot(is, std::vector<float>(static_cast<std::size_t>(has), 5));
            w.call(kRelu, {is}, {{.id = 3, .sizes = {has}}});
        }));
    };
    const auto ops = [](const capture::CapturedFrame& frame) {
        std::vector<std::string> targets;
        for (const NodeId id : frame.graphs.at(0).graph.calls())
            targets.push_back(frame.graphs.at(0).graph.node({id}).target);
        return targets;
    };
    using Targets = std::vector<std::string>;
    for (const std::int64_t fewer : {4, 6}) {
        const capture::CapturedFrame frame = resized(true, 6, fewer);
        CHECK(frame.breaks.empty());
        CHECK(ops(frame) == Targets{"aten.mul.Tensor", "aten.as_strided.default", "aten.relu.default"});
        CHECK(frame.graphs.at(0).sources.size() == 1);
    }
    for (const std::int64_t had : {0, 2, 6}) {
        const capture::CapturedFrame frame = resized(false, had, 4);
        CHECK(frame.breaks.empty());
        CHECK(ops(frame) == Targets{"aten.relu.default"});
    }
    const capture::CapturedFrame larger = resized(true, 2, 4), other = resized(true, 2, 2, {2});
    REQUIRE(larger.breaks.size() == 1);
    CHECK(larger.breaks[0].reason ==
          "aten.resize_.default: enlarges a tensor from 2 to 4 elements, whose new elements are undefined");
    CHECK(larger.breaks[0].kind == capture::BreakKind::foreign_value);
    CHECK(larger.graphs.size() == 2);
    REQUIRE(other.breaks.size() == 1);
    CHECK_THAT(other.breaks[0].reason, Catch::Contains("a tensor that is not contiguous"));
}

#include "frontends/libtorch/builder.h"

#include <algorithm>
#include <string>
#include <vector>

#include "frontends/libtorch/torch_names.h"
#include "made_up_program.h"
#include "ops/core/interpreter.h"

using namespace whittle;
using namespace whittle::libtorch;

TEST_CASE("in-place ops become functional ones, and what LibTorch had replays") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, changed{.id = 2, .version = 1};
        w.snapshot(x, {1, 2, 3});
        w.call(kMul, {x, x}, {y});
        w.call(kAddInPlace, {y, x}, {changed}, {2});
        w.snapshot(changed, {3, 8, 15});
    });
    const capture::CapturedFrame frame = only_frame(file);
    REQUIRE(frame.graphs.size() == 1);
    const capture::CapturedGraph& graph = frame.graphs[0];
    CHECK(frame.breaks.empty());
    REQUIRE(graph.graph.calls().size() == 2);
    CHECK(graph.graph.node({graph.graph.calls()[1]}).target == "aten.add.Tensor");
    REQUIRE(graph.inputs.size() == 1);
    REQUIRE(graph.outputs.size() == 1);
    CHECK(same_bits(evaluate(graph.graph, graph.inputs).at(0), graph.outputs[0]));
}

TEST_CASE("tensors of another device are in graphs, what Whittle has no call for included") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const auto there = [](std::uint64_t id, std::uint32_t version = 0) {
            return FakeTensor{.id = id, .version = version, .device = "cuda:0"};
        };
        w.name(2, "fc.weight");
        w.call(kMul, {there(1), there(2)}, {there(3)});
        w.call(kUnknown, {there(3)}, {there(4)});
        w.call(kAddInPlace, {there(4), there(1)}, {there(4, 1)}, {2});
        w.snapshot({.id = 9}, {1, 2, 3});
    });
    const capture::CapturedFrame frame = only_frame(file);
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    const capture::CapturedGraph& captured = frame.graphs[0];
    const Graph& graph = captured.graph;
    REQUIRE(captured.sources.size() == 2);
    CHECK(captured.sources[0].text() == "L['arg0']");
    CHECK(captured.sources[1].text() == "L['self'].fc.weight");
    CHECK(graph.attributes.empty());
    std::vector<std::string> targets;
    for (const NodeId id : graph.calls()) targets.push_back(graph.node({id}).target);
    CHECK(targets == std::vector<std::string>{"aten.mul.Tensor", "my.mystery.default", "aten.add.Tensor"});
    const Placement* const cuda = placed({.device = "cuda:0"});
    for (const Node& node : graph.nodes)
        for (const ValueMeta& meta : node.results) CHECK(meta.placement == cuda);
    CHECK(captured.unrecorded == "the elements of L['arg0'], a tensor on the device cuda:0, were not recorded");
    const std::vector<std::string> notes = build_frames(file, {}).notes;
    CHECK(std::ranges::count(notes,
                             "1 graph has values that no backend supports (a tensor on the device "
                             "cuda:0): replay skips this graph") == 1);
}

TEST_CASE("a parameter that no operation reads is noted, if another one of its module is read") {
    const TempDir folder;
    for (const bool used : {true, false}) {
        const EventFile file = program(folder, [&](EventWriter& w) {
            const FakeTensor x{.id = 1}, weight{.id = 2}, y{.id = 4};
            w.name(2, "weight");
            w.name(3, "offset");
            w.call(kMul, {x, used ? weight : x}, {y});
        });
        const std::vector<std::string> notes = build_frames(file, {}).notes;
        CHECK(std::ranges::count(notes, "no operation reads 1 parameter of modules that the program uses: offset") ==
              used);
    }
}

TEST_CASE("a tensor that no graph can have is one reason, whatever op reads or makes it, known or not") {
    const TempDir folder;
    for (const bool reads : {true, false}) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            if (reads) w.call(kRelu, {{.id = 1, .conjugated = true}}, {{.id = 2}});
            if (!reads) w.call(kUnknown, {{.id = 3}}, {{.id = 4, .storage = 3, .conjugated = true}});
        }));
        INFO(reads);
        CHECK(frame.graphs.empty());
        REQUIRE(frame.breaks.size() == 1);
        CHECK(frame.breaks[0].reason == "a tensor with the conjugate or negative bit, which Whittle does not support");
        CHECK(frame.breaks[0].kind == capture::BreakKind::foreign_value);
    }
}

TEST_CASE("parameters are get_attr by name, tied ones once; random results are inputs") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor weight{.id = 1}, noise{.id = 2}, y{.id = 3}, z{.id = 4};
        w.name(1, "weight", 0);
        w.name(1, "decoder.weight");
        w.snapshot(weight, {1, 2, 3});
        w.call(kRandn, {}, {noise}, {3});
        w.snapshot(noise, {4, 5, 6});
        w.call(kMul, {weight, noise}, {y});
        w.call(kMul, {y, weight}, {z});
        w.snapshot(z, {4, 20, 54});
    });
    const capture::CapturedGraph graph = only_frame(file).graphs.at(0);
    CHECK(graph.graph.attributes.size() == 1);
    CHECK(graph.graph.attributes.contains("decoder.weight"));
    REQUIRE(graph.sources.size() == 1);
    CHECK(graph.sources[0].text() == "___random[0]");
    CHECK(same_bits(evaluate(graph.graph, graph.inputs).at(0), graph.outputs.at(0)));
}

TEST_CASE("the API level has what the program calls, the core level what that is made of") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2};
        w.begin(kLinear, 0, {x}, {0});
        w.begin(kRelu, 1, {x});
        w.end(kRelu, 1, {y});
        w.end(kLinear, 0, {y});
    });
    const Graph core = only_frame(file).graphs.at(0).graph;
    const Graph api = only_frame(file, Level::api).graphs.at(0).graph;
    CHECK(core.node({core.calls().at(0)}).target == "aten.relu.default");
    CHECK(api.node({api.calls().at(0)}).target == "aten.contiguous.default");
}

TEST_CASE("at the API level a composite op that Whittle does not know is what it is made of, with what it computed") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 3};
        w.snapshot(x, {-1, 2, 3});
        w.begin(kLoss, 0, {x});
        w.call(kRelu, {x}, {y});
        w.end(kLoss, 0, {y});
        w.snapshot(y, {0, 2, 3});
        w.begin(kLinear, 0, {y}, {0});
        w.call(kRelu, {y}, {z});
        w.snapshot(z, {0, 2, 3});  // when the op below ends, not again when the composite one does
        w.end(kLinear, 0, {z});
    });
    const capture::CapturedFrame frame = only_frame(file, Level::api);
    CHECK(frame.breaks.empty());
    const capture::CapturedGraph& graph = frame.graphs.at(0);
    REQUIRE(graph.graph.calls().size() == 2);
    CHECK(graph.graph.node({graph.graph.calls()[0]}).target == "aten.relu.default");
    CHECK(graph.graph.node({graph.graph.calls()[1]}).target == "aten.contiguous.default");
    CHECK(graph.unrecorded.empty());
    REQUIRE(graph.outputs.size() == 1);
    CHECK(same_bits(evaluate(graph.graph, graph.inputs).at(0), graph.outputs[0]));
}

TEST_CASE("a graph whose values are not all known says which are missing") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 3};
        w.snapshot(x, {1, 2, 3});
        w.call(kUndescribed, {x}, {y});
        w.call(kRelu, {y}, {z});
        w.snapshot(z, {1, 2, 3});
    });
    const capture::CapturedGraph graph = only_frame(file).graphs.at(0);
    CHECK(graph.inputs.empty());
    CHECK(graph.unrecorded == "the elements of ___live[0], a result of my.secret.default, were not recorded");
}

TEST_CASE("the backward pass is one break, and a graph of its own") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 3}, gradient{.id = 4}, u{.id = 5};
        w.define(90, "MulBackward0", "", "");
        w.call(kMul, {x, x}, {y});
        for (const FakeTensor& made : {z, gradient}) {
            w.begin(90, 0, {}, {}, OpScope::backward);
            w.begin(kMul, 1, {y, x});
            w.end(kMul, 1, {made});
            w.end(90, 0, {});
        }
        w.call(kRelu, {gradient}, {u});
    });
    const capture::CapturedFrame frame = only_frame(file);
    CHECK(frame.graphs.size() == 3);
    REQUIRE(frame.breaks.size() == 1);
    CHECK(frame.breaks[0].kind == capture::BreakKind::backward);
    REQUIRE(frame.graphs[0].ended_by);
    CHECK(frame.graphs[0].ended_by->kind == capture::BreakKind::backward);
}

TEST_CASE("a module that is called alone, too, is named as the one that holds it knows it") {
    const TempDir folder;
    for (const bool alone_first : {false, true}) {
        const EventFile file = program(folder, [&](EventWriter& w) {
            const FakeTensor weight{.id = 1}, x{.id = 2}, y{.id = 3};
            if (alone_first) w.name(1, "weight", 20);
            w.name(1, "inner.weight", 10);
            if (!alone_first) w.name(1, "weight", 20);
            w.call(kMul, {x, weight}, {y});
        });
        REQUIRE(file.names.size() == 1);
        CHECK(file.names[0].path == "inner.weight");
    }
}

TEST_CASE("parameters of different modules never share a name") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor first{.id = 1}, second{.id = 2}, y{.id = 3};
        w.name(1, "weight", 7);
        w.name(2, "weight", 8);
        w.snapshot(first, {1, 2, 3});
        w.snapshot(second, {1, 2, 3});
        w.call(kMul, {first, second}, {y});
    });
    const Graph graph = only_frame(file).graphs.at(0).graph;
    CHECK(graph.attributes.size() == 2);
    CHECK(graph.attributes.contains("weight"));
    CHECK(graph.attributes.contains("module_1.weight"));
}

TEST_CASE("lambdas are named by their place, other call operators by their class") {
    CHECK(name_by_place("operator()", "/src/app.cpp", 90) == "{lambda at app.cpp:90}");
    CHECK(name_by_place("main::{lambda(at::Tensor)#1}::operator()", "app.cpp", 90) == "main::{lambda at app.cpp:90}");
    CHECK(name_by_place("main(int, char**)::$_0::operator()", "app.cpp", 7) == "main::{lambda at app.cpp:7}");
    CHECK(name_by_place("operator()", "app.cpp", 0) == "{lambda in app.cpp}");  // GCC does not tell its line
    CHECK(name_by_place("Scale::operator()", "app.cpp", 7) == "Scale::operator()");
    CHECK(name_by_place("(anonymous namespace)::f", "app.cpp", 7) == "f");
}

TEST_CASE("an op under autocast is the one that it calls with its arguments cast") {
    constexpr std::uint32_t kCasting = 100;
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        w.define(kCasting, "aten::relu", "", "aten::relu(Tensor self) -> Tensor", kComposite | kCasts);
        const FakeTensor x{.id = 1}, cast{.id = 2, .dtype = 15}, y{.id = 3, .dtype = 15};
        w.begin(kCasting, 0, {x});
        w.begin(kRelu, 1, {cast});
        w.end(kRelu, 1, {y});
        w.end(kCasting, 0, {y});
    });
    for (const Level level : {Level::core, Level::api}) {
        const capture::CapturedFrame frame = only_frame(file, level);
        REQUIRE(frame.graphs.size() == 1);
        CHECK(frame.graphs[0].graph.node({frame.graphs[0].graph.placeholders()[0]}).meta().dtype == DType::bf16);
    }
}

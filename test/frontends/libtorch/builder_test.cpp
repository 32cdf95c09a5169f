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

TEST_CASE("item is one break, though it is two ops, and splits the frame") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1, .sizes = {}}, y{.id = 2, .sizes = {}}, z{.id = 3, .sizes = {}};
        w.call(kRelu, {x}, {y});
        w.begin(kItem, 0, {y});
        w.begin(kLocal, 1, {y});
        w.end(kLocal, 1, {});
        w.end(kItem, 0, {});
        w.call(kRelu, {y}, {z});
    });
    const capture::CapturedFrame frame = only_frame(file);
    REQUIRE(frame.graphs.size() == 2);
    REQUIRE(frame.breaks.size() == 1);
    CHECK(frame.breaks[0].kind == capture::BreakKind::item);
    CHECK(frame.breaks[0].op == "aten.item.default");
    REQUIRE(frame.graphs[0].ended_by);
    CHECK(frame.graphs[1].sources.at(0).text() == "___live[0]");
}

TEST_CASE("a break in a library's own code names the library and has no hint, one in the user's code has one") {
    const TempDir folder;
    EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1, .sizes = {}}, y{.id = 2, .sizes = {}};
        w.call(kRelu, {x}, {y});
        w.call(kItem, {y}, {});
    });
    for (const bool library : {true, false}) {
        file.runs_python = true;
        file.python_libraries = {{LibraryFolder::packages, "/usr/lib/python3/dist-packages/"}};
        file.places[1] = {
            .line = 1, .file = "/usr/lib/python3/dist-packages/torch/optim/adam.py", .function = "step", .text = ""};
        file.places[2] = {.line = 3, .file = "/nowhere/train.py", .function = "train", .text = ""};
        file.places[3] = {.line = 9, .file = "/nowhere/train.py", .function = "<module>", .text = ""};
        for (Event& event : file.events) event.stack = 1;
        file.stacks[1] = library ? std::vector<std::uint64_t>{1, 2, 3} : std::vector<std::uint64_t>{2, 3};
        const capture::CapturedFrame frame = only_frame(file);
        REQUIRE(frame.breaks.size() == 1);
        CHECK(frame.breaks[0].reason == std::string("a tensor's value read by the program: aten.item of "
                                                    "aten.relu.default") +
                                            (library ? " in torch/optim/adam.py" : ""));
        CHECK(frame.breaks[0].hint ==
              (library ? "" : std::string(capture::info(capture::BreakKind::item).python_hint)));
    }
}

TEST_CASE("a frame without operations is told where it chooses its way by a tensor's value, not where it prints one") {
    const TempDir folder;
    EventFile file = program(folder, [](EventWriter& w) { w.call(kItem, {{.id = 1, .sizes = {}}}, {}); });
    file.runs_python = true;
    file.stacks[1] = {1};
    for (Event& event : file.events) event.stack = 1;
    for (const auto& [text, told] : {std::pair("if z.item() > 1:", true), std::pair("print(z.item())", false)}) {
        file.places[1] = {.line = 11, .file = "/nowhere/train.py", .function = "main", .text = text};
        const std::vector<capture::CapturedFrame> frames = build_frames(file, {}).frames;
        REQUIRE(frames.size() == (told ? 1u : 0u));
        if (told) CHECK(frames[0].breaks.size() == 1);
    }
}

TEST_CASE("the order of graphs and breaks says which break lies before a graph that it does not end") {
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1, .sizes = {}}, y{.id = 2, .sizes = {}};
        w.call(kItem, {x}, {});
        w.call(kRelu, {x}, {y});
        w.call(kItem, {y}, {});
    }));
    REQUIRE(frame.breaks.size() == 2);
    REQUIRE(frame.graphs.size() == 1);
    CHECK(frame.breaks[0].order > 0);
    CHECK(frame.breaks[0].order < frame.graphs[0].order);
    CHECK(frame.graphs[0].order < frame.breaks[1].order);
}

TEST_CASE("a comparison of the value that item gives, in a branch, has the hint of one on the tensor") {
    const TempDir folder;
    EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1, .sizes = {}}, y{.id = 2, .sizes = {}};
        w.call(kRelu, {x}, {y});
        w.call(kItem, {y}, {});
    });
    file.runs_python = true;
    const capture::BreakInfo& item = capture::info(capture::BreakKind::item);
    for (const auto& [text, hint] :
         {std::pair("if y.item() > 9:", item.branch_hint), std::pair("assert y.item() > 9", item.assert_hint),
          std::pair("total += y.item()", item.python_hint)}) {
        file.places[1] = {.line = 3, .file = "/nowhere/train.py", .function = "train", .text = text};
        for (Event& event : file.events) event.stack = 1;
        file.stacks[1] = std::vector<std::uint64_t>{1};
        const capture::CapturedFrame frame = only_frame(file);
        REQUIRE(frame.breaks.size() == 1);
        CHECK(frame.breaks[0].kind == capture::BreakKind::item);
        CHECK(frame.breaks[0].hint == std::string(hint));
    }
}

TEST_CASE("a break behind the last operation of a frame has no hint to move it there") {
    constexpr std::uint32_t kEqual = 100;
    for (const bool more : {true, false}) {
        const TempDir folder;
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            w.define(kEqual, "aten::equal", "", "aten::equal(Tensor self, Tensor other) -> bool", kReturnsOnlyHost);
            const FakeTensor x{.id = 1}, y{.id = 2};
            w.call(kMul, {x, x}, {y});
            w.call(kEqual, {x, y}, {});
            if (more) w.call(kRelu, {y}, {{.id = 3}});
        }));
        REQUIRE(frame.breaks.size() == 1);
        CHECK(frame.breaks[0].kind == capture::BreakKind::compare);
        REQUIRE(frame.breaks[0].hint);
        CHECK(frame.breaks[0].hint->empty() != more);
    }
}

TEST_CASE("a value that is read behind the last operation has a hint to read it there only if the read is repeated") {
    const TempDir folder;
    const auto hints = [&](int operations, int reads) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            FakeTensor x{.id = 1, .sizes = {}};
            for (int i = 0; i < std::max(operations, reads); ++i) {
                const FakeTensor y{.id = x.id + 1, .sizes = {}};
                if (i < operations) w.call(kRelu, {x}, {y}), x = y;
                if (i < reads) w.call(kItem, {x}, {});
            }
        }));
        std::vector<std::string> found;
        for (const capture::GraphBreak& why : frame.breaks) found.push_back(why.hint.value());
        return found;
    };
    const std::string hint(capture::info(capture::BreakKind::item).hint);
    CHECK(hints(1, 1) == std::vector<std::string>{""});
    CHECK(hints(2, 1) == std::vector<std::string>{hint});
    CHECK(hints(2, 2) == std::vector<std::string>{hint, hint});
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
                             "1 graph has values that no backend computes with (a tensor on the device "
                             "cuda:0): replay skips this graph") == 1);
}

TEST_CASE("ops that nobody describes, or that Whittle knows otherwise, are breaks by name") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 3}, odd{.id = 4, .sizes = {7}};
        w.call(kRelu, {x}, {y});
        w.call(kUndescribed, {y}, {z});
        w.call(kRelu, {z}, {odd});  // relu of three numbers is no seven
    });
    const capture::CapturedFrame frame = only_frame(file);
    REQUIRE(frame.breaks.size() == 2);
    CHECK(frame.breaks[0].reason == "unknown op my.secret.default");
    CHECK(frame.breaks[0].kind == capture::BreakKind::unregistered_op);
    CHECK(frame.breaks[1].reason == "aten.relu.default: LibTorch returned f32[7], Whittle expected f32[3]");
    CHECK(frame.breaks[1].kind == capture::BreakKind::disagreement);
}

TEST_CASE("a region of torch.compile or TorchScript without operations of its own is a break: generated code") {
    constexpr std::uint32_t kRegion = 40;
    const auto reasons = [](const char* region, bool has_operations) {
        const TempDir folder;
        const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 3}, compiled{.id = 4};
        const EventFile file = program(folder, [&](EventWriter& w) {
            w.record.start(records::OpDefinition{.op = kRegion, .name = region});
            w.commit();
            w.call(kRelu, {x}, {y});
            w.begin(kRegion, 0, {});
            if (has_operations) {
                w.begin(kRelu, 1, {y});
                w.end(kRelu, 1, {compiled});
            }
            w.end(kRegion, 0, {});
            w.call(kRelu, {compiled}, {z});
        });
        std::vector<std::string> found;
        for (const capture::GraphBreak& entry : only_frame(file).breaks) found.push_back(entry.reason);
        return found;
    };
    const char* const compiled = "Torch-Compiled Region: 0/0";
    CHECK(reasons(compiled, false) == std::vector<std::string>{"code that torch.compile made"});
    CHECK(reasons(compiled, true).empty());
    CHECK(reasons(kFusedKernel, false) == std::vector<std::string>{"code that TorchScript made"});
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
        CHECK(std::ranges::count(notes, "no operation reads 1 parameter of modules that are used: offset") == used);
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

/// A program in Python whose step() has three calls of relu: places 1, in step(), and 2, in <module>; stack 1 is both.
EventFile three_steps(const TempDir& folder) {
    EventFile file = program(folder, [](EventWriter& w) {
        for (std::uint64_t i = 0; i < 3; ++i) w.call(kRelu, {{.id = 1}}, {{.id = 2 + i}});
    });
    file.runs_python = true;
    file.places[1] = {.line = 3, .file = "/nowhere/train.py", .function = "step", .text = ""};
    file.places[2] = {.line = 9, .file = "/nowhere/train.py", .function = "<module>", .text = ""};
    file.stacks[1] = {1, 2};
    return file;
}

TEST_CASE("a file's own code in Python is not named like a module of torch.nn") {
    const TempDir folder;
    for (const int calls : {1, 3}) {  // three make a loop
        EventFile file = program(folder, [&](EventWriter& w) {
            for (int i = 0; i < calls; ++i) w.call(kRelu, {{.id = 1}}, {{.id = static_cast<std::uint64_t>(2 + i)}});
        });
        file.runs_python = true;
        file.places[1] = {.line = 9, .file = "/nowhere/train.py", .function = "<module>", .text = ""};
        file.stacks[1] = std::vector<std::uint64_t>{1};
        for (Event& event : file.events) event.stack = 1;
        const std::vector<capture::CapturedFrame> frames = build_frames(file, {}).frames;
        REQUIRE_FALSE(frames.empty());
        for (const capture::CapturedFrame& frame : frames) CHECK(frame.name.starts_with("toplevel"));
        if (calls == 1) CHECK(frames[0].name == "toplevel");
    }
}

TEST_CASE("calls that a caller proves by going on are known, all others are guessed") {
    const TempDir folder;
    EventFile file = three_steps(folder);
    for (const bool moved : {true, false}) {
        for (Event& event : file.events) {
            event.stack = 1;
            event.untouched = moved ? 0 : 1;
            event.unmoved = moved ? 0 : 0xff;
        }
        const capture::CapturedFrame frame = only_frame(file);
        CHECK(frame.function == "step");
        CHECK(frame.calls == (moved ? 3 : 1));  // while (feed.more()) step(x) looks like a loop in step(x)
        CHECK(frame.calls_guessed != moved);
    }
}

TEST_CASE("numbers of calls tell calls apart, and put together what a generator did in parts") {
    const TempDir folder;
    EventFile file = three_steps(folder);
    file.stacks[2] = {2};
    const auto captured = [&](const std::vector<std::pair<std::uint32_t, std::uint64_t>>& calls) {
        std::size_t next = 0;
        for (Event& event : file.events) {
            if (event.kind != RecordKind::op_begin) continue;
            const auto& [stack, number] = calls.at(next++);
            event.stack = stack;
            event.untouched = 1;  // nothing of the caller has changed
            event.calls = std::make_shared<const std::vector<std::uint64_t>>(std::vector<std::uint64_t>{5, number});
        }
        const std::vector<capture::CapturedFrame> frames = build_frames(file, {}).frames;
        const auto step = std::ranges::find(frames, "step", &capture::CapturedFrame::function);
        REQUIRE(step != frames.end());
        CHECK_FALSE(step->calls_guessed);
        return step->calls;
    };
    CHECK(captured({{1, 7}, {1, 8}, {1, 8}}) == 2);
    CHECK(captured({{1, 7}, {1, 7}, {1, 7}}) == 1);
    CHECK(captured({{1, 0}, {1, 8}, {1, 9}}) == 3);  // the first began before calls were reported
    CHECK(captured({{1, 7}, {2, 0}, {1, 7}}) == 1);  // it yields to the script, which goes on with it
    CHECK(captured({{1, 7}, {2, 0}, {1, 9}}) == 2);
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

TEST_CASE("an exception that leaves a function is a break, one that is caught in it is none") {
    const TempDir folder;
    constexpr std::uint8_t kLeft = 0, kInside = 1;  // callers that still wait
    const auto breaks = [&](std::uint8_t looked_at, std::uint8_t waiting, std::uint32_t of_exception) {
        EventFile file = program(folder, [&](EventWriter& w) {
            w.call(kRelu, {{.id = 1}}, {{.id = 2}});
            w.raise("ValueError", looked_at, waiting);
            w.call(kRelu, {{.id = 1}}, {{.id = 3}});
        });
        file.runs_python = true;
        file.places[1] = {.line = 3, .file = "/nowhere/train.py", .function = "step", .text = ""};
        file.places[2] = {.line = 9, .file = "/nowhere/train.py", .function = "<module>", .text = ""};
        file.places[3] = {.line = 4, .file = "/nowhere/train.py", .function = "step", .text = "raise ValueError(3)"};
        file.stacks[1] = {3, 2};  // of the exception
        file.stacks[2] = {1, 2};
        file.stacks[3] = {2};
        bool first = true;
        for (Event& event : file.events)
            if (event.kind == RecordKind::raised)
                event.stack = of_exception;
            else if (event.kind == RecordKind::op_begin)
                event.stack = std::exchange(first, false) ? 2 : 3;
        const std::vector<capture::CapturedFrame> frames = build_frames(file, {}).frames;
        const auto step = std::ranges::find(frames, "step", &capture::CapturedFrame::function);
        REQUIRE(step != frames.end());
        return step->breaks;
    };
    const std::vector<capture::GraphBreak> left = breaks(1, kLeft, 1);
    REQUIRE(left.size() == 1);
    CHECK(left[0].kind == capture::BreakKind::exception);
    CHECK_THAT(left[0].reason, Catch::Contains("exception ValueError"));
    REQUIRE_FALSE(left[0].stack.empty());
    CHECK(left[0].stack[0].line == 4);
    CHECK(breaks(1, kInside, 1).empty());
    CHECK(breaks(0, kLeft, 1).empty());  // nobody knows
    CHECK(breaks(1, kLeft, 3).empty());  // thrown by what called the function
}

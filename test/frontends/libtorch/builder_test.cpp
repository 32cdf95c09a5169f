#include "frontends/libtorch/builder.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "event_writer.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

enum Op : std::uint32_t {
    kMul = 1,
    kAddInPlace,
    kItem,
    kLocal,
    kSelect,
    kLinear,
    kRelu,
    kUnknown,
    kRandn,
    kEmpty,
    kFill,
    kLoss,
    kUnsqueeze
};

/// A made-up program: `write` writes what it did.
template <class Write>
EventFile program(const TempDir& folder, Write&& write) {
    const std::string path = (folder.path() / "events").string();
    {
        EventWriter writer(path);
        REQUIRE(writer.ok);
        writer.define(kMul, "aten::mul", "Tensor", "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor");
        writer.define(kAddInPlace, "aten::add_", "Tensor",
                      "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)");
        writer.define(kItem, "aten::item", "", "aten::item(Tensor self) -> Scalar", kComposite | kReturnsOnlyHost);
        writer.define(kLocal, "aten::_local_scalar_dense", "", "aten::_local_scalar_dense(Tensor self) -> Scalar",
                      kReturnsOnlyHost);
        writer.define(kSelect, "aten::select", "int",
                      "aten::select.int(Tensor(a) self, int dim, int index) -> Tensor(a)");
        writer.define(kLinear, "aten::contiguous", "",
                      "aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", kComposite);
        writer.define(kRelu, "aten::relu", "", "aten::relu(Tensor self) -> Tensor");
        writer.define(kUnknown, "my::mystery", "", "my::mystery(Tensor self) -> Tensor");
        writer.define(kRandn, "aten::randn", "", "aten::randn(SymInt[] size) -> Tensor");
        writer.define(kEmpty, "aten::empty", "memory_format", "aten::empty.memory_format(SymInt[] size) -> Tensor");
        writer.define(kFill, "aten::fill_", "Scalar",
                      "aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)");
        writer.define(kLoss, "my::loss", "", "my::loss(Tensor self) -> Tensor", kComposite);
        writer.define(kUnsqueeze, "aten::unsqueeze", "", "aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)");
        write(writer);
        writer.recorder.finish();
        writer.chunk.unmap();
    }
    return read_events(path);
}

capture::CapturedFrame only_frame(const EventFile& file, Level level = Level::core) {
    CapturedProgram program = build_frames(file, {.level = level});
    REQUIRE(program.frames.size() == 1);
    return program.frames.front();
}

}  // namespace

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

TEST_CASE("a write through a view stays in the graph, for all that read the memory") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 4};
        const FakeTensor view{.id = 3, .sizes = {}, .storage = 2},
            written{.id = 3, .sizes = {}, .version = 1, .storage = 2};
        const FakeTensor changed{.id = 2, .version = 1};
        w.snapshot(x, {1, 2, 3});
        w.call(kRelu, {x}, {y});
        w.call(kSelect, {y}, {view}, {0, 0});
        w.call(kAddInPlace, {view, view}, {written}, {3});
        w.snapshot(written, {4});
        w.call(kMul, {changed, x}, {z});
        w.snapshot(z, {4, 4, 9});
    });
    const capture::CapturedFrame frame = only_frame(file);
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    const capture::CapturedGraph& graph = frame.graphs[0];
    CHECK(graph.updates.empty());
    const std::vector<Tensor> results = evaluate(graph.graph, graph.inputs);
    REQUIRE(graph.outputs.size() == results.size());
    REQUIRE(results.size() == 2);  // the view and the product
    for (std::size_t i = 0; i < results.size(); ++i) CHECK(same_bits(results[i], graph.outputs[i]));
}

TEST_CASE("an input that is written to, through a view too, has its new value after the graph") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, x1{.id = 1, .version = 1}, x2{.id = 1, .version = 2}, y{.id = 4};
        const FakeTensor view{.id = 3, .sizes = {}, .version = 1, .storage = 1},
            written{.id = 3, .sizes = {}, .version = 2, .storage = 1};
        w.snapshot(x, {1, 2, 3});
        w.call(kAddInPlace, {x, x}, {x1}, {1});
        w.snapshot(x1, {2, 4, 6});
        w.call(kSelect, {x1}, {view}, {0, 0});
        w.call(kAddInPlace, {view, view}, {written}, {1});
        w.snapshot(written, {4});
        w.call(kMul, {x2, x2}, {y});
        w.snapshot(y, {16, 16, 36});
    });
    const capture::CapturedGraph graph = only_frame(file).graphs.at(0);
    REQUIRE(graph.updates.size() == 1);
    CHECK(graph.updates[0].source.text() == "L['arg0']");
    const std::vector<Tensor> results = evaluate(graph.graph, graph.inputs);
    REQUIRE(graph.outputs.size() == results.size());
    for (std::size_t i = 0; i < results.size(); ++i) CHECK(same_bits(results[i], graph.outputs[i]));
    // What nobody wrote down is put together from what was: the first element from the view, the others from before.
    CHECK(same_bits(graph.outputs.at(graph.updates[0].output), Tensor::of(std::vector<float>{4, 4, 6}, {3})));
}

TEST_CASE("inputs that share memory: one is the other's view, and a write to one is seen in both") {
    const TempDir folder;
    for (const bool view_first : {false, true}) {
        const EventFile file = program(folder, [&](EventWriter& w) {
            const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 4, .sizes = {2}}, x1{.id = 1, .version = 1},
                x2{.id = 1, .version = 2};
            const FakeTensor view{.id = 3, .sizes = {2}, .storage = 1},
                v1{.id = 3, .sizes = {2}, .version = 1, .storage = 1},
                v2{.id = 3, .sizes = {2}, .version = 2, .storage = 1};
            w.probe_enter("main");
            w.probe_name(x, "x");
            w.snapshot(x, {1, 2, 3});
            w.snapshot(view, {1, 2});
            if (!view_first) w.call(kRelu, {x}, {y});
            w.call(kAddInPlace, {view, view}, {v1}, {1});
            w.snapshot(v1, {2, 4});
            w.call(kAddInPlace, {x1, x1}, {x2}, {1});
            w.snapshot(x2, {4, 8, 6});
            w.call(kMul, {v2, v2}, {z});
        });
        const capture::CapturedFrame frame = only_frame(file);
        INFO(view_first << (frame.breaks.empty() ? "" : ": " + frame.breaks[0].reason));
        // Of what was written before anything read it whole, nobody knows what it was.
        if (view_first) {
            CHECK(frame.breaks.size() == 1);
            continue;
        }
        CHECK(frame.breaks.empty());
        REQUIRE(frame.graphs.size() == 1);
        const capture::CapturedGraph& graph = frame.graphs[0];
        REQUIRE(graph.sources.size() == 1);
        CHECK(graph.sources[0].text() == "L['x']");
        REQUIRE(graph.updates.size() == 1);
        CHECK(graph.updates[0].source.text() == "L['x']");
        REQUIRE(graph.inputs.size() == 1);
        const std::vector<Tensor> results = evaluate(graph.graph, graph.inputs);
        CHECK(same_bits(results.at(graph.updates[0].output), Tensor::of(std::vector<float>{4, 8, 6}, {3})));
        CHECK(graph.outputs.empty() == !graph.unrecorded.empty());
    }
}

TEST_CASE("a write that was not seen as one is a break") {
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, view{.id = 3, .sizes = {}, .storage = 1};
        w.call(kRelu, {x}, {y});
        w.call(kAddInPlace, {view, view}, {{.id = 3, .sizes = {}, .version = 1, .storage = 1}}, {1});
        w.call(kRelu, {{.id = 1, .version = 2}}, {{.id = 4}});
    }));
    REQUIRE(frame.breaks.size() == 1);
    CHECK(frame.breaks[0].kind == capture::BreakKind::mutation);
    CHECK(frame.breaks[0].reason.find("aten.add_.Tensor") != std::string::npos);
    REQUIRE(frame.graphs.size() == 2);
    CHECK(frame.graphs[1].graph.placeholders().size() == 1);
}

TEST_CASE("what the program wrote through a pointer is an input of the next graph") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 3};
        w.snapshot(x, {1, 2, 3});
        w.call(kRelu, {x}, {y});
        w.snapshot(y, {1, 2, 3});
        w.unseen_write(y);
        w.snapshot(y, {7, 2, 3});
        w.call(kMul, {y, x}, {z});
        w.snapshot(z, {7, 4, 9});
    });
    const CapturedProgram captured = build_frames(file, {});
    REQUIRE(captured.frames.size() == 1);
    const capture::CapturedFrame& frame = captured.frames[0];
    REQUIRE(frame.breaks.size() == 1);
    CHECK(frame.breaks[0].kind == capture::BreakKind::data_pointer);
    REQUIRE(frame.graphs.size() == 2);
    for (const capture::CapturedGraph& graph : frame.graphs)
        CHECK(same_bits(evaluate(graph.graph, graph.inputs).at(0), graph.outputs.at(0)));
    CHECK(std::ranges::any_of(captured.notes,
                              [](const std::string& note) { return note.starts_with("escape: 1 time"); }));
}

TEST_CASE("how a program ended, and which processes were not seen, is told") {
    const TempDir folder;
    const std::string path = (folder.path() / "events").string();
    EventWriter writer(path);
    writer.define(kRelu, "aten::relu", "", "aten::relu(Tensor self) -> Tensor");
    writer.call(kRelu, {{.id = 1}}, {{.id = 2}});
    writer.begin(kRelu, 0, {{.id = 2}});
    FileHeader& header = *writer.recorder.header();
    header.forks = 2;
    header.spawned = 1;
    std::strcpy(header.other_program, "ls");
    const auto notes = [&](const std::string& ended) {
        return build_frames(read_events(path), {.ended = ended}).notes;
    };
    const std::vector<std::string> killed = notes("killed by SIGKILL");
    CHECK(killed.at(0) ==
          "the program was killed by SIGKILL without returning from main; no operation before that is missing; the "
          "last, aten.relu.default, did not come to its end");
    CHECK(killed.at(1) == "the program forked 2 times; its children ran no operation of LibTorch");
    CHECK(killed.at(2) == "the program ran 1 other program (ls), of which nothing was seen");
    std::strcpy(header.end_function, "_exit");
    CHECK(notes("exit status 1").at(0).starts_with("the program ended by _exit;"));
    // A child of it shares the header, but has nothing to say of the end.
    Recorder& recorder = writer.recorder;
    recorder.forget();
    recorder.miss();
    recorder.finish();
    CHECK(header.child_ops == 1);
    CHECK_FALSE(read_events(path).finished);
    writer.chunk.unmap();
}

TEST_CASE("functions that no operation was called from are told, and kinds of tensors that no graph can have") {
    const TempDir folder;
    const EventFile file =
        program(folder, [](EventWriter& w) { w.call(kRelu, {{.id = 1, .dtype = 9}}, {{.id = 2, .dtype = 9}}); });
    const CapturedProgram captured = build_frames(file, {.functions = {"nobody"}});
    CHECK(captured.notes.at(0).starts_with("--function nobody: no operation of LibTorch was called from"));
    const capture::CapturedFrame frame = only_frame(file);
    CHECK(frame.graphs.empty());
    REQUIRE(frame.breaks.size() == 1);
    CHECK(frame.breaks[0].reason.find("a complex64 tensor") != std::string::npos);
}

TEST_CASE("ops that Whittle does not know, or knows otherwise, are breaks by name") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2}, z{.id = 3}, odd{.id = 4, .sizes = {7}};
        w.call(kRelu, {x}, {y});
        w.call(kUnknown, {y}, {z});
        w.call(kRelu, {z}, {odd});  // relu of three numbers is no seven
    });
    const capture::CapturedFrame frame = only_frame(file);
    REQUIRE(frame.breaks.size() == 2);
    CHECK(frame.breaks[0].reason == "unknown op my.mystery.default");
    CHECK(frame.breaks[1].reason == "aten.relu.default: Whittle infers f32[3], LibTorch gave f32[7]");
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
        w.call(kUnknown, {x}, {y});
        w.call(kRelu, {y}, {z});
        w.snapshot(z, {1, 2, 3});
    });
    const capture::CapturedGraph graph = only_frame(file).graphs.at(0);
    CHECK(graph.inputs.empty());
    CHECK(graph.unrecorded == "the elements of ___live[0], a result of my.mystery.default, were not written down");
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

TEST_CASE("probes say what inputs are called: parameters, elements of lists, variables") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, element{.id = 2}, local{.id = 3}, unnamed{.id = 4};
        w.probe_enter("main");  // what a program without symbols is taken for
        w.probe_name(x, "x");
        w.probe_name(element, "xs", 1);
        w.probe_enter("ns::helper");  // its names are its own
        w.probe_name(unnamed, "inner");
        w.probe_leave();
        w.probe_name(local, "mask", -1, false);
        w.call(kMul, {x, element}, {{.id = 5}});
        w.call(kMul, {local, unnamed}, {{.id = 6}});
        w.probe_leave();
    });
    const capture::CapturedGraph graph = only_frame(file).graphs.at(0);
    std::vector<std::string> texts;
    for (const capture::Source& source : graph.sources) texts.push_back(source.text());
    CHECK(texts == std::vector<std::string>{"L['x']", "L['xs'][1]", "L['mask']", "L['arg0']"});
}

TEST_CASE("probes say with which numbers a function was called, and which ways it went") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        w.probe_enter("f");
        w.probe_value("n", 3);
        w.probe_branch("n > 2", 5, 1);
        w.call(kMul, {{.id = 1}, {.id = 1}}, {{.id = 2}});
        for (const int turn : {1, 1, 0}) w.probe_branch("i < n", 6, turn);
        w.probe_enter("g");  // which way what it calls goes is its own way, too
        w.probe_branch("n", 20, 7, true);
        w.probe_leave();
        w.probe_branch("sum > 0", 8, 1);
        w.call(kMul, {{.id = 1}, {.id = 1}}, {{.id = 3}});
        w.probe_leave();
        w.probe_enter("h");
        w.probe_branch("other", 30, 1);
        w.probe_leave();
    });
    const ProbedCalls probes(file);
    std::uint64_t first = 0, last = 0, data = 0;
    for (const Event& event : file.events) {
        if (event.kind == RecordKind::op_begin) (first == 0 ? first : last) = event.order;
        if (event.kind == RecordKind::probe_branch && event.text == "sum > 0") data = event.order;
    }
    const ProbedCall* call = probes.at(0, first, "f");
    REQUIRE(call);
    const auto texts = [](const std::vector<capture::Guard>& guards) {
        std::vector<std::string> all;
        for (const capture::Guard& guard : guards) all.push_back(guard.text());
        return all;
    };
    CHECK(texts(ProbedCalls::value_guards(*call)) == std::vector<std::string>{"L['n'] == 3"});
    const auto by_data = [&](std::uint64_t order) { return order == data; };
    const auto before = probes.branch_guards(*call, 0, first, by_data);
    CHECK(texts(before) == std::vector<std::string>{"(n > 2) is true"});
    REQUIRE(before.at(0).stack().size() == 1);
    CHECK(before[0].stack()[0] == StackFrame{"app.cpp", 5, 9, "f", "n > 2"});
    CHECK(texts(probes.branch_guards(*call, first, last, by_data)) ==
          std::vector<std::string>{"(i < n) is true 2 times, then false", "(n) is 7"});
    CHECK(texts(probes.branch_guards(*call, last, UINT64_MAX, by_data)).empty());
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

TEST_CASE("a damaged event file is one Error, wherever the damage is") {
    const TempDir folder;
    program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, y{.id = 2};
        w.snapshot(x, {1, 2, 3});
        w.call(kMul, {x, x}, {y});
    });
    const std::string good = read_file(folder.path() / "events");
    const std::string path = (folder.path() / "damaged").string();
    const auto read = [&](const std::string& bytes) {
        write_file(path, bytes);
        try {
            build_frames(read_events(path), {});
        } catch (const Error&) {
        }
    };
    std::size_t used = good.size();
    while (used > 0 && good[used - 1] == 0) --used;
    for (std::size_t i = 0; i < used; i += i < 64 || i > kFileHeaderSize ? 1 : 64) {
        read(good.substr(0, i));
        for (const char value : {'\0', '\x7f', '\xff'}) {
            std::string changed = good;
            changed[i] = value;
            read(changed);
        }
    }
    write_file(path, good.substr(0, 20));
    CHECK_THROWS_WITH(read_events(path), Catch::Contains("byte 0"));
}

TEST_CASE("a capture that outgrows its limit is cut and says so") {
    const TempDir folder;
    const std::string path = (folder.path() / "events").string();
    EventWriter writer(path, 200 << 10);
    writer.define(kRelu, "aten::relu", "", "aten::relu(Tensor self) -> Tensor");
    std::uint64_t id = 1;
    for (; writer.recorder.on(); ++id) writer.call(kRelu, {{.id = id}}, {{.id = id + 1}});
    writer.chunk.unmap();
    const EventFile file = read_events(path);
    CHECK(file.cut == kCutSize);
    CHECK(file.events.size() > 100);
    CHECK(std::filesystem::file_size(path) <= 200 << 10);
    const CapturedProgram program = build_frames(file, {});
    REQUIRE(program.frames.size() == 1);
    CHECK(program.notes.at(0).find("size limit") != std::string::npos);
}

TEST_CASE("the fuzz target's seeds are event files that give frames") {
    const std::string corpus = std::string(WHITTLE_SOURCE_DIR) + "/test/fuzz/corpus/libtorch_events/";
    for (const char* seed : {"calls", "nested"}) {
        EventFile file = read_events(corpus + seed);
        file.mappings.clear();
        CHECK(build_frames(file, {}).frames.size() == 1);
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
    CHECK(readable_function("operator()", "/src/app.cpp", 90) == "{lambda at app.cpp:90}");
    CHECK(readable_function("main::{lambda(at::Tensor)#1}::operator()", "app.cpp", 90) ==
          "main::{lambda at app.cpp:90}");
    CHECK(readable_function("main(int, char**)::$_0::operator()", "app.cpp", 7) == "main::{lambda at app.cpp:7}");
    CHECK(readable_function("operator()", "app.cpp", 0) == "{lambda in app.cpp}");  // GCC does not tell its line
    CHECK(readable_function("Scale::operator()", "app.cpp", 7) == "Scale::operator()");
    CHECK(readable_function("(anonymous namespace)::f", "app.cpp", 7) == "f");
}

TEST_CASE("each of two threads that make the same view of one tensor uses its own") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor shared{.id = 1};
        const auto view = [](std::uint64_t id) { return FakeTensor{.id = id, .sizes = {1, 3}, .storage = 1}; };
        const auto result = [](std::uint64_t id) { return FakeTensor{.id = id, .sizes = {1, 3}}; };
        ThreadChunk other;
        const auto on_other = [&](auto&& body) {
            std::swap(w.chunk, other);
            body();
            std::swap(w.chunk, other);
        };
        w.snapshot(shared, {1, 2, 3});
        w.call(kUnsqueeze, {shared}, {view(2)}, {0});
        on_other([&] { w.call(kUnsqueeze, {shared}, {view(3)}, {0}); });
        w.call(kRelu, {view(2)}, {result(4)});
        on_other([&] { w.call(kRelu, {view(3)}, {result(5)}); });
        other.unmap();
    });
    const capture::CapturedFrame frame = only_frame(file);
    REQUIRE(frame.graphs.size() == 1);
    CHECK(frame.graphs[0].runs == 2);
    CHECK(frame.graphs[0].graph.calls().size() == 2);
    CHECK(frame.graphs[0].graph.placeholders().size() == 1);
    CHECK(frame.graphs[0].graph.outputs().size() == 1);
}

TEST_CASE("memory without contents holds what it held when it was first read") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        const FakeTensor made{.id = 1}, y{.id = 2};
        w.begin(kEmpty, 0, {}, {3});
        w.snapshot(made, {7, 7, 7});
        w.end(kEmpty, 0, {made});
        w.snapshot(made, {1, 2, 3});  // filled through a pointer
        w.call(kRelu, {made}, {y});
        w.snapshot(y, {1, 2, 3});
    });
    const capture::CapturedFrame frame = only_frame(file);
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    REQUIRE(frame.graphs[0].inputs.size() == 1);
    CHECK(frame.graphs[0].inputs[0].values<float>() == std::vector<float>{1, 2, 3});
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

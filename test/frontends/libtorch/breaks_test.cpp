#include "frontends/libtorch/breaks.h"

#include <algorithm>
#include <string>
#include <vector>

#include "made_up_program.h"

using namespace whittle;
using namespace whittle::libtorch;

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
    CHECK(hints(2, 2) == std::vector<std::string>{hint});  // told once
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
    CHECK(reasons(compiled, false) == std::vector<std::string>{"code that torch.compile generated"});
    CHECK(reasons(compiled, true).empty());
    CHECK(reasons(kFusedKernel, false) == std::vector<std::string>{"code that TorchScript generated"});
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

TEST_CASE("an op that throws is a break, also where there is no other op") {
    const auto reasons = [](auto&& write) {
        const TempDir folder;
        const capture::CapturedFrame frame = only_frame(program(folder, write));
        CHECK(frame.graphs.empty());
        std::vector<std::string> found;
        for (const capture::GraphBreak& why : frame.breaks) {
            CHECK(why.kind == capture::BreakKind::exception);
            found.push_back(why.reason);
        }
        return found;
    };
    const std::vector<FakeTensor> x = {{.id = 1}};
    const std::vector<std::string> relu = {"aten.relu.default threw an exception"};
    CHECK(reasons([&](EventWriter& w) { w.call(kRelu, x, {}); }) == relu);
    // A composite: what it calls, where that throws; else the composite itself.
    CHECK(reasons([&](EventWriter& w) {
              w.begin(kLinear, 0, x);
              w.begin(kRelu, 1, x);
              w.end(kRelu, 1, {});
              w.end(kLinear, 0, {});
          }) == relu);
    CHECK(reasons([&](EventWriter& w) { w.call(kLinear, x, {}); }) ==
          std::vector<std::string>{"aten.contiguous.default threw an exception"});
}

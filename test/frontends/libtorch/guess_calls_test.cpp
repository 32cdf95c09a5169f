// Which operations belong to one call of a function.
#include <algorithm>
#include <string>
#include <vector>

#include "made_up_program.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

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

}  // namespace

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

// What is an output, what is data, and what is an operation: of programs in which LibTorch's records alone tell.
#include <algorithm>

#include "made_up_program.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

constexpr std::uint32_t kRandnLike = 100, kPool = 101, kCopy = 102;
constexpr std::int8_t kBoolType = 11;

std::vector<std::string> output_targets(const capture::CapturedGraph& captured) {
    std::vector<std::string> targets;
    for (const NodeId id : captured.graph.outputs()) targets.push_back(captured.graph.node({id}).target);
    return targets;
}

void define_copy(EventWriter& w) {
    w.define(kCopy, "aten::copy_", "",
             "aten::copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)");
}

}  // namespace

TEST_CASE("who takes the sizes of a value only does not make it an output") {
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [](EventWriter& w) {
        w.define(kRandnLike, "aten::randn_like", "", "aten::randn_like(Tensor self) -> Tensor");
        const FakeTensor x{.id = 1}, doubled{.id = 2}, noise{.id = 3};
        w.call(kMul, {x, x}, {doubled});
        w.call(kRandnLike, {doubled}, {noise});
        w.call(kAddInPlace, {noise, doubled}, {{.id = 3, .version = 1}});
        w.call(kRelu, {{.id = 3, .version = 1}}, {{.id = 4}});
    }));
    REQUIRE(frame.graphs.size() == 1);
    const std::vector<std::string> targets = output_targets(frame.graphs[0]);
    CHECK(std::ranges::count(targets, "aten.mul.Tensor") == 0);
    CHECK(std::ranges::count(targets, "aten.relu.default") == 1);
}

TEST_CASE("a view that was written through is no output when its memory is read as a whole") {
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, both{.id = 2}, part{.id = 3, .sizes = {}, .storage = 2};
        w.call(kMul, {x, x}, {both});
        w.call(kSelect, {both}, {part}, {0, 0});
        w.call(kAddInPlace, {part, part}, {{.id = 3, .sizes = {}, .version = 1, .storage = 2}});
        const FakeTensor written{.id = 2, .version = 1};
        w.call(kMul, {written, written}, {{.id = 4}});
    }));
    REQUIRE(frame.graphs.size() == 1);
    CHECK(output_targets(frame.graphs[0]) == std::vector<std::string>{"aten.mul.Tensor"});
}

TEST_CASE("the part of an input that an assignment fills is no output beside the input's new value") {
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1}, part{.id = 3, .sizes = {}, .storage = 1};
        w.call(kSelect, {x}, {part}, {0, 0});
        w.call(kFill, {part}, {{.id = 3, .sizes = {}, .version = 1, .storage = 1}}, {2});
    }));
    REQUIRE(frame.graphs.size() == 1);
    CHECK(frame.graphs[0].updates.size() == 1);
    CHECK(frame.graphs[0].graph.outputs().size() == 1);
}

TEST_CASE("what a tensor was before its sizes changed in place is no output: nobody has it") {
    constexpr std::uint32_t kUnsqueezeInPlace = 103;
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
        w.define(kUnsqueezeInPlace, "aten::unsqueeze_", "", "aten::unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)");
        const FakeTensor x{.id = 1}, y{.id = 2}, row{.id = 2, .sizes = {1, 3}, .version = 1},
            written{.id = 2, .sizes = {1, 3}, .version = 2};
        w.call(kMul, {x, x}, {y});
        w.call(kUnsqueezeInPlace, {y}, {row}, {0});
        w.call(kAddInPlace, {row, row}, {written}, {1});
        w.call(kRelu, {written}, {{.id = 3, .sizes = {1, 3}}});
    }));
    REQUIRE(frame.graphs.size() == 1);
    CHECK(output_targets(frame.graphs[0]) == std::vector<std::string>{"aten.relu.default"});
}

TEST_CASE("what a graph leaves in random numbers of the frame is an output only if somebody may have it") {
    const TempDir folder;
    struct Case {
        bool read, buffer;
        std::size_t updates;
    };
    for (const Case& is : {Case{true, false, 0}, {false, false, 1}, {true, true, 1}}) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            const FakeTensor x{.id = 1}, noise{.id = 2}, changed{.id = 2, .version = 1};
            if (is.buffer) w.name(2, "noise", 0);
            w.call(kRandn, {}, {noise}, {3});
            w.call(kAddInPlace, {noise, x}, {changed}, {1});
            w.call(kMul, {x, is.read ? changed : x}, {{.id = 3}});
        }));
        INFO(is.read << is.buffer);
        REQUIRE(frame.graphs.size() == 1);
        CHECK(frame.graphs[0].updates.size() == is.updates);
        CHECK(output_targets(frame.graphs[0]).back() == (is.updates ? "aten.add.Tensor" : "aten.mul.Tensor"));
    }
}

TEST_CASE("what lies in memory before anything was written there is no data") {
    const TempDir folder;
    for (const bool reads_all : {false, true}) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            define_copy(w);
            const FakeTensor x{.id = 1, .sizes = {}}, memory{.id = 2}, part{.id = 3, .sizes = {}, .storage = 2};
            const FakeTensor written{.id = 3, .sizes = {}, .version = 1, .storage = 2};
            w.call(kEmpty, {}, {memory}, {3});
            w.snapshot(x, {5});
            w.snapshot(memory, {7, 8, 9});
            w.call(kSelect, {memory}, {part}, {0, 0});
            w.call(kCopy, {part, x}, {written});
            w.snapshot(written, {5});
            w.call(kMul, {written, written}, {{.id = 4, .sizes = {}}});
            w.snapshot({.id = 4, .sizes = {}}, {25});
            const FakeTensor all{.id = 2, .version = 1};
            if (reads_all) w.call(kRelu, {all}, {{.id = 5}});
            if (reads_all) w.snapshot({.id = 5}, {5, 8, 9});
        }));
        INFO(reads_all);
        REQUIRE(frame.graphs.size() == 1);
        const std::vector<Tensor>& inputs = frame.graphs[0].inputs;
        const auto whole = std::ranges::find(inputs, 3, &Tensor::numel);
        REQUIRE(whole != inputs.end());
        CHECK(same_bits(*whole, reads_all ? Tensor::of<float>({7, 8, 9}) : Tensor::of<float>({0, 0, 0})));
    }
}

TEST_CASE(
    "a composite op that fills memory unseen is the op, a call that LibTorch alone knows, and its result no constant") {
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [](EventWriter& w) {
        w.define(kPool, "my::pool", "", "my::pool(Tensor self) -> Tensor", kComposite);
        const FakeTensor x{.id = 1}, doubled{.id = 2}, pooled{.id = 3};
        w.call(kMul, {x, x}, {doubled});
        w.begin(kPool, 0, {doubled});
        w.call(kEmpty, {}, {pooled}, {3});
        w.end(kPool, 0, {pooled});
        w.call(kRelu, {pooled}, {{.id = 4}});
    }));
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    std::vector<std::string> targets;
    for (const NodeId id : frame.graphs[0].graph.calls()) targets.push_back(frame.graphs[0].graph.node({id}).target);
    CHECK(targets == std::vector<std::string>{"aten.mul.Tensor", "my.pool.default", "aten.relu.default"});
    CHECK(frame.graphs[0].graph.attributes.empty());
}

TEST_CASE("a boolean that the program reads is no branch where no statement is known to decide") {
    const TempDir folder;
    const capture::CapturedFrame frame = only_frame(program(folder, [](EventWriter& w) {
        const FakeTensor x{.id = 1};
        w.call(kMul, {x, x}, {{.id = 2}});
        w.call(kLocal, {{.id = 3, .sizes = {}, .dtype = kBoolType}}, {});
    }));
    REQUIRE(frame.breaks.size() == 1);
    CHECK(frame.breaks[0].kind == capture::BreakKind::item);
}

TEST_CASE("a version counter that moves by one where nobody has a pointer tells of no write") {
    const TempDir folder;
    for (const bool pointer : {false, true}) {
        const capture::CapturedFrame frame = only_frame(program(folder, [&](EventWriter& w) {
            const FakeTensor x{.id = 1}, doubled{.id = 2}, written{.id = 2, .version = 1},
                marked{.id = 2, .version = 2};
            w.call(kMul, {x, x}, {doubled});
            w.call(kAddInPlace, {doubled, x}, {written});
            if (pointer) {
                w.record.start(records::DataPointer{.how = "numpy()"});
                w.put_tensor(written);
                w.commit();
            }
            w.call(kMul, {marked, x}, {{.id = 3}});
        }));
        CHECK(frame.breaks.empty() != pointer);
    }
}

TEST_CASE("releases tell what a function returns: not what it drops, nor its variables") {
    const TempDir folder;
    constexpr std::uint8_t kReturned = 0, kRunning = 1;  // callers that still wait
    const auto targets = [&](std::uint8_t looked_at, std::uint8_t of_unread, std::uint8_t of_read) {
        EventFile file = program(folder, [&](EventWriter& w) {
            const FakeTensor x{.id = 1}, read{.id = 2}, dropped{.id = 3}, unread{.id = 4};
            w.call(kMul, {x, x}, {read});
            w.call(kRelu, {read}, {dropped});
            w.release(3, looked_at, kRunning);
            w.call(kRelu, {x}, {unread});
            w.release(4, looked_at, of_unread);
            w.release(2, looked_at, of_read);
        });
        file.runs_python = true;
        file.places[1] = {.line = 3, .file = "/nowhere/train.py", .function = "step", .text = ""};
        file.places[2] = {.line = 9, .file = "/nowhere/train.py", .function = "<module>", .text = ""};
        file.stacks[1] = {1, 2};
        for (Event& event : file.events) event.stack = 1;
        const capture::CapturedFrame frame = only_frame(file);
        REQUIRE(frame.graphs.size() == 1);
        std::vector<std::string> found = output_targets(frame.graphs[0]);
        std::ranges::sort(found);
        return found;
    };
    using Targets = std::vector<std::string>;
    CHECK(targets(1, kRunning, kReturned) == Targets{"aten.mul.Tensor"});
    CHECK(targets(1, kReturned, kRunning) == Targets{"aten.relu.default"});
    CHECK(targets(1, kReturned, kReturned) == Targets{"aten.mul.Tensor", "aten.relu.default"});
    CHECK(targets(0, kReturned, kReturned) == Targets{"aten.relu.default"});  // in doubt, what was read is no result
}

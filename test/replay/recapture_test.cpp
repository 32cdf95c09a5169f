// Frame records: written, read, and captured again.
#include "replay/recapture.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "graph/text.h"
#include "json_schema.h"
#include "replay/replay.h"

using namespace whittle;

namespace {

/// relu(x) + 1, of which the sum is asked for; then a call whose sizes do not fit.
FrameRecord example() {
    FrameRecord record{.name = "f_frame", .frame = "f", .error = "it failed"};
    FrameSegment segment;
    segment.events = parse(
        "graph f_0 {\n  %l_x = placeholder[\"L['x']\"] : f32[2, 3]\n"
        "  %relu = aten.relu.default(%l_x) : f32[2, 3]\n"
        "  %neg = aten.neg.default(%l_x) : f32[2, 3]\n"
        "  %add = aten.add.Tensor(%relu, 1) : f32[2, 3]\n}\n");
    segment.inputs = {Tensor::of<float>({1, -2, 3, -4, 5, -6}, {2, 3})};
    segment.failed = {
        {3, {.name = "failed", .target = "aten.mm.default", .args = {Arg(NodeRef{0}), Arg(NodeRef{1})}}, ""}};
    segment.live = {"add"};
    segment.ended_by = capture::GraphBreak{.kind = capture::BreakKind::item, .reason = "item()", .op = "aten.item"};
    segment.graph =
        "graph f_0 {\n  %l_x = placeholder[\"L['x']\"] : f32[2, 3]\n  %relu = aten.relu.default(%l_x) : f32[2, 3]\n"
        "  %add = aten.add.Tensor(%relu, 1) : f32[2, 3]\n  return (%add)\n}\n";
    segment.guards = {"L['x']: f32[2, 3] strides=[3, 1]"};
    segment.break_id = "WB0003";
    segment.outputs = {Tensor::of<float>({2, 1, 4, 1, 6, 1}, {2, 3})};
    record.segments = {segment};
    // What capture says of the call that fails is what is recorded.
    record.segments[0].failed[0].error = "?";
    const std::string told = recapture(record).differences.at(0);
    const std::size_t begin = told.find("fails with '") + 12, end = told.find("', expected the recorded error");
    REQUIRE(end != std::string::npos);
    record.segments[0].failed[0].error = told.substr(begin, end - begin);
    return record;
}

}  // namespace

TEST_CASE("capture of recorded events comes to what was recorded") {
    CHECK(recapture(example()).differences.empty());
    FrameRecord other = example();
    other.segments[0].ended_by->kind = capture::BreakKind::side_effect;
    CHECK(recapture(other).differences ==
          std::vector<std::string>{"graph f_0: the end of the graph differs: found WB0001 (item()), recorded WB0003"});
    other = example();
    other.segments[0].ended_by.reset();
    CHECK(recapture(other).differences ==
          std::vector<std::string>{
              "graph f_0: the end of the graph differs: found the end of the frame, recorded WB0003"});
    other = example();
    other.segments[0].live = {"add", "neg"};
    CHECK(recapture(other).differences.at(0) ==
          "graph f_0: the graph differs, line 4: found '%neg = aten.neg.default(%l_x) : f32[2, 3]', recorded '%add = "
          "aten.add.Tensor(%relu, 1) : f32[2, 3]'");
    other = example();
    other.segments[0].guards[0] = "L['x']: f64[2, 3] strides=[3, 1]";
    CHECK(recapture(other).differences.at(0) ==
          "graph f_0: guard 1 differs: found L['x']: f32[2, 3] strides=[3, 1], recorded L['x']: f64[2, 3] "
          "strides=[3, 1]");
    other = example();
    other.segments[0].outputs[0] = Tensor::of<float>({2, 1, 4, 1, 6, 2}, {2, 3});
    CHECK(recapture(other).differences.at(0).starts_with("graph f_0: output 0 "));
    other = example();
    other.segments[0].events.nodes[1].results[0] = ValueMeta::contiguous(DType::f32, {3, 2});
    CHECK(recapture(other).differences.at(0) ==
          "graph f_0: %relu = aten.relu.default: found f32[2, 3], recorded f32[3, 2]");
}

TEST_CASE("capture again stops after so many events") {
    const auto with_wrong_relu = [] {
        FrameRecord record = example();
        record.segments[0].events.nodes[1].results[0] = ValueMeta::contiguous(DType::f32, {3, 2});
        record.segments[0].guards = {"other"};
        return record;
    };
    CHECK(recapture(with_wrong_relu()).differences.size() > 1);
    CHECK(recapture(with_wrong_relu(), {}, 1).differences.empty());
    CHECK(recapture(with_wrong_relu(), {}, 2).differences.size() == 1);  // the graph is not complete
    CHECK(recapture(with_wrong_relu(), {}, 3).differences.size() == 1);
    CHECK(recapture(with_wrong_relu(), {}, 4).differences.size() == 2);  // the call no longer fails
    CHECK(recapture(with_wrong_relu(), {}, 5).differences.size() > 1);
    CHECK(last_event(example(), 2) == "event 2 of 5: %relu = aten.relu.default(%l_x) : f32[2, 3]");
    CHECK(last_event(example(), 4).starts_with("event 4 of 5: %failed = aten.mm.default"));
    CHECK(last_event(example(), 9).starts_with("event 5 of 5: %add"));
    // Of two graphs the second is not begun, and graphs are compared before any outputs are.
    FrameRecord two = example();
    two.segments.push_back(two.segments[0]);
    two.segments[0].outputs[0] = Tensor::of<float>({2, 1, 4, 1, 6, 2}, {2, 3});
    two.segments[1].guards = {"other"};
    CHECK(recapture(two, {}, 5).differences.size() == 1);
    REQUIRE(recapture(two).differences.size() == 2);
    CHECK_THAT(recapture(two).differences[0], Catch::Contains("guard 1 differs"));
    CHECK_THAT(recapture(two).differences[1], Catch::Contains("output 0"));
}

TEST_CASE("outputs of capture again are compared by their bits, then by tolerances") {
    CHECK(recapture(example()).identical);
    FrameRecord near = example();
    near.segments[0].outputs[0] = Tensor::of<float>({2.000001F, 1, 4, 1, 6, 1}, {2, 3});
    CHECK(recapture(near).differences.empty());
    CHECK_FALSE(recapture(near).identical);
    const Accuracy strict{.mode = Accuracy::Mode::strict};
    CHECK(recapture(near, strict).differences.size() == 1);
    CHECK(recapture(example(), strict).differences.empty());
}

TEST_CASE("frame records are read as they were written, and replay") {
    const TempDir folder("frame-record");
    const FrameRecord record = example();
    const auto file = save_frame_record(folder.path(), record);
    CHECK(is_frame_record(file));
    const JsonSchema schema(
        nlohmann::json::parse(read_file(std::string(WHITTLE_SOURCE_DIR) + "/share/schema/frame_record.schema.json")));
    CHECK(schema.check(nlohmann::json::parse(read_file(file))) == "");
    const FrameRecord read = load_frame_record(file);
    CHECK(read.error == record.error);
    REQUIRE(read.segments.size() == 1);
    const FrameSegment &found = read.segments[0], &wrote = record.segments[0];
    CHECK(print(found.events) == print(wrote.events));
    CHECK(found.live == wrote.live);
    CHECK(found.ended_by == wrote.ended_by);
    CHECK(found.graph == wrote.graph);
    CHECK(found.guards == wrote.guards);
    CHECK(found.failed.at(0).error == wrote.failed.at(0).error);
    CHECK(same_bits(found.inputs.at(0), wrote.inputs.at(0)));
    CHECK(recapture(read).differences.empty());
    CHECK(find_records({folder.path()}) == std::vector<std::filesystem::path>{file});
}

TEST_CASE("damaged frame records are errors that name the place") {
    const TempDir folder("frame-record");
    const auto file = save_frame_record(folder.path(), example());
    const std::string good = read_file(file);
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        const std::size_t at = text.find(from);
        REQUIRE(at != std::string::npos);
        write_file(file, text.replace(at, from.size(), to));
        return file;
    };
    CHECK_THROWS_WITH(load_frame_record(with("aten.neg.default(%l_x)", "aten.neg.default(%l_y)")),
                      Catch::Contains("/segments/0/events"));
    CHECK_THROWS_WITH(load_frame_record(with("WB0003", "WB9999")), Catch::Contains("/segments/0/break/id"));
    CHECK_THROWS_WITH(load_frame_record(with("\"live\": [\"add\"]", "\"live\": [\"odd\"]")),
                      Catch::Contains("/segments/0/live/0"));
    CHECK_THROWS_WITH(load_frame_record(with("\"version\": \"1.", "\"version\": \"2.")), Catch::Contains("version"));
}

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "frontends/libtorch/ring_reader.h"
#include "made_up_program.h"

using namespace whittle;
using namespace whittle::libtorch;

namespace {

/// A process that records its last operations: each reads the result of the one before, and a weight.
class Flight {
  public:
    Flight(const TempDir& folder, std::uint64_t bytes)
        : path((folder.path() / "events").string()), writer(path, bytes, kWithData | kWithRing) {
        REQUIRE(writer.ok);
        writer.define(kMul, "aten::mul", "Tensor", "aten::mul.Tensor(Tensor self, Tensor other) -> Tensor");
    }
    ~Flight() { writer.chunk.unmap(); }
    Flight(const Flight&) = delete;
    Flight& operator=(const Flight&) = delete;

    /// As the recorder does it: elements that are too far back are written again.
    void step() {
        const FakeTensor weight{.id = 1, .sizes = {kElements}}, x{.id = ++last, .sizes = {kElements}},
            result{.id = last + 1, .sizes = {kElements}};
        if (!weight_written || !writer.recorder.stays_in_ring(weight_at)) {
            weight_at = writer.recorder.ring_position();
            writer.snapshot(weight, std::vector<float>(kElements, 1));
            weight_written = true;
        }
        if (last == 2) writer.snapshot(x, std::vector<float>(kElements, 2));
        writer.record.start(records::Variable{.tensor = last, .function = "step", .name = "x"});
        writer.commit();
        writer.begin(kMul, 0, {x, weight});
        writer.end(kMul, 0, {result});
        writer.snapshot(result, std::vector<float>(kElements, static_cast<float>(last + 1)));
    }

    static constexpr std::int64_t kElements = 8;
    const std::string path;
    EventWriter writer;
    std::uint64_t last = 1, weight_at = 0;
    bool weight_written = false;
};

std::size_t begun(const EventFile& file) {
    return static_cast<std::size_t>(std::ranges::count(file.events, RecordKind::op_begin, &Event::kind));
}

}  // namespace

TEST_CASE("of a long run the last operations are kept, with what they read", "[libtorch]") {
    const TempDir folder;
    Flight flight(folder, 1 << 20);
    for (int i = 0; i < 5000; ++i) flight.step();
    CHECK(std::filesystem::file_size(flight.path + kRingSuffix) == 1 << 20);
    const EventFile file = read_events(flight.path, {.last = 5});
    REQUIRE(file.last);
    CHECK(file.last->found == 5);
    CHECK_FALSE(file.last->full);
    CHECK(begun(file) == 5);
    REQUIRE_FALSE(file.variables.empty());
    CHECK(file.words.text(file.variables.back().name) == "x");
    const capture::CapturedFrame frame = only_frame(file);
    REQUIRE(frame.graphs.size() == 1);
    CHECK(frame.calls == 5);  // of a loop, each with the one operation
    CHECK(frame.graphs[0].graph.calls().size() == 1);
    REQUIRE(frame.graphs[0].inputs.size() == 2);
    CHECK(frame.graphs[0].unrecorded.empty());
    REQUIRE_FALSE(frame.graphs[0].outputs.empty());
    CHECK(frame.graphs[0].outputs.back().data<float>()[0] == 4998);  // as the first of the five had it
}

TEST_CASE("a ring that is too small for the operations says so, and has what those that it holds read", "[libtorch]") {
    const TempDir folder;
    Flight flight(folder, 1 << 20);
    for (int i = 0; i < 5000; ++i) flight.step();
    const EventFile file = read_events(flight.path, {.last = 4000});
    REQUIRE(file.last);
    CHECK(file.last->full);
    CHECK(file.last->found > 100);
    CHECK(file.last->found < 4000);
    const CapturedProgram program = build_frames(file, {});
    REQUIRE(program.frames.size() == 1);
    for (const capture::CapturedGraph& graph : program.frames[0].graphs) CHECK(graph.unrecorded.empty());
    REQUIRE(program.last.size() == 1);
    CHECK_THAT(program.last[0], Catch::Contains("more operations do not fit into 1 MB (--capture limit)"));
}

TEST_CASE("an operation inside which the program ended is in the graph, without results", "[libtorch]") {
    const TempDir folder;
    Flight flight(folder, 1 << 20);
    for (int i = 0; i < 3; ++i) flight.step();
    const FakeTensor weight{.id = 1, .sizes = {Flight::kElements}}, x{.id = flight.last + 1, .sizes = weight.sizes};
    flight.writer.begin(kMul, 0, {x, weight});
    const CapturedProgram program = build_frames(read_events(flight.path, {.last = 2}), {});
    REQUIRE(program.last.size() == 1);
    CHECK(program.last[0] == "kept the last 2 operations; the last operation, aten.mul.Tensor, did not finish");
    REQUIRE(program.frames.size() == 1);
    REQUIRE(program.frames[0].graphs.size() == 1);
    const capture::CapturedGraph& graph = program.frames[0].graphs[0];
    CHECK(graph.graph.calls().size() == 2);
    CHECK(graph.inputs.size() == 2);
    CHECK(graph.outputs.empty());
    CHECK_THAT(graph.unrecorded, Catch::Contains("a result of aten.mul.Tensor, were not recorded"));
}

TEST_CASE("of a short run, all operations are kept", "[libtorch]") {
    const TempDir folder;
    Flight flight(folder, 1 << 20);
    for (int i = 0; i < 3; ++i) flight.step();
    const EventFile file = read_events(flight.path, {.last = 5});
    CHECK(begun(file) == 3);
    const CapturedProgram program = build_frames(file, {});
    REQUIRE(program.last.size() == 1);
    CHECK(program.last[0] == "kept 3 operations; the last operation, aten.mul.Tensor, finished");
}

TEST_CASE("whenever the program is killed, the ring has whole records", "[libtorch]") {
    const TempDir folder;
    const std::string events = (folder.path() / "events").string();
    RingFile ring;
    REQUIRE(ring.start(events.c_str(), 8 << 10));
    EventFile file;
    for (std::uint64_t i = 1; i <= 200; ++i) {
        const std::string elements(i * 37 % 900, static_cast<char>(i));
        std::string record(sizeof(RecordHeader), '\0');
        const RecordHeader header{static_cast<std::uint32_t>(sizeof(RecordHeader) + elements.size()),
                                  static_cast<std::uint32_t>(RecordKind::snapshot), i};
        std::memcpy(record.data(), &header, sizeof header);
        record += elements;
        REQUIRE(ring.append(7, record.data(), record.size()));
        std::string bytes = read_file(events + kRingSuffix);
        // The next record, half written: whatever is outside of what the header names.
        const auto* told = reinterpret_cast<const RingHeader*>(bytes.data());
        for (std::uint64_t free = told->end; free < told->begin + told->capacity; ++free)
            bytes[kRingHeaderSize + free % told->capacity] = '\x5a';
        const auto all = std::as_bytes(std::span(bytes));
        const auto records = read_ring(Cursor("ring", all, 0, all.size()), 1, file);
        REQUIRE(records.size() == 1);
        const std::vector<std::size_t>& places = records.at(7);
        for (std::size_t back = 0; back < places.size(); ++back) {
            RecordHeader found{};
            std::memcpy(&found, &bytes[places[places.size() - 1 - back]], sizeof found);
            if (found.order != i - back) FAIL("record " << found.order << " is in the place of " << i - back);
        }
    }
    CHECK_FALSE(ring.append(7, std::string(5000, ' ').data(), 5000));
}

TEST_CASE("a damaged ring is one Error", "[libtorch]") {
    const TempDir folder;
    Flight flight(folder, 1 << 20);
    for (int i = 0; i < 500; ++i) flight.step();
    const std::string ring = flight.path + kRingSuffix, good = read_file(ring);
    for (std::size_t i = 0; i < kRingHeaderSize + 300; i += i < sizeof(RingHeader) || i >= kRingHeaderSize ? 1 : 1024)
        for (const char value : {'\0', '\x7f', '\xff'}) {
            std::string changed = good;
            changed[i] = value;
            write_file(ring, changed);
            try {
                build_frames(read_events(flight.path, {.last = 5}), {});
            } catch (const Error&) {
            }
        }
    write_file(ring, good.substr(0, 100));
    CHECK_THROWS_AS(read_events(flight.path, {.last = 5}), Error);
}

#include "frontends/libtorch/reader.h"

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "made_up_program.h"

using namespace whittle;
using namespace whittle::libtorch;

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
          "the program was killed by SIGKILL without returning from main; all operations before the end were captured; "
          "the last operation, aten.relu.default, did not finish");
    header.traced = 3;
    CHECK(notes("killed by SIGKILL").at(1).starts_with("3 operations that torch.compile or torch.export ran"));
    header.traced = 0;
    CHECK(killed.at(1) == "the program forked 2 times; the children ran no operation of LibTorch");
    CHECK(killed.at(2) == "the program ran 1 other program (ls), which did not run LibTorch or could not be captured");
    std::strcpy(header.end_function, "_exit");
    CHECK(notes("exit status 1").at(0).starts_with("the program ended by _exit;"));
    // A child of it shares the header, but has nothing to say of the end.
    Recorder& recorder = writer.recorder;
    recorder.forget(false);
    recorder.miss();
    recorder.finish();
    CHECK(header.child_ops == 1);
    CHECK_FALSE(read_events(path).finished);
    writer.chunk.unmap();
}

TEST_CASE("the interpreter of a Python program is known by its path, where there is room for it") {
    const TempDir folder;
    const std::string path = (folder.path() / "events").string();
    EventWriter writer(path);
    CHECK(read_identity(path).interpreter.empty());
    writer.recorder.name_interpreter("/env/bin/python3");
    writer.recorder.name_interpreter(("/" + std::string(4096, 'a')).c_str());
    CHECK(read_identity(path).interpreter == "/env/bin/python3");
    writer.chunk.unmap();
}

TEST_CASE("a record is read as it was written, with what stands behind its members") {
    const TempDir folder;
    const EventFile file = program(folder, [](EventWriter& w) {
        w.record.start(
            records::LibraryFolder{.kind = LibraryFolder::packages, .path = "/usr/lib/python3/dist-packages/"});
        w.commit();
        w.record.start(records::StackDefinition{.stack = 1, .pcs = {0x1000, 0x2000}});
        w.commit();
        w.record.start(records::Number{.stack = 1, .function = "step", .name = "lr"});
        w.record.put(ValueTag::real);
        w.record.put(0.5);
        w.commit();
        w.record.start(records::SourcePlace{.number = 7, .entry = true, .line = 12, .file = "a.py", .function = "f"});
        w.commit();
        w.record.start(records::Calls{.numbers = {5, 0, 7}});
        w.commit();
        w.call(kRelu, {{.id = 1}}, {{.id = 2}});
        w.record.start(records::Calls());
        w.commit();
        w.release(2, 3, 1);
        w.record.start(records::Io{.stack = 1, .function = "write"});
        w.commit();
    });
    REQUIRE(file.python_libraries.size() == 1);
    CHECK(file.python_libraries[0].kind == LibraryFolder::packages);
    CHECK(is_users_python("/srv/lib/python3/app.py", file.python_libraries));
    CHECK_FALSE(is_users_python("/usr/lib/python3/dist-packages/numpy/core.py", file.python_libraries));
    CHECK(file.stacks.at(1) == std::vector<std::uint64_t>{0x1000, 0x2000});
    const NumberName& number = file.numbers.at(1).at(0);
    CHECK(std::get<double>(number.number.value) == 0.5);
    CHECK(file.words.text(number.function) == "step");
    CHECK(file.words.text(number.name) == "lr");
    const SourcePlace& place = file.places.at(7);
    CHECK((place.entry && place.line == 12 && place.file == "a.py" && place.function == "f" && place.text.empty()));
    REQUIRE(file.released.contains(2));
    const Released& released = file.released.at(2);
    CHECK((released.thread == 0 && released.looked_at == 3 && released.waiting == 1));
    const Event& begin = *std::ranges::find(file.events, RecordKind::op_begin, &Event::kind);
    REQUIRE(begin.calls);
    CHECK(*begin.calls == std::vector<std::uint64_t>{5, 0, 7});
    CHECK((file.events.back().calls && file.events.back().calls->empty()));
    CHECK(file.events.back().kind == RecordKind::io);
    CHECK(file.events.back().stack == 1);
    CHECK(file.events.back().text == "write");
}

TEST_CASE("functions that no operation was called from are told, and elements that Whittle does not have") {
    const TempDir folder;
    const EventFile file =
        program(folder, [](EventWriter& w) { w.call(kRelu, {{.id = 1, .dtype = 8}}, {{.id = 2, .dtype = 8}}); });
    const CapturedProgram captured = build_frames(file, {.functions = {"nobody"}});
    CHECK(captured.notes.at(0).starts_with("--function nobody: no operation of LibTorch was called from"));
    const capture::CapturedFrame frame = only_frame(file);
    CHECK(frame.breaks.empty());
    REQUIRE(frame.graphs.size() == 1);
    CHECK(misplaced_value(frame.graphs[0].graph).value() == "%l_arg0, a complex32 tensor");
}

TEST_CASE("a tensor that claims places outside of any memory is refused") {
    const TempDir folder;
    for (const std::int64_t offset : {std::int64_t{-1}, std::int64_t{9223372036854775798}})
        CHECK_THROWS_WITH(
            program(folder, [&](EventWriter& w) { w.call(kRelu, {{.id = 1, .offset = offset}}, {{.id = 2}}); }),
            Catch::Contains("offset " + std::to_string(offset)) && Catch::Contains("expected all elements inside"));
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

TEST_CASE("records that moved behind others are read once and in order, while the program runs, too") {
    const TempDir folder;
    const std::string path = (folder.path() / "events").string();
    constexpr std::uint64_t kCalls = 10000, kElements = 300000;  // more than a chunk holds, of both
    EventWriter w(path, std::uint64_t{64} << 20);
    w.define(kRelu, "aten::relu", "", "aten::relu(Tensor self) -> Tensor");
    for (std::uint64_t id = 1; id <= kCalls; ++id) {  // never the same twice
        w.call(kRelu, {{.id = id, .sizes = {static_cast<std::int64_t>(id)}}}, {{.id = 5000 + id}});
        if (id == kCalls / 2) w.snapshot({.id = 7, .sizes = {kElements}}, std::vector<float>(kElements, 2));
    }
    const auto check = [&] {
        const EventFile file = read_events(path);
        CHECK(file.events.size() == 2 * kCalls + 1);
        for (std::size_t i = 1; i < file.events.size(); ++i)
            if (file.events[i].order <= file.events[i - 1].order) FAIL("event " << i << " is not in its place");
        REQUIRE(file.snapshots.size() == 1);
        CHECK(file.snapshots[0].order == kCalls + 2);
        CHECK(file.tensor(file.snapshots[0]).data<float>()[kElements - 1] == 2);
    };
    check();
    w.recorder.finish();
    w.chunk.unmap();
    check();
    // Killed between the two: the records have moved, and are in the first chunk still.
    std::string bytes = read_file(path);
    std::size_t reused = 0, last = 0;
    for (std::size_t at = kFileHeaderSize; at < bytes.size();) {
        ChunkHeader chunk;
        std::memcpy(&chunk, &bytes[at], sizeof chunk);
        (chunk.magic == kReusedMagic ? reused : last) = at;
        at += chunk.size;
    }
    REQUIRE(reused > 0);
    REQUIRE(last > reused);
    ChunkHeader moved;
    std::memcpy(&moved, &bytes[last], sizeof moved);
    std::memcpy(&bytes[reused + sizeof moved + sizeof(ReusedHeader)], &bytes[last + sizeof moved], moved.used);
    std::memcpy(&bytes[reused + offsetof(ChunkHeader, used)], &moved.used, sizeof moved.used);
    write_file(path, bytes);
    std::set<std::uint64_t> orders;
    for (const Event& event : read_events(path).events)
        if (!orders.insert(event.order).second) FAIL("event " << event.order << " is there twice");
    CHECK(orders.size() > kCalls);
}

TEST_CASE("the fuzz target's seeds are event files that give frames") {
    const std::string corpus = std::string(WHITTLE_SOURCE_DIR) + "/test/parsers/corpus/libtorch_events/";
    for (const char* seed : {"calls", "nested"}) {
        EventFile file = read_events(corpus + seed);
        file.mappings.clear();
        CHECK(build_frames(file, {}).frames.size() == 1);
    }
}

TEST_CASE("who is to stop early reads so many records and no more, and says so") {
    const TempDir folder;
    const std::string path = (folder.path() / "events").string();
    {
        EventWriter w(path);
        w.define(kRelu, "aten::relu", "", "aten::relu(Tensor self) -> Tensor");
        for (std::uint64_t id = 1; id <= 1000; ++id)  // never the same twice
            w.call(kRelu, {{.id = id, .sizes = {static_cast<std::int64_t>(id)}}}, {{.id = 5000 + id}});
        w.recorder.finish();
        w.chunk.unmap();
    }
    CHECK(read_events(path).events.size() == 2000);
    CHECK(read_events(path).cut == kNotCut);
    const EventFile part = read_events(path, {.most_records = 501});
    CHECK(part.cut == kCutReading);
    CHECK(part.events.size() == 501);
    const CapturedProgram program = build_frames(part, {});
    REQUIRE(program.frames.size() == 1);
    CHECK_THAT(program.notes.at(0), Catch::Contains("a signal left no time"));
    CHECK(read_events(path, {.seconds = 0}).events.size() < 2000);
}

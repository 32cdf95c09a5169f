// Frames are checked and minimized, on disk.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/files.h"
#include "formats/json.h"
#include "reduce/check.h"
#include "reduce/report.h"
#include "relu_frame.h"

using namespace whittle;
using namespace whittle::test;
namespace fs = std::filesystem;

namespace {

reduce::Request search_by(const Suspect& suspect, const fs::path& output) {
    return {.judge = suspect, .output = output};
}

}  // namespace

TEST_CASE("check() finds each distinct failure once, in its smallest graph", "[reduce]") {
    const TempDir folder("whittle-reduce");
    LoadedFrame small = relu_frame("small");
    small.graph = parse(
        "graph small {\n  %x = placeholder[\"x\"] : f32[4]\n  %b = aten.relu.default(%x) : f32[4]\n"
        "  return (%b)\n}\n");
    const std::vector<LoadedFrame> frames = {relu_frame("good", "abs"), relu_frame("large"), small};
    const reduce::Findings found = reduce::check(frames, search_by(kRefuses, folder.path() / "m.json"));
    REQUIRE(found.failing.size() == 1);
    CHECK(found.failing[0].smallest == &frames[2]);
    CHECK(found.not_judged.empty());

    std::vector<LoadedFrame> recorded = frames;
    const auto counted = [&] {
        const std::string text = to_text(found, search_by(kRefuses, folder.path() / "m.json"), recorded);
        return text.substr(0, text.find(','));
    };
    CHECK(counted() == "3 graphs");
    for (std::size_t i : {1, 2}) recorded[i].record = Record{};
    recorded[1].file = "large.json";
    recorded[2].file = "large_run1.json";
    CHECK(counted() == "1 graph and 2 records");
    recorded[2].file = "large.json";  // one record, cut into parts
    CHECK(counted() == "3 graphs");

    const auto backend = find_backend(kRefuses.spec);
    const TriedFrames tried = try_frames(frames, *backend, kRefuses);
    const std::vector<JudgedFrame> failing = with_verdict(tried.frames, Verdict::fails);
    REQUIRE(failing.size() == 2);
    CHECK(failing[0].name == "large");
    CHECK(failing[0].reason == "exception at compile: ReluCompileError");
    CHECK(tried.frames[0].verdict == Verdict::right);
    CHECK(verdict_of(tried.frames) == Verdict::fails);
    CHECK_THAT(verdict_text("b", tried.frames), Catch::StartsWith("Backend b runs 1 graph"));
}

TEST_CASE("a frame that a backend does not support is not judged, which is said once", "[reduce]") {
    LoadedFrame own = relu_frame("own");
    own.graph =
        parse("graph own {\n  %x = placeholder[\"x\"] : f32[4]\n  %b = my.op.default(%x) : f32[4]\n  return (%b)\n}\n");
    own.expected = own.inputs;
    const Suspect interprets{.spec = "eager_debug"};
    const auto backend = find_backend(interprets.spec);
    const TriedFrames tried = try_frames({own, own}, *backend, interprets);
    CHECK(verdict_of(tried.frames) == Verdict::not_judged);
    const std::vector<JudgedFrame> declined = with_verdict(tried.frames, Verdict::not_judged);
    REQUIRE(declined.size() == 1);
    CHECK(declined[0].reason == "eager_debug does not implement my.op.default");
}

TEST_CASE("a minimized graph names the interpreter that ran the program", "[reduce]") {
    const TempDir folder("whittle-reduce");
    LoadedFrame frame = relu_frame("large");
    frame.record.emplace();
    frame.record->environment[kInterpreterKey] = "/env/bin/python3";
    const fs::path output = folder.path() / "m.json";
    reduce::minimize(frame, search_by(kRefuses, output), {});
    LoadedFrame again{.graph = load_graph(output)};
    CHECK(interpreter_of(again) == "/env/bin/python3");
    again.graph.failure->python.clear();
    CHECK(interpreter_of(again).empty());
}

TEST_CASE("minimize() leaves the one op, on disk with its failure", "[reduce]") {
    const TempDir folder("whittle-reduce");
    const fs::path output = folder.path() / "m.json";
    const reduce::Minimized done = reduce::minimize(relu_frame("large"), search_by(kRefuses, output), {});
    REQUIRE(done.failed());
    CHECK(done.smallest.graph.calls().size() == 1);
    CHECK(done.output == output);
    CHECK(fs::exists(output));
    CHECK_THAT(to_text(done, search_by(kRefuses, output)), Catch::Contains("aten.relu.default"));

    const reduce::Minimized none = reduce::minimize(relu_frame("good", "abs"), search_by(kRefuses, output), {});
    CHECK_FALSE(none.failed());
    CHECK(to_text(none, search_by(kRefuses, output)) ==
          "right: " + passing_text(kRefuses.spec.text(), Tier::ends) + "\n");
}

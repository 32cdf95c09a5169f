// What the programs do, as functions on values: on a backend with a planted bug, and on folders.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "debug/divergence.h"
#include "debug/minimize.h"
#include "debug/subject.h"
#include "debug/trace.h"
#include "debug/write_repro.h"
#include "graph/text.h"
#include "trace/record.h"

using namespace whittle;
namespace fs = std::filesystem;

namespace {

/// The relu of three ops is what the deliberately buggy backends fail on.
LoadedFrame frame(const std::string& name, const std::string& middle = "relu") {
    LoadedFrame frame{.name = name, .file = name + ".json"};
    frame.graph = parse("graph " + name +
                        " {\n  %x = placeholder[\"x\"] : f32[4]\n  %a = aten.exp.default(%x) : f32[4]\n"
                        "  %b = aten." +
                        middle + ".default(%a) : f32[4]\n  %c = aten.neg.default(%b) : f32[4]\n  return (%c)\n}\n");
    frame.inputs = {Tensor::of(std::vector<float>{1, -2, 3, -4}, {4})};
    frame.inputs_from = "the test";
    return frame;
}

const Suspect kRefuses = {.spec = "relu_compile_error_TESTING_ONLY"};
const Suspect kWrong = {.spec = "relu_accuracy_error_TESTING_ONLY", .tier = Tier::computes};

debug::Search search(const Suspect& suspect, const fs::path& output) { return {.judge = suspect, .output = output}; }

}  // namespace

TEST_CASE("check() finds each distinct failure once, in its smallest graph", "[debug]") {
    const TempDir folder("whittle-debug");
    LoadedFrame small = frame("small");
    small.graph = parse(
        "graph small {\n  %x = placeholder[\"x\"] : f32[4]\n  %b = aten.relu.default(%x) : f32[4]\n"
        "  return (%b)\n}\n");
    const std::vector<LoadedFrame> frames = {frame("good", "abs"), frame("large"), small};
    const debug::Findings found = debug::check(frames, search(kRefuses, folder.path() / "m.json"));
    REQUIRE(found.failing.size() == 1);
    CHECK(found.failing[0] == &frames[2]);
    CHECK(found.not_judged.empty());

    const auto backend = find_backend(kRefuses.spec);
    const debug::TriedFrames tried = debug::try_frames(frames, *backend, kRefuses);
    const std::vector<debug::JudgedFrame> failing = debug::with_verdict(tried.frames, Verdict::fails);
    REQUIRE(failing.size() == 2);
    CHECK(failing[0].name == "large");
    CHECK(failing[0].reason == "exception at compile: ReluCompileError");
    CHECK(tried.frames[0].verdict == Verdict::right);
    CHECK(debug::verdict_of(tried.frames) == Verdict::fails);
    CHECK_THAT(debug::verdict_text("b", tried.frames), Catch::StartsWith("Backend b runs 1 graph"));
}

TEST_CASE("a frame that a backend does not support is not judged, which is said once", "[debug]") {
    LoadedFrame own = frame("own");
    own.graph =
        parse("graph own {\n  %x = placeholder[\"x\"] : f32[4]\n  %b = my.op.default(%x) : f32[4]\n  return (%b)\n}\n");
    own.expected = own.inputs;
    const Suspect interprets{.spec = "eager_debug"};
    const auto backend = find_backend(interprets.spec);
    const debug::TriedFrames tried = debug::try_frames({own, own}, *backend, interprets);
    CHECK(debug::verdict_of(tried.frames) == Verdict::not_judged);
    const std::vector<debug::JudgedFrame> declined = debug::with_verdict(tried.frames, Verdict::not_judged);
    REQUIRE(declined.size() == 1);
    CHECK(declined[0].reason == "no kernel for my.op.default");
}

TEST_CASE("minimize() leaves the one op, on disk with its failure", "[debug]") {
    const TempDir folder("whittle-debug");
    const fs::path output = folder.path() / "m.json";
    const debug::Minimized done = debug::minimize(frame("large"), search(kRefuses, output), {});
    REQUIRE(done.failed());
    CHECK(done.result.graph.calls().size() == 1);
    CHECK(done.written.output == output);
    CHECK(fs::exists(output));
    CHECK_THAT(debug::to_text(done, search(kRefuses, output)), Catch::Contains("aten.relu.default"));

    const debug::Minimized none = debug::minimize(frame("good", "abs"), search(kRefuses, output), {});
    CHECK_FALSE(none.failed());
    CHECK(debug::to_text(none, search(kRefuses, output)) ==
          debug::not_failing_text(kRefuses.spec.text(), Tier::ends) + "\n");
}

TEST_CASE("diverge() says which value is the first to differ", "[debug]") {
    const debug::FrameDivergence found = debug::diverge(frame("f"), kWrong);
    REQUIRE(found.divergence.first);
    CHECK(found.differs());
    CHECK(found.divergence.values[*found.divergence.first].node == "b");
    CHECK_FALSE(debug::diverge(frame("f", "abs"), kWrong).differs());
    const nlohmann::json json = debug::to_json({&found, 1});
    CHECK(json["backend"] == kWrong.spec.text());
    CHECK(json["divergence"][0]["file"] == "f.json");
    CHECK(json["divergence"][0]["verdict"] == "fails");
}

TEST_CASE("diverge() has the judge's verdict", "[debug]") {
    LoadedFrame disagrees = frame("f", "abs");  // with what was given, in which nobody else agrees
    disagrees.expected = {Tensor::of(std::vector<float>{0, 0, 0, 0}, {4})};
    disagrees.expected_from = "the data set";
    const debug::FrameDivergence wrong_data = debug::diverge(disagrees, kWrong);
    CHECK(wrong_data.judgement.verdict == Verdict::not_judged);
    CHECK_FALSE(wrong_data.differs());
    CHECK(wrong_data.divergence.values.size() == 3);
    CHECK_THAT(debug::to_text(wrong_data, {}), Catch::Contains("verdict:     not judged: ") &&
                                                   Catch::Contains("the expected outputs (the data set) differ"));

    const debug::FrameDivergence unsupported = debug::diverge(frame("f"), {.spec = "cmd:sh -c 'exit 125'"});
    CHECK_FALSE(unsupported.differs());
    CHECK_THAT(debug::to_text(unsupported, {}), Catch::EndsWith("\nnot judged: exited with 125\n"));
}

TEST_CASE("failure_of() asks once; only a backend's failure has a repro", "[debug]") {
    CHECK_FALSE(debug::failure_of(frame("f", "abs"), kRefuses));
    CHECK_FALSE(debug::failure_of(frame("f"), {.spec = kWrong.spec}));  // how it ends is all that counts
    const std::optional<Failure> wrong = debug::failure_of(frame("f"), kWrong);
    REQUIRE(wrong);
    CHECK(wrong->backend == kWrong.spec.text());
    CHECK(wrong->signature.kind == "mismatch");

    Graph judged = frame("f").graph;
    judged.failure = Failure{.backend = "", .signature = {"command", "", "exit 1"}};
    CHECK_THROWS_WITH(debug::write_repro(judged, "m.json", {}),
                      Catch::Contains("m.json: ") && Catch::Contains("a command judged"));
}

TEST_CASE("trace() keeps graphs and records, and who fails", "[debug]") {
    const TempDir folder("whittle-debug");
    const debug::TraceRequest request{
        .folder = folder.path() / "t", .models = {"f.json"}, .suspect = kRefuses, .records = RecordPolicy::on_error};
    std::vector<std::string> told;
    debug::TraceObserver observer;
    observer.before = [&](const LoadedFrame& one) { told.push_back("before " + one.name); };
    observer.after = [&](const TracedFrame& one) { told.push_back("after " + one.frame); };
    const debug::Traced traced = debug::trace({frame("bad"), frame("good", "abs")}, request, observer);
    CHECK(told == std::vector<std::string>{"before bad", "after bad", "before good", "after good"});
    REQUIRE(traced.frames.size() == 2);
    CHECK(traced.failures() == 1);
    CHECK(traced.minifiable());
    CHECK_FALSE(traced.good());
    CHECK(traced.frames[0].record);
    CHECK_FALSE(traced.frames[1].record);
    CHECK(fs::exists(request.folder / *traced.frames[0].record));
    const std::string text = debug::to_text(traced.frames[0], "t");
    CHECK_THAT(text, Catch::Contains("t/graphs/bad.json: 3 ops\n") && Catch::Contains("inputs from the test") &&
                         Catch::Contains("FAIL exception at compile: ReluCompileError\n"));
    const nlohmann::json json = debug::to_json(traced);
    CHECK(json["frames"][0]["failure"] == "exception at compile: ReluCompileError");
    CHECK_FALSE(json["frames"][1].contains("failure"));
    CHECK_FALSE(json.contains("program"));

    SECTION("a subject of the folder has its index; what is predicted needs one") {
        debug::Subject subject = debug::subject_of(request.folder, {frame("bad")});
        REQUIRE(subject.index);
        CHECK(subject.index->frames == std::vector<std::string>{"bad", "good"});
        CHECK_NOTHROW(debug::predict(subject, {cpp::Analysis{}}));
        debug::Subject model = debug::subject_of("f.json", {frame("bad")});
        CHECK_FALSE(model.index);
        CHECK_NOTHROW(debug::predict(model, {}));
        CHECK_THROWS_WITH(debug::predict(model, {cpp::Analysis{}}),
                          Catch::Contains("with a source it must be a program"));

        model.judged = {
            {.name = "bad", .file = "f.json", .verdict = Verdict::fails, .reason = "exception at compile: x"}};
        const explain::Report report = debug::report(model, *find_backend("eager"));
        CHECK(report.failing == 1);
        CHECK(debug::to_text(model, report, {}).starts_with("FAIL bad (f.json): exception at compile: x\n\nWhittle"));
        CHECK_FALSE(debug::to_json(model, report).contains("verdict"));  // no backend was run on it
        model.runnable = "f.json";
        CHECK(debug::to_json(model, report)["verdict"] == "fails");
        CHECK(debug::to_json(model, report)["judged"].size() == 1);
    }
    SECTION("the reference's own failure is nobody's bug to minimize") {
        CHECK_FALSE(debug::trace({frame("good")}, {.folder = folder.path() / "e", .suspect = {.spec = "eager"}}, {})
                        .minifiable());
    }
}

TEST_CASE("a program that ends without LibTorch is a trace that says so", "[debug]") {
    const TempDir folder("whittle-debug");
    debug::ProgramRequest program{.program = "/bin/false", .with_data = true};
    program.folder = folder.path() / "t";
    const debug::RanProgram ran = debug::run_program(program);
    CHECK(ran.exit_code == 1);
    CHECK(ran.ending() == "ended with exit status 1");
    CHECK_FALSE(ran.own);
    const debug::Traced traced =
        debug::trace(ran, {.folder = *program.folder, .models = {program.program}, .suspect = {.spec = "eager"}});
    CHECK(traced.frames.empty());
    CHECK(fs::exists(*program.folder / "index.json"));
    const std::vector<std::string> lines = debug::to_lines(traced, false);
    REQUIRE_FALSE(lines.empty());
    CHECK_THAT(lines.back(), Catch::EndsWith("; the program ended with exit status 1"));
    CHECK(debug::to_lines(traced, true).size() < lines.size());
    CHECK(debug::subject_of(program.program, ran).index->notes.front() == "the program: exit status 1");
}

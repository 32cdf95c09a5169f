// trace() of frames and programs, and reports on what it wrote.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "record/launch/trace.h"
#include "relu_frame.h"
#include "report/subject.h"
#include "trace/record.h"

using namespace whittle;
using namespace whittle::test;
namespace fs = std::filesystem;

TEST_CASE("trace() keeps graphs and records, and who fails", "[report]") {
    const TempDir folder("whittle-report");
    const TraceRequest request{
        .folder = folder.path() / "t", .models = {"f.json"}, .suspect = kRefuses, .records = RecordPolicy::on_error};
    std::vector<std::string> told;
    TraceObserver observer;
    observer.before = [&](const LoadedFrame& one) { told.push_back("before " + one.name); };
    observer.after = [&](const TracedFrame& one) { told.push_back("after " + one.frame); };
    const Traced traced = trace({relu_frame("bad"), relu_frame("good", "abs")}, request, observer);
    CHECK(told == std::vector<std::string>{"before bad", "after bad", "before good", "after good"});
    REQUIRE(traced.frames.size() == 2);
    CHECK(traced.failures() == 1);
    CHECK(traced.minifiable());
    CHECK_FALSE(traced.good());
    CHECK(traced.frames[0].record);
    CHECK_FALSE(traced.frames[1].record);
    CHECK(fs::exists(request.folder / *traced.frames[0].record));
    const std::string text = to_text(traced.frames[0], "t");
    CHECK_THAT(text, Catch::Contains("t/graphs/bad.json: 3 ops\n") && Catch::Contains("inputs from the test") &&
                         Catch::Contains("FAIL exception at compile: ReluCompileError\n"));
    const nlohmann::json json = to_json(traced);
    CHECK(json["frames"][0]["failure"] == "exception at compile: ReluCompileError");
    CHECK_FALSE(json["frames"][1].contains("failure"));
    CHECK_FALSE(json.contains("program"));

    SECTION("a subject of the folder has its index; what is predicted needs one") {
        report::Subject subject = report::subject_of(request.folder, {relu_frame("bad")});
        REQUIRE(subject.index);
        CHECK(subject.index->frames == std::vector<std::string>{"bad", "good"});
        CHECK_NOTHROW(report::predict(subject, {cpp::Analysis{}}));
        report::Subject model = report::subject_of("f.json", {relu_frame("bad")});
        CHECK_FALSE(model.index);
        CHECK_NOTHROW(report::predict(model, {}));
        CHECK_THROWS_WITH(report::predict(model, {cpp::Analysis{}}),
                          Catch::Contains("found neither a program nor a folder"));

        model.judged = {
            {.name = "bad", .file = "f.json", .verdict = Verdict::fails, .reason = "exception at compile: x"}};
        const report::Report report = report::report(model, *find_backend("eager"));
        CHECK(report.failing == 1);
        CHECK(to_text(model, report, {}).starts_with("FAIL bad (f.json): exception at compile: x\n\nWhittle"));
        CHECK_FALSE(to_json(model, report).contains("verdict"));  // no backend was run on it
        model.runnable = "f.json";
        CHECK(to_json(model, report)["verdict"] == "fails");
        CHECK(to_json(model, report)["judged"].size() == 1);
    }
    SECTION("the reference's own failure is nobody's bug to minimize") {
        CHECK_FALSE(trace({relu_frame("good")}, {.folder = folder.path() / "e", .suspect = {.spec = "eager"}}, {})
                        .minifiable());
    }
}

TEST_CASE("a program that ends without LibTorch is a trace that says so", "[report]") {
    const TempDir folder("whittle-report");
    ProgramRequest program{.program = "/bin/false", .with_data = true};
    program.folder = folder.path() / "t";
    const RanProgram ran = run_program(program);
    CHECK(ran.exit_code == 1);
    CHECK(ran.ending() == "ended with exit status 1");
    CHECK_FALSE(ran.own);
    const Traced traced =
        trace(ran, {.folder = *program.folder, .models = {program.program}, .suspect = {.spec = "eager"}});
    CHECK(traced.frames.empty());
    CHECK(fs::exists(*program.folder / "index.json"));
    const std::vector<std::string> lines = to_lines(traced, false);
    REQUIRE_FALSE(lines.empty());
    CHECK_THAT(lines.back(), Catch::EndsWith("; the program ended with exit status 1"));
    CHECK(to_lines(traced, true).size() < lines.size());
    CHECK(report::subject_of(ran).index->notes.front() == "the program: exit status 1");
}

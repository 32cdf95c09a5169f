#include "replay/replay.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "graph/example.h"
#include "replay/replay_report.h"
#include "trace/index.h"
#include "trace/record.h"

using namespace whittle;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

/// Returns its first input; "wrong" changes it, "crash" dies, "unsupported" refuses.
class NamedBackend final : public Backend {
  public:
    explicit NamedBackend(std::string name) : name_(std::move(name)) {}
    std::string name() const override { return name_; }
    std::string description() const override { return "for tests"; }
    CompileResult compile(const Graph&, const BackendOptions&) override {
        if (name_ == "unsupported")
            return BackendFailure{.stage = "compile", .message = "no kernel for aten.odd", .unsupported = true};
        return std::make_unique<Run>(name_);
    }

  private:
    struct Run final : Executable {
        explicit Run(std::string name) : name(std::move(name)) {}
        RunResult run(std::span<const Tensor> inputs) override {
            if (name == "crash") std::raise(SIGSEGV);
            Tensor result = inputs[0].clone();
            if (name == "wrong") result.mutable_data<float>()[1] += 1;
            return Values{result};
        }
        std::string name;
    };
    const std::string name_;
};

fs::path save(const fs::path& folder, const std::string& name, const std::string& backend = "right") {
    Record record;
    record.name = name;
    record.backend = backend;
    record.inputs = record.expected = {Tensor::of<float>({1, 2})};
    return save_record(folder, identity_graph(), record);
}

ReplayOptions options(const std::string& backend = {}) {
    ReplayOptions options;
    options.suspect.spec = backend;
    for (const std::string name : {"right", "wrong", "crash", "unsupported"})
        add_backend(name, [name] { return std::make_unique<NamedBackend>(name); });
    return options;
}

ReplayResult replay(const fs::path& file, const ReplayOptions& options, const KnownFailures& known) {
    return replay_all({file}, options, known).at(0);
}

KnownFailures known_failures(const std::string& text) {
    const TempDir folder;
    write_file(folder.path() / "xfail", text);
    return KnownFailures(folder.path() / "xfail");
}

std::vector<std::string> names(const std::vector<fs::path>& files) {
    std::vector<std::string> names;
    for (const fs::path& file : files) names.push_back(file.stem().string());
    return names;
}

using Status = ReplayResult::Status;

}  // namespace

TEST_CASE("a record passes, differs, crashes or is not supported", "[replay]") {
    const TempDir folder;
    const fs::path file = save(folder.path(), "a");
    const auto result = [&](const std::string& backend, const std::string& known = "") {
        return replay(file, options(backend), known_failures(known));
    };
    CHECK(result("").status == Status::passed);
    CHECK(result("").backend == "right");
    CHECK(result("").first_difference.empty());

    const ReplayResult wrong = result("wrong");
    CHECK(wrong.status == Status::failed);
    CHECK(wrong.outcome == "mismatch");
    CHECK(wrong.name == "a");
    CHECK_THAT(wrong.first_difference, Contains("[1]: got 3, expected 2"));

    CHECK(result("crash").outcome == "crash");
    CHECK(result("crash").status == Status::failed);
    CHECK(result("unsupported").status == Status::skipped);
    CHECK_THAT(result("unsupported").first_difference, Contains("no kernel for aten.odd"));

    CHECK(result("wrong", "a # bug 12\n").status == Status::xfail);
    CHECK(result("wrong", "a # bug 12\n").known_reason == "bug 12");
    CHECK(result("right", "*/records/a.json").status == Status::xpass);
    CHECK(result("wrong", "# a\nb\n\n").status == Status::failed);
    CHECK_THROWS_AS(result("unknown"), Error);
}

TEST_CASE("a tolerance given replaces the record's", "[replay]") {
    const TempDir folder;
    const fs::path file = save(folder.path(), "a");
    ReplayOptions loose = options("wrong");
    loose.suspect.accuracy.emplace().tolerances[DType::f32] = {0, 2, 0};
    CHECK(replay(file, loose, {}).status == Status::passed);
}

TEST_CASE("all records are replayed in order, whatever the number of jobs", "[replay]") {
    const TempDir folder;
    std::vector<fs::path> files;
    for (int i = 0; i < 6; ++i)
        files.push_back(save(folder.path(), "r" + std::to_string(i), i % 2 ? "wrong" : "right"));
    write_file(files[4], "{}");
    for (const int jobs : {1, 3}) {
        ReplayOptions parallel = options();
        parallel.jobs = jobs;
        std::vector<std::string> seen;
        const auto results =
            replay_all(files, parallel, {}, [&](const ReplayResult& r) { seen.push_back(r.file.stem().string()); });
        CHECK(seen == std::vector<std::string>{"r0", "r1", "r2", "r3", "r4", "r5"});
        REQUIRE(results.size() == 6);
        for (int i = 0; i < 6; ++i)
            CHECK(results[static_cast<std::size_t>(i)].status == (i == 4  ? Status::error
                                                                  : i % 2 ? Status::failed
                                                                          : Status::passed));
        CHECK_THAT(results[4].first_difference, Contains("r4.json: the top level: found no member \"format\""));
    }
    CHECK_THROWS_AS(replay_all(files, options("unknown"), {}), Error);
    CHECK(replay_all({}, options(), {}).empty());
}

TEST_CASE("records are found in folders, by index or by looking", "[replay]") {
    const TempDir folder;
    const fs::path b = save(folder.path(), "b"), a = save(folder.path(), "a");
    CHECK(names(find_records({folder.path()})) == std::vector<std::string>{"a", "b"});
    CHECK(names(find_records({b, folder.path(), b})) == std::vector<std::string>{"b", "a"});
    TraceIndex index;
    index.records = {{"b", "records/b.json", "graph"}, {"a", "records/a.json", "graph"}};
    save_index(folder.path(), index);
    CHECK(names(find_records({folder.path()})) == std::vector<std::string>{"b", "a"});
    CHECK(names(find_records({folder.path()}, 1)) == std::vector<std::string>{"b"});
    CHECK(names(find_records({folder.path(), a}, 1)) == std::vector<std::string>{"b", "a"});
    CHECK(names(find_records({folder.path()}, 3)) == std::vector<std::string>{"b", "a"});
    CHECK_THROWS_WITH(find_records({folder.path() / "gone"}), Contains("No such file or directory"));
    CHECK_THROWS_WITH(find_records({folder.path() / "graphs"}), Contains("found no records in this folder"));
}

TEST_CASE("records that an index lists are found wherever it is, and whether or not they are there", "[replay]") {
    const TempDir folder;
    const fs::path deep = folder.path() / "x/y";
    for (const fs::path& trace : {folder.path() / "a", deep}) {
        save(trace, "kept");
        TraceIndex index;
        index.records = {{"kept", "records/kept.json", "graph"}, {"lost", "records/lost.json", "graph"}};
        save_index(trace, index);
    }
    save(deep, "of_nobody");  // not in the index
    write_file(folder.path() / "index.json", "{\"pages\": []}");
    const std::vector<fs::path> found = find_records({folder.path()});
    CHECK(names(found) == std::vector<std::string>{"kept", "lost", "kept", "lost"});
    const auto results = replay_all(found, options(), {});
    CHECK(results[0].status == Status::passed);
    CHECK(results[1].status == Status::error);
    CHECK_THAT(results[3].first_difference, Contains("x/y/records/lost.json: cannot open"));
    // Without an index: what lies where records do, and is no JSON.
    fs::remove(deep / "index.json");
    std::ofstream(deep / "records/kept.json") << "version https://git-lfs.github.com/spec/v1\n";
    CHECK(names(find_records({deep})) == std::vector<std::string>{"kept", "of_nobody"});
    CHECK_THAT(replay(deep / "records/kept.json", options(), {}).first_difference, Contains("git lfs pull"));
    std::ofstream(deep / "index.json") << "{";
    CHECK_THROWS_WITH(find_records({folder.path()}), Contains("x/y/index.json: byte"));
}

TEST_CASE("test cases are called by their path from the given folder on", "[replay]") {
    const auto called = [](const std::vector<fs::path>& files, const std::vector<fs::path>& arguments) {
        std::vector<ReplayResult> results;
        for (const fs::path& file : files) results.push_back({.file = file});
        return test_names(results, arguments);
    };
    using Names = std::vector<std::string>;
    CHECK(called({"ci/a/records/torch_jit.json", "ci/b/records/torch_jit.json"}, {"ci"}) ==
          Names{"ci/a/torch_jit", "ci/b/torch_jit"});
    CHECK(called({"/home/me/ci/a/records/x.json"}, {"/home/me/ci/"}) == Names{"ci/a/x"});
    CHECK(called({"./a/records/x.json"}, {"."}) == Names{"a/x"});
    CHECK(called({"../t/records/x.json"}, {".."}) == Names{"t/x"});
    CHECK(called({"t/records/x.json"}, {"t/records/x.json"}) == Names{"x"});
    CHECK(called({"1/t/records/x.json", "2/t/records/x.json"}, {"1/t", "2/t"}) ==
          Names{"1/t/records/x.json", "2/t/records/x.json"});
}

namespace {

std::vector<ReplayResult> one_of_each() {
    return {
        {.status = Status::passed, .file = "r/a.json", .name = "a", .outcome = "ok", .seconds = 0.5},
        {.status = Status::failed,
         .file = "r/b # 1.json",
         .name = "b # 1",
         .outcome = "mismatch",
         .first_difference = "output 0 [1]: got <3>, expected \"2\"\n\x01"},
        {.status = Status::skipped, .file = "r/c.json", .name = "c", .first_difference = "no kernel"},
        {.status = Status::xfail,
         .file = "r/d.json",
         .name = "d",
         .outcome = "crash",
         .first_difference = "killed by SIGSEGV",
         .known_reason = "bug 12"},
        {.status = Status::xpass, .file = "r/e.json", .name = "e", .outcome = "ok"},
        {.status = Status::error, .file = "r/f.json", .outcome = "error", .first_difference = "r/f.json: truncated"}};
}

}  // namespace

TEST_CASE("JUnit XML", "[replay]") {
    CHECK(junit_xml(one_of_each(), std::vector<fs::path>{"r"}) == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="6" failures="2" errors="1" skipped="2" time="0.500">
  <testsuite name="whittle replay" tests="6" failures="2" errors="1" skipped="2" time="0.500">
    <testcase name="r/a" classname="r" file="r/a.json" time="0.500"/>
    <testcase name="r/b # 1" classname="r" file="r/b # 1.json" time="0.000"><failure message="output 0 [1]: got &lt;3&gt;, expected &quot;2&quot;&#10;)"
                                                                  "\xef\xbf\xbd"
                                                                  R"(" type="mismatch"/></testcase>
    <testcase name="r/c" classname="r" file="r/c.json" time="0.000"><skipped message="no kernel"/></testcase>
    <testcase name="r/d" classname="r" file="r/d.json" time="0.000"><skipped message="known failure: bug 12; killed by SIGSEGV"/></testcase>
    <testcase name="r/e" classname="r" file="r/e.json" time="0.000"><failure message="passed, although listed as a known failure" type="xpass"/></testcase>
    <testcase name="r/f" classname="r" file="r/f.json" time="0.000"><error message="r/f.json: truncated" type="error"/></testcase>
  </testsuite>
</testsuites>
)");
}

TEST_CASE("TAP", "[replay]") {
    CHECK(tap(one_of_each()) == R"(TAP version 13
1..6
ok 1 - r/a.json
not ok 2 - r/b \# 1.json
# mismatch: output 0 [1]: got <3>, expected "2"  
ok 3 - r/c.json # SKIP no kernel
not ok 4 - r/d.json # TODO known failure: bug 12
# crash: killed by SIGSEGV
not ok 5 - r/e.json
# passed, although listed as a known failure
not ok 6 - r/f.json
# error: r/f.json: truncated
)");
    CHECK(tap({}) == "TAP version 13\n1..0 # SKIP there are fewer records than shards\n");
}

TEST_CASE("results as text for people", "[replay]") {
    std::vector<ReplayResult> results = one_of_each();
    results[1].next = "minify 'r/b # 1.json'";
    std::string text;
    for (const ReplayResult& result : results) text += to_text(result, false);
    CHECK(text == R"(PASS  r/a.json (not run, 0.50 s)
FAIL  r/b # 1.json (not run, 0.00 s)
      mismatch: output 0 [1]: got <3>, expected "2"
)"
                  "\x01\n"
                  R"(SKIP  r/c.json (not run, 0.00 s)
      not judged: no kernel
XFAIL r/d.json (not run, 0.00 s)
      known: bug 12
      crash: killed by SIGSEGV
XPASS r/e.json (not run, 0.00 s)
ERROR r/f.json (not run, 0.00 s)
)");
    CHECK(to_text(results[0], true).starts_with("\033[32mPASS \033[0m r/a.json"));
    CHECK(summary_text(results) ==
          "6 records: 1 passed, 1 failed, 1 skipped, 1 xfail, 1 xpass, 1 error\nnext: minify 'r/b # 1.json'\n");
    CHECK(summary_text({results.data(), 1}) == "1 record: 1 passed, 0 failed\n");
    CHECK(summary_text({}) == "0 records: there are fewer records than shards\n");
    CHECK(summary_text({results.data() + 2, 1}) == "1 record: 0 passed, 0 failed, 1 skipped; no record was judged\n");
    const nlohmann::json json = to_json(results);
    CHECK(json["errors"] == 1);
    CHECK(json["records"][1]["next"] == "minify 'r/b # 1.json'");
    CHECK_FALSE(json["records"][0].contains("next"));
}

TEST_CASE("the exit status is that of the worst result", "[replay]") {
    const auto status = [](std::vector<Status> all, bool require_judged = false) {
        std::vector<ReplayResult> results;
        for (const Status one : all) results.push_back({.status = one, .file = "r.json"});
        return exit_status(results, require_judged);
    };
    CHECK(status({}) == 0);  // a shard without records, as googletest and CTest have it
    CHECK(status({}, true) == 0);
    CHECK(status({Status::passed, Status::skipped}, true) == 1);
    CHECK(status({Status::passed, Status::xfail, Status::skipped}) == 0);
    CHECK(status({Status::passed, Status::failed}) == 1);
    CHECK(status({Status::passed, Status::xpass}) == 1);
    CHECK(status({Status::skipped, Status::skipped}) == 1);  // none could be run
    CHECK(status({Status::failed, Status::error}) == 2);
}

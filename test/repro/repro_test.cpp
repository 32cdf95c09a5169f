// write_repro() and bundles: what is written where, what it claims, what it refuses.
#include <sys/stat.h>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "formats/document.h"
#include "repro/failing.h"
#include "trace/record.h"

using namespace whittle;
using namespace whittle::repro;

namespace {

namespace fs = std::filesystem;

constexpr const char* kAbs = R"(graph abs {
  %x = placeholder["x"] : i32[3]
  %abs = aten.abs.default(%x) : i32[3]
  return (%abs)
}
)";

Graph copied_abs() {
    return failing(kAbs, {Tensor::of<std::int32_t>({-5, 0, 5})}, "cmd:cp {}/inputs.safetensors {}/outputs.safetensors",
                   {"mismatch", "run", "value"});
}

/// The harness: what a folder with a script holds is in short_programs_test.cpp.
Repro written(const Graph& graph, Options options) {
    options.harness = true;
    return write_repro(graph, options);
}

}  // namespace

TEST_CASE("repro: verified when all runs fail and the control passes") {
    const TempDir folder("whittle-test");
    // The outputs are named by numbers as the inputs are: what is copied is one.
    const Repro report = written(copied_abs(), fixed_options(folder.path() / "abs.cpp"));
    INFO(report.message);
    CHECK(report.verified);
    CHECK(report.runs == 3);
    CHECK(report.message.starts_with("1 of 3 values differ in backend, 0 in loops: BUG in the backend cmd:cp"));
    CHECK(read_file(folder.path() / "abs.cpp").find("verified: 3 of 3 runs fail, and the control passes") !=
          std::string::npos);
    CHECK(files_below(folder.path()) == std::set<fs::path>{"abs.cpp"});
}

TEST_CASE("repro: no command follows a program that was run and does not show the failure") {
    const Failure failure{.signature = {"mismatch", "run", "value"}};
    Options options = fixed_options(), unverified = options;
    unverified.runs = 0;
    Repro repro;
    repro.output = "repro.cpp";
    CHECK_THAT(to_text(repro, failure, options), Catch::Contains("NOT verified") && !Catch::Contains("next:"));
    CHECK_THAT(to_text(repro, failure, unverified), Catch::Contains("\nnext:     g++ "));
    repro.verified = true;
    CHECK_THAT(to_text(repro, failure, options), Catch::Contains("\nnext:     g++ "));

    PythonRepro script{.output = "repro.py", .message = "python3 has no PyTorch"};
    CHECK_THAT(to_text(script, options), Catch::Contains("NOT verified") && !Catch::Contains("next:"));
    script.verified = true;
    CHECK_THAT(to_text(script, options), Catch::EndsWith("\nnext:     python3 repro.py inductor\n"));
}

TEST_CASE("repro: integers that double would round differ") {
    const TempDir folder("whittle-test");
    const Graph graph = failing(R"(graph add {
  %x = placeholder["x"] : i64[1]
  %add = aten.add.Scalar(%x, 1) : i64[1]
  return (%add)
}
)",
                                {Tensor::of<std::int64_t>({std::int64_t(1) << 53})},
                                "cmd:cp {}/inputs.safetensors {}/outputs.safetensors", {"mismatch", "run", "value"});
    const Repro report = written(graph, fixed_options(folder.path() / "add.cpp"));
    INFO(report.message);
    CHECK(report.verified);
}

TEST_CASE("repro: what does not show the failure is written and says so") {
    const TempDir folder("whittle-test");
    Graph graph = copied_abs();
    graph.failure->inputs = {Tensor::of<std::int32_t>({5, 0, 5})};  // the copy is right
    const Repro report = written(graph, fixed_options(folder.path() / "abs.cpp"));
    CHECK_FALSE(report.verified);
    CHECK(report.runs == 0);
    CHECK(report.message.starts_with("run 1 of 3 ended with exit 0, expected exit 1: 0 of 3 values differ"));
    CHECK(read_file(folder.path() / "abs.cpp").find("`; not verified\n") != std::string::npos);
}

TEST_CASE("repro: the smallest data that fails alike") {
    const TempDir folder("whittle-test");
    Options options = fixed_options(folder.path() / "abs.cpp");
    options.data = "auto";
    const Repro report = written(copied_abs(), options);  // copies of 0, 1, and 0 or 1 are right
    CHECK(report.data == Data::real);
    CHECK(report.passing == std::vector<std::string>{"zeros", "ones", "small"});
    CHECK(read_file(folder.path() / "abs.cpp").find("with zeros, ones, small, the program does not fail") !=
          std::string::npos);
}

TEST_CASE("repro: refuses what it cannot write down") {
    const TempDir folder("whittle-test");
    const Options options = fixed_options(folder.path() / "repro.cpp");
    CHECK_THROWS_WITH(write_repro(parse(kAbs), options), Catch::Contains("found no failure in the graph"));
    Graph graph = copied_abs();
    graph.failure->backend = "eager";
    CHECK_THROWS_WITH(written(graph, options), Catch::Contains("backend eager cannot emit"));
    CHECK(files_below(folder.path()).empty());
}

TEST_CASE("bundle: complete, listed, and it runs where it is") {
    const TempDir folder("whittle-test");
    write_file(folder.path() / "copy.sh", "#!/bin/sh\ncp \"$1/inputs.safetensors\" \"$1/outputs.safetensors\"\n");
    REQUIRE(::chmod((folder.path() / "copy.sh").c_str(), 0755) == 0);
    Graph graph = copied_abs();
    graph.failure->backend = "cmd:" + (folder.path() / "copy.sh").string();
    fs::create_directory(folder.path() / "bundle");
    Options options = fixed_options();
    options.bundle = folder.path() / "bundle";
    CHECK(written(graph, options).verified);

    const fs::path moved = folder.path() / "moved";
    fs::rename(folder.path() / "bundle", moved);
    fs::remove(folder.path() / "copy.sh");
    CHECK(files_below(moved) == std::set<fs::path>{"ISSUE.md", "README.txt", "candidate.json", "contents.txt",
                                                   "copy.sh", "environment.txt", "record/graphs/abs.json",
                                                   "record/records/candidate.json", "repro.cpp", "run.sh"});
    const std::string environment = read_file(moved / "environment.txt");
    CHECK(environment.starts_with("cpu: any\nsuspect: command /"));
    CHECK(environment.ends_with("copy.sh\nwhittle: X\n"));
    const ProcessResult run = run_process({"sh", "run.sh"}, {.folder = moved});
    INFO(run.err);
    CHECK(run.exit_code == 1);
    CHECK(run_process({"sh", "run.sh", "control"}, {.folder = moved}).exit_code == 0);
}

TEST_CASE("bundle: a newer one removes what the older consisted of, and nothing else") {
    const TempDir folder("whittle-test");
    const fs::path bundle = folder.path() / "bundle";
    for (const char* file : {"repro.cpp", "old.bin", "notes.txt"}) write_file(bundle / file, file);
    write_file(folder.path() / "outside", "outside");
    write_file(bundle / "contents.txt", "repro.cpp\nold.bin\n../outside\n/etc/hostname\n");
    note_contents(bundle, {"repro.cpp"});
    CHECK(files_below(bundle) == std::set<fs::path>{"contents.txt", "notes.txt", "repro.cpp"});
    CHECK(read_file(bundle / "contents.txt") == "repro.cpp\n");
    CHECK(fs::exists(folder.path() / "outside"));
}

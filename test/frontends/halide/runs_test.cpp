#include "frontends/halide/runs.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"

namespace {

using namespace whittle;
using namespace whittle::halide_program;
using Catch::Contains;
using nlohmann::json;

std::string recorded_directive(int number, const std::string& owner, const std::string& name) {
    const json line{{"directive", number}, {"key", owner + name},        {"owner", owner},   {"name", name},
                    {"text", name + "()"}, {"arguments", json::array()}, {"file", "app.py"}, {"line", number}};
    return line.dump() + "\n";
}
/// A run, and its results where it ended.
std::string run(int number, int directives, const std::string& output, const std::string& input,
                const std::vector<std::string>& results) {
    const json images{{{"name", "in"}, {"type", "int32"}, {"dimensions", {{0, 8, 1}}}, {"file", input}}};
    const json line{{"captured",
                     {{"entry", "realize"},
                      {"target", ""},
                      {"outputs", {output}},
                      {"shapes", {{{0, 8}}}},
                      {"funcs", {{{"name", output}}}},
                      {"images", images},
                      {"parameters", json::array()},
                      {"nodes", json::array()}}},
                    {"run", number},
                    {"directives", directives}};
    if (results.empty()) return line.dump() + "\n";
    return line.dump() + "\n" + json{{"results", results}, {"run", number}}.dump() + "\n";
}

TEST_CASE("runs are written with the directives in force, and read back") {
    const TempDir data("whittle-test"), folder("whittle-test");
    for (const char* const file : {"a.npy", "b.npy", "c.npy", "d.npy"}) write_file(data.path() / file, file);
    const Program program = read_lines({recorded_directive(1, "f", "parallel") + run(1, 1, "f", "a.npy", {"b.npy"}) +
                                        recorded_directive(2, "f", "vectorize") + run(2, 2, "f", "c.npy", {"d.npy"})});
    REQUIRE(program.runs.size() == 2);
    CHECK(program.captured.empty());
    const SavedRuns saved = save_runs(program, data.path(), folder.path());
    REQUIRE(saved.records.size() == 1);
    CHECK(saved.records[0].file == "halide/f.json");
    CHECK(saved.records[0].runs == 2);
    CHECK(saved.data.size() == 4);
    CHECK(saved.notes.empty());
    const RecordedRuns recorded = load_runs(folder.path() / saved.records[0].file);
    CHECK(recorded.name == "f");
    REQUIRE(recorded.runs.size() == 2);
    CHECK(recorded.runs[0].pipeline.schedule.size() == 1);
    CHECK(recorded.runs[1].pipeline.schedule.size() == 2);
    CHECK(read_file(recorded.folder / recorded.runs[1].results.at(0)) == "d.npy");
}

TEST_CASE("directives of another process are not those of a run") {
    const Program program = read_lines({recorded_directive(1, "f", "parallel") + run(1, 1, "f", "a.npy", {"b.npy"}),
                                        recorded_directive(1, "f", "vectorize") + run(1, 1, "f", "c.npy", {"d.npy"})});
    REQUIRE(program.runs.size() == 2);
    CHECK(scheduled(program, program.runs[0]).schedule.at(0).name == "parallel");
    CHECK(scheduled(program, program.runs[1]).schedule.at(0).name == "vectorize");
    CHECK(program.runs[0].results == std::vector<std::string>{"b.npy"});
}

TEST_CASE("a run that did not end, or whose data were not written, is left out with a note") {
    const TempDir data("whittle-test"), folder("whittle-test");
    write_file(data.path() / "a.npy", "");
    const Program program =
        read_lines({run(1, 0, "f", "a.npy", {}) + run(2, 0, "g", "", {"b.npy"}) + run(3, 0, "g", "a.npy", {""})});
    const SavedRuns saved = save_runs(program, data.path(), folder.path());
    CHECK(saved.records.empty());
    REQUIRE(saved.notes.size() == 2);
    CHECK(saved.notes[0] == "not recorded: 1 run: f did not end");
    CHECK_THAT(saved.notes[1], Contains("2 runs: g has data that are too large"));
}

TEST_CASE("names of pipelines are names of files") {
    const TempDir data("whittle-test"), folder("whittle-test");
    for (const char* const file : {"a.npy", "b.npy", "c.npy", "d.npy"}) write_file(data.path() / file, "");
    const Program program = read_lines({run(1, 0, "f$1", "a.npy", {"b.npy"}) + run(2, 0, "f/1", "c.npy", {"d.npy"})});
    const SavedRuns saved = save_runs(program, data.path(), folder.path());
    REQUIRE(saved.records.size() == 2);
    CHECK(saved.records[0].file == "halide/f_1.json");
    CHECK(saved.records[1].file == "halide/f_1-1.json");
}

TEST_CASE("a damaged record is refused, and no path of one leads out of its folder") {
    const TempDir folder("whittle-test");
    const auto file = folder.path() / "f.json";
    write_file(file, R"({"format": "whittle.halide_runs", "version": "1.0", "name": "f", "data": "../../etc",
                         "runs": [{"results": ["../b.npy"], "pipeline": {"entry": "", "target": "", "outputs": ["f"],
                         "shapes": [], "funcs": [], "images": [], "parameters": [], "nodes": []}}]})");
    const RecordedRuns recorded = load_runs(file);
    CHECK(recorded.folder == folder.path() / "etc");
    CHECK(recorded.runs.at(0).results.at(0) == "b.npy");
    write_file(file, R"({"format": "whittle.halide_runs", "version": "1.0", "name": "f"})");
    CHECK_THROWS_AS(load_runs(file), Error);
    write_file(file, R"({"format": "whittle.halide_runs", "version": "2.0"})");
    CHECK_THROWS_AS(load_runs(file), Error);
}

}  // namespace

#include "base/event_log.h"

#include <signal.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/log.h"
#include "base/log_step.h"
#include "base/subprocess.h"
#include "json_schema.h"

using namespace whittle;
using Json = nlohmann::json;

namespace {

/// In a copy of this process: a log that is open stays open.
ProcessResult logged_in(const TempDir& folder, const std::function<void()>& work) {
    return run_forked([&] {
        EventLog::instance().open(folder.path().string());
        work();
        return 0;
    });
}

/// Each of them must be whole, but a last one without its end.
std::vector<Json> lines_of(const TempDir& folder) {
    std::vector<Json> lines;
    const std::string file = read_file(folder.path() / "log.jsonl");
    std::istringstream text(file.substr(0, file.rfind('\n') + 1));
    for (std::string line; std::getline(text, line);) lines.push_back(Json::parse(line));
    return lines;
}

std::set<std::string> kinds_of(const std::vector<Json>& lines) {
    std::set<std::string> kinds;
    for (const Json& line : lines) kinds.insert(line.at("kind"));
    return kinds;
}

}  // namespace

TEST_CASE("what happens is a line of JSON each, as the schema has it, whatever is shown", "[event_log]") {
    const TempDir folder;
    const ProcessResult ran = logged_in(folder, [] {
        log_info(LogChannel::passes, "tab\t, quote \", backslash \\, \xC3\xA4, no UTF-8: \xFF\xC3");
        log_debug(LogChannel::passes, "not among them");
        log_artifact(LogArtifact::guards, "f", "L['x'] == 1\n");
        log_artifact(LogArtifact::graph_code, "f", "nobody asked for it");
        LogStep step(LogStep::Kind::backend, "eager: graph f");
        step.failed();
    });
    CHECK(ran.good());
    CHECK(ran.err.empty());
    const std::vector<Json> lines = lines_of(folder);
    const JsonSchema schema(
        Json::parse(read_file(std::filesystem::path(WHITTLE_SOURCE_DIR) / "share/schema/log_line.schema.json")));
    for (const Json& line : lines) CHECK(schema.check(line) == "");
    REQUIRE(lines.size() == 5);
    CHECK(lines[1]["text"] == "tab\t, quote \", backslash \\, \xC3\xA4, no UTF-8: \xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(lines[1]["channel"] == "passes");
    CHECK(lines[2]["artifact"] == "guards");
    CHECK(lines[3]["event"] == "begin");
    CHECK(lines[4]["event"] == "failed");
    CHECK(lines[4]["title"] == "eager: graph f");
    CHECK(lines[4].contains("seconds"));
    CHECK(kinds_of(lines) == std::set<std::string>{"process", "message", "artifact", "step"});
}

TEST_CASE("lines of threads and of a process that is killed are whole", "[event_log]") {
    const TempDir folder;
    const ProcessResult ran = logged_in(folder, [] {
        const auto write = [](int count) {
            for (int i = 0; i < count; ++i)
                log_info(LogChannel::run, std::string(static_cast<std::size_t>(i % 7) * 100, 'x') + std::to_string(i));
        };
        std::vector<std::thread> threads;
        for (int i = 0; i < 3; ++i) threads.emplace_back(write, 1 << 30);
        write(500);
        ::kill(::getpid(), SIGKILL);
    });
    CHECK(ran.signal == SIGKILL);
    CHECK(lines_of(folder).size() > 500);
}

TEST_CASE("a log whose last line was cut goes on with a line of its own", "[event_log]") {
    const TempDir folder;
    write_file(folder.path() / "log.jsonl", R"({"kind": "mess)");
    CHECK(logged_in(folder, [] { log_info(LogChannel::passes, "behind"); }).good());
    const std::string file = read_file(folder.path() / "log.jsonl");
    CHECK(file.starts_with("{\"kind\": \"mess\n{\"time\""));
    CHECK(file.ends_with("}\n"));
}

TEST_CASE("a log that is removed is written anew where it is opened again", "[event_log]") {
    const TempDir folder;
    const ProcessResult ran = logged_in(folder, [&] {
        log_info(LogChannel::passes, "before");
        EventLog::instance().open(folder.path().string());  // the same: goes on
        std::filesystem::remove(folder.path() / "log.jsonl");
        EventLog::instance().open(folder.path().string());
        log_info(LogChannel::passes, "behind");
    });
    CHECK(ran.good());
    const std::vector<Json> lines = lines_of(folder);
    REQUIRE(lines.size() == 2);
    CHECK(lines[1]["text"] == "behind");
}

// replay: run records again and compare their outputs with the recorded ones.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "cli/accuracy_choice.h"
#include "cli/backend_choice.h"
#include "cli/limits.h"
#include "cli/model.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "graph/json.h"
#include "run/replay.h"
#include "run/replay_report.h"
#include "trace/frame_record.h"

namespace {

using namespace whittle;
namespace fs = std::filesystem;
using Status = ReplayResult::Status;

struct Options {
    std::vector<fs::path> records;
    cli::BackendChoice backend;
    std::optional<fs::path> junit, xfail;
    std::optional<std::int64_t> shard_index, num_shards, to_event;
    cli::AccuracyChoice accuracy;
    std::string filter;
    std::int64_t jobs = 1;
    cli::LimitOptions limits;
    bool tap = false;
};

void declare(cli::Tool& tool, Options& options) {
    tool.positional("RECORD|DIR", options.records, "Records, or folders of them.");
    options.backend.declare(tool, "what each record was made with, and its options");
    options.accuracy.declare(tool, "How outputs are compared, instead of each record's own way.",
                             "the record's own, else by data type");
    tool.section("Which records");
    tool.option("--filter", options.filter, "RE", "Only records whose path this regular expression finds.");
    tool.option(
        "--to-event", options.to_event, "K",
        "Stop after the first K records of each DIR, in the order they were made: a record is one event, the run "
        "of one graph. Where only frames' records are named: after the first K events of each, inputs and calls.");
    tool.option("--shard-index", options.shard_index, "I",
                "With --num-shards: run part I (from 0). $GTEST_SHARD_INDEX is honoured.");
    tool.option("--num-shards", options.num_shards, "N",
                "Number of parts of equal size. $GTEST_TOTAL_SHARDS is honoured.");
    tool.option("--xfail", options.xfail, "FILE",
                "Known failures: on each line a pattern for a record's name or its path from any folder on, the reason "
                "behind '#'.");
    tool.section("How to run and report");
    tool.option("-j,--jobs", options.jobs, "N", "Records at a time. Default: 1.");
    options.limits.declare(tool, "a record");
    tool.option("--junit", options.junit, "FILE", "Write a JUnit XML report to FILE.");
    tool.flag("--tap", options.tap, "Report as TAP, the Test Anything Protocol, on stdout.");
    tool.example("replay traces --backend halide --junit results.xml", "every record of a trace under Halide, for CI");
    tool.example("replay traces --shard-index 0 --num-shards 4 -j 2", "a quarter of them, two at a time");
    tool.exit_one("a record fails, passes against --xfail, or none could be run.");
}

ReplayOptions replay_options(const Options& options) {
    ReplayOptions replay;
    replay.backend = options.backend.name;
    replay.backend_options = options.backend.options();
    if (options.accuracy.given()) replay.accuracy = options.accuracy.accuracy();
    replay.limits = options.limits.limits();
    const auto is_frame = [](const fs::path& file) { return !fs::is_directory(file) && is_frame_record(file); };
    if (options.to_event && std::all_of(options.records.begin(), options.records.end(), is_frame))
        replay.to_event = static_cast<std::size_t>(*options.to_event);
    replay.jobs = static_cast<int>(options.jobs);
    replay.find_backend = [](const std::string& name) { return find_backend(name); };
    return replay;
}

Shard shard_of(const Options& options) {
    if (options.shard_index.has_value() != options.num_shards.has_value())
        throw Error({options.shard_index ? "--shard-index" : "--num-shards", {}},
                    "found it alone, expected --shard-index and --num-shards together");
    if (options.shard_index)
        return {static_cast<std::size_t>(*options.shard_index), static_cast<std::size_t>(*options.num_shards)};
    return shard_from_environment().value_or(Shard{});
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
    return text;
}

std::string word(Status status) {
    return status == Status::passed    ? "PASS"
           : status == Status::failed  ? "FAIL"
           : status == Status::skipped ? "SKIP"
                                       : upper(std::string(name(status)));
}

void print_line(const ReplayResult& result, const cli::Tool& tool) {
    const bool good = result.status == Status::passed || result.status == Status::xfail;
    if (tool.shared().quiet && good) return;
    const char* color = good ? "\033[32m" : result.status == Status::skipped ? "\033[33m" : "\033[31m";
    const bool paint = tool.shared().color_out;
    std::printf("%s%-5s%s %s (%s, %.2f s)\n", paint ? color : "", word(result.status).c_str(), paint ? "\033[0m" : "",
                result.file.c_str(), result.backend.empty() ? "not run" : result.backend.c_str(), result.seconds);
    if (!result.stopped_after.empty()) std::printf("      stopped after %s\n", result.stopped_after.c_str());
    if (!result.known_reason.empty()) std::printf("      known: %s\n", result.known_reason.c_str());
    if (!result.first_difference.empty() && result.status != Status::error)  // errors follow on stderr
        std::printf("      %s: %s\n", result.outcome.c_str(), result.first_difference.c_str());
}

/// Makes a failing record small, judged as here; empty where there is nothing to minimize: what capture makes of a
/// frame and what the reference computes have no other backend to blame.
std::string next_command(const ReplayResult& result, const Options& options) {
    if (result.status != Status::failed || result.backend == "capture") return {};
    const bool wrong = result.outcome == "mismatch";
    if (wrong && result.backend == "eager") return {};
    std::vector<std::string> words = {"minify", result.file.string()};
    const auto add = [&](const char* option, const std::string& value) { words.insert(words.end(), {option, value}); };
    if (!options.backend.name.empty()) add("--backend", options.backend.name);
    for (const std::string& pair : options.backend.pairs) add("--backend-option", pair);
    if (wrong) {
        words.push_back("--accuracy" + (options.accuracy.mode ? "=" + *options.accuracy.mode : ""));
        for (const std::string& text : options.accuracy.rtol) add("--rtol", text);
        for (const std::string& text : options.accuracy.atol) add("--atol", text);
        for (const std::string& text : options.accuracy.ulp) add("--ulp", text);
    }
    return shell_quote(words);
}

nlohmann::json to_json(const std::vector<ReplayResult>& results, const std::function<int(Status)>& count) {
    nlohmann::json records = nlohmann::json::array();
    for (const ReplayResult& result : results) {
        records.push_back({{"file", result.file.string()},
                           {"name", result.name},
                           {"backend", result.backend},
                           {"status", name(result.status)},
                           {"outcome", result.outcome},
                           {"identical", result.identical},
                           {"first_difference", result.first_difference},
                           {"seconds", result.seconds}});
        if (!result.next.empty()) records.back()["next"] = result.next;
    }
    return {{"passed", count(Status::passed)},
            {"failed", count(Status::failed)},
            {"skipped", count(Status::skipped)},
            {"xfail", count(Status::xfail)},
            {"xpass", count(Status::xpass)},
            {"errors", count(Status::error)},
            {"records", records}};
}

/// Throws Error for a file that is something else, saying what, and what makes a record of it.
void check_is_record(const fs::path& file) {
    if (!fs::is_regular_file(file) || is_record(file) || is_frame_record(file)) return;
    const cli::ModelKind kind = cli::recognize(file);
    if (kind == cli::ModelKind::graph && format_of_json(file) != "whittle.graph") return;  // damaged: read and told
    throw Error({file.string(), {}},
                "found " + std::string(kind == cli::ModelKind::onnx ? "an " : "a ") + std::string(cli::name(kind)) +
                    ", expected a record or a folder of records",
                "make one: trace -o traces " + shell_quote({file.string()}) + ", then replay traces");
}

int run(const cli::Tool& tool, const Options& options) {
    if (options.tap && tool.shared().json) throw Error("found --tap and --json, expected one of them");
    cli::require_range("--jobs", options.jobs, 1, 256);
    for (const fs::path& record : options.records) check_is_record(record);
    if (options.junit) {
        std::vector<fs::path> read = options.records;
        if (options.xfail) read.push_back(*options.xfail);
        cli::check_output("--junit", *options.junit, read);
    }
    if (options.to_event) cli::require_range("--to-event", static_cast<double>(*options.to_event), 1, 1e9);
    const std::vector<fs::path> all = find_records(
        options.records, options.to_event ? std::optional(static_cast<std::size_t>(*options.to_event)) : std::nullopt);
    if (!options.filter.empty() && select_records(all, options.filter, {}).empty())
        throw Error({"--filter", {}}, "found none of " + std::to_string(all.size()) + " records to match '" +
                                          options.filter + "', expected at least one");
    const std::vector<fs::path> files = select_records(all, options.filter, shard_of(options));
    const KnownFailures known = options.xfail ? KnownFailures(*options.xfail) : KnownFailures();
    for (const std::string& pattern : known.unused(all))
        cli::warn(tool, options.xfail->string() + ": found no record for '" + pattern + "'");
    const bool lines = !options.tap && !tool.shared().json;
    cli::Progress progress("replay", files.size(), tool.shared().progress);
    std::size_t done = 0;
    std::vector<ReplayResult> results =
        replay_all(files, replay_options(options), known, [&](const ReplayResult& result) {
            progress.clear();
            if (lines) print_line(result, tool), std::fflush(stdout);
            progress.update(++done, result.file.filename().string());
        });
    progress.clear();
    const std::function<int(Status)> count = [&](Status status) {
        return static_cast<int>(
            std::count_if(results.begin(), results.end(), [&](const ReplayResult& r) { return r.status == status; }));
    };
    for (ReplayResult& result : results) result.next = next_command(result, options);
    if (options.junit) write_file(*options.junit, junit_xml(results, options.records));
    if (options.tap) std::cout << tap(results);
    if (tool.shared().json) cli::print_json(to_json(results, count));
    if (lines) {
        std::printf("%zu record%s: %d passed, %d failed", results.size(), results.size() == 1 ? "" : "s",
                    count(Status::passed), count(Status::failed));
        for (const Status status : {Status::skipped, Status::xfail, Status::xpass, Status::error})
            if (count(status)) std::printf(", %d %s", count(status), std::string(name(status)).c_str());
        std::printf("\n");
        const auto small = std::find_if(results.begin(), results.end(), [](const auto& r) { return !r.next.empty(); });
        if (small != results.end()) std::printf("next: %s\n", small->next.c_str());
    }
    for (const ReplayResult& result : results)
        if (result.status == Status::error) std::cerr << "replay: error: " << result.first_difference << "\n";
    if (count(Status::error)) return 2;
    const bool none_ran = !results.empty() && count(Status::skipped) == static_cast<int>(results.size());
    return count(Status::failed) || count(Status::xpass) || none_ran ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    cli::Tool tool(
        "replay", "RECORD|DIR…",
        "Runs records again and compares their outputs with the recorded ones, each in a process of its own.");
    declare(tool, options);
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}

// replay: run records again and compare their outputs with the recorded ones.
#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "cli/accuracy_choice.h"
#include "cli/backend_choice.h"
#include "cli/limits.h"
#include "cli/minify.h"
#include "cli/programs.h"
#include "cli/progress.h"
#include "cli/record_choice.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "replay/replay.h"
#include "replay/replay_report.h"

namespace {

using namespace whittle;
namespace fs = std::filesystem;
using Status = ReplayResult::Status;

struct Options {
    std::vector<fs::path> records;
    cli::BackendChoice backend;
    cli::AccuracyChoice accuracy;
    cli::RecordChoice which;
    std::optional<fs::path> junit, tap;  ///< tap "-": standard output
    ReplayOptions replay;
    cli::LimitOptions limits;
    bool require_judged = false;

    bool prints_tap() const { return tap == "-"; }
    std::optional<fs::path> tap_file() const { return prints_tap() ? std::nullopt : tap; }
};

void declare(cli::Tool& tool, Options& options) {
    tool.positional("RECORD|DIR", options.records, "Records, or folders with records.");
    options.backend.declare(tool, "the backend and backend options that each record was made with");
    options.accuracy.declare(tool, "How to compare outputs. Default: the mode in each record.",
                             cli::kRecordedTolerances);
    options.which.declare(tool);
    options.limits.declare(tool, "each record");
    tool.section("Execution and reports");
    tool.option("-j,--jobs", options.replay.jobs, "N", "Replay up to N records in parallel. Default: 1.");
    tool.flag("--require-judged", options.require_judged,
              "Exit with status 1 if a record could not be judged. A shard without records still passes.");
    tool.option("--junit", options.junit, "FILE", "Write a JUnit XML report to FILE.");
    tool.flag_or_file("--tap", options.tap,
                      "Write a report in the Test Anything Protocol (TAP) to FILE. Without FILE, print it in place of "
                      "the text.");
    tool.common("--backend --accuracy --filter --xfail --shard --jobs --timeout --junit --require-judged");
    tool.example("replay traces --backend halide --junit results.xml",
                 "replay every record of a trace on Halide, in CI");
    tool.example("replay traces --shard 1/4 -j 2", "replay a quarter of the records, two in parallel");
    tool.exit_one(
        "a record fails, or passes although --xfail lists it; no record could be judged; with --require-judged, one "
        "record could not be judged");
}

ReplayOptions replay_options(const Options& options) {
    ReplayOptions replay = options.replay;
    replay.backend = options.backend.name;
    replay.backend_options = options.backend.options();
    replay.accuracy = options.accuracy.chosen();
    replay.limits = options.limits.limits();
    replay.to_event = options.which.events(options.records);
    return replay;
}

/// Makes a failing record small, judged as here; empty where there is nothing to
/// minimize: what capture makes of a frame and what the reference computes have no other backend to blame.
std::string next_command(const ReplayResult& result, const Options& options) {
    // Of a capture fault the graph is another program: no backend fails on it.
    if (result.status != Status::failed || result.backend == "capture" || result.outcome == "capture_fault") return {};
    if (result.refused) return {};  // by every backend
    const bool wrong = result.outcome == "mismatch";
    if (wrong && result.backend == kReferenceBackend) return {};
    return cli::minify_command(result.file, wrong, options.backend, options.accuracy, {}, options.limits);
}

std::vector<ReplayResult> replay(const cli::Tool& tool, const Options& options, bool lines) {
    const KnownFailures known = options.which.known_failures();
    const std::vector<fs::path> files = options.which.records(tool, options.records, known);
    cli::Progress progress("replay", files.size(), tool.shared().progress, "records");
    std::size_t done = 0;
    std::vector<ReplayResult> results =
        replay_all(files, replay_options(options), known, [&](const ReplayResult& result) {
            progress.clear();
            const bool good = result.status == Status::passed || result.status == Status::xfail;
            if (lines && !(good && tool.shared().quiet))
                std::cout << to_text(result, tool.shared().color_out) << std::flush;
            progress.update(++done, result.file.filename().string());
        });
    for (ReplayResult& result : results) result.next = next_command(result, options);
    return results;
}

int run(const cli::Tool& tool, const Options& options) {
    if (options.prints_tap() && tool.shared().json)
        throw Error("--tap cannot be used with --json", "write the TAP report to a file: --tap=FILE");
    cli::require_range("--jobs", options.replay.jobs, 1, 256);
    options.which.check_usage(options.records);
    options.backend.check();
    // Who reads along may stop; the reports are made all the same.
    if (options.junit || options.tap_file()) std::signal(SIGPIPE, SIG_IGN);
    const bool lines = !options.prints_tap() && !tool.shared().json;
    const std::vector<ReplayResult> results = replay(tool, options, lines);
    if (options.junit) write_file(*options.junit, junit_xml(results, options.records));
    if (const auto file = options.tap_file()) write_file(*file, tap(results));
    if (options.prints_tap()) std::cout << tap(results);
    if (tool.shared().json) cli::print_json(to_json(results));
    if (lines) std::cout << summary_text(results);
    for (const ReplayResult& result : results)
        if (result.status == Status::error)
            std::cerr << tool.called() << ": error: " << result.first_difference << "\n";
    return exit_status(results, options.require_judged);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    cli::Tool tool(cli::program_named("replay"));
    declare(tool, options);
    tool.files([&] {
        cli::UsedFiles used{.read = options.records};
        used.reads(options.which.xfail);
        used.writes("--junit", options.junit);
        used.writes("--tap", options.tap_file());
        return used;
    });
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}

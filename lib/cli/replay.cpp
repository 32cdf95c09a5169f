#include "cli/replay.h"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/messages.h"
#include "cli/minify.h"
#include "cli/model.h"
#include "cli/progress.h"
#include "cli/subject.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "formats/json.h"
#include "replay/replay_report.h"
#include "repro/schedule/replayed.h"
#include "trace/frame_record.h"
#include "trace/record.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

using Status = ReplayResult::Status;

void check_is_record(const fs::path& file) {
    if (!fs::is_regular_file(file) || is_record(file) || is_frame_record(file) ||
        format_of_json(file) == kHalideRunsFormat)
        return;
    const ModelKind kind = recognize(file);
    if (kind == ModelKind::graph && format_of_json(file) != "whittle.graph") return;  // damaged: read and told
    throw Error({file.string(), {}},
                "found " + std::string(kind == ModelKind::onnx ? "an " : "a ") + std::string(name(kind)) +
                    ", expected a record",
                "record the model with " + shell_quote(program_words("trace", {"-o", "traces", file.string()})) +
                    ", then run " + program_called("replay") + " traces");
}

/// One of --report.
struct ReportFile {
    std::string format;
    fs::path file;  ///< empty ("tap", "tap=-"): it stands on stdout, in place of the lines
};

std::vector<ReportFile> report_files(const ReplayChoice& options) {
    std::vector<ReportFile> files;
    for (const std::string& word : options.reports) {
        const std::size_t equals = std::min(word.find('='), word.size());
        const std::string file = word.substr(std::min(equals + 1, word.size()));
        files.push_back({word.substr(0, equals), file == "-" ? "" : file});
    }
    return files;
}

/// Throws Error for another format; of a file alone, with the format that its name says.
void check_report(const std::string& format) {
    const std::vector<std::string> formats = {"junit", "tap"};
    const std::string extension = fs::path(format).extension().string();
    if (extension == ".xml" || extension == ".tap")
        throw invalid_value(
            format, "--report", "expected FORMAT=FILE, with one of the formats " + join(formats),
            "to write this file: --report " + std::string(extension == ".xml" ? "junit" : "tap") + "=" + format);
    check_choice("--report", format, formats);
}

/// What is printed: "lines", "json", or the format of a report without a file. Throws Error for two of them.
std::string printed_format(const Tool& tool, const ReplayChoice& options) {
    std::string printed = tool.shared().json ? "json" : "lines";
    for (const auto& [format, file] : report_files(options)) {
        check_report(format);
        if (!file.empty()) continue;
        if (printed != "lines")
            throw Error("--report " + format + " cannot be used with " +
                            (printed == "json" ? "--json" : "--report " + printed) + ": both print to stdout",
                        "to write a file, give --report " + format + "=FILE");
        printed = format;
    }
    return printed;
}

/// Makes a failing record small, judged as here; empty where there is nothing to minimize: what capture makes of a
/// frame and what the reference computes have no other backend to blame.
std::string next_command(const ReplayResult& result, const ReplayChoice& options) {
    // Of a capture fault the graph is another program: no backend fails on it.
    if (result.status != Status::failed || result.backend == "capture" || result.outcome == "capture_fault") return {};
    if (fs::is_regular_file(result.file) && format_of_json(result.file) == kHalideRunsFormat)
        return {};                  // minify takes the program
    if (result.refused) return {};  // by every backend
    const bool wrong = result.outcome == "mismatch";
    if (wrong && result.backend == kReferenceBackend) return {};
    if (wrong && result.only_file) return {};  // parts of a file are judged by how they end
    std::string command = minify_command(result.file, wrong, options);
    if (result.only_file) command += " " + shell_quote({"-o", stem_of(result.file, {}) + ".min.onnx"});
    return result.outcome == "slow" ? command + " " + shell_quote(options.pace.words()) : command;
}

/// What there is to run in a folder without records.
std::vector<fs::path> models_of(const fs::path& folder) {
    if (fs::exists(folder / "index.json")) return {};  // a trace should have records
    if (!holds_models(folder)) return {folder};
    try {
        return models_in(folder);
    } catch (const Error&) {  // there is nothing of either kind
        return {};
    }
}

/// `lines`: prints one for each record as it ends.
std::vector<ReplayResult> results_of(const Tool& tool, const ReplayChoice& options, bool lines) {
    const KnownFailures known = options.xfail ? KnownFailures(*options.xfail) : KnownFailures();
    const std::vector<fs::path> files = options.records(tool, known);
    ReplayOptions how{.suspect = options.suspect({}), .to_event = options.events(), .jobs = options.jobs};
    how.suspect.tier = Tier::computes;
    how.suspect.slower = options.pace.pace(how.suspect.spec, how.suspect.options);
    for (const fs::path& file : files)
        if (is_plain_model(file)) how.models.insert(file);
    how.load = [](const fs::path& file) { return load_for(file, {}); };
    how.run_pipeline = [&](const fs::path& file) {
        return repro::replay_pipeline(file, {how.suspect.limits, how.suspect.compared_by()});
    };
    Progress progress("replay", files.size(), tool.shared().progress, "records");
    std::size_t done = 0;
    std::vector<ReplayResult> results = replay_all(files, how, known, [&](const ReplayResult& result) {
        progress.clear();
        const bool good = result.status == Status::passed || result.status == Status::xfail;
        if (lines && !(good && tool.shared().quiet))
            std::cout << to_text(result, tool.shared().color_out) << std::flush;
        progress.update(++done, result.file.filename().string());
    });
    for (ReplayResult& result : results) result.next = next_command(result, options);
    return results;
}

/// Each error once: that of a backend that cannot start is the error of every record.
void print_errors(const Tool& tool, const std::vector<ReplayResult>& results) {
    std::vector<std::pair<std::string, std::size_t>> errors;
    for (const ReplayResult& result : results) {
        if (result.status != Status::error) continue;
        const auto known = std::ranges::find(errors, result.first_difference, &decltype(errors)::value_type::first);
        if (known == errors.end())
            errors.emplace_back(result.first_difference, 1);
        else
            ++known->second;
    }
    for (const auto& [what, records] : errors)
        std::cerr << tool.called() << ": error: " << what << (records > 1 ? " (" + plural(records, "record") + ")" : "")
                  << "\n";
}

/// Without --backend, records run on what they were made with: where that is the reference, they test no compiler, and
/// pass as long as the reference stays the same.
bool tests_no_compiler(const ReplayChoice& options, const std::vector<ReplayResult>& results) {
    const auto on = [&](std::string_view backend) {
        return std::ranges::count(results, backend, &ReplayResult::backend);
    };
    const auto reference = on(kReferenceBackend);
    return options.backend.name.empty() && reference > 0 && reference + on("capture") == std::ssize(results);
}

}  // namespace

Shard shard_of(const std::string& shard) {
    if (shard.empty()) return shard_from_environment().value_or(Shard{});
    const char* const why = "expected I/N with I from 1 to N";
    std::int64_t index = 0, count = 0;
    const char* const end = shard.data() + shard.size();
    const auto [slash, wrong] = std::from_chars(shard.data(), end, index);
    if (wrong != std::errc() || slash == end || *slash != '/' || std::from_chars(slash + 1, end, count).ptr != end)
        throw invalid_value(shard, "--shard", why);
    if (index < 1 || index > count) throw invalid_value(shard, "--shard", why);
    return {static_cast<std::size_t>(index - 1), static_cast<std::size_t>(count)};
}

void ReplayChoice::declare(Tool& tool) {
    tool.positional("RECORD|DIR", arguments,
                    "Records, or folders with records. In a folder without records, replay runs the models, and "
                    "compares the outputs with those in test_data_set_0; if there is no such folder, with those of the "
                    "reference. For a trace of a Halide program, replay writes each recorded pipeline as a C++ "
                    "program, builds it and runs it; see share/doc/how-to/halide-program.md.");
    backend.declare(tool, "the backend and the backend options stored in each record; for models, halide");
    accuracy.declare(tool,
                     "How to compare outputs. Default: the mode stored in each record, or close if there is no record.",
                     kRecordedTolerances);
    pace.declare(tool, "Also treat slowness as a failure: a record");
    tool.section("Record selection");
    tool.option("--filter", filter, "RE", "Replay only the records whose path matches the regular expression RE.");
    tool.option("--to-event", to_event, "K",
                "Replay only the first K records of each DIR. In a record of a failed capture: replay only the first K "
                "operations.");
    tool.option("--shard", shard, "I/N",
                "Split the records into N shards, and replay only shard I (1 to N). A shard without records passes. "
                "Default: if $GTEST_SHARD_INDEX (0 to N-1) and $GTEST_TOTAL_SHARDS (N) are set, the shard that these "
                "variables select; otherwise all records.");
    tool.option("--xfail", xfail, "FILE",
                "File of known failures. Each line has a pattern and, after '#', a reason. A record is a known failure "
                "if a pattern matches its name, its path, the end of its path, or its name in a JUnit or TAP report. "
                "In a pattern, * matches anything.");
    limits.declare(tool, "each record");
    tool.section("Execution and reports");
    tool.option("-j,--jobs", jobs, "N", "Replay up to N records in parallel. Default: 1.");
    tool.flag("--require-judged", require_judged,
              "Exit with status 1 also if a record could not be judged. A shard without records still passes.");
    tool.option("--report", reports, "FORMAT[=FILE]",
                "Write a report to FILE in the format junit (JUnit XML) or tap (Test Anything Protocol). Without FILE: "
                "print the report to stdout, in place of the usual output. May be repeated.");
    tool.offers([] { return std::vector<std::string>{"junit=", "tap", "tap="}; });
    tool.common("--backend --accuracy --filter --xfail --shard --jobs --timeout --report --require-judged");
    tool.example("replay traces --backend halide --report junit=results.xml",
                 "replay every record of a trace on Halide, in CI");
    tool.example("replay traces --shard 1/4 -j 2", "replay a quarter of the records, two in parallel");
    tool.exit_one(
        "a record fails; a record that --xfail lists passes; no record could be judged; with --require-judged: a "
        "record could not be judged");
    tool.files([this] {
        UsedFiles used{.read = arguments};
        used.reads(xfail);
        for (const ReportFile& report : report_files(*this)) used.writes("--report", report.file);
        return used;
    });
}

void ReplayChoice::check_usage() const {
    require_range("--jobs", jobs, 1, 256);
    for (const fs::path& argument : arguments) check_is_record(argument);
    if (to_event) require_range("--to-event", static_cast<double>(*to_event), 1, 1e9);
    shard_of(shard);
    backend.check();
    pace.check(backend, jobs <= 1);
    require_with(!pace.pairs.empty() && pace.than.empty(), "--than-option", !backend.name.empty(),
                 "--than or --backend");
}

std::vector<fs::path> ReplayChoice::records(const Tool& tool, const KnownFailures& known) const {
    const std::vector<fs::path> all = find_records(
        arguments, to_event ? std::optional(static_cast<std::size_t>(*to_event)) : std::nullopt, models_of);
    if (!filter.empty() && select_records(all, filter, {}).empty())
        throw invalid_value(filter, "--filter",
                            "the regular expression matches none of " + plural(all.size(), "record"));
    std::vector<fs::path> selected = select_records(all, filter, shard_of(shard));
    for (const std::string& pattern : known.unused(all))
        warn(tool, xfail->string() + ": no record matches '" + pattern + "'");
    return selected;
}

std::optional<std::size_t> ReplayChoice::events() const {
    const auto is_frame = [](const fs::path& file) { return !fs::is_directory(file) && is_frame_record(file); };
    if (!to_event || !std::ranges::all_of(arguments, is_frame)) return std::nullopt;
    return static_cast<std::size_t>(*to_event);
}

int replay(const Tool& tool, const ReplayChoice& options) {
    const std::string printed = printed_format(tool, options);
    options.check_usage();
    const std::vector<ReportFile> reports = report_files(options);
    const auto is_file = [](const ReportFile& report) { return !report.file.empty(); };
    // Who reads along may stop; the files are written all the same.
    if (std::ranges::any_of(reports, is_file)) std::signal(SIGPIPE, SIG_IGN);
    const std::vector<ReplayResult> results = results_of(tool, options, printed == "lines");
    for (const auto& [format, file] : reports) {
        const std::string text = format == "tap" ? tap(results) : junit_xml(results, options.arguments);
        if (file.empty())
            std::cout << text;
        else
            write_file(file, text);
    }
    if (printed == "json") print_json(to_json(results));
    if (printed == "lines") std::cout << summary_text(results);
    print_errors(tool, results);
    const int status = exit_status(results, options.require_judged);
    if (status == 0 && tests_no_compiler(options, results))
        note(tool, "all records ran on " + std::string(kReferenceBackend) +
                       ", the reference; to test a compiler, add --backend, for example --backend " +
                       std::string(kDefaultSuspect));
    return status;
}

}  // namespace whittle::cli

#include "cli/halide_program.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/minify.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "reduce/schedule/blame.h"
#include "reduce/schedule/minimize.h"
#include "reduce/schedule/slow.h"
#include "repro/schedule/schedule_repro.h"

namespace whittle::cli {
namespace fs = std::filesystem;
using Outcome = reduce::MinimizedSchedule::Outcome;

namespace {

/// What both programs ask. The inputs of the pipeline that fails lie beside the result: "blur.min.inputs".
reduce::ScheduleRequest schedule_request(const fs::path& program, const std::vector<std::string>& arguments,
                                         const RunOptions& options, const fs::path& output) {
    const Limits limits = options.limits.limits();
    return {.program = program,
            .arguments = arguments,
            .accuracy = options.accuracy.chosen().value_or(Accuracy()),
            .timeout = limits.timeout,
            .memory = limits.memory,
            .inputs = fs::path(output).replace_extension("inputs")};
}

/// Both live until the search ends.
void show(Progress& progress, reduce::ScheduleRequest& request) {
    request.progress = [&progress, &request](std::size_t queries, const std::string& note) {
        progress.update(queries, note, request.end);
    };
}

// ---- minify

/// Options that speak of graphs and candidates' files.
void refuse_others(const MinifyOptions& options) {
    const auto refuse = [&](bool given, const char* option) {
        if (given)
            throw Error({options.model.string(), {}},
                        "found a program, expected a model: " + std::string(option) + " is for models only");
    };
    refuse(!options.backend.name.empty(), "--backend");
    refuse(options.inputs.given(), "--input");
    refuse(options.after != "capture", "--after");
    refuse(!options.launcher.empty(), "--launcher");
    refuse(!options.delta_passes.empty(), "--delta-passes");
    refuse(!options.which.fail_pattern.empty(), "--fail-regex");
    refuse(options.which.external_data != "auto", "--external-data");
    refuse(!options.pace.than.empty(), "--than");
    refuse(!options.pace.pairs.empty(), "--than-option");
    if (options.pace.factor && options.search.resume)
        throw Error("--resume cannot be used with --slower for programs: times of an earlier run do not count");
}

reduce::ScheduleRequest request_of(const MinifyOptions& options) {
    constexpr std::int64_t kLeastRuns = 4;
    reduce::ScheduleRequest request = schedule_request(options.model, options.arguments, options, options.output);
    if (!options.test.empty()) request.test = script_path(options.test);
    request.check = options.check;
    request.fail_codes = options.which.fail_codes;
    request.ignore_codes = options.which.ignore_codes;
    request.mode = reduce::mode_from_name(options.search.mode);
    request.runs = static_cast<std::size_t>(std::max(kLeastRuns, options.search.repeat));
    request.jobs = static_cast<std::size_t>(options.search.jobs);
    request.journal = options.output;
    request.journal += ".journal";
    request.resume = options.search.resume;
    if (options.search.step_limit) request.most_queries = static_cast<std::size_t>(*options.search.step_limit);
    if (options.time_limit) request.end = std::chrono::steady_clock::now() + *options.time_limit;
    return request;
}

/// Where the failure was gone when it was looked for again: the option that allows for a rare one.
std::string rare_text(const reduce::MinimizedSchedule& done) {
    constexpr std::size_t kMoreOften = 5;
    const bool gone =
        done.failed > 0 && (done.outcome == Outcome::not_failing ||
                            (done.outcome == Outcome::minimized && done.culprits.finished && !done.confirmed));
    if (!gone) return {};
    return "hint:       if the failure is rare, run the program more often, for example with --repeat " +
           std::to_string(done.runs * kMoreOften) + "\n";
}

/// What was written, and the command that goes on.
std::string written_text(const Tool& tool, const MinifyOptions& options, const reduce::MinimizedSchedule& done) {
    constexpr std::size_t kLabel = 12;
    std::string text;
    if (done.outcome == Outcome::minimized) text += "written:    " + options.output.string() + "\n";
    if (!done.inputs.empty()) text += std::string(kLabel, ' ') + done.inputs.string() + "\n";
    if (!done.culprits.finished) return text + next_line(resume_command(tool, options.search), kLabel);
    if (!done.pipeline || text.empty()) return text;
    return text + next_line(shell_quote(program_words("repro", {options.output.string()})), kLabel);
}

/// Throws Error for a program without Halide.
void expect_halide(const halide_program::Program& program, const MinifyOptions& options) {
    if (program.found()) return;
    std::vector<std::string> words = {"-o", "DIR", options.model.string()};
    append(words, options.arguments);
    throw Error({options.model.string(), {}},
                program.notes.empty() ? "found a program that does not use Halide, expected a model, a trace or "
                                        "a program that uses Halide"
                                      : program.notes[0],
                shell_quote(program_words("trace", words)) +
                    " captures a trace; pass this trace (DIR) in place of the program");
}

/// --slower: the directives that make the program slow.
int find_slow(const Tool& tool, const MinifyOptions& options, reduce::ScheduleRequest request) {
    reduce::SlowDirectives done;
    {
        Progress progress("minify", 0, tool.shared().progress, "runs");
        show(progress, request);
        done = slow_directives(request, *options.pace.factor);
    }
    expect_halide(done.program, options);
    const nlohmann::json json = to_json(done);
    if (!done.slow.empty()) write_file(options.output, json.dump(2) + "\n");
    if (tool.shared().json)
        print_json(json);
    else
        std::cout << to_text(done) << (done.slow.empty() ? "" : "written:    " + options.output.string() + "\n");
    return done.slow.empty() ? 1 : 0;
}

}  // namespace

int minify_program(const Tool& tool, const MinifyOptions& options) {
    refuse_others(options);
    reduce::ScheduleRequest request = request_of(options);
    tell_of_earlier(tool, options);
    if (options.pace.factor) return find_slow(tool, options, std::move(request));
    reduce::MinimizedSchedule done;
    {
        Progress progress("minify", 0, tool.shared().progress, "queries");
        show(progress, request);
        done = reduce::minimize_schedule(request);
    }
    expect_halide(done.program, options);
    const nlohmann::json json = to_json(done);
    const bool minimized = done.outcome == Outcome::minimized;
    if (minimized) write_file(options.output, json.dump(2) + "\n");
    if (tool.shared().json)
        print_json(json);
    else
        std::cout << to_text(done) << rare_text(done) << written_text(tool, options, done);
    return minimized ? 0 : 1;
}

// ---- explain diagnose

/// Writes what minify would write, and the repro of it.
static void follow(const reduce::MinimizedSchedule& done, const fs::path& output,
                   const std::optional<std::chrono::seconds>& time_limit, std::ostream* report, nlohmann::json& json) {
    write_file(output, to_json(done).dump(2) + "\n");
    repro::Options options{.output = fs::path(output).replace_extension(".cpp"), .graph = output};
    options.time_limit = time_limit;
    const repro::MinimizedProgram program = repro::load_minimized_program(output).value();
    const repro::ScheduleRepro written = write_schedule_repro(program, options);
    json["repro"] = to_json(written, options);
    if (report) *report << "written:    " << output.string() << "\n\n" << to_text(written, program, options);
}

std::optional<int> diagnose_program(const Tool& tool, const CulpritOptions& options) {
    const std::vector<std::string>& arguments = options.subject.program.arguments;
    const fs::path output = stem_of(options.model, arguments) + ".min.json";
    reduce::ScheduleRequest request = schedule_request(options.model, arguments, options.subject, output);
    if (options.time_limit) request.end = std::chrono::steady_clock::now() + *options.time_limit;
    Progress progress("explain", 0, tool.shared().progress, "runs");
    show(progress, request);
    const reduce::MinimizedSchedule done = reduce::minimize_schedule(request);
    progress.clear();
    if (!done.program.found()) return std::nullopt;
    ReportSink sink(tool, options.model, options.report.output);
    std::ostream* const report = tool.shared().json ? nullptr : &sink.out();
    nlohmann::json json = to_json(done);
    if (report) *report << to_text(done) << std::flush;
    const bool minimized = done.outcome == Outcome::minimized, fails = done.verdict() == Verdict::fails;
    if (fails) {
        const reduce::ScheduleBlame blame = blame_schedule(request, done);
        progress.clear();
        json["blame"] = to_json(blame);
        if (report) *report << to_text(blame) << std::flush;
        if (!blame.pass.module.empty()) {
            const fs::path module = fs::path(output).replace_extension(".ll");
            write_file(module, blame.pass.module);
            json["blame"]["module"] = module.string();
            if (report) *report << module_text(blame, module) << std::flush;
        }
    }
    if (minimized) follow(done, output, options.time_limit, report, json);
    if (!report) print_json({{"halide", json}});
    sink.close();
    return fails ? 1 : 0;
}

}  // namespace whittle::cli

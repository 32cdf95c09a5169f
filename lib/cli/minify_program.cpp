#include "cli/minify_program.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/suggest.h"
#include "base/words.h"
#include "cli/minify.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "reduce/schedule/minimize.h"

namespace whittle::cli {

namespace {

constexpr std::int64_t kMostJobs = 1024;

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
}

reduce::ScheduleRequest schedule_request(const MinifyOptions& options) {
    const Limits limits = options.limits.limits();
    constexpr std::int64_t kLeastRuns = 4;
    reduce::ScheduleRequest request{
        .program = options.model,
        .arguments = options.arguments,
        .test = options.test.empty() ? options.test : std::filesystem::path(script_path(options.test)),
        .check = options.check,
        .fail_codes = options.which.fail_codes,
        .ignore_codes = options.which.ignore_codes,
        .accuracy = options.accuracy.chosen().value_or(Accuracy()),
        .timeout = limits.timeout,
        .memory = limits.memory,
        .mode = reduce::mode_from_name(options.search.mode),
        .runs = static_cast<std::size_t>(std::max(kLeastRuns, options.search.repeat)),
        .jobs = static_cast<std::size_t>(std::clamp<std::int64_t>(options.search.jobs, 1, kMostJobs))};
    request.inputs = inputs_folder(options.output);
    request.journal = options.output;
    request.journal += ".journal";
    request.resume = options.search.resume;
    if (options.search.step_limit) request.most_queries = static_cast<std::size_t>(*options.search.step_limit);
    if (options.time_limit) request.end = std::chrono::steady_clock::now() + *options.time_limit;
    return request;
}

/// What was written, and the command that goes on.
std::string written_text(const Tool& tool, const MinifyOptions& options, const reduce::MinimizedSchedule& done) {
    constexpr std::size_t kLabel = 12;
    std::string text;
    if (done.outcome == reduce::MinimizedSchedule::Outcome::minimized)
        text += "written:    " + options.output.string() + "\n";
    if (!done.inputs.empty()) text += std::string(kLabel, ' ') + done.inputs.string() + "\n";
    if (!done.finished) return text + next_line(resume_command(tool, options.search), kLabel);
    if (!done.pipeline || text.empty()) return text;
    return text + next_line(shell_quote(program_words("repro", {options.output.string()})), kLabel);
}

}  // namespace

std::filesystem::path inputs_folder(std::filesystem::path output) { return output.replace_extension("inputs"); }

int minify_program(const Tool& tool, const MinifyOptions& options) {
    refuse_others(options);
    reduce::ScheduleRequest request = schedule_request(options);
    reduce::MinimizedSchedule done;
    {
        Progress progress("minify", 0, tool.shared().progress, "queries");
        request.progress = [&](std::size_t queries, std::size_t smallest) {
            progress.update(queries, "smallest: " + plural(smallest, "directive"), request.end);
        };
        done = reduce::minimize_schedule(request);
    }
    if (!done.program.found()) {
        std::vector<std::string> words = {"-o", "DIR", options.model.string()};
        words.insert(words.end(), options.arguments.begin(), options.arguments.end());
        throw Error({options.model.string(), {}},
                    done.program.notes.empty()
                        ? "found a program that does not use Halide, expected a model, a trace or "
                          "a program that uses Halide"
                        : done.program.notes[0],
                    shell_quote(program_words("trace", words)) + " captures a program as a trace; then pass DIR");
    }
    const nlohmann::json json = to_json(done);
    using Outcome = reduce::MinimizedSchedule::Outcome;
    const bool minimized = done.outcome == Outcome::minimized;
    if (minimized) write_file(options.output, json.dump(2) + "\n");
    if (tool.shared().json)
        print_json(json);
    else
        std::cout << to_text(done) << written_text(tool, options, done);
    return minimized ? 0 : 1;
}

}  // namespace whittle::cli

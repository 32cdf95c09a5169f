#include "cli/minify.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/command_words.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/environment.h"
#include "cli/halide_program.h"
#include "cli/messages.h"
#include "cli/model.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "ops/core/opaque.h"
#include "reduce/report.h"
#include "repro/repro.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// Prints what it is told; it refers to all that it is made of.
repro::Observer printing(const Tool& tool, Progress& progress, const reduce::Request& request,
                         const std::vector<LoadedFrame>& frames, std::ostream& report) {
    repro::Observer observer;
    observer.progress = [&](const reduce::Progress& at) {
        progress.update(at.queries, "smallest: " + plural(at.calls, "op"), request.how.end);
    };
    observer.warn = [&](const std::string& text) {
        progress.clear();
        warn(tool, text);
    };
    observer.ended = [&](const reduce::Minimized& done, const reduce::Request& own) {
        progress.clear();
        if (!tool.shared().json) report << to_text(done, own) << std::flush;
    };
    if (tool.shared().json) return observer;
    observer.checked = [&](const reduce::Findings& found) { report << to_text(found, request, frames); };
    observer.begins = [&](const reduce::Findings::Failing& failing) { report << "\n" << to_text(failing) << "\n"; };
    observer.written = [&](const repro::MinimizedRepro& repro, const Failure& failure) {
        report << "\n"
               << (repro.report ? to_text(*repro.report, failure, repro.options) : "no repro:   " + repro.none + "\n")
               << std::flush;
    };
    return observer;
}

}  // namespace

/// The option comes first, for --check takes all that follows it. Without a limit of no steps at all, with which it
/// would never end.
std::string resume_command(const Tool& tool, const reduce::Strategy& search) {
    const std::vector<std::string>& typed = tool.command_line();
    const auto behind =
        typed.begin() + static_cast<std::ptrdiff_t>(tool.own_words());  // the words of --check's command
    std::vector<std::string> words(typed.begin(), behind);
    std::erase(words, "--resume");
    const auto limit =
        std::ranges::find_if(words, [](const std::string& word) { return word.starts_with("--step-limit"); });
    if (search.step_limit == 0 && limit != words.end()) words.erase(limit, limit + (*limit == "--step-limit" ? 2 : 1));
    const auto name = static_cast<std::ptrdiff_t>(program_words(tool.name()).size());
    words.insert(words.begin() + name, "--resume");
    words.insert(words.end(), behind, typed.end());
    return shell_quote(words);
}

std::string passes_text() {  // "calls" is no reduction, but the deletion that comes first
    std::string text =
        fmt::format("{:<10} Delete calls; the results of a deleted call become inputs\n", reduce::kDeletion);
    for (const reduce::Reduction& reduction : reduce::reductions())
        text += fmt::format("{:<10} {}\n", reduction.name, reduction.doc);
    return text;
}

void tell_of_earlier(const Tool& tool, const MinifyOptions& options) {
    std::error_code ignored;
    if (options.unnamed_output && !options.search.resume && fs::exists(options.output, ignored))
        note(tool,
             options.output.string() +
                 " is the result of an earlier search, and a new result replaces this file; to keep the file, add "
                 "-o FILE");
}

int minify(const Tool& tool, const MinifyOptions& options) {
    options.check_usage();
    const bool folder = holds_models(options.model);
    if (!folder && recognize(options.model) == ModelKind::program) return minify_program(tool, options);
    if (!options.arguments.empty())
        throw Error({options.model.string(), {}}, "found a model, which takes no arguments after --");
    if (folder) return minify_models(tool, options);
    const std::vector<LoadedFrame> frames = frames_of(options);
    reduce::Request request = request_of(options, frames[0]);
    request.go_on = resume_command(tool, options.search);
    tell_of_earlier(tool, options);
    Progress progress("minify", 0, tool.shared().progress, "queries");
    const reduce::MinimizedModel done =
        reduce::minimize(frames, request, printing(tool, progress, request, frames, std::cout));
    if (tool.shared().json) print_json(to_json(done));
    return done.good() ? 0 : 1;
}

FollowUp of_file(bool minify, MinifyOptions asked) {
    return {.minify = minify,
            .next = minify_command(asked.model, true, asked) + " " + shell_quote({"-o", asked.output.string()}),
            .asked = std::move(asked)};
}

repro::Followed follow_up(const Tool& tool, const FollowUp& wanted, std::ostream& report, nlohmann::json& json) {
    if (!wanted.minify) {
        report << next_line(wanted.next.empty() ? tool.command_with("--minify") : wanted.next);
        return {};
    }
    if (!tool.shared().json) report << '\n';
    MinifyOptions options = wanted.asked;
    std::vector<LoadedFrame> frames = frames_of(options);
    const bool opaque = std::ranges::any_of(
        frames, [](const LoadedFrame& frame) { return !opaque_ops(frame.graph).empty(); });  // nothing to compare with
    reduce::Request request = request_of(options, frames[0]);
    if (Suspect* const suspect = std::get_if<Suspect>(&request.judge); suspect && !opaque)
        suspect->tier = Tier::computes;
    for (LoadedFrame& frame : frames)
        if (wanted.scratch) frame.file = frame.file.stem();
    const auto resume = [&] {
        RunOptions again = options;
        if (!again.accuracy.given() && !opaque) again.accuracy.default_to(accuracy_for(frames[0], {}));
        return minify_command(options.model, true, again) + " --resume " + shell_quote({"-o", options.output.string()});
    };
    request.go_on = wanted.scratch ? shell_quote(tool.command_line()) : resume();
    request.repro_follows = true;
    Progress progress("minify", 0, tool.shared().progress, "queries");
    const repro::Observer observer = printing(tool, progress, request, frames, report);
    repro::Followed followed = repro::follow(frames, request, environment(), observer);
    json.update(to_json(followed));
    return followed;
}

std::string minify_command(const fs::path& model, bool wrong, const RunOptions& options) {
    std::vector<std::string> words = options.words(wrong);
    words.insert(words.begin(), model.string());
    return shell_quote(program_words("minify", std::move(words)));
}

}  // namespace whittle::cli

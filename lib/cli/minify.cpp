#include "cli/minify.h"

#include <algorithm>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/subprocess.h"
#include "cli/environment.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "debug/check.h"
#include "debug/write_repro.h"

namespace whittle::cli {
namespace {

/// One frame; its report is printed.
void minimize(const Tool& tool, const debug::Search& search, const LoadedFrame& frame, std::ostream& report,
              Minified& all) {
    Progress progress("minify", 0, tool.shared().progress);
    const debug::Observer observer{.progress =
                                       [&](const reduce::Progress& at) {
                                           progress.update(at.queries,
                                                           "smallest: " + std::to_string(at.calls) + " ops");
                                       },
                                   .warn =
                                       [&](const std::string& text) {
                                           progress.clear();
                                           warn(tool, text);
                                       }};
    const debug::Minimized done = debug::minimize(frame, search, observer);
    progress.clear();
    if (tool.shared().json)
        all.json.push_back(debug::to_json(done));
    else
        report << debug::to_text(done, search) << std::flush;
    all.good = all.good && done.failed();
    if (!done.failed()) return;
    all.graphs.push_back(done.result.graph);
    all.files.push_back(done.written.output);
}

/// What is said before the failures of several graphs are minimized.
void tell(const debug::Findings& found, const debug::Search& search, std::size_t frames, std::ostream& report) {
    const std::size_t failures = found.failing.size();
    report << frames << " graphs, " << failures << " distinct failure" << (failures == 1 ? "" : "s") << "\n";
    for (const auto& [file, what] : found.declined) report << file.string() << ": " << what << "\n";
    if (failures == 0 && found.declined.empty())
        report << debug::not_failing_text(search, debug::judging(search).oracle->name(), "never fails") << "\n";
}

/// The command that was typed with --minify.
std::string with_minify(std::vector<std::string> command_line) {
    command_line.insert(std::find(command_line.begin(), command_line.end(), "--"), "--minify");
    return shell_quote(command_line);
}

/// Of the repro of a result: beside it, with the smallest data that shows the failure.
repro::Options repro_options(const std::filesystem::path& result) {
    repro::Options options;
    options.output = result;
    options.output.replace_extension(".cpp");
    options.command = shell_quote({"repro", result.string(), "-o", options.output.string()});
    options.data.reset();
    options.environment = environment();
    return options;
}

}  // namespace

Minified minify(const Tool& tool, const debug::Search& search, const std::vector<LoadedFrame>& frames,
                std::ostream& report) {
    Minified all{.good = true, .json = nlohmann::json::array()};
    if (frames.size() == 1) {
        minimize(tool, search, frames[0], report, all);
        if (tool.shared().json) all.json = nlohmann::json(all.json[0]);
        return all;
    }
    const debug::Findings found = debug::check(frames, search);
    all.good = !found.failing.empty();
    if (!tool.shared().json) tell(found, search, frames.size(), report);
    for (std::size_t i = 0; i < found.failing.size(); ++i) {
        debug::Search own = search;
        if (found.failing.size() > 1) own.output = debug::numbered_result(search.output, i + 1);
        if (!tool.shared().json) report << "\n" << found.failing[i]->file.string() << "\n";
        minimize(tool, own, *found.failing[i], report, all);
        throw_if_interrupted();
    }
    nlohmann::json unsupported = nlohmann::json::object();
    for (const auto& [file, what] : found.declined) unsupported[file.string()] = what;
    all.json = {{"graphs", frames.size()}, {"results", all.json}, {"unsupported", unsupported}};
    return all;
}

void follow_up(const Tool& tool, const FollowUp& wanted, std::ostream& report, nlohmann::json& json) {
    if (!wanted.minify) {
        report << "next: " << with_minify(tool.command_line()) << "\n";
        return;
    }
    if (!tool.shared().json) report << '\n';
    JudgeOptions judge{.backend = wanted.backend, .accuracy = wanted.accuracy};
    if (!judge.accuracy.mode) judge.accuracy.mode = name(Accuracy::Mode::close);
    const SearchOptions how;
    const std::vector<LoadedFrame> frames = frames_of(wanted.model, how, wanted.inputs);
    if (frames.empty()) throw Error({wanted.model.string(), {}}, "found no graph, expected one");
    const debug::Search search = search_of(wanted.model, wanted.output, judge, how, wanted.inputs, frames[0]);
    const Minified minified = minify(tool, search, frames, report);
    json["minify"] = minified.json;
    json["repros"] = nlohmann::json::array();
    bool verified = minified.good;
    for (std::size_t i = 0; i < minified.graphs.size() && minified.good; ++i) {
        const Graph& graph = minified.graphs[i];
        const repro::Options options = repro_options(minified.files[i]);
        const repro::Report written = debug::write_repro(graph, minified.files[i], options);
        if (!tool.shared().json) report << "\n" << debug::to_text(written, *graph.failure, options) << std::flush;
        json["repros"].push_back(debug::to_json(written));
        verified = verified && written.verified;
    }
    json["verified"] = verified;
}

}  // namespace whittle::cli

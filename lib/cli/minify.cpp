#include "cli/minify.h"

#include <algorithm>

#include "backends/registry.h"
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

FollowedUp follow_up(const Tool& tool, const FollowUp& wanted, std::ostream& report) {
    JudgeOptions judge{.backend = wanted.backend, .accuracy = wanted.accuracy};
    if (!judge.accuracy.mode) judge.accuracy.mode = name(Accuracy::Mode::close);
    const SearchOptions how;
    const std::vector<LoadedFrame> frames = frames_of(wanted.model, how, wanted.inputs);
    if (frames.empty()) throw Error({wanted.model.string(), {}}, "found no graph, expected one");
    const debug::Search search = search_of(wanted.model, wanted.output, judge, how, wanted.inputs, frames[0]);
    const Minified minified = minify(tool, search, frames, report);
    FollowedUp done{.verified = minified.good,
                    .json = {{"minify", minified.json}, {"repros", nlohmann::json::array()}}};
    for (std::size_t i = 0; i < minified.graphs.size() && minified.good; ++i) {
        const Graph& graph = minified.graphs[i];
        repro::Options options;
        options.output = minified.files[i];
        options.output.replace_extension(".cpp");
        options.command = shell_quote({"repro", minified.files[i].string(), "-o", options.output.string()});
        options.data.reset();
        options.environment = environment();
        const repro::Report written = repro::write_repro(graph, *find_backend(graph.failure->backend), options);
        if (!tool.shared().json) report << "\n" << debug::to_text(written, *graph.failure, options) << std::flush;
        done.json["repros"].push_back(debug::to_json(written));
        done.verified = done.verified && written.verified;
    }
    return done;
}

std::string with_minify(const Tool& tool, std::vector<std::string> arguments) {
    arguments.insert(std::find(arguments.begin(), arguments.end(), "--"), "--minify");
    arguments.insert(arguments.begin(), tool.name());
    return shell_quote(arguments);
}

}  // namespace whittle::cli

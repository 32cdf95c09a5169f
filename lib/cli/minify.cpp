#include "cli/minify.h"

#include <algorithm>
#include <set>

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/subprocess.h"
#include "base/suggest.h"
#include "base/words.h"
#include "cli/environment.h"
#include "cli/messages.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "debug/check.h"
#include "debug/write_repro.h"
#include "graph/abilities.h"
#include "ops/core/opaque.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// One frame; its report is printed.
void minimize(const Tool& tool, const debug::Search& search, const LoadedFrame& frame, std::ostream& report,
              Minified& all) {
    Progress progress("minify", 0, tool.shared().progress);
    const debug::Observer observer{
        .progress =
            [&](const reduce::Progress& at) { progress.update(at.queries, "smallest: " + plural(at.calls, "op")); },
        .warn =
            [&](const std::string& text) {
                progress.clear();
                warn(tool, text);
            }};
    const debug::Minimized done = debug::minimize(frame, search, observer);
    progress.clear();
    all.json.push_back(debug::to_json(done));
    if (!tool.shared().json) report << debug::to_text(done, search) << std::flush;
    all.good = all.good && done.failed();
    if (!done.failed()) return;
    all.graphs.push_back(done.result.graph);
    all.files.push_back(done.written.output);
    all.drifted.insert(all.drifted.end(), done.written.drifted.begin(), done.written.drifted.end());
}

/// ", as 3 others: a.json, b.json, c.json", of the `file` of several that fail alike.
std::string others_text(std::vector<fs::path> alike, const fs::path& file) {
    constexpr std::size_t kMost = 4;
    std::erase(alike, file);
    if (alike.empty()) return {};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(alike.size(), kMost); ++i) names.push_back(alike[i].string());
    return ", as " + plural(alike.size(), "other") + ": " + join(names) + (alike.size() > kMost ? ", …" : "");
}

/// What is said before the failures of several graphs are minimized.
void tell(const debug::Findings& found, const debug::Search& search, const std::vector<LoadedFrame>& frames,
          std::ostream& report) {
    const std::size_t failures = found.failing.size();
    std::set<fs::path> records;  // a graph may have several; one that is cut into parts is more than one frame
    for (const LoadedFrame& frame : frames)
        if (frame.record) records.insert(frame.file);
    report << plural(frames.size(), records.size() == frames.size() ? "record" : "graph") << ", "
           << plural(failures, "distinct failure") << "\n";
    for (const auto& [file, why] : found.not_judged) report << file.string() << ": not judged: " << why << "\n";
    if (failures == 0 && found.not_judged.empty())
        report << debug::not_failing_text(search, found.judge, "never fails") << "\n";
}

/// Of the repro of a result: with the smallest data that shows the failure.
repro::Options repro_options(const fs::path& result, const fs::path& output) {
    repro::Options options;
    options.output = output;
    std::vector<std::string> words = debug::repro_words(result);
    words.insert(words.end(), {"-o", options.output.string()});
    options.command = shell_quote(words);
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
        all.json = nlohmann::json(all.json[0]);
        return all;
    }
    const debug::Findings found = debug::check(frames, search);
    all.good = !found.failing.empty();
    if (!tool.shared().json) tell(found, search, frames, report);
    for (std::size_t i = 0; i < found.failing.size(); ++i) {
        debug::Search own = search;
        if (found.failing.size() > 1) own.output = debug::numbered_result(search.output, i + 1);
        const fs::path& file = found.failing[i]->file;
        if (!tool.shared().json) report << "\n" << file.string() << others_text(found.alike[i], file) << "\n";
        minimize(tool, own, *found.failing[i], report, all);
        throw_if_interrupted();
    }
    nlohmann::json not_judged = nlohmann::json::object();
    for (const auto& [file, why] : found.not_judged) not_judged[file.string()] = why;
    const Verdict verdict = !found.failing.empty()      ? Verdict::fails
                            : !found.not_judged.empty() ? Verdict::not_judged
                                                        : Verdict::right;
    all.json = {
        {"verdict", name(verdict)}, {"graphs", frames.size()}, {"results", all.json}, {"not_judged", not_judged}};
    return all;
}

FollowUp of_file(const fs::path& model, const fs::path& output, bool minify, const BackendChoice& backend,
                 const AccuracyChoice& accuracy, const InputOptions& inputs) {
    return {.minify = minify,
            .next = minify_command(model, true, backend, accuracy, inputs) + " " + shell_quote({"-o", output.string()}),
            .model = model,
            .output = output,
            .backend = backend,
            .accuracy = accuracy,
            .inputs = inputs};
}

ReproOf write_repro_of(const Graph& graph, const fs::path& file, const fs::path& output) {
    if (graph.nodes.empty()) return {.none = "the result is a part of the file, of which Whittle has no graph"};
    if (!debug::has_repro(graph))
        return {.none = "the backend " + graph.failure->backend + " has no part of a repro of its own"};
    const repro::Options options = repro_options(file, output);
    ReproOf repro;
    try {
        repro.report = debug::write_repro(graph, file, options);
        repro.text = debug::to_text(*repro.report, *graph.failure, options);
    } catch (const Error& error) {  // the graph cannot be written down; it is minimized all the same
        repro.none = error.message();
    }
    return repro;
}

Followed follow_up(const Tool& tool, const FollowUp& wanted, std::ostream& report, nlohmann::json& json) {
    if (!wanted.minify) {
        report << "next: " << (wanted.next.empty() ? tool.command_with("--minify") : wanted.next) << "\n";
        return {};
    }
    if (!tool.shared().json) report << '\n';
    JudgeOptions judge{.backend = wanted.backend, .accuracy = wanted.accuracy};
    SearchOptions how;
    how.repeat = wanted.repeat;
    std::vector<LoadedFrame> frames = frames_of(wanted.model, judge, how, wanted.inputs);
    if (frames.empty()) throw Error({wanted.model.string(), {}}, "it holds no graph");
    const bool opaque = std::ranges::any_of(
        frames, [](const LoadedFrame& frame) { return !opaque_ops(frame.graph).empty(); });  // nothing to compare with
    if (!judge.accuracy.mode && !opaque) judge.accuracy.mode = name(Accuracy::Mode::close);
    debug::Search search = search_of(wanted.model, wanted.output, judge, how, wanted.inputs, frames[0]);
    for (LoadedFrame& frame : frames)
        if (wanted.scratch) frame.file = frame.file.stem();
    search.go_on = wanted.scratch ? shell_quote(tool.command_line())
                                  : minify_command(wanted.model, true, wanted.backend, judge.accuracy, wanted.inputs) +
                                        " --resume " + shell_quote({"-o", wanted.output.string()});
    Followed followed{.minified = minify(tool, search, frames, report)};
    const Minified& minified = followed.minified;
    json["minify"] = minified.json;
    json["repros"] = nlohmann::json::array();
    followed.verified = minified.good;
    for (std::size_t i = 0; i < minified.graphs.size() && minified.good; ++i) {
        const ReproOf repro = write_repro_of(minified.graphs[i], minified.files[i],
                                             fs::path(minified.files[i]).replace_extension(".cpp"));
        if (!tool.shared().json)
            report << "\n" << (repro.report ? repro.text : "no repro:   " + repro.none + "\n") << std::flush;
        followed.verified = followed.verified && repro.verified();
        if (!repro.report) {
            followed.no_repro = repro.none;
            continue;
        }
        json["repros"].push_back(debug::to_json(*repro.report));
        followed.repros.push_back(repro.report->output);
    }
    json["verified"] = followed.verified;
    return followed;
}

std::string minify_command(const fs::path& model, bool wrong, const BackendChoice& backend,
                           const AccuracyChoice& accuracy, const InputOptions& inputs, const LimitOptions& limits) {
    std::vector<std::string> words = program_words("minify", {model.string()});
    const auto add = [&](const std::vector<std::string>& more) { words.insert(words.end(), more.begin(), more.end()); };
    add(backend.words());
    if (wrong) add(accuracy.words());
    add(input_words(inputs));
    add(limits.words());
    return shell_quote(words);
}

std::vector<std::string> input_words(const InputOptions& inputs) {
    std::vector<std::string> words;
    const auto add = [&](const char* option, const std::string& value) { words.insert(words.end(), {option, value}); };
    if (inputs.data_set) add("--inputs", inputs.data_set->string());
    for (const std::string& input : inputs.inputs) add("--input", input);
    if (inputs.seed) add("--seed", std::to_string(inputs.seed));
    for (const std::string& dim : inputs.dims) add("--dim", dim);
    return words;
}

}  // namespace whittle::cli

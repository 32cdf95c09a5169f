
#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/parallel_runs.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/minify.h"
#include "cli/model.h"
#include "cli/progress.h"
#include "cli/replay.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "diagnose/compiled.h"
#include "formats/json_text.h"
#include "reduce/distinct.h"
#include "trace/index.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

using nlohmann::json;
using reduce::OneFailure;
using reduce::OneModel;

constexpr const char* kCommand = "command.json";  // in the folder of the results: what was asked

// ---- where what is kept

/// Of a trace: the model of each of its graphs, by the graph's name.
using Sources = std::map<std::string, fs::path>;

/// Files of one model's search.
struct Place {
    fs::path model, output, said;
    Sources sources;  ///< of a trace of models that are minimized, too; of others there are none
};

/// `models`: all that are minimized, by their canonical paths.
Sources sources_of(const fs::path& trace, const std::map<fs::path, fs::path>& models) try {
    if (!fs::exists(trace / "index.json")) return {};
    const TraceIndex index = load_index(trace);
    Sources by_name, by_graph;
    for (const IndexModel& model : index.models) {
        const fs::path file = fs::weakly_canonical(trace / model.file);
        auto found = models.find(file);
        if (found == models.end()) found = models.find(file.parent_path());  // a folder with model.onnx
        if (found == models.end()) return {};
        by_name[model.name] = found->second;
    }
    for (const IndexGraph& graph : index.graphs) {
        const auto model = by_name.size() == 1 ? by_name.begin() : by_name.find(graph.frame);
        if (model == by_name.end()) return {};
        by_graph[graph.name] = model->second;
    }
    return by_graph;
} catch (const Error&) {  // the search in it reports that
    return {};
}

/// Named after the model's path in the folder.
Place place_of(const fs::path& model, const MinifyOptions& options, Sources sources) {
    fs::path name = options.output / model.lexically_relative(options.model);
    const bool onnx = model.extension() == ".onnx" && !fs::is_directory(model);
    Place place{model, name, name, std::move(sources)};
    place.output += onnx ? ".min.onnx" : ".min.json";
    place.said += ".result.json";
    return place;
}

// ---- what is run

/// The options that all models share.
std::vector<std::string> shared_words(const MinifyOptions& options) {
    const MinifyOptions defaults;
    const reduce::Strategy &search = options.search, &usual = defaults.search;
    const reduce::CommandOracleOptions& which = options.which;
    std::vector<std::string> words = options.backend.words();
    if (options.accuracy.given()) append(words, options.accuracy.words());
    for (const auto& more : {options.pace.words(), options.inputs.words(), options.limits.words()}) append(words, more);
    if (search.repeat != usual.repeat) append(words, {"--repeat", std::to_string(search.repeat)});
    if (search.mode != usual.mode) append(words, {"--mode", search.mode});
    if (options.after != defaults.after) append(words, {"--after", options.after});
    if (search.step_limit) append(words, {"--step-limit", std::to_string(*search.step_limit)});
    if (options.time_limit) append(words, {"--time-limit", std::to_string(options.time_limit->count())});
    for (const std::string& list : options.delta_passes) append(words, {"--delta-passes=" + list});
    if (which.external_data != defaults.which.external_data) append(words, {"--external-data", which.external_data});
    for (const std::int64_t code : which.fail_codes) append(words, {"--fail-code", std::to_string(code)});
    for (const std::int64_t code : which.ignore_codes) append(words, {"--ignore-fail-code", std::to_string(code)});
    if (!which.fail_pattern.empty()) append(words, {"--fail-regex", which.fail_pattern});
    if (!options.test.empty())
        append(words,
               {"--test", fs::exists(options.test) ? fs::absolute(options.test).string() : options.test.string()});
    if (options.test_must_fail) append(words, {"--test-must-fail"});
    if (!options.check.empty()) append(words, {"--check"}), append(words, options.check);
    return words;
}

/// The command that minimizes one model, wherever the launcher takes it.
std::vector<std::string> command_of(const Place& place, const MinifyOptions& options,
                                    const std::vector<std::string>& shared) {
    std::vector<std::string> words = shell_split(options.launcher);
    append(words, {fs::read_symlink("/proc/self/exe").string(), fs::absolute(place.model).string(), "--json", "-o",
                   fs::absolute(place.output).string()});
    fs::path journal = place.output;
    journal += ".journal";
    if (options.search.resume && fs::exists(journal)) append(words, {"--resume"});
    append(words, shared);  // last: --check takes the rest
    return words;
}

// ---- what it said

/// The words of a report; nothing for text that is none.
std::optional<json> report_in(const std::string& text) {
    json said = json::parse(text, nullptr, false);
    const bool is_report = said.is_object() && (said.contains("verdict") || said.contains("error"));
    return is_report ? std::optional(std::move(said)) : std::nullopt;
}

/// What was minimized to, from the file; of a part of a file that no graph can be read from, its contents.
void add_graph(OneFailure& failure) {
    failure.skeleton = fingerprint(failure.output);
    try {
        const std::vector<LoadedFrame> frames =
            load_model(failure.output, {.keep_unknown = true, .need_inputs = false});
        const Graph& graph = frames.at(0).graph;
        failure.skeleton = reduce::skeleton(graph);
        if (!graph.failure) return;
        if (graph.failure->culprit) failure.culprit = graph.failure->culprit->text();
        failure.has_repro = !graph.failure->backend.empty() && diagnose::has_repro(graph);
    } catch (const Error&) {  // nobody here reads it, or the backend is not there any more
    }
}

/// Of one graph of a model.
void add_result(const json& result, const Sources& sources, OneModel& model) {
    const std::string ending = result.value("result", ""), verdict = result.value("verdict", "");
    if (verdict == name(Verdict::not_judged)) model.not_judged = result.value("reason", result.value("message", ""));
    if (verdict != name(Verdict::fails)) return;
    OneFailure& failure = model.failures.emplace_back();
    if (const auto of = sources.find(result.value("graph", "")); of != sources.end()) failure.of = of->second;
    failure.signature = result.value("signature", "");
    failure.message = result.value("minimized_message", result.value("message", ""));
    failure.minimized = ending == name(reduce::Minimized::Ending::minimized);
    failure.ops = result.value("calls_after", std::size_t(0));
    failure.output = result.value("output", "");
    if (failure.output.empty()) return;
    failure.output = fs::proximate(failure.output);  // which was asked by its absolute path
    add_graph(failure);
}

OneModel model_of(const Place& place, const json& said) {
    OneModel result{.model = place.model, .of_others = !place.sources.empty()};
    if (said.contains("error")) {
        const json& error = said["error"];
        result.error = error.is_object() ? error.value("message", "") : error.dump();
        return result;
    }
    if (!said.contains("results")) return add_result(said, place.sources, result), result;
    for (const json& one : said["results"]) add_result(one, place.sources, result);
    for (const auto& [file, why] : said.value("not_judged", std::map<std::string, std::string>()))
        if (result.not_judged.empty()) result.not_judged = file + ": " + why;
    return result;
}

/// It need not be asked again.
bool is_final(const json& said) {
    const auto stopped = [](const json& result) {
        return result.value("result", "") == name(reduce::Minimized::Ending::interrupted);
    };
    if (!said.contains("results")) return !stopped(said);
    return std::ranges::none_of(said["results"], stopped);
}

// ---- one model after the other

OneModel minimize_one(const Place& place, const MinifyOptions& options, const std::vector<std::string>& shared) {
    if (options.search.resume && fs::exists(place.said))
        if (const auto said = report_in(read_file(place.said)); said && is_final(*said)) return model_of(place, *said);
    fs::create_directories(place.output.parent_path());
    const std::vector<std::string> command = command_of(place, options, shared);
    const ProcessResult process = run_process(command, {.output_limit = std::size_t(1) << 28});
    throw_if_interrupted();
    if (const auto said = report_in(process.out)) {
        write_file(place.said, said->dump(2) + '\n');  // whole or not at all: from now on it is not asked again
        return model_of(place, *said);
    }
    return {.model = place.model,
            .error = "minify " + ending_of(process) + (process.err.empty() ? "" : ": " + as_line(process.err))};
}

/// Notes what is asked; throws Error where the results of the folder are those of something else.
void begin_folder(const MinifyOptions& options, const std::vector<std::string>& shared) {
    const fs::path file = options.output / kCommand;
    const std::string asked =
        json{{"folder", fs::absolute(options.model).lexically_normal().string()}, {"options", shared}}.dump(2) + '\n';
    if (options.search.resume && fs::exists(file) && read_file(file) != asked)
        throw Error({file.string(), {}}, "found the results of another command, expected the results of this command",
                    "to start a new search, leave out --resume; or choose another folder with -o");
    write_file(file, asked);
}

void print(const Tool& tool, const MinifyOptions& options, const reduce::ManyModels& all, const std::string& go_on) {
    if (options.html) write_file(*options.html, reduce::to_html(all, "minify " + options.model.string()));
    if (tool.shared().json) return print_json(reduce::to_json(all));
    std::cout << reduce::to_text(all);
    if (all.open > 0)
        std::cout << next_line(go_on);
    else if (const auto bug = std::ranges::find_if(all.bugs, [](const auto& one) { return one.smallest.has_repro; });
             bug != all.bugs.end())
        std::cout << next_line(shell_quote(diagnose::repro_words(bug->smallest.output)));
}

}  // namespace

int minify_models(const Tool& tool, const MinifyOptions& options) {
    const std::vector<fs::path> models =
        select_records(models_in(options.model, options.output), {}, shard_of(options.shard));
    const std::vector<std::string> shared = shared_words(options);
    begin_folder(options, shared);
    const CleanUpScope scope;  // an interrupt ends the searches, and what is known is told
    std::vector<ParallelRuns<OneModel>::Run> planned;
    std::map<fs::path, fs::path> canonical;
    for (const fs::path& model : models) canonical[fs::weakly_canonical(model)] = model;
    for (const fs::path& model : models) {
        const Place place = place_of(model, options, sources_of(model, canonical));
        std::error_code ignored;
        if (!options.search.resume) fs::remove(place.said, ignored);  // all of them, before the first is asked
        planned.emplace_back([&options, &shared, place] { return minimize_one(place, options, shared); });
    }
    std::vector<OneModel> done;
    try {
        Progress progress("minify", models.size(), tool.shared().progress, "models");
        ParallelRuns<OneModel> runs(std::move(planned), static_cast<std::size_t>(options.search.jobs));
        while (done.size() < models.size()) {
            done.push_back(runs.next());
            progress.update(done.size(), done.back().model.filename().string());
        }
    } catch (const Interrupted&) {
    }
    const reduce::ManyModels all = reduce::distinct(done, models.size() - done.size());
    print(tool, options, all, resume_command(tool, options.search));
    return !all.errors.empty() ? 2 : all.good() ? 0 : 1;
}

}  // namespace whittle::cli

#include "cli/report_options.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/environment.h"
#include "cli/model.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "frontends/cpp/description.h"

namespace whittle::cli {

namespace fs = std::filesystem;

namespace {

/// What `trace cc` put into the program, or trace into its folder.
std::vector<cpp::StaticTables> described_files(const fs::path& model) {
    if (recognize(model) == ModelKind::program) return cpp::read_program(model);
    return recognize(model) == ModelKind::trace ? cpp::load_descriptions(model) : std::vector<cpp::StaticTables>();
}

}  // namespace

void ReportOptions::declare_output(Tool& tool) {
    tool.option("-o,--output", output, "FILE",
                "Write the report to FILE. Default: stdout. If MODEL is a program, the default is stderr, because the "
                "program itself writes to stdout.");
}

void ReportOptions::declare(Tool& tool, bool compares) {
    declare_output(tool);
    tool.section("Report");
    tool.flag("--ops", text.ops,
              "Add a table of all operations: the number of calls and the result types of each operation.");
    const std::string times =
        "Add the compile and run times of passes, kernels and LibTorch operations, and the use of memory.";
    if (compares) return tool.flag("--times", text.times, times);
    tool.flag_or_option("--times", text.times, timeline, "FILE",
                        times + " With FILE: also write the times to FILE, for Perfetto or chrome://tracing.");
    tool.flag("--guards", text.guards,
              "Add the guards of each captured graph: the conditions under which a later call can use the graph.");
    tool.flag_or_choice("--recompiles", recompiles, {"seen", "all"},
                        "Add every recompile: the guard that failed, how often the guard failed, and how to avoid the "
                        "recompile. seen (default): the recompiles that occurred. all: raise the cache limits while "
                        "the program runs, so that no limit prevents a recompile.");
}

void ReportOptions::add_to(UsedFiles& files) const {
    files.writes("--output", output);
    files.writes("--times", timeline);
}

report::TextOptions ReportOptions::shown(const Tool& tool, const ReportSink& sink) const {
    report::TextOptions shown = text;
    shown.recompiles = recompiles.has_value();
    shown.verbose = tool.shared().verbose;
    shown.color = sink.color();
    shown.columns = sink.columns();
    return shown;
}

ReportSink::ReportSink(const Tool& tool, const std::optional<fs::path>& model, const std::optional<fs::path>& output) {
    if (output) {
        if (tool.shared().json) throw Error("--output cannot be used with --json, which prints to stdout");
        path_ = *output;
        out_ = &text_;
    } else if (model && recognize(*model) == ModelKind::program) {
        out_ = &std::cerr;
        color_ = tool.shared().color_err;
        columns_ = terminal_columns(STDERR_FILENO);
    } else {
        color_ = tool.shared().color_out;
        columns_ = terminal_columns(STDOUT_FILENO);
    }
}

void ReportSink::close() {
    if (out_ != &text_) return;
    std::ofstream file(path_);  // a device, maybe: it is not replaced
    file << text_.str();
    if (!file.flush()) throw Error({path_.string(), {}}, "the file cannot be written");
}

void SourceOptions::declare(Tool& tool) {
    tool.positional("FILE.cpp", file, "Source file of a C++ program.");
    tool.option("--static-flags", flags, "FLAGS",
                "Compiler flags for FILE.cpp, as one argument, for example '-std=c++20 -Iinclude'. If MODEL is not a "
                "program, you can give the flags after -- instead.");
}

std::vector<cpp::Analysis> SourceOptions::analyses(const std::optional<fs::path>& model,
                                                   const std::vector<std::string>& functions,
                                                   const std::vector<std::string>& rest, const Analyze& analyze) const {
    std::vector<cpp::Analysis> found;
    if (!file) {
        if (!model) return found;
        for (const cpp::StaticTables& tables : described_files(*model)) {
            found.push_back(tables.analysis);
            cpp::keep_functions(found.back(), functions);
        }
        return found;
    }
    std::vector<std::string> words = shell_split(flags);
    if (!model || recognize(*model) != ModelKind::program) append(words, rest);
    found.push_back(analyze(file->string(), words));
    const std::vector<std::string> unknown = cpp::keep_functions(found[0], functions);
    if (unknown.empty()) return found;
    std::vector<std::string> names;
    for (const cpp::Function& function : found[0].functions) names.push_back(function.name);
    throw invalid_value(unknown[0], "--function", "found no function of this name in " + file->string(),
                        did_you_mean(unknown[0], names));
}

namespace {

constexpr std::size_t kMostCompared = 8;  // each runs the graph three times

/// The values of one graph that is computed wrong, or why there are none.
void compare(const std::string& graph, const JudgedFrame& failing, const std::vector<LoadedFrame>& frames,
             const SubjectOptions& options, html::PageFacts& page) {
    // Of a program the file is told without the folder, which is gone when the report is read.
    const auto found = std::ranges::find_if(frames, [&](const LoadedFrame& frame) {
        return frame.name == failing.name && (frame.file == failing.file || frame.file.filename() == failing.file);
    });
    if (found == frames.end()) {
        page.not_compared.emplace(graph, "the values of the graph were not recorded");
        return;
    }
    try {
        page.accuracy.emplace(graph, report::diverge(*found, options.suspect()));
    } catch (const Error& error) {
        log_warning(LogChannel::run, "the page shows no values of " + graph + ": " + error.what());
        page.not_compared.emplace(graph, error.message());
    }
}

/// The values of what is computed wrong.
void compare(const SubjectOptions& options, html::PageFacts& page) {
    const report::Subject& subject = page.subject;
    if (subject.runnable.empty()) return;
    std::vector<LoadedFrame> frames;
    for (const JudgedFrame& failing : subject.failing()) {
        const std::string graph = report::graph_of(subject, failing);
        if (!failing.wrong || graph.empty()) continue;
        if (page.accuracy.contains(graph) || page.not_compared.contains(graph)) continue;  // a further run
        if (page.accuracy.size() == kMostCompared) {
            page.not_compared.emplace(graph, "the page compares only the values of the first " +
                                                 std::to_string(kMostCompared) + " graphs with wrong results");
            continue;
        }
        if (frames.empty())
            frames = load_model(subject.runnable, {.inputs = options.inputs, .exact = options.accuracy.exact()});
        compare(graph, failing, frames, options, page);
    }
}

/// Tells the failures what the page tells of them.
void add_first_wrong(const html::PageFacts& page, nlohmann::json& json) {
    if (!json.contains("judged")) return;
    const std::vector<JudgedFrame>& judged = page.subject.judged;
    for (std::size_t i = 0; i < judged.size(); ++i) {
        if (judged[i].verdict != Verdict::fails) continue;
        const auto found = page.accuracy.find(report::graph_of(page.subject, judged[i]));
        const ValueDivergence* const value =
            found == page.accuracy.end() ? nullptr : found->second.divergence.first_wrong();
        if (!value) continue;
        nlohmann::json& first = json["judged"][i]["first_wrong"];
        first = {{"graph", found->first}, {"node", value->node}, {"op", value->op}, {"module", value->module_path}};
        if (!value->stack.empty()) first["line"] = value->stack[0].file + ":" + std::to_string(value->stack[0].line);
    }
}

html::PageFacts page_of(const Tool& tool, const report::Subject& subject, const report::Report& report, bool source) {
    return {.subject = subject,
            .report = report,
            .environment = environment(),
            .command = tool.command_line(),
            .own_words = tool.own_words(),
            .source = source};
}

}  // namespace

void PictureOptions::declare_page(Tool& tool) {
    tool.section("Visualization");
    tool.option("--html", html, "FILE",
                "Write an interactive report to FILE, as one HTML page with graphs, source code, breaks and guards. "
                "With --backend, the page also shows which values the backend computes wrong.");
    tool.flag("--no-source", no_source, "With --html: omit the text of source files.");
}

void PictureOptions::declare(Tool& tool) {
    declare_page(tool);
    tool.option("--dot", dot, "FILE", "Write the graphs in the DOT format of Graphviz.");
}

void PictureOptions::add_to(UsedFiles& files) const {
    files.writes("--dot", dot);
    files.writes("--html", html);
}

void PictureOptions::check_usage() const {
    if (no_source && !html) throw Error("--no-source requires --html");
}

std::optional<html::PageFacts> PictureOptions::write(const Tool& tool, const report::Subject& subject,
                                                     const report::Report& report, const SubjectOptions& options,
                                                     nlohmann::json& json, const ScheduleFacts& schedule) const {
    if (dot) write_file(*dot, report::to_dot(subject.frames, report));
    if (!html) return std::nullopt;
    html::PageFacts page = page_of(tool, subject, report, !no_source);
    page.schedule = schedule.json;
    page.schedule_text = schedule.text;
    compare(options, page);
    add_first_wrong(page, json);
    write_file(*html, html::page(page));
    return page;
}

void PictureOptions::write_again(html::PageFacts page, const nlohmann::json& json) const {
    if (!json.contains("minify")) return;
    page.minified = &json["minify"];
    if (json.contains("repros")) page.repros = &json["repros"];
    write_file(*html, html::page(std::move(page)));
}

void PictureOptions::write_diff(const Tool& tool, const report::Subject& subject, const report::Report& report,
                                const report::TraceDiff& diff) const {
    if (!html) return;
    html::PageFacts page = page_of(tool, subject, report, !no_source);
    page.diff = diff;
    write_file(*html, html::page(std::move(page)));
}

}  // namespace whittle::cli

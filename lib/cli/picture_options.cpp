#include "cli/picture_options.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "cli/environment.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "report/page/page.h"

namespace whittle::cli {

namespace {

constexpr std::size_t kMostCompared = 8;  // each runs the graph three times

/// The values of one graph that is computed wrong, or why there are none.
void compare(const std::string& graph, const JudgedFrame& failing, const std::vector<LoadedFrame>& frames,
             const SubjectOptions& options, PictureOptions::Compared& compared) {
    // Of a program the file is told without the folder, which is gone when the report is read.
    const auto found = std::ranges::find_if(frames, [&](const LoadedFrame& frame) {
        return frame.name == failing.name && (frame.file == failing.file || frame.file.filename() == failing.file);
    });
    if (found == frames.end()) {
        compared.not_compared.emplace(graph, "its values were not recorded");
        return;
    }
    try {
        compared.values.emplace(graph, report::diverge(*found, options.suspect()));
    } catch (const Error& error) {
        log_warning(LogChannel::run, "the page shows no values of " + graph + ": " + error.what());
        compared.not_compared.emplace(graph, error.message());
    }
}

/// The values of what is computed wrong.
PictureOptions::Compared compare(const report::Subject& subject, const SubjectOptions& options) {
    PictureOptions::Compared compared;
    if (subject.runnable.empty()) return compared;
    std::vector<LoadedFrame> frames;
    for (const JudgedFrame& failing : subject.failing()) {
        const std::string graph = report::graph_of(subject, failing);
        if (!failing.wrong || graph.empty()) continue;
        if (compared.values.contains(graph) || compared.not_compared.contains(graph)) continue;  // a further run
        if (compared.values.size() == kMostCompared) {
            compared.not_compared.emplace(
                graph, "only the values of the first " + std::to_string(kMostCompared) + " wrong graphs are compared");
            continue;
        }
        if (frames.empty()) frames = load_model(subject.runnable, {.inputs = options.inputs});
        compare(graph, failing, frames, options, compared);
    }
    return compared;
}

/// Tells the failures what the page tells of them.
void add_first_wrong(const report::Subject& subject, const PictureOptions::Compared& compared, nlohmann::json& json) {
    if (!json.contains("judged")) return;
    for (std::size_t i = 0; i < subject.judged.size(); ++i) {
        if (subject.judged[i].verdict != Verdict::fails) continue;
        const auto found = compared.values.find(report::graph_of(subject, subject.judged[i]));
        const ValueDivergence* const value =
            found == compared.values.end() ? nullptr : found->second.divergence.first_wrong();
        if (!value) continue;
        nlohmann::json& first = json["judged"][i]["first_wrong"];
        first = {{"graph", found->first}, {"node", value->node}, {"op", value->op}, {"module", value->module_path}};
        if (!value->stack.empty()) first["line"] = value->stack[0].file + ":" + std::to_string(value->stack[0].line);
    }
}

html::PageFacts page_facts(const Tool& tool, const report::Subject& subject, const report::Report& report,
                           PictureOptions::Compared compared, bool source) {
    return {.subject = subject,
            .report = report,
            .accuracy = std::move(compared.values),
            .not_compared = std::move(compared.not_compared),
            .environment = environment(),
            .command = tool.command_line(),
            .own_words = tool.own_words(),
            .source = source};
}

void write_page(const std::filesystem::path& file, const html::PageFacts& facts) {
    write_file(file, html::page(facts));
}

}  // namespace

void PictureOptions::declare_page(Tool& tool) {
    tool.section("Visualization");
    tool.option("--html", html, "FILE",
                "Write an interactive report as one HTML file: graphs, source, breaks, guards and, with --backend, "
                "wrong values.");
    tool.flag("--no-source", no_source, "With --html: omit the text of source files.");
}

void PictureOptions::declare(Tool& tool) {
    declare_page(tool);
    tool.option("--dot", dot, "FILE", "Write the graphs in the DOT format of Graphviz.");
    tool.option("--timeline", timeline, "FILE",
                "Write the times that --times measures as a trace for Perfetto or chrome://tracing.");
}

void PictureOptions::add_to(UsedFiles& files) const {
    files.writes("--dot", dot);
    files.writes("--html", html);
    files.writes("--timeline", timeline);
}

void PictureOptions::check_usage() const {
    if (no_source && !html) throw Error("--no-source requires --html");
}

PictureOptions::Compared PictureOptions::write(const Tool& tool, const report::Subject& subject,
                                               const report::Report& report, const SubjectOptions& options,
                                               nlohmann::json& json) const {
    if (dot) write_file(*dot, report::to_dot(subject.frames, report));
    if (timeline) write_file(*timeline, report::chrome_trace(subject.profile));
    if (!html) return {};
    Compared compared = compare(subject, options);
    add_first_wrong(subject, compared, json);
    write_page(*html, page_facts(tool, subject, report, compared, !no_source));
    return compared;
}

void PictureOptions::write_again(const Tool& tool, const report::Subject& subject, const report::Report& report,
                                 Compared compared, const nlohmann::json& json) const {
    if (!html || !json.contains("minify")) return;
    html::PageFacts facts = page_facts(tool, subject, report, std::move(compared), !no_source);
    facts.minified = &json["minify"];
    if (json.contains("repros")) facts.repros = &json["repros"];
    write_page(*html, facts);
}

void PictureOptions::write_diff(const Tool& tool, const report::Subject& subject, const report::Report& report,
                                const report::TraceDiff& diff) const {
    if (!html) return;
    html::PageFacts facts = page_facts(tool, subject, report, {}, !no_source);
    facts.diff = diff;
    write_page(*html, facts);
}

}  // namespace whittle::cli

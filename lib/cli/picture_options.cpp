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

namespace whittle::cli {

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
                "Write an interactive report as one HTML file: graphs, source, breaks, guards and, with --backend, "
                "wrong values.");
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
                                                     nlohmann::json& json) const {
    if (dot) write_file(*dot, report::to_dot(subject.frames, report));
    if (!html) return std::nullopt;
    html::PageFacts page = page_of(tool, subject, report, !no_source);
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

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
#include "debug/divergence.h"
#include "explain/show.h"
#include "html/data.h"
#include "html/findings.h"
#include "html/page.h"

namespace whittle::cli {

namespace {

constexpr std::size_t kMostCompared = 4;  // each runs the graph three times

/// The values of what is computed wrong, by the name of the graph.
std::map<std::string, debug::FrameDivergence> compare(const debug::Subject& subject, const SubjectOptions& options) {
    std::map<std::string, debug::FrameDivergence> compared;
    if (subject.runnable.empty()) return compared;
    std::vector<LoadedFrame> frames;
    for (const debug::FailingFrame& failing : subject.failing) {
        const std::string graph = html::graph_of(subject, failing);
        if (!failing.wrong || graph.empty() || compared.contains(graph) || compared.size() == kMostCompared) continue;
        if (frames.empty()) frames = load_model(subject.runnable, {.inputs = options.inputs});
        // Of a program the file is told without the folder, which is gone when the report is read.
        const auto found = std::ranges::find_if(frames, [&](const LoadedFrame& frame) {
            return frame.name == failing.name && (frame.file == failing.file || frame.file.filename() == failing.file);
        });
        if (found == frames.end()) continue;
        try {
            compared.emplace(graph, debug::diverge(*found, options.suspect()));
        } catch (const Error& error) {
            log_warning(LogChannel::run, "the page has no values of " + graph + ": " + error.what());
        }
    }
    return compared;
}

html::PageFacts page_facts(const Tool& tool, const debug::Subject& subject, const explain::Report& report,
                           std::map<std::string, debug::FrameDivergence> accuracy, bool source) {
    return {.subject = subject,
            .report = report,
            .accuracy = std::move(accuracy),
            .environment = environment(),
            .command = shell_quote(tool.command_line()),
            .source = source};
}

void write_page(const std::filesystem::path& file, const html::PageFacts& facts) {
    write_file(file, html::page(html::page_data(facts)));
}

}  // namespace

void PictureOptions::declare(Tool& tool) {
    tool.option("--dot", dot, "FILE", "Write the graphs as a picture for Graphviz's dot.");
    tool.option("--html", html, "FILE",
                "Write the report as a page for browsers, one file that needs no network: what happened and the next "
                "command, graphs to zoom and search, source beside them, breaks, guards, recompiles; with --backend "
                "the error of each value where results are wrong.");
    tool.option("--timeline", timeline, "FILE",
                "Write what --times measures as a trace for Perfetto and chrome://tracing.");
    tool.flag("--no-source", no_source, "With --html: leave the text of source files out.");
}

void PictureOptions::add_to(UsedFiles& files) const {
    files.writes("--dot", dot);
    files.writes("--html", html);
    files.writes("--timeline", timeline);
}

void PictureOptions::check_usage() const {
    if (no_source && !html) throw Error("--no-source requires --html");
}

PictureOptions::Compared PictureOptions::write(const Tool& tool, const debug::Subject& subject,
                                               const explain::Report& report, const SubjectOptions& options) const {
    if (dot) write_file(*dot, explain::to_dot(subject.frames, report));
    if (timeline) write_file(*timeline, explain::chrome_trace(subject.profile));
    if (!html) return {};
    Compared compared = compare(subject, options);
    write_page(*html, page_facts(tool, subject, report, compared, !no_source));
    return compared;
}

void PictureOptions::write_again(const Tool& tool, const debug::Subject& subject, const explain::Report& report,
                                 Compared compared, const nlohmann::json& json) const {
    if (!html || !json.contains("minify")) return;
    html::PageFacts facts = page_facts(tool, subject, report, std::move(compared), !no_source);
    facts.minified = &json["minify"];
    if (json.contains("repros")) facts.repros = &json["repros"];
    write_page(*html, facts);
}

void PictureOptions::write_diff(const Tool& tool, const debug::Subject& subject, const explain::Report& report,
                                const explain::TraceDiff& diff) const {
    if (!html) return;
    html::PageFacts facts = page_facts(tool, subject, report, {}, !no_source);
    facts.diff = &diff;
    write_page(*html, facts);
}

}  // namespace whittle::cli

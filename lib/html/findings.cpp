#include "html/findings.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/subprocess.h"
#include "base/words.h"
#include "html/minified.h"

namespace whittle::html {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Finding {
    const char* level;
    std::string title, detail;
    json place = nullptr;  ///< see Sources
    std::vector<std::string> command = {};
    std::string go = {};
    std::string line = {};  ///< of a command that is one already

    json to_json() const {
        json next;
        if (!command.empty()) next = shell_quote(command);
        if (!line.empty()) next = line;
        return {{"level", level}, {"title", title}, {"detail", detail},
                {"place", place}, {"go", go},       {"command", std::move(next)}};
    }
};

json first_of(json places) { return places.empty() ? json() : places[0]; }

/// What to run next: minify, of a file that is still there, or of the program, which has to run again.
std::vector<std::string> minify_command(const PageFacts& facts, const debug::FailingFrame& failing) {
    std::error_code gone;
    if (!fs::exists(failing.file, gone))
        return {"explain", facts.report.model, "--backend", facts.report.backend, "--minify"};
    std::vector<std::string> command = {"minify", failing.file, "--backend", facts.report.backend};
    if (failing.wrong) command.push_back("--accuracy");
    return command;
}

/// Of a node as it was captured: the graph of a record at other sizes has no stacks.
std::vector<StackFrame> stack_of(const PageFacts& facts, const std::string& graph, const std::string& name) {
    for (const explain::Frame& frame : facts.subject.frames)
        if (frame.graph.name == graph)
            for (const Node& node : frame.graph.nodes)
                if (node.name == name) return node.stack;
    return {};
}

/// "first wrong at %b = aten.exp.default in layers.0", and where that is.
void tell_first_wrong(const PageFacts& facts, Sources& sources, const std::string& graph, Finding& finding) {
    const auto compared = facts.accuracy.find(graph);
    if (compared == facts.accuracy.end() || !compared->second.divergence.first) return;
    const Divergence& divergence = compared->second.divergence;
    const ValueDivergence& value = divergence.values[*divergence.first];
    finding.detail = "first wrong at %" + value.node + " = " + value.op +
                     (value.module_path.empty() ? "" : " in " + value.module_path) + "; " + finding.detail;
    finding.place = first_of(sources.places(value.stack.empty() ? stack_of(facts, graph, value.node) : value.stack));
    finding.go = "accuracy=" + graph + "&node=" + value.node;
}

/// What a backend fails on: once for each graph, however many of its runs fail.
void add_failures(const PageFacts& facts, Sources& sources, std::vector<Finding>& findings) {
    std::map<std::string, std::size_t> runs;
    const auto named = [&](const debug::FailingFrame& failing) {
        const std::string graph = graph_of(facts.subject, failing);
        return graph.empty() ? failing.name : graph;
    };
    for (const debug::FailingFrame& failing : facts.subject.failing) ++runs[named(failing)];
    for (const debug::FailingFrame& failing : facts.subject.failing) {
        const auto count = runs.extract(named(failing));
        if (count.empty()) continue;  // told
        const std::string graph = graph_of(facts.subject, failing);
        Finding finding{.level = "failed",
                        .title = count.key() + (failing.wrong ? " computes wrong results under " : " fails under ") +
                                 facts.report.backend,
                        .detail = failing.failure,
                        .command = minify_command(facts, failing),
                        .go = "graph=" + graph};
        if (count.mapped() > 1) finding.detail += " (the first of " + std::to_string(count.mapped()) + " runs)";
        tell_first_wrong(facts, sources, graph, finding);
        findings.push_back(std::move(finding));
    }
}

/// What minify made of the failures, with the command that shows the smallest.
void add_minified(const PageFacts& facts, std::vector<Finding>& findings) {
    if (!facts.minified) return;
    for (const json& result : minified_json(*facts.minified, facts.repros)) {
        if (result.value("verdict", "") != "minimized") continue;
        const json repro = result.value("repro", json::object());
        const bool verified = repro.value("verified", false);
        const json culprit = result.value("culprit", json::object());
        const std::string guilty =
            culprit.value("directive", "").empty() ? culprit.value("op", "") : culprit.value("directive", "");
        Finding finding{.level = "failed",
                        .title = plural(result["calls_before"].get<std::size_t>(), "operation") + " minimized to " +
                                 result["calls_after"].dump() + (verified ? ", with a repro that is verified" : ""),
                        .detail = guilty.empty() ? result["message"].get<std::string>()
                                                 : "guilty: " + culprit.value("component", "") + " " + guilty,
                        .go = "minify"};
        if (verified) finding.detail += "; the repro's text is in the view Minified: save it, build it, run it";
        if (verified && repro.value("compile_command", "") != "")
            finding.line = repro["compile_command"].get<std::string>() + " && ./" +
                           fs::path(repro.value("output", "")).stem().string();
        findings.push_back(std::move(finding));
    }
}

void add_capture_faults(const PageFacts& facts, std::vector<Finding>& findings) {
    if (!facts.subject.index) return;
    for (const IndexGraph& graph : facts.subject.index->graphs)
        if (!graph.capture_fault.empty())
            findings.push_back({.level = "failed",
                                .title = graph.name + " does not compute what was observed: capture went wrong",
                                .detail = graph.capture_fault,
                                .go = "graph=" + graph.name});
}

void add_breaks(const PageFacts& facts, Sources& sources, std::vector<Finding>& findings) {
    for (const explain::BreakReason& reason : facts.report.break_reasons) {
        const explain::BreakPlace& place = reason.places.front();
        findings.push_back({.level = "break",
                            .title = reason.reason,
                            .detail = plural(static_cast<std::size_t>(reason.count), "graph break") + "; " +
                                      std::string(reason.hint()),
                            .place = first_of(sources.places(place.user_stack)),
                            .command = {"explain", "--break", std::string(reason.info().id)},
                            .go = "breaks=" + std::string(reason.info().id)});
    }
}

void add_recompiles(const PageFacts& facts, Sources& sources, std::vector<Finding>& findings) {
    for (const IndexRecompile& recompile : facts.report.recompiles)
        findings.push_back({.level = "recompiled",
                            .title = recompile.frame + " was compiled again: " + recompile.guard,
                            .detail = plural(static_cast<std::size_t>(recompile.count), "time") +
                                      (recompile.advice.empty() ? "" : "; " + recompile.advice),
                            .place = first_of(sources.places(recompile.stack)),
                            .command = {"explain", facts.report.model, "--recompiles"},
                            .go = "guards=" + recompile.frame});
}

}  // namespace

std::string graph_of(const debug::Subject& subject, const debug::FailingFrame& failing) {
    const fs::path file = failing.file;
    if (subject.index)
        for (const IndexRecord& record : subject.index->records)
            if (!record.graph.empty() && file.filename() == record.file.filename()) return record.graph;
    for (const explain::Frame& frame : subject.frames)
        if (frame.file == failing.file && frame.name == failing.name) return frame.graph.name;
    return {};
}

json findings_json(const PageFacts& facts, Sources& sources) {
    std::vector<Finding> findings;
    add_failures(facts, sources, findings);
    add_minified(facts, findings);
    add_capture_faults(facts, findings);
    add_breaks(facts, sources, findings);
    add_recompiles(facts, sources, findings);
    json list = json::array();
    for (const Finding& finding : findings) list.push_back(finding.to_json());
    return list;
}

json status_of(const PageFacts& facts, const json& frame) {
    const auto graphs = frame["graphs"].get<std::vector<std::string>>();
    const auto has = [&](const std::string& graph) { return std::ranges::find(graphs, graph) != graphs.end(); };
    json status = json::array();
    bool failed = std::ranges::any_of(facts.subject.failing, [&](const debug::FailingFrame& failing) {
        return has(graph_of(facts.subject, failing));
    });
    if (facts.subject.index)
        for (const IndexGraph& graph : facts.subject.index->graphs)
            failed |= !graph.capture_fault.empty() && has(graph.name);
    if (failed) status.push_back("failed");
    if (frame["breaks"] > 0) status.push_back("break");
    if (frame["recompiles"] > 0) status.push_back("recompiled");
    const auto makes_nan = [](const ValueDivergence& value) { return value.born.nan; };
    for (const auto& [graph, compared] : facts.accuracy)
        if (has(graph) && std::ranges::any_of(compared.divergence.values, makes_nan)) {
            status.push_back("nan");
            break;
        }
    if (status.empty()) status.push_back("ok");
    return status;
}

}  // namespace whittle::html

#include "report/page/parts.h"

#include <algorithm>
#include <filesystem>
#include <list>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/command_words.h"
#include "base/number_text.h"
#include "base/subprocess.h"
#include "base/words.h"

namespace whittle::html {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Finding {
    const char* level;
    std::string title = {}, detail = {};
    json place = nullptr;    ///< see Sources
    std::string where = {};  ///< in its stead, of a model file: "%conv in model.onnx"
    std::string command = {}, go = {};
    std::vector<std::string> graphs = {};  ///< that fail for one cause
    std::string op = {}, node = {};        ///< the first wrong value
    bool repro = false;                    ///< of the failures, ready to be run

    json to_json() const {
        json entry = {{"level", level}, {"title", title}, {"detail", detail}, {"place", place}, {"go", go}};
        entry["command"] = command.empty() ? json() : json(command);
        if (place.is_null() && !where.empty()) entry["where"] = where;
        if (!graphs.empty()) entry["graphs"] = graphs;
        if (!op.empty()) entry.update({{"op", op}, {"node", node}});
        if (repro) entry["repro"] = true;
        return entry;
    }
};

/// "%conv in model.onnx", "model.onnx".
std::string node_in_file(const std::string& node, const std::string& file) {
    return (node.empty() ? "" : "%" + node + " in ") + fs::path(file).filename().string();
}

/// Of a graph that was read from a file: a program's is at lines of its source.
std::string where_of(const PageFacts& facts, const std::string& graph, const ValueDivergence* value) {
    for (const report::Frame& frame : facts.subject.frames)
        if (frame.graph.name == graph && !frame.captured && !frame.file.empty())
            return node_in_file(value ? value->node : "", frame.file);
    return {};
}

json first_of(json places) { return places.empty() ? json() : places[0]; }

/// Of a node as it was captured: the graph of a record at other sizes has no stacks.
std::vector<StackFrame> stack_of(const PageFacts& facts, const std::string& graph, const std::string& name) {
    for (const report::Frame& frame : facts.subject.frames)
        if (const Node* const node = frame.graph.find(name); node && frame.graph.name == graph) return node->stack;
    return {};
}

/// "layer_norm" of "aten.layer_norm.default", "Relu" of "onnx.Relu".
std::string short_name(const std::string& op) {
    const std::size_t from = op.find('.') + 1;  // 0 where there is none
    return op.substr(from, op.starts_with("aten.") ? op.find('.', from) - from : std::string::npos);
}

/// "a", "a and b", "a, b and 4 more".
std::string sentence_of(const std::vector<std::string>& names) { return listed(names, 2, " and "); }

/// Graphs that fail for one cause, as far as it can be told: their first wrong values are of one operation at one place
/// in the source, or they end in the same exception. Each other graph is a cause of its own.
struct Cause {
    const JudgedFrame& first;
    const ValueDivergence* value = nullptr;  ///< of graphs[0]
    std::string not_compared = {}, key = {};
    std::vector<std::string> graphs = {}, modules = {};
    std::vector<StackFrame> stack = {};
    std::size_t runs = 0;
};

/// The cause that the graph fails for, or the end.
auto cause_with(auto& causes, const std::string& graph) {
    return std::ranges::find_if(causes, [&](const Cause& one) { return std::ranges::count(one.graphs, graph) > 0; });
}

const ValueDivergence* first_wrong(const PageFacts& facts, const std::string& graph) {
    const auto compared = facts.accuracy.find(graph);
    return compared == facts.accuracy.end() ? nullptr : compared->second.divergence.first_wrong();
}

/// How far the first wrong values of these graphs are from the reference's, and what is right before the first: "off by
/// up to 0.52 (4.4e+06 ulp) compared with eager, the reference; the 41 values before it are right".
std::string how_wrong(const PageFacts& facts, const std::vector<std::string>& graphs) {
    ErrorFigures worst;
    for (const std::string& graph : graphs) {
        const ErrorFigures& error = first_wrong(facts, graph)->error;
        worst.misplaced += error.misplaced;
        if (error.max_abs > worst.max_abs) worst.max_abs = error.max_abs, worst.max_ulp = error.max_ulp;
    }
    std::string text;
    if (worst.max_abs > 0)
        text = "off by up to " + significant(worst.max_abs, 2) + " (" + significant(worst.max_ulp, 2) + " ulp)";
    if (worst.misplaced)
        text += (text.empty() ? "" : " and ") + plural(worst.misplaced, "NaN or infinity", "NaN or infinities") +
                " in only one of the two results";
    const std::size_t before = *facts.accuracy.at(graphs.front()).divergence.first;
    return (text.empty() ? "different" : text) + " compared with eager, the reference; " +
           (graphs.size() > 1 ? "in " + graphs.front() + " " : "") +
           (before == 0   ? "no value is computed earlier"
            : before == 1 ? "the one earlier value is right"
                          : "the " + std::to_string(before) + " earlier values are right");
}

Cause cause_of(const PageFacts& facts, const JudgedFrame& failing, const std::string& graph) {
    Cause cause{.first = failing, .value = first_wrong(facts, graph)};
    if (cause.value)
        cause.stack = cause.value->stack.empty() ? stack_of(facts, graph, cause.value->node) : cause.value->stack;
    if (const auto why = facts.not_compared.find(graph); why != facts.not_compared.end())
        cause.not_compared = why->second;
    if (cause.value && !cause.stack.empty())
        cause.key = cause.value->op + " " + cause.stack[0].file + ":" + std::to_string(cause.stack[0].line);
    else if (!cause.not_compared.empty())
        cause.key = "not compared: " + cause.not_compared;
    else
        cause.key = failing.wrong ? "graph " + graph : failing.reason;
    return cause;
}

bool was_minimized(const json& result) { return result.value("result", "") == "minimized"; }

/// Of all failures, however many runs of however many graphs they are.
std::list<Cause> causes_of(const PageFacts& facts) {
    std::list<Cause> causes;
    for (const JudgedFrame& failing : facts.subject.judged) {
        if (failing.verdict != Verdict::fails) continue;
        std::string graph = report::graph_of(facts.subject, failing);
        if (graph.empty()) graph = failing.name;
        auto cause = cause_with(causes, graph);  // its further runs fail otherwise, maybe
        if (cause == causes.end()) {
            Cause found = cause_of(facts, failing, graph);
            cause = std::ranges::find(causes, found.key, &Cause::key);
            if (cause == causes.end()) cause = causes.insert(cause, found);
            cause->graphs.push_back(graph);
            if (found.value && !found.value->module_path.empty()) add_once(cause->modules, found.value->module_path);
        }
        ++cause->runs;
    }
    return causes;
}

/// What a backend fails on: once for each cause.
void add_failures(const PageFacts& facts, Sources& sources, const std::list<Cause>& causes, const json& minified,
                  std::vector<Finding>& findings) {
    const bool any_minimized = std::ranges::any_of(minified, was_minimized);
    for (const Cause& cause : causes) {
        const std::string& graph = cause.graphs.front();
        const bool several = cause.graphs.size() > 1;
        Finding finding{.level = "failed",
                        .detail = (several ? graph + ": " : "") + cause.first.reason,
                        .where = where_of(facts, graph, cause.value),
                        .go = "graph=" + graph,
                        .graphs = cause.graphs};
        if (cause.value) {
            finding.op = short_name(cause.value->op);
            finding.node = cause.value->node;
            finding.title = finding.op + " computes wrong results under " + facts.report.backend;
            finding.detail =
                "first wrong value: %" + cause.value->node + " = " + cause.value->op +
                (cause.modules.empty() ? "" : " in " + sentence_of(cause.modules)) +
                (several ? ", in each of " + plural(cause.graphs.size(), "graph") : ", in graph " + graph) + ": " +
                how_wrong(facts, cause.graphs) + ". The graph as a whole: " + finding.detail;
            finding.place = first_of(sources.places(cause.stack));
            finding.go = "accuracy=" + graph + "&node=" + cause.value->node;
        } else {
            const std::string does = cause.first.wrong
                                         ? (several ? " compute wrong results" : " computes wrong results")
                                         : (several ? " fail" : " fails");
            finding.title = sentence_of(cause.graphs) + does + " under " + facts.report.backend;
            if (!cause.not_compared.empty())
                finding.detail = "no first wrong value: " + cause.not_compared + "; " + finding.detail;
        }
        if (cause.runs > 1) finding.detail += " (the first of " + std::to_string(cause.runs) + " runs)";
        const auto is_of_it = [&](const json& result) {
            return was_minimized(result) && std::ranges::count(cause.graphs, result.value("graph", "")) > 0;
        };
        if (!any_minimized)
            finding.command = asking(facts, "--minify");
        else if (std::ranges::none_of(minified, is_of_it))
            finding.detail += "; not minimized, because another graph with the same kind of failure was minimized";
        findings.push_back(std::move(finding));
    }
}

/// Of a result of minify, with the command that shows it where a repro is verified.
Finding minified_finding(const PageFacts& facts, const json& result, const Cause* cause, Sources& sources) {
    const json repro = result.value("repro", json::object());
    const bool verified = repro.value("verified", false);
    const json culprit = result.value("culprit", json::object());
    const std::string decisive =
        culprit.value("directive", "").empty() ? culprit.value("op", "") : culprit.value("directive", "");
    const json nodes = result.value("nodes", json::array());
    const bool one = nodes.size() == 1;
    Finding finding{.level = "failed",
                    .title = plural(result["calls_before"].get<std::size_t>(), "operation") +
                             (cause ? " of " + result["graph"].get<std::string>() : "") + " minimized to " +
                             (one ? short_name(nodes[0]["op"]) : result["calls_after"].dump()) +
                             (verified ? ", with a verified repro" : ""),
                    .detail = decisive.empty() ? result.value("minimized_message", result.value("message", ""))
                                               : "culprit: " + culprit.value("component", "") + " " + decisive,
                    .go = "minify",
                    .repro = verified};
    if (one) finding.place = first_of(nodes[0]["at"]);
    if (finding.place.is_null() && cause) finding.place = first_of(sources.places(cause->stack));
    if (cause) finding.where = where_of(facts, cause->graphs.front(), cause->value);
    if (const std::string whom = result.value("report_to", ""); !whom.empty())
        finding.detail += "; report the failure to " + whom;
    if (verified) finding.detail += "; the repro is on this page, under Minified";
    if (verified && repro.value("compile_command", "") != "")
        finding.command = repro["compile_command"].get<std::string>() + " && " +
                          repro.value("run_command", "./" + fs::path(repro.value("output", "")).stem().string());
    return finding;
}

/// What minify made of the failures: in front of them where it ends in a repro that is verified, else behind them.
void add_minified(const PageFacts& facts, const std::list<Cause>& causes, const json& minified, Sources& sources,
                  std::vector<Finding>& findings) {
    std::vector<Finding> verified;
    for (const json& result : minified) {
        if (!was_minimized(result)) continue;
        const auto cause = cause_with(causes, result.value("graph", ""));
        Finding finding = minified_finding(facts, result, cause == causes.end() ? nullptr : &*cause, sources);
        (finding.repro ? verified : findings).push_back(std::move(finding));
    }
    findings.insert(findings.begin(), verified.begin(), verified.end());
}

void add_capture_faults(const PageFacts& facts, std::vector<Finding>& findings) {
    if (!facts.subject.index) return;
    for (const IndexGraph& graph : facts.subject.index->graphs)
        if (!graph.capture_fault.empty())
            findings.push_back(
                {.level = "failed",
                 .title =
                     graph.name + " does not compute what the program computed; this is a bug in Whittle's capture",
                 .detail = graph.capture_fault,
                 .go = "graph=" + graph.name});
}

/// A program that uses Halide, and fails or meets an error of Halide.
void add_schedule(const PageFacts& facts, std::vector<Finding>& findings) {
    if (!facts.schedule) return;
    const std::string error = facts.schedule->value("error", "");
    if (error.empty() && facts.subject.ended.empty()) return;
    findings.push_back({.level = "failed",
                        .title = error.empty() ? "the program " + facts.subject.ended
                                               : "Halide reports an error: " + error.substr(0, error.find('\n')),
                        .detail = "minify finds the scheduling directives that cause the failure",
                        .command = shell_quote(program_words("minify", facts.subject.words())),
                        .go = "halide"});
}

void add_breaks(const PageFacts& facts, Sources& sources, std::vector<Finding>& findings) {
    for (const report::BreakReason& reason : facts.report.break_reasons) {
        const report::BreakPlace& place = reason.places.front();
        const std::string hint = reason.hint();
        findings.push_back({.level = "break",
                            .title = reason.reason,
                            .detail = plural(reason.count, "graph break") + (hint.empty() ? "" : "; " + hint),
                            .place = first_of(sources.places(place.user_stack)),
                            .where = place.user_stack.empty() ? std::string()
                                                              : node_in_file(place.node, place.user_stack.front().file),
                            .command = shell_quote(program_words("explain", {"break", std::string(reason.info().id)})),
                            .go = "breaks=" + std::string(reason.info().id)});
    }
}

void add_recompiles(const PageFacts& facts, Sources& sources, std::vector<Finding>& findings) {
    // The page has what --recompiles says; of a folder that trace wrote the program cannot be run again.
    std::error_code unknown;
    const bool folder = facts.subject.program.empty() && fs::is_directory(facts.report.model, unknown);
    const std::string next = folder ? "" : asking(facts, "--recompiles=all");
    for (const IndexRecompile& recompile : facts.report.recompiles)
        findings.push_back(
            {.level = "recompiled",
             .title = recompile.frame + " was recompiled: " + recompile.guard,
             .detail = plural(recompile.count, "time") + (recompile.advice.empty() ? "" : "; " + recompile.advice),
             .place = first_of(sources.places(recompile.stack)),
             .command = next,
             .go = "guards=" + recompile.frame});
}

}  // namespace

std::string asking(const PageFacts& facts, const std::string& option) {
    if (facts.command.empty() || facts.diff)  // a comparison follows nothing up
        return shell_quote(program_words("explain", facts.subject.words({"--backend", facts.report.backend, option})));
    std::vector<std::string> words;
    const auto program = facts.command.begin() + static_cast<std::ptrdiff_t>(facts.own_words);  // what it runs
    for (auto word = facts.command.begin(); word != program; ++word) {
        if (*word == "--html" && word + 1 != program)
            ++word;
        else if (!word->starts_with("--html=") && *word != "--no-source" && *word != "--minify")
            words.push_back(*word);
    }
    const std::size_t own = words.size();
    words.insert(words.end(), program, facts.command.end());
    return shell_quote(with_option(std::move(words), option, own));
}

void add_findings(const PageFacts& facts, json& data, Sources& sources) {
    std::vector<Finding> findings;
    const json minified = data.value("minify", json::array());
    const std::list<Cause> causes = causes_of(facts);
    add_failures(facts, sources, causes, minified, findings);
    add_minified(facts, causes, minified, sources, findings);
    add_capture_faults(facts, findings);
    add_schedule(facts, findings);
    add_breaks(facts, sources, findings);
    add_recompiles(facts, sources, findings);
    data["findings"] = json::array();
    json& headline = data["headline"] = nullptr;
    for (const Finding& finding : findings) {
        data["findings"].push_back(finding.to_json());
        if (finding.level != std::string_view("failed") || finding.go == "minify") continue;
        if (headline.is_null())
            headline = {{"text", finding.title}, {"place", finding.place}, {"where", finding.where}, {"more", 0}};
        else
            headline["more"] = headline["more"].get<int>() + 1;
    }
}

json status_of(const PageFacts& facts, const json& frame) {
    const auto graphs = frame["graphs"].get<std::vector<std::string>>();
    const auto has = [&](const std::string& graph) { return std::ranges::find(graphs, graph) != graphs.end(); };
    json status = json::array();
    bool failed = std::ranges::any_of(facts.subject.judged, [&](const JudgedFrame& judged) {
        return judged.verdict == Verdict::fails && has(report::graph_of(facts.subject, judged));
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

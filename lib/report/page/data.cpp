#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/command_words.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "formats/shared_fields.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "report/page/page.h"
#include "report/page/parts.h"

namespace whittle::html {

using nlohmann::json;

namespace {

/// "layers.0.attention". Exporters of ONNX put it into nodes' names: "/layers/layers.0/attention/MatMul".
std::string module_path(const Graph& graph, const Node& node) {
    if (graph.dialect != "onnx") return node.module_path;
    std::vector<std::string> path = split(node.module_path, '/');
    std::erase(path, "");
    if (!path.empty()) path.pop_back();  // the node's own
    std::string joined, last;
    for (const std::string& segment : path) {
        const bool repeats = !last.empty() && segment.starts_with(last + ".");
        const std::string added = repeats ? segment.substr(last.size() + 1) : segment;
        joined += (joined.empty() ? "" : ".") + added;
        last = segment;
    }
    return joined;
}

json node_json(const Graph& graph, const Node& node, Sources& sources) {
    const char* const kind = node.kind == NodeKind::placeholder ? "input"
                             : node.kind == NodeKind::output    ? "output"
                                                                : "op";
    json entry = {{"id", node.name}, {"kind", kind}, {"text", print(graph, node)}};
    entry["op"] = node.kind == NodeKind::call ? node.target : kind;
    if (node.kind == NodeKind::placeholder && !node.target.empty()) entry["label"] = node.target;
    entry["in"] = entry["out"] = json::array();
    std::set<std::string> seen;
    for_each_input(node, [&](NodeRef ref) {
        const Node& read = graph.node(ref);
        if (!seen.insert(read.name).second) return;
        if (read.kind == NodeKind::get_attr)
            entry["params"].push_back(read.target);
        else
            entry["in"].push_back(read.name);
    });
    if (node.kind != NodeKind::output)
        for (const ValueMeta& meta : node.results)
            entry["out"].push_back({{"dtype", name(meta.dtype)}, {"sizes", meta.sizes}});
    if (const std::string path = module_path(graph, node); !path.empty()) entry["mod"] = path;
    if (json at = sources.places(node.stack); !at.empty()) entry["at"] = std::move(at);
    return entry;
}

/// How the backend fails on the graph, and where its values were not compared, why; null where it does not.
json failure_json(const PageFacts& facts, const std::string& graph) {
    json failure;
    std::int64_t runs = 0;
    for (const JudgedFrame& failing : facts.subject.judged) {
        if (failing.verdict != Verdict::fails || report::graph_of(facts.subject, failing) != graph) continue;
        if (++runs == 1) failure = {{"message", failing.reason}, {"wrong", failing.wrong}};
        failure["runs"] = runs;
    }
    if (const auto why = facts.not_compared.find(graph); why != facts.not_compared.end() && runs > 0)
        failure["not_compared"] = why->second;
    return failure;
}

/// Runs the record again on the page's backend. Of a program the records are gone with explain: trace makes them.
std::string replay_command(const PageFacts& facts, const IndexRecord& record) {
    const std::filesystem::path model = facts.report.model;
    std::error_code unknown;
    const bool folder = facts.subject.program.empty() && std::filesystem::is_directory(model, unknown);
    std::vector<std::string> replay = program_words("replay", {((folder ? model : "traces") / record.file).string()});
    if (!facts.report.backend.empty()) replay.insert(replay.end(), {"--backend", facts.report.backend});
    std::vector<std::string> trace = program_words("trace", {"-o", "traces"});
    for (const std::string& word : facts.subject.words()) trace.push_back(word);
    return (folder ? "" : shell_quote(trace) + " && ") + shell_quote(replay);
}

/// "return", or the reason of the break.
std::string end_of(const PageFacts& facts, const report::GraphSummary& graph) {
    if (graph.ended_by_break)
        for (const report::BreakReason& reason : facts.report.break_reasons)
            for (const report::BreakPlace& place : reason.places)
                if (std::ranges::count(place.breaks, *graph.ended_by_break)) return reason.reason;
    return "return";
}

json graph_json(const PageFacts& facts, const report::Frame& frame, Sources& sources) {
    const TraceIndex* const index = facts.subject.index ? &*facts.subject.index : nullptr;
    const report::GraphSummary graph = report::summarize(frame.graph, frame, index);
    json entry = report_json(graph);
    entry["inputs"] = graph.input_values.size(), entry["outputs"] = graph.output_values.size();  // the nodes are them
    entry["symbols"] = report_json(graph.symbols);
    entry["ended_by"] = end_of(facts, graph);
    entry["nodes"] = json::array();  // parameters are told at their readers
    for (const Node& node : frame.graph.nodes)
        if (node.kind != NodeKind::get_attr) entry["nodes"].push_back(node_json(frame.graph, node, sources));
    // The backend that the program itself compiles for may be another.
    for (const GraphProfile& measured : facts.subject.profile.graphs)
        if (measured.graph == graph.name && measured.failure.empty())
            entry["compile_seconds"] = measured.compile_seconds;
    if (json failure = failure_json(facts, graph.name); !failure.is_null()) entry["failure"] = std::move(failure);
    if (index)
        for (const IndexRecord& record : index->records)
            if (record.graph == graph.name && !entry.contains("replay"))
                entry["replay"] = replay_command(facts, record);
    return entry;
}

/// Graphs that ended at one of the breaks, and those that the program went on with.
void add_neighbours(const std::vector<IndexGraph>& graphs, const std::vector<std::size_t>& breaks, json& entry) {
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        if (!graphs[i].ended_by_break || !std::ranges::count(breaks, *graphs[i].ended_by_break)) continue;
        entry["before"].push_back(graphs[i].name);
        const bool more = i + 1 < graphs.size() && graphs[i + 1].frame == graphs[i].frame;
        entry["after"].push_back(more ? json(graphs[i + 1].name) : json());
    }
}

/// Each place of each reason.
json breaks_json(const PageFacts& facts, Sources& sources) {
    json breaks = json::array();
    for (const report::BreakReason& reason : facts.report.break_reasons)
        for (const report::BreakPlace& place : reason.places) {
            json entry = {{"id", reason.info().id},  {"title", reason.info().title},
                          {"hint", reason.hint()},   {"reason", reason.reason},
                          {"op", reason.op},         {"count", place.count},
                          {"node", place.node},      {"at", sources.places(place.user_stack)},
                          {"before", json::array()}, {"after", json::array()}};
            const bool captured = !place.breaks.empty();
            entry["frame"] = captured || place.user_stack.empty() ? place.frame : place.user_stack.front().function;
            if (captured) add_neighbours(facts.subject.index->graphs, place.breaks, entry);
            breaks.push_back(std::move(entry));
        }
    return breaks;
}

/// As they are, with places in place of their stacks.
template <class T>
json placed(const std::vector<T>& entries, Sources& sources) {
    json all = report_json(entries);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        all[i].erase("stack"), all[i].erase("source");
        all[i]["at"] = sources.places(entries[i].stack);
    }
    return all;
}

json accuracy_json(const PageFacts& facts) {
    json all = json::object();
    for (const auto& [graph, compared] : facts.accuracy) {
        const auto& values = compared.divergence.values;
        const auto born = std::ranges::find_if(values, [](const ValueDivergence& value) { return value.born.nan; });
        json& entry = all[graph] = report::to_json(compared.divergence);
        entry["backend"] = compared.backend;
        entry["nan_born"] = born == values.end() ? json() : json(born->node);
    }
    return all;
}

/// With places of the page.
json schedule_json(json schedule, Sources& sources) {
    for (json& directive : schedule["directives"]) {
        const StackFrame frame{.file = directive.value("file", ""),
                               .line = directive.value("line", 0),
                               .function = {},
                               .text = directive.value("source", "")};
        if (const json places = sources.places({frame}); !places.empty()) directive["place"] = places[0];
        for (const char* const member : {"file", "line", "column", "source"}) directive.erase(member);
    }
    return schedule;
}

/// Of the entries of a function.
template <class T>
T sum(const json& entries, const json& function, const char* member) {
    T all{};
    for (const json& entry : entries)
        if (function.is_null() || entry["frame"] == function) all += entry[member].get<T>();
    return all;
}

/// What became of each function, worst first; with the graphs in the order of their compilation.
json frames_json(const PageFacts& facts, const json& data, Sources& sources) {
    json frames = json::array();
    std::map<std::string, std::size_t> position;
    for (std::size_t i = 0; i < data["graphs"].size(); ++i) {
        const json &graph = data["graphs"][i], &function = graph["frame"];
        const auto [at, added] = position.try_emplace(function, frames.size());
        if (added)
            frames.push_back({{"name", function},
                              {"graphs", json::array()},
                              {"ops", sum<std::int64_t>(data["graphs"], function, "ops")},
                              {"breaks", sum<std::int64_t>(data["breaks"], function, "count")},
                              {"recompiles", sum<std::int64_t>(data["recompiles"], function, "count") -
                                                 sum<std::int64_t>(data["recompiles"], function, "shared")},
                              {"compile_seconds", sum<double>(data["graphs"], function, "compile_seconds")},
                              {"calls", nullptr},
                              {"at", nullptr}});
        json& frame = frames[at->second];
        frame["graphs"].push_back(graph["name"]);
        if (frame["at"].is_null()) frame["at"] = sources.place_of_function(facts.subject.frames[i].graph, function);
    }
    for (json& frame : frames) {
        const auto add = [&](const char* member, const std::map<std::string, std::int64_t>& counts) {
            if (const auto count = counts.find(frame["name"]); count != counts.end()) frame[member] = count->second;
        };
        add("calls", facts.report.calls);
        add("eager_calls", facts.report.eager_calls);
        if (std::ranges::find(facts.report.guessed_calls, frame["name"].get<std::string>()) !=
            facts.report.guessed_calls.end()) {
            frame["calls_guessed"] = true;
            if (frame["calls"].is_null()) frame["calls"] = 1;  // which goes without saying where it is certain
        }
        frame["status"] = status_of(facts, frame);
    }
    return frames;
}

json totals_json(const PageFacts& facts, const json& data) {
    return {{"functions", data["frames"].size()},
            {"graphs", facts.report.graphs.size()},
            {"ops", facts.report.op_count},
            {"breaks", facts.report.graph_break_count},
            {"recompiles", recompile_count(facts.report.recompiles)},
            {"compile_seconds", sum<double>(data["graphs"], nullptr, "compile_seconds")},
            {"compile_backend", facts.subject.profile.graphs.empty() ? "" : facts.subject.profile.backend},
            {"checked", facts.report.checks.checked},
            {"capture_faults", facts.report.checks.faults}};
}

}  // namespace

void hide_source(PageFacts& facts) {
    if (facts.source) return;
    const auto hide = [](std::vector<StackFrame>& stack) {
        for (StackFrame& frame : stack) frame.text.clear();
    };
    for (report::BreakReason& reason : facts.report.break_reasons) {
        reason.reason = reason.info().title;
        reason.brief.clear();
        for (report::BreakPlace& place : reason.places) hide(place.user_stack);
    }
    for (IndexRecompile& recompile : facts.report.recompiles) hide(recompile.stack);
    if (!facts.diff) return;
    for (report::CountDiff& one : facts.diff->breaks)  // "WB0001 print: …"
        one.what.resize(std::min(one.what.find(' '), one.what.size()));
}

json page_data(PageFacts facts) {
    hide_source(facts);
    Sources sources(facts.source);
    json data = {{"format", "whittle.report"},
                 {"version", "1.0"},
                 {"model", facts.report.model},
                 {"backend", facts.report.backend},
                 {"command", shell_quote(facts.command)},
                 {"accuracy", accuracy_json(facts)},
                 {"unsupported", facts.report.unsupported},
                 {"notes", facts.report.notes},
                 {"torch_compilations", report_json(facts.report.torch_compilations)},
                 {"environment", facts.environment},
                 {"graphs", json::array()},
                 {"calls", report_json(facts.report.call_log)}};
    for (const report::Frame& frame : facts.subject.frames) data["graphs"].push_back(graph_json(facts, frame, sources));
    data["breaks"] = breaks_json(facts, sources);
    data["recompiles"] = placed(facts.report.recompiles, sources);
    data["callers"] = placed(facts.report.callers, sources);
    data["frames"] = frames_json(facts, data, sources);
    data["totals"] = totals_json(facts, data);
    if (facts.schedule) data["halide"] = schedule_json(*facts.schedule, sources);
    if (facts.minified) data["minify"] = minified_json(*facts.minified, facts.repros, sources);
    add_findings(facts, data, sources);
    if (!facts.subject.profile.empty()) data["profile"] = report::to_json(facts.subject.profile);
    if (facts.diff)
        data["diff"] = report::to_json(*facts.diff);
    else
        data["timeline"] = asking(facts, "--times=timeline.json");
    data["files"] = sources.files();
    return data;
}

}  // namespace whittle::html

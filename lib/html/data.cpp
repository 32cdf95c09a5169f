#include "html/data.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/command_words.h"
#include "base/subprocess.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "html/findings.h"
#include "html/minified.h"
#include "html/sources.h"

namespace whittle::html {

using nlohmann::json;

namespace {

json result_json(const ValueMeta& meta) { return {{"dtype", name(meta.dtype)}, {"sizes", meta.sizes}}; }

/// "layers.0.attention". Exporters of ONNX put it into nodes' names: "/layers/layers.0/attention/MatMul".
std::string module_path(const Graph& graph, const Node& node) {
    if (graph.dialect != "onnx") return node.module_path;
    std::istringstream segments(node.module_path);
    std::vector<std::string> path;
    for (std::string segment; std::getline(segments, segment, '/');)
        if (!segment.empty()) path.push_back(segment);
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

/// The nodes that are drawn: parameters are told at their readers, and results of a call with several by its getitems.
class GraphNodes {
  public:
    GraphNodes(const Graph& graph, Sources& sources) : graph_(graph), sources_(sources) {}

    json list() {
        json nodes = json::array();
        for (const Node& node : graph_.nodes)
            if (node.kind != NodeKind::get_attr) nodes.push_back(one(node));
        return nodes;
    }

  private:
    static const char* kind(const Node& node) {
        return node.kind == NodeKind::placeholder ? "input" : node.kind == NodeKind::output ? "output" : "op";
    }

    json one(const Node& node) {
        json entry = {{"id", node.name}, {"kind", kind(node)}, {"text", print(graph_, node)}};
        entry["op"] = node.kind == NodeKind::call ? node.target : kind(node);
        if (node.kind == NodeKind::placeholder && !node.target.empty()) entry["label"] = node.target;
        entry["in"] = entry["out"] = json::array();
        std::set<std::string> seen;
        for_each_input(node, [&](NodeRef ref) {
            const Node& read = graph_.node(ref);
            if (!seen.insert(read.name).second) return;
            if (read.kind == NodeKind::get_attr)
                entry["params"].push_back(read.target);
            else
                entry["in"].push_back(read.name);
        });
        if (node.kind != NodeKind::output)
            for (const ValueMeta& meta : node.results) entry["out"].push_back(result_json(meta));
        if (const std::string path = module_path(graph_, node); !path.empty()) entry["mod"] = path;
        if (json at = sources_.places(node.stack); !at.empty()) entry["at"] = std::move(at);
        return entry;
    }

    const Graph& graph_;
    Sources& sources_;
};

const IndexGraph* entry_of(const PageFacts& facts, const explain::Frame& frame) {
    if (!facts.subject.index) return nullptr;
    for (const IndexGraph& entry : facts.subject.index->graphs)
        if (entry.name == frame.graph.name && entry.frame == frame.name) return &entry;
    return nullptr;
}

/// What compiling it for the page's backend took, where that was measured: the backend that the program itself compiles
/// for may be another.
std::optional<double> compile_seconds_of(const PageFacts& facts, const std::string& graph) {
    for (const auto& measured : facts.subject.profile.graphs)
        if (measured.graph == graph && measured.failure.empty()) return measured.compile_seconds;
    return std::nullopt;
}

/// How the backend fails on the graph, and where its values were not compared, why; null where it does not.
json failure_json(const PageFacts& facts, const std::string& graph) {
    json failure;
    std::int64_t runs = 0;
    for (const debug::JudgedFrame& failing : facts.subject.judged) {
        if (failing.verdict != Verdict::fails || graph_of(facts.subject, failing) != graph) continue;
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
    const bool folder = std::filesystem::is_directory(model, unknown);
    std::vector<std::string> replay = program_words("replay", {((folder ? model : "traces") / record.file).string()});
    if (!facts.report.backend.empty()) replay.insert(replay.end(), {"--backend", facts.report.backend});
    return (folder ? "" : shell_quote(program_words("trace", {"-o", "traces", model.string()})) + " && ") +
           shell_quote(replay);
}

json graph_json(const PageFacts& facts, const explain::Frame& frame, Sources& sources) {
    const Graph& graph = frame.graph;
    json entry = {{"name", graph.name},
                  {"frame", frame.name},
                  {"ops", op_count(graph)},
                  {"inputs", graph.placeholders().size()},
                  {"outputs", graph.outputs().size()},
                  {"parameters", graph.attributes.size()},
                  {"nodes", GraphNodes(graph, sources).list()},
                  {"guards", json::array()},
                  {"symbols", json::array()},
                  {"ended_by", "return"}};
    std::int64_t bytes = 0;
    for (const auto& [name, tensor] : graph.attributes)
        bytes += tensor.numel() * static_cast<std::int64_t>(size_of(tensor.dtype()));
    entry["parameter_bytes"] = bytes;
    const IndexGraph* known = entry_of(facts, frame);
    entry["compile_seconds"] = compile_seconds_of(facts, graph.name).value_or(known ? known->compile_seconds : 0.0);
    if (json failure = failure_json(facts, graph.name); !failure.is_null()) entry["failure"] = std::move(failure);
    if (!known) return entry;
    for (const IndexGuard& guard : known->guards) entry["guards"].push_back(guard.text());
    for (const IndexSymbol& symbol : known->symbols)
        entry["symbols"].push_back({{"name", symbol.name}, {"place", symbol.place}, {"values", symbol.values}});
    if (known->ended_by_break) {
        const IndexBreak& end = facts.subject.index->breaks[*known->ended_by_break];
        entry["ended_by"] = reason_text(facts, end.reason, end.id);
    }
    entry["compilations"] = known->compilations;
    entry["runs"] = known->runs;
    if (!known->variant_of.empty()) entry["variant"] = {{"of", known->variant_of}, {"difference", known->difference}};
    if (!known->capture_fault.empty()) entry["capture_fault"] = known->capture_fault;
    for (const IndexRecord& record : facts.subject.index->records)
        if (record.graph == graph.name && !entry.contains("replay")) entry["replay"] = replay_command(facts, record);
    return entry;
}

/// Graphs that ended at the break, and those that the program went on with.
void add_neighbours(const TraceIndex& index, std::size_t position, json& entry) {
    entry["before"] = entry["after"] = json::array();
    for (std::size_t i = 0; i < index.graphs.size(); ++i) {
        if (index.graphs[i].ended_by_break != position) continue;
        entry["before"].push_back(index.graphs[i].name);
        const bool more = i + 1 < index.graphs.size() && index.graphs[i + 1].frame == index.graphs[i].frame;
        entry["after"].push_back(more ? json(index.graphs[i + 1].name) : json());
    }
}

json breaks_json(const PageFacts& facts, Sources& sources) {
    json breaks = json::array();
    for (const explain::BreakReason& reason : facts.report.break_reasons)
        for (const explain::BreakPlace& place : reason.places) {
            json entry = {{"id", reason.info().id},  {"title", reason.info().title},
                          {"hint", reason.hint()},   {"reason", reason_text(facts, reason.reason, reason.info().id)},
                          {"op", reason.op},         {"count", place.count},
                          {"node", place.node},      {"at", sources.places(place.user_stack)},
                          {"before", json::array()}, {"after", json::array()}};
            entry["frame"] = place.user_stack.empty() ? std::string() : place.user_stack.front().function;
            if (facts.subject.index)
                for (std::size_t i = 0; i < facts.subject.index->breaks.size(); ++i) {
                    const IndexBreak& known = facts.subject.index->breaks[i];
                    if (known.reason != reason.reason || known.stack != place.user_stack) continue;
                    entry["frame"] = known.frame;
                    add_neighbours(*facts.subject.index, i, entry);
                }
            breaks.push_back(std::move(entry));
        }
    return breaks;
}

json recompiles_json(const PageFacts& facts, Sources& sources) {
    json recompiles = json::array();
    for (const IndexRecompile& recompile : facts.report.recompiles)
        recompiles.push_back({{"frame", recompile.frame},
                              {"guard", recompile.guard},
                              {"advice", recompile.advice},
                              {"count", recompile.count},
                              {"at", sources.places(recompile.stack)}});
    return recompiles;
}

json accuracy_json(const PageFacts& facts) {
    json all = json::object();
    for (const auto& [graph, compared] : facts.accuracy) {
        json entry = explain::to_json(compared.divergence);
        entry["backend"] = compared.backend;
        entry["nan_born"] = nullptr;
        for (const ValueDivergence& value : compared.divergence.values)
            if (value.born.nan && entry["nan_born"].is_null()) entry["nan_born"] = value.node;
        all[graph] = std::move(entry);
    }
    return all;
}

/// What became of each function, worst first; with the graphs in the order of their compilation.
json frames_json(const PageFacts& facts, const json& graphs, const json& breaks, const json& recompiles,
                 Sources& sources) {
    json frames = json::array();
    std::map<std::string, std::size_t> position;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        const json& graph = graphs[i];
        const auto [at, added] = position.try_emplace(graph["frame"], frames.size());
        if (added)
            frames.push_back({{"name", graph["frame"]},
                              {"graphs", json::array()},
                              {"ops", 0},
                              {"breaks", 0},
                              {"recompiles", 0},
                              {"compile_seconds", 0.0},
                              {"calls", nullptr},
                              {"at", nullptr}});
        json& frame = frames[at->second];
        frame["graphs"].push_back(graph["name"]);
        frame["ops"] = frame["ops"].get<std::int64_t>() + graph["ops"].get<std::int64_t>();
        frame["compile_seconds"] = frame["compile_seconds"].get<double>() + graph["compile_seconds"].get<double>();
        if (frame["at"].is_null())
            frame["at"] = sources.place_of_function(facts.subject.frames[i].graph, graph["frame"]);
    }
    const auto add = [&](const json& entries, const char* member) {
        for (const json& entry : entries)
            if (const auto found = position.find(entry["frame"]); found != position.end()) {
                json& count = frames[found->second][member];
                count = count.get<std::int64_t>() + entry["count"].get<std::int64_t>();
            }
    };
    add(breaks, "breaks");
    add(recompiles, "recompiles");
    for (json& frame : frames) {
        if (facts.subject.index)
            if (const auto calls = facts.subject.index->calls.find(frame["name"]);
                calls != facts.subject.index->calls.end())
                frame["calls"] = calls->second;
        if (facts.subject.index)
            if (const auto eager = facts.subject.index->eager_calls.find(frame["name"]);
                eager != facts.subject.index->eager_calls.end())
                frame["eager_calls"] = eager->second;
        frame["status"] = status_of(facts, frame);
    }
    return frames;
}

/// Which specialization each call hit.
json calls_json(const PageFacts& facts) {
    json calls = json::array();
    if (!facts.subject.index) return calls;
    for (const IndexCall& call : facts.subject.index->call_log) {
        json entry = {{"frame", call.frame}, {"call", call.call}, {"compiled", call.compiled}, {"graphs", call.graphs}};
        entry["specialization"] = call.specialization ? json(*call.specialization) : json();
        if (!call.guard.empty())
            entry.update({{"guard", call.guard}, {"condition", call.condition}, {"found", call.found}});
        calls.push_back(std::move(entry));
    }
    return calls;
}

json callers_json(const PageFacts& facts, Sources& sources) {
    json callers = json::array();
    if (!facts.subject.index) return callers;
    for (const IndexCaller& caller : facts.subject.index->callers)
        callers.push_back({{"frame", caller.frame}, {"calls", caller.calls}, {"at", sources.places(caller.stack)}});
    return callers;
}

json totals_json(const PageFacts& facts, const json& frames, const json& graphs) {
    double seconds = 0;
    std::int64_t recompiles = 0;
    for (const json& graph : graphs) seconds += graph["compile_seconds"].get<double>();
    for (const IndexRecompile& recompile : facts.report.recompiles) recompiles += recompile.count;
    return {{"functions", frames.size()},
            {"graphs", facts.report.graphs.size()},
            {"ops", facts.report.op_count},
            {"breaks", facts.report.graph_break_count},
            {"recompiles", recompiles},
            {"compile_seconds", seconds},
            {"compile_backend", facts.subject.profile.graphs.empty() ? "" : facts.subject.profile.backend},
            {"checked", facts.report.checks.checked},
            {"capture_faults", facts.report.checks.faults}};
}

}  // namespace

json page_data(const PageFacts& facts) {
    Sources sources(facts.source);
    json graphs = json::array();
    for (const explain::Frame& frame : facts.subject.frames) graphs.push_back(graph_json(facts, frame, sources));
    json breaks = breaks_json(facts, sources);
    json recompiles = recompiles_json(facts, sources);
    json frames = frames_json(facts, graphs, breaks, recompiles, sources);
    json minified = json::array();
    if (facts.minified) minified = minified_json(*facts.minified, facts.repros, sources);
    json findings = findings_json(facts, minified, sources);
    json data = {{"format", "whittle.report"},
                 {"version", "1.0"},
                 {"model", facts.report.model},
                 {"backend", facts.report.backend},
                 {"command", shell_quote(facts.command)},
                 {"totals", totals_json(facts, frames, graphs)},
                 {"headline", headline_of(findings)},
                 {"findings", std::move(findings)},
                 {"accuracy", accuracy_json(facts)},
                 {"unsupported", facts.report.unsupported},
                 {"notes", facts.report.notes},
                 {"environment", facts.environment}};
    if (facts.minified) data["minify"] = std::move(minified);
    data["frames"] = std::move(frames);
    data["graphs"] = std::move(graphs);
    data["breaks"] = std::move(breaks);
    data["recompiles"] = std::move(recompiles);
    data["calls"] = calls_json(facts);
    data["callers"] = callers_json(facts, sources);
    if (!facts.subject.profile.empty()) data["profile"] = explain::to_json(facts.subject.profile);
    if (facts.diff) data["diff"] = explain::to_json(*facts.diff);
    data["files"] = sources.files();
    return data;
}

}  // namespace whittle::html

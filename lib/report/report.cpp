#include "report/report.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/words.h"
#include "graph/abilities.h"
#include "graph/graph.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "judge/outcome.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"
#include "ops/onnx/sequence.h"
#include "passes/subgraph.h"
#include "report/generalized.h"
#include "report/split.h"

namespace whittle::report {

namespace {

struct FoundBreak {
    NodeId node = -1;  ///< -1: the frontend named no call of the graph
    BreakKind kind = BreakKind::frontend;
    std::string op, reason;
    bool stops = true, told = true;  ///< a graph ends there; it is a break of its own
};

std::string opset_text(const Graph& graph, const std::string& target) {
    const auto dot = target.rfind('.');
    std::string domain = target.substr(0, dot == std::string::npos ? 0 : dot);
    if (domain == "onnx") domain.clear();
    const auto opset = graph.opset_imports.find(domain);
    return opset == graph.opset_imports.end() ? "" : " (opset " + std::to_string(opset->second) + ")";
}

/// The calls that the backend does not support, which named their ops. It may take some of an op's calls and not
/// others, by their dtypes say: those of an op that is called more than once are asked for each alone, and are all
/// meant where none is refused so.
std::set<NodeId> refused_calls(const Graph& graph, const Backend* backend,
                               const std::vector<std::string>& unsupported) {
    std::map<std::string, std::vector<NodeId>> calls;
    for (const NodeId id : graph.calls())
        if (std::ranges::find(unsupported, graph.node({id}).target) != unsupported.end())
            calls[graph.node({id}).target].push_back(id);
    std::map<std::string, bool> known;  // of calls that look alike
    const auto is_refused = [&](NodeId id) {
        Node call = map_inputs(graph.node({id}), [&](NodeRef ref) {
            const Node& input = graph.node(ref);
            return Arg((input.kind == NodeKind::get_attr ? input.target : "") + print(input.meta()));
        });
        call.name.clear();
        const auto [entry, fresh] = known.try_emplace(print(graph, call));
        if (fresh) entry->second = !unsupported_isolated(piece(graph, {&id, 1}).graph, *backend).empty();
        return entry->second;
    };
    std::set<NodeId> refused;
    for (const auto& [op, all] : calls) {
        std::vector<NodeId> alone;
        if (all.size() > 1) std::ranges::copy_if(all, std::back_inserter(alone), is_refused);
        const std::vector<NodeId>& meant = alone.empty() ? all : alone;
        refused.insert(meant.begin(), meant.end());
    }
    return refused;
}

/// What the backend lacks to compile the call, whatever its op is; empty where it is the op.
std::string lacks(const Backend& backend, const Graph& graph, const Node& call) {
    const Lacking* lacking = offered<Lacking>(backend);
    return lacking ? lacking->lacks(graph, call) : std::string();
}

std::string refusal_text(const Graph& graph, const Node& call, const Backend& backend) {
    const std::string what = lacks(backend, graph, call);
    if (!what.empty()) return "backend " + backend.name() + " has no " + what;
    return "backend " + backend.name() + " does not support " + call.target + opset_text(graph, call.target);
}

/// Of an op that the backend named: the op, or what its refused calls lack whatever they compute.
std::string unsupported_text(const Graph& graph, const std::set<NodeId>& refused, const std::string& op,
                             const Backend& backend) {
    std::string found;
    for (const NodeId id : refused) {
        if (graph.node({id}).target != op) continue;
        const std::string what = lacks(backend, graph, graph.node({id}));
        if (what.empty()) return op;
        found = what;
    }
    return found.empty() ? op : found;
}

/// Why a call is a break, if it is. `frontend` maps call names to reasons; `refused` are those of the backend.
std::vector<FoundBreak> find_breaks(const Frame& frame, const Backend* backend, const std::set<NodeId>& refused) {
    const Graph& graph = frame.graph;
    std::map<std::string, std::string> frontend;
    std::vector<FoundBreak> found;
    for (const Break& b : frame.breaks) {
        if (graph.find(b.node))
            frontend[b.node] = b.reason;
        else
            found.push_back({-1, BreakKind::frontend, "", b.reason});
    }
    const bool judged = backend && !offered<Reference>(*backend);
    bool misplaced_before = false;
    for (const NodeId id : graph.calls()) {
        const Node& call = graph.node({id});
        if (is_getitem(call)) continue;
        const bool misplaced = backend && touches_misplaced(graph, call) && !touches_unknown(graph, call);
        const bool goes_on = std::exchange(misplaced_before, misplaced);
        const RegisteredOp* op = kernel_of(call.target);
        const std::string opset = opset_text(graph, call.target);
        const auto add = [&](BreakKind kind, const std::string& reason, bool stops = true, bool told = true) {
            found.push_back({id, kind, call.target, reason, stops, told});
        };
        if (const auto told = frontend.find(call.name); told != frontend.end())
            add(BreakKind::frontend, told->second);
        else if (misplaced)
            // Where the graph ends for a compiler, it goes on behind all of them; for the reference it is the
            // program's.
            add(BreakKind::unsupported,
                call.target + " uses a device, layout or data type that backend " + backend->name() + " lacks", judged,
                judged && !goes_on);
        else if (!op && (backend || frame.captured) && !refused.contains(id) && !touches_unknown(graph, call))
            continue;                                   // an opaque call: the program ran it, or the backend knows it
        else if (!op && onnx_sequence_op(call.target))  // else it was resolved while the file was read
            add(BreakKind::frontend, call.target + " uses a sequence whose elements are not known" + opset);
        else if (!op)
            add(BreakKind::unregistered_op, "unknown op " + call.target + opset);
        else if (has_nested_graph(call) && !op->def->higher_order &&  // many backends run it in one graph
                 (!backend || refused.contains(id) || touches_unknown(graph, call)))
            add(BreakKind::control_flow, "data-dependent control flow: " + call.target + opset);
        else if (refused.contains(id))
            add(BreakKind::unsupported, refusal_text(graph, call, *backend));
    }
    return found;
}

/// Of what the backend would be given: what the frontend could not take is no question for it.
std::vector<std::string> ask_unsupported(const Frame& frame, const Backend& backend) {
    std::vector<NodeId> taken_out;
    const auto is_unknown = [&](NodeRef ref) {
        return std::ranges::find(frame.unknown, frame.graph.node(ref).name) != frame.unknown.end();
    };
    for (const NodeId id : frame.graph.calls()) {
        const Node& call = frame.graph.node({id});
        const auto is_break = [&](const Break& b) { return b.node == call.name; };
        bool unknown = is_unknown({id});  // or what it is given is
        for_each_input(call, [&](NodeRef ref) { unknown |= is_unknown(ref); });
        if (unknown || std::ranges::any_of(frame.breaks, is_break) || touches_misplaced(frame.graph, call))
            taken_out.push_back(id);
    }
    if (taken_out.empty()) return unsupported_isolated(frame.graph, backend);
    std::vector<std::string> ops;
    for (const Graph& piece : split_at(frame.graph, taken_out))
        for (std::string& op : unsupported_isolated(piece, backend)) add_once(ops, std::move(op));
    return ops;
}

std::vector<std::string> unsupported_of(const Frame& frame, const Backend* backend) {
    if (!backend) return {};
    std::vector<std::string> ops = frame.unsupported ? *frame.unsupported : ask_unsupported(frame, *backend);
    const Support* support = offered<Support>(*backend);
    const bool ran = frame.captured && support && support->calls_kernels();  // the program's own ops, in the program
    if (ran) std::erase_if(ops, [](const std::string& op) { return !kernel_of(op); });
    return ops;
}

/// The user's stack where the program left one; for a model file the file and the node's own path in it.
BreakPlace place_of(const Frame& frame, NodeId id) {
    if (id < 0) return {"", {{frame.file, 0, 0, frame.name, ""}}};
    const Node& call = frame.graph.node({id});
    if (!call.stack.empty()) return {call.name, call.stack};
    const std::string& where = call.module_path.empty() ? frame.name : call.module_path;
    return {call.name, {{frame.file, 0, 0, where, print(frame.graph, call)}}};
}

void name_sizes(std::vector<NamedMeta>& values, const std::vector<std::string>& sizes) {
    for (std::size_t i = 0; i < values.size() && i < sizes.size(); ++i) values[i].sizes = sizes[i];
}

/// ONNX has no strides: those that we give its values say nothing to its readers.
ValueMeta shown_meta(const Graph& graph, const ValueMeta& meta) {
    if (meta.placement) return meta;
    return graph.dialect == "onnx" ? ValueMeta::contiguous(meta.dtype, meta.sizes) : meta;
}

void count_nested(const Graph& graph, GraphSummary& summary) {
    for (const auto& [name, nested] : graph.subgraphs) {
        ++summary.nested_graphs;
        summary.nested_ops += op_count(*nested);
        count_nested(*nested, summary);
    }
}

void count_ops(const Graph& graph, const std::vector<std::string>& unsupported, bool captured,
               std::vector<OpUse>& ops) {
    std::map<std::string, std::pair<std::int64_t, std::map<std::string, std::int64_t>>> seen;  // calls; results
    for (const NodeId id : graph.calls()) {
        const Node& call = graph.node({id});
        if (is_getitem(call)) continue;
        auto& [count, results] = seen[call.target];
        ++count;
        if (!call.results.empty()) ++results[print(shown_meta(graph, call.results.front()))];
    }
    for (const auto& [op, known] : seen) {
        auto use = std::ranges::find(ops, op, &OpUse::op);
        if (use == ops.end()) use = ops.insert(ops.end(), {.op = op});
        use->count += known.first;
        use->known = captured || kernel_of(op);
        if (std::ranges::count(unsupported, op)) use->supported = false;
        std::vector<std::pair<std::string, std::int64_t>> ranked(known.second.begin(), known.second.end());
        std::ranges::stable_sort(ranked, std::greater(), &std::pair<std::string, std::int64_t>::second);
        for (const auto& [text, times] : ranked)
            if (!std::ranges::count(use->results, text)) use->results.push_back(text);
    }
    for (const auto& [name, nested] : graph.subgraphs) count_ops(*nested, unsupported, captured, ops);
}

/// A break at its one place.
void add_break(Report& report, BreakReason found) {
    if (!report.first_break) report.first_break = found;
    BreakPlace& place = found.places.front();
    report.graph_break_count += place.count;
    const auto same = [&](const BreakReason& known) {
        return known.reason == found.reason && known.kind == found.kind;
    };
    const auto reason = std::ranges::find_if(report.break_reasons, same);
    if (reason == report.break_reasons.end()) {
        found.count = place.count;
        report.break_reasons.push_back(std::move(found));
        return;
    }
    reason->count += place.count;
    for (BreakPlace& known : reason->places)
        if (place.node.empty() && known.node.empty() && known.user_stack == place.user_stack) {
            known.count += place.count;
            known.frame = place.frame;
            append(known.breaks, place.breaks);
            return;
        }
    reason->places.push_back(std::move(place));
}

/// What was noticed while the program ran.
void add_captured(Report& report, const TraceIndex& index) {
    const IndexBreak* first = nullptr;  // that the program met
    for (std::size_t i = 0; i < index.breaks.size(); ++i) {
        const IndexBreak& entry = index.breaks[i];
        const capture::BreakInfo* info = capture::find_break(entry.id);
        const BreakKind kind = info ? info->kind : BreakKind::frontend;
        const BreakPlace place{"", entry.stack, entry.count, entry.frame, {i}};
        const BreakReason found{kind, entry.op, entry.reason, {place}, 1, entry.brief, entry.hint};
        add_break(report, found);
        // Functions are in the order in which they began, and an outer one may go on after an inner one's break.
        if (entry.order && (!first || entry.order < first->order)) first = &entry, report.first_break = found;
    }
    for (const IndexRecompile& recompile : index.recompiles) report.recompiles.push_back({recompile});
    std::ranges::stable_sort(report.recompiles, [](const auto& a, const auto& b) { return a.count > b.count; });
    report.torch_compilations = index.torch_compilations;
    report.notes = index.notes;
    report.constraint_violations = index.constraint_violations;
    append(report.notes, index.constraint_violations);
}

}  // namespace

std::vector<std::string> BreakReason::nodes() const {
    std::vector<std::string> names;
    for (const BreakPlace& place : places)
        if (!place.node.empty()) names.push_back(place.node);
    return names;
}

bool was_captured(const Frame& frame, const TraceIndex& index) {
    const IndexGraph* entry = entry_of(index, frame);
    return entry && !entry->guards.empty();
}

GraphSummary summarize(const Graph& graph, const Frame& frame, const TraceIndex* captured, bool whole) {
    const IndexGraph* const entry = captured ? entry_of(*captured, frame) : nullptr;
    GraphSummary s{entry ? *entry : IndexGraph{.name = ""}};
    s.name = graph.name, s.frame = frame.name, s.ops = op_count(graph);
    count_nested(graph, s);
    for (const NodeId id : graph.placeholders()) {
        const Node& node = graph.node({id});
        s.input_values.push_back({node.target.empty() ? node.name : node.target, shown_meta(graph, node.meta())});
    }
    for (const NodeId id : graph.outputs())
        s.output_values.push_back({graph.node({id}).name, shown_meta(graph, graph.node({id}).meta())});
    for (const auto& [name, tensor] : graph.attributes) {
        ++s.parameters;
        s.parameter_elements += tensor.numel();
        s.parameter_bytes += tensor.numel() * static_cast<std::int64_t>(size_of(tensor.dtype()));
    }
    if (!entry) return s;
    if (whole) name_sizes(s.input_values, s.input_sizes), name_sizes(s.output_values, s.output_sizes);
    if (const auto calls = captured->calls.find(entry->frame); calls != captured->calls.end()) s.calls = calls->second;
    s.calls_guessed = std::ranges::find(captured->guessed_calls, entry->frame) != captured->guessed_calls.end();
    return s;
}

std::vector<std::string> GraphSummary::guard_texts() const {
    std::vector<std::string> texts;
    for (const IndexGuard& guard : guards) texts.push_back(guard.text());
    return texts;
}

namespace {

/// `general`: the graph that serves its calls as well, or empty.
void add_frame(Report& report, const Frame& frame, const Backend* backend, const TraceIndex* captured,
               const std::string& general) {
    const std::vector<std::string> unsupported = unsupported_of(frame, backend);
    const std::set<NodeId> refused = refused_calls(frame.graph, backend, unsupported);
    for (const std::string& op : unsupported)
        add_once(report.unsupported, unsupported_text(frame.graph, refused, op, *backend));
    std::vector<NodeId> stops;
    for (const FoundBreak& found : find_breaks(frame, backend, refused)) {
        if (found.node >= 0 && found.stops) stops.push_back(found.node);
        if (found.kind == BreakKind::unsupported && !refused.contains(found.node))
            add_once(report.unsupported, found.op);
        if (general.empty() && found.told)
            add_break(report, {found.kind, found.op, found.reason, {place_of(frame, found.node)}, 1});
    }
    for (const Graph& piece : split_at(frame.graph, stops)) {
        report.graphs.push_back(summarize(piece, frame, captured, stops.empty()));
        report.graphs.back().generalized_by = general;
    }
    report.break_nodes.push_back(std::move(stops));
    if (general.empty()) count_ops(frame.graph, unsupported, frame.captured, report.ops);
}

}  // namespace

Report explain(const std::string& model, const std::vector<Frame>& frames, const Backend* backend,
               const TraceIndex* captured) {
    Report report{.model = model, .backend = backend ? backend->name() : ""};
    report.backend_tells = !backend || offered<Support>(*backend);
    std::vector<std::optional<std::size_t>> general(frames.size());
    if (captured) {
        add_captured(report, *captured);
        report.checks = count_checks(*captured);
        report.calls = captured->calls, report.eager_calls = captured->eager_calls;
        report.guessed_calls = captured->guessed_calls;
        report.call_log = captured->call_log, report.callers = captured->callers;
        general = generalized_by(frames, *captured);
    }
    for (std::size_t i = 0; i < frames.size(); ++i)
        add_frame(report, frames[i], backend, captured, general[i] ? frames[*general[i]].graph.name : "");
    std::ranges::stable_sort(report.break_reasons, [](const auto& a, const auto& b) { return a.count > b.count; });
    std::ranges::stable_sort(report.ops, [](const auto& a, const auto& b) { return a.count > b.count; });
    for (const OpUse& use : report.ops) report.op_count += use.count;
    return report;
}

}  // namespace whittle::report

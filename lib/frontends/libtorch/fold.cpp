#include "frontends/libtorch/fold.h"

#include <algorithm>
#include <set>
#include <span>

#include "frontends/libtorch/frames.h"
#include "ops/aten/data_sizes.h"
#include "ops/core/registry.h"

namespace whittle::libtorch {

using capture::CapturedFrame;
using capture::CapturedGraph;
using capture::GraphBreak;
using capture::Guard;
using capture::Source;

namespace {

// ---- What has to be equal

void append(std::string& key, std::span<const StackFrame> stack) {
    for (const StackFrame& frame : stack)
        key += frame.file + ':' + std::to_string(frame.line) + ':' + std::to_string(frame.column) + ' ' +
               frame.function + '\n';
}

/// Host values are left out: they are a recompile's reason.
void append(std::string& key, const Arg& arg) {
    if (const NodeRef* node = arg.node())
        key += '%' + std::to_string(node->id);
    else if (const ArgList* list = arg.list()) {
        const bool nodes = std::ranges::any_of(*list, [](const Arg& element) { return element.node() != nullptr; });
        key += '[';
        if (nodes)
            for (const Arg& element : *list) append(key, element);
        key += ']';
    } else
        key += std::to_string(arg.value.index());
    key += ',';
}

std::string key_of(const CapturedGraph& captured, const std::string& function) {
    std::string key;
    const Graph& graph = captured.graph;
    for (const Node& node : graph.nodes) {
        if (node.kind == NodeKind::output) continue;
        key += std::to_string(static_cast<int>(node.kind));
        if (node.kind == NodeKind::placeholder) continue;  // whatever its source is
        key += node.target + '(';
        for (const Arg& arg : node.args) append(key, arg);
        for (const auto& [name, arg] : node.kwargs) {
            key += name + '=';
            append(key, arg);
        }
        key += ')';
        append(key, inside(node.stack, function));
    }
    const std::vector<NodeId> outputs = graph.outputs();
    for (const capture::InputUpdate& update : captured.updates)
        key += "updates " + std::to_string(outputs.at(update.output)) + ' ';
    if (captured.ended_by) {
        key += captured.ended_by->reason;
        append(key, inside(captured.ended_by->stack, function));
    }
    return key;
}

// ---- What may differ

std::string text_of(const Arg& arg) {
    if (const ArgList* list = arg.list()) {
        std::string text = "[";
        for (const Arg& element : *list) text += (text.size() > 1 ? ", " : "") + text_of(element);
        return text + "]";
    }
    if (const NodeRef* node = arg.node()) return "%" + std::to_string(node->id);
    if (const auto* value = std::get_if<std::int64_t>(&arg.value)) return capture::text_of(*value);
    if (const auto* value = std::get_if<double>(&arg.value)) return capture::text_of(*value);
    if (const auto* value = std::get_if<bool>(&arg.value)) return capture::text_of(*value);
    if (const auto* value = std::get_if<std::string>(&arg.value)) return capture::text_of(*value);
    if (const auto* value = std::get_if<DType>(&arg.value)) return std::string(name(*value));
    return "none";
}

std::string parameter_name(const Node& call, std::size_t position) {
    const Schema* schema = Registry::instance().find(call.target);
    return schema && position < schema->params.size() ? schema->params[position].name
                                                      : "argument " + std::to_string(position + 1);
}

std::optional<Difference> difference(const Node& call, const std::string& parameter, const Arg& was, const Arg& now) {
    if (was == now) return std::nullopt;
    const std::string about = call.target + " " + parameter;
    return Difference{.about = about,
                      .guard = {about + " == " + text_of(was), text_of(now)},
                      .advice =
                          "each value of this number makes a graph of its own: pass it as a 0-d tensor, or compute it "
                          "with tensor operations",
                      .stack = call.stack,
                      .of_number = true};
}

std::string advice_on(capture::TensorDifference::What what) {
    using What = capture::TensorDifference::What;
    switch (what) {
        case What::requires_grad:
            return "set requires_grad and the grad mode once, before the calls";
        case What::strides:
            return "pass it with the same strides in every call, for example contiguous";
        case What::size:
            return "pad it to one size, or let the compiler treat the size as dynamic";
        case What::placement:
            return "pass it on the same device and in the same layout in every call";
        case What::dtype:
        case What::rank:
            break;
    }
    return "pass it with the same dtype and rank in every call";
}

/// `shown`: the value that the nodes are.
std::optional<Difference> difference(const std::string& shown, const Node& was, const Node& now, std::size_t result) {
    const auto what = capture::first_difference(capture::TensorMatch::of(was.results[result]), now.results[result]);
    if (!what) return std::nullopt;
    return Difference{.about = shown + " " + what->field(),
                      .guard = capture::failure(shown, *what),
                      .advice = advice_on(what->what),
                      .stack = now.stack};
}

bool tells_of_host(const Guard& guard) {
    return guard.kind() == capture::GuardKind::scalar_equal || guard.kind() == capture::GuardKind::branch;
}

/// The first number that the call had, or way that it went, unlike the one before; told at the branch where it went
/// another way, if it did.
std::optional<Difference> host_difference(const CapturedGraph& was, const CapturedGraph& now) {
    std::optional<Difference> first;
    for (const Guard& guard : was.guards) {
        const Guard* other = tells_of_host(guard) ? capture::counterpart(guard, now.guards) : nullptr;
        if (!other || *other == guard) continue;
        if (first) {
            if (other->stack().empty()) continue;
            first->stack = other->stack();
            break;
        }
        const capture::Found found = capture::found_of(*other);
        first = Difference{.about = guard.source().text(),
                           .guard = guard.violated_by([&](const Source&) { return &found; }).value(),
                           .advice = capture::advice(guard, &found),
                           .stack = other->stack()};
        if (!first->stack.empty()) break;
    }
    return first;
}

std::optional<Difference> value_difference(const CapturedGraph& was, const CapturedGraph& now) {
    std::size_t input = 0;
    for (std::size_t i = 0; i < was.graph.nodes.size(); ++i) {
        const Node &a = was.graph.nodes[i], &b = now.graph.nodes[i];
        if (a.kind == NodeKind::output) break;
        const auto told = [&](std::optional<Difference> found) {
            if (was.library_calls.contains(a.name)) found->advice.clear();  // the user does not write that code
            return found;
        };
        for (std::size_t k = 0; k < std::min(a.args.size(), b.args.size()); ++k)
            if (auto found = difference(a, parameter_name(a, k), a.args[k], b.args[k])) return told(std::move(found));
        for (std::size_t k = 0; k < std::min(a.kwargs.size(), b.kwargs.size()); ++k)
            if (auto found = difference(a, a.kwargs[k].first, a.kwargs[k].second, b.kwargs[k].second))
                return told(std::move(found));
        const std::string shown = a.kind == NodeKind::placeholder ? was.sources.at(input++).text()
                                  : a.kind == NodeKind::get_attr  ? Source::local("self").attribute(a.target).text()
                                                                  : "%" + a.name;
        for (std::size_t k = 0; k < std::min(a.results.size(), b.results.size()); ++k)
            if (auto found = difference(shown, a, b, k)) {
                found->of_data = std::ranges::count(data_sized_results(a), k) != 0;
                return told(std::move(found));
            }
    }
    return std::nullopt;
}

}  // namespace

std::optional<Difference> first_difference(const CapturedGraph& was, const CapturedGraph& now) {
    std::optional<Difference> found = value_difference(was, now);
    std::optional<Difference> host = found && found->of_number ? host_difference(was, now) : std::nullopt;
    if (!host) return found;
    if (host->stack.empty()) host->stack = found->stack;
    return host;  // in the terms of the program
}

namespace {

bool same_parameters(const Graph& a, const Graph& b) {
    return std::ranges::equal(a.attributes, b.attributes,
                              [](const auto& x, const auto& y) { return same_bits(x.second, y.second); });
}

/// Keeps the values of one more run of the graph, where they fit it.
void keep_values(CapturedGraph& graph, CapturedGraph& run) {
    if (graph.inputs.empty() || run.inputs.size() != graph.inputs.size() || run.outputs.empty() ||
        graph.more_runs.size() + 1 >= kMostRuns)
        return;
    if (run.graph.outputs() != graph.graph.outputs() || !same_parameters(run.graph, graph.graph)) return;
    graph.more_runs.push_back({std::move(run.inputs), std::move(run.outputs)});
}

/// One graph serves calls with several of these values: no guard is about them.
void forget_what_did_not_matter(std::vector<Guard>& guards, const std::vector<Guard>& now) {
    std::erase_if(guards, [&](const Guard& guard) {
        const Guard* other = tells_of_host(guard) ? capture::counterpart(guard, now) : nullptr;
        return tells_of_host(guard) && (!other || !(*other == guard));
    });
}

void count(std::vector<capture::Recompile>& recompiles, const Difference& why, std::int64_t times) {
    const auto known = std::ranges::find(recompiles, why.about, &capture::Recompile::about);
    if (known != recompiles.end())
        known->count += times;
    else
        recompiles.push_back({why.about, why.guard, why.stack, why.advice, times});
}

}  // namespace

void FrameFolder::add(CapturedFrame execution) {
    const auto [known, fresh] = by_name_.try_emplace({execution.function, execution.file}, functions_.size());
    if (fresh) {
        functions_.push_back({.frame = execution});
        functions_.back().frame.graphs.clear();
        functions_.back().frame.breaks.clear();
    } else {
        functions_[known->second].frame.calls += execution.calls;
    }
    Function& function = functions_[known->second];
    add_graphs(function, std::move(execution.graphs));
    for (const GraphBreak& entry : execution.breaks) add(function, entry);
}

/// Those of one execution. A backward pass that is kept has the graphs with it whose gradients it computes where equal
/// ones stand for them, whose values are others.
void FrameFolder::add_graphs(Function& to, std::vector<CapturedGraph> graphs) {
    std::set<std::int64_t> differentiated;
    for (const CapturedGraph& graph : graphs)
        differentiated.insert(graph.differentiates.begin(), graph.differentiates.end());
    std::map<std::int64_t, CapturedGraph> folded;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        std::optional<CapturedGraph> copy;
        if (!graphs[i].outputs.empty() && differentiated.contains(graphs[i].number)) copy = graphs[i];
        const std::optional<std::size_t> kept = add(to, std::move(graphs[i]), i);
        if (!kept && copy) {
            copy->variant_of = to.latest.at(i);
            folded.emplace(copy->number, std::move(*copy));
        }
        if (!kept) continue;
        CapturedGraph& added = to.frame.graphs[*kept];
        for (const std::int64_t number : added.differentiates)
            if (const auto forward = folded.find(number); forward != folded.end())
                added.forward.push_back(forward->second);
    }
}

std::optional<std::size_t> FrameFolder::add(Function& to, CapturedGraph graph, std::size_t position) {
    std::vector<CapturedGraph>& graphs = to.frame.graphs;
    const bool was_here = position < to.latest.size();
    if (!was_here) to.latest.resize(position + 1);
    const std::size_t before = to.latest[position];
    std::vector<std::size_t>& alike = to.graphs[key_of(graph, to.frame.function)];
    for (const std::size_t i : alike)
        if (!first_difference(graphs[i], graph)) {
            graphs[i].runs += graph.runs;
            forget_what_did_not_matter(graphs[i].guards, graph.guards);
            to.latest[position] = i;
            keep_values(graphs[i], graph);
            return std::nullopt;
        }
    if (!alike.empty()) {
        const Difference why = *first_difference(graphs[alike.back()], graph);
        if (!why.of_data) count(to.frame.recompiles, why, graph.runs);
        if (alike.size() >= most_variants_) {
            dropped_ += graph.runs;
            to.latest[position] = alike.back();
            return std::nullopt;
        }
        graph.variant_of = alike.front();
        graph.difference = first_difference(graphs[alike.front()], graph)->guard.text();
    } else if (was_here) {
        if (const auto why = host_difference(graphs[before], graph)) count(to.frame.recompiles, *why, graph.runs);
    }
    alike.push_back(graphs.size());
    to.latest[position] = graphs.size();
    graphs.push_back(std::move(graph));
    return to.latest[position];
}

void FrameFolder::add(Function& to, const GraphBreak& entry) {
    std::string key = entry.reason;
    append(key, entry.stack);
    const auto [known, fresh] = to.breaks.try_emplace(std::move(key), to.frame.breaks.size());
    if (fresh)
        to.frame.breaks.push_back(entry);
    else
        to.frame.breaks[known->second].count += entry.count;
}

std::vector<CapturedFrame> FrameFolder::finish() {
    std::vector<CapturedFrame> frames;
    for (Function& function : functions_) frames.push_back(std::move(function.frame));
    return frames;
}

}  // namespace whittle::libtorch

#include "frontends/libtorch/fold.h"

#include <algorithm>
#include <set>

#include "frontends/libtorch/differences.h"

namespace whittle::libtorch {

using capture::CapturedFrame;
using capture::CapturedGraph;
using capture::GraphBreak;
using capture::Guard;

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

}  // namespace

void FrameFolder::add(CapturedFrame execution) {
    const auto [known, fresh] = by_name_.try_emplace({execution.function, execution.file}, functions_.size());
    if (fresh) {
        functions_.push_back({.frame = execution});
        functions_.back().frame.graphs.clear();
        functions_.back().frame.breaks.clear();
    } else {
        functions_[known->second].frame.calls += execution.calls;
        functions_[known->second].frame.calls_guessed |= execution.calls_guessed;
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
    Shape& shape = to.shapes[shape_of(graph, to.frame.function)];
    // The graph that it differs least from, the newest of several.
    std::size_t closest = 0;
    Comparison least;
    for (const std::size_t i : shape.graphs) {
        Comparison found = compare(graphs[i], graph);
        if (found.equal()) {
            graphs[i].runs += graph.runs;
            forget_what_did_not_matter(graphs[i].guards, graph.guards);
            to.latest[position] = i;
            keep_values(graphs[i], graph);
            return std::nullopt;
        }
        if (least.equal() || least.tensor || (!found.tensor && found.numbers.size() <= least.numbers.size()))
            closest = i, least = std::move(found);
    }
    if (!shape.graphs.empty()) {
        if (!least.tensor)
            shape.numbers.add(graphs[closest], graph, std::move(least.numbers), graph.runs);
        else if (!least.tensor->of_data)
            count_recompiles(to.frame, {&*least.tensor, 1}, graph.runs);
        if (shape.graphs.size() >= most_variants_) {
            dropped_ += graph.runs;
            to.latest[position] = closest;
            return std::nullopt;
        }
        graph.variant_of = shape.graphs.front();
        if (const auto tensor = compare(graphs[*graph.variant_of], graph).tensor)
            graph.difference = tensor->guard.text();
    } else if (was_here) {
        std::optional<Difference> why = host_difference(graphs[before], graph);
        if (!why) why = identity_difference(graphs[before], graph, to.frame.function);
        if (why) count_recompiles(to.frame, {&*why, 1}, graph.runs);
    }
    shape.graphs.push_back(graphs.size());
    to.latest[position] = graphs.size();
    graphs.push_back(std::move(graph));
    return to.latest[position];
}

void FrameFolder::add(Function& to, const GraphBreak& entry) {
    const auto [known, fresh] = to.breaks.try_emplace(entry.reason + places_of(entry.stack), to.frame.breaks.size());
    if (fresh)
        to.frame.breaks.push_back(entry);
    else
        to.frame.breaks[known->second].count += entry.count;
}

std::vector<CapturedFrame> FrameFolder::finish() {
    std::vector<CapturedFrame> frames;
    for (Function& function : functions_) {
        std::vector<const Shape*> shapes;
        for (const auto& [key, shape] : function.shapes) shapes.push_back(&shape);
        std::ranges::sort(shapes, {}, [](const Shape* shape) { return shape->graphs.front(); });
        for (const Shape* shape : shapes) shape->numbers.finish(function.frame, shape->graphs);
        frames.push_back(std::move(function.frame));
    }
    return frames;
}

}  // namespace whittle::libtorch

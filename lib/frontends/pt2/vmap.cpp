#include "frontends/pt2/vmap.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/aten/batching.h"
#include "ops/core/builder.h"
#include "ops/core/registry.h"
#include "tensor/shape.h"

namespace whittle::pt2 {

Batches::Levels Batches::levels(NodeRef value) const {
    const auto found = levels_.find(value.id);
    return found == levels_.end() ? Levels() : found->second;
}

std::int64_t Batches::rank(NodeRef value) const {
    return static_cast<std::int64_t>(graph_.node(value).meta().sizes.size() - levels(value).size());
}

ValueMeta Batches::seen(NodeRef value) const {
    ValueMeta meta = graph_.node(value).meta();
    const auto hidden = static_cast<std::ptrdiff_t>(levels(value).size());
    meta.sizes.erase(meta.sizes.begin(), meta.sizes.begin() + hidden);
    meta.strides.erase(meta.strides.begin(), meta.strides.begin() + hidden);
    return meta;
}

NodeRef Batches::add(NodeRef value, std::int64_t dim, std::int64_t level) {
    Levels all = levels(value);
    const auto first = static_cast<std::int64_t>(all.size());
    if (!all.empty() && all.back() >= level)
        throw Error("found vmap level " + std::to_string(level) + " inside level " + std::to_string(all.back()) +
                    ", expected a higher level");
    GraphBuilder builder(graph_);
    const V moved = builder.call("aten.movedim.int", {value, Arg(first + wrap_dim(dim, rank(value))), Arg(first)});
    all.push_back(level);
    levels_[moved.ref.id] = all;
    return moved.ref;
}

NodeRef Batches::remove(NodeRef value, std::int64_t level, std::int64_t size, std::int64_t dim) {
    GraphBuilder builder(graph_);
    Levels all = levels(value);
    const auto found = std::ranges::find(all, level);
    const std::int64_t at = found - all.begin(), hidden = static_cast<std::int64_t>(all.size()), seen = rank(value);
    V shown;
    if (found == all.end()) {
        Sizes sizes = graph_.node(value).meta().sizes;
        const std::int64_t place = hidden + wrap_dim(dim, seen + 1);
        sizes.insert(sizes.begin() + place, size);
        shown = builder.call("aten.unsqueeze.default", {value, Arg(place)});
        shown = builder.call("aten.expand.default", {shown, Arg::ints(sizes)});
    } else {
        all.erase(found);
        shown = builder.call("aten.movedim.int", {value, Arg(at), Arg(hidden - 1 + wrap_dim(dim, seen + 1))});
    }
    if (!all.empty()) levels_[shown.ref.id] = all;
    return shown.ref;
}

bool Batches::any(const Node& call) const { return !levels_.empty() && !levels_of(call).empty(); }

Batches::Levels Batches::levels_of(const Node& call) const {
    Levels all;
    for_each_input(call, [&](NodeRef ref) {
        const Levels more = levels(ref);
        all.insert(all.end(), more.begin(), more.end());
    });
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::int64_t Batches::rank_of(const Node& call) const {
    std::int64_t most = 0;
    for_each_input(call, [&](NodeRef ref) { most = std::max(most, rank(ref)); });
    return most;
}

NodeRef Batches::aligned(NodeRef value, const Levels& all, std::int64_t rank) {
    const Levels own = levels(value);
    const std::int64_t missing = rank - this->rank(value);
    GraphBuilder builder(graph_);
    V result = builder.value(value);
    const auto widen = [&](std::int64_t at) { result = builder.call("aten.unsqueeze.default", {result, Arg(at)}); };
    for (std::size_t i = 0; i < all.size(); ++i)
        if (std::ranges::find(own, all[i]) == own.end()) widen(static_cast<std::int64_t>(i));
    for (std::int64_t i = 0; i < missing; ++i) widen(static_cast<std::int64_t>(all.size()));
    return result.ref;
}

void Batches::align(Node& call, const Levels& all) {
    const std::int64_t rank = rank_of(call);
    call = map_inputs(call, [&](NodeRef ref) { return Arg(aligned(ref, all, rank)); });
}

/// Positions along hidden dimensions of what is indexed are indices, too, so that all of them come first.
void Batches::index(Node& call, const Levels& all) {
    const NodeRef* self = call.args.empty() ? nullptr : call.args[0].node();
    const ArgList* given = call.args.size() < 2 ? nullptr : call.args[1].list();
    if (!self || !given)
        throw Error(self ? "found an indexing call without a list, expected a list of indices as the second argument"
                         : "found an indexing call without a tensor, expected a tensor as the first argument");
    Node indices{.args = {call.args[1]}};
    const std::int64_t rank = rank_of(indices);
    const auto none = std::ranges::find_if(*given, &Arg::is_none);
    bool masks = false;
    for_each_input(indices, [&](NodeRef ref) { masks = masks || graph_.node(ref).meta().dtype == DType::boolean; });
    if (masks) throw Error("found a mask among the indices of a vmapped tensor, expected only tensors of integers");
    if (std::any_of(none, given->end(), [](const Arg& arg) { return !arg.is_none(); }))
        throw Error(
            "found an index of a vmapped tensor after a dimension without an index, expected an index for each "
            "of the first dimensions");
    GraphBuilder builder(graph_);
    ArgList list;
    const Levels own = levels(*self);
    for (std::size_t i = 0; i < own.size(); ++i) {
        std::vector<std::int64_t> positions(static_cast<std::size_t>(graph_.node(*self).meta().sizes[i]));
        std::iota(positions.begin(), positions.end(), 0);
        Sizes sizes(all.size() + static_cast<std::size_t>(rank), 1);
        sizes[static_cast<std::size_t>(std::ranges::find(all, own[i]) - all.begin())] =
            static_cast<std::int64_t>(positions.size());
        list.push_back(builder.constant(Tensor::of(positions, sizes), "positions"));
    }
    for (auto arg = given->begin(); arg != none; ++arg) list.push_back(aligned(*arg->node(), all, rank));
    call.args[1] = list;
}

/// Of an op of whose batches nothing is known: map() runs it for each slice along the outermost hidden dimension.
NodeRef Batches::mapped(const Node& call, const Levels& all) {
    const auto is_sliced = [&](NodeRef ref) { return std::ranges::count(levels(ref), all.front()) != 0; };
    Graph body{.name = "vmapped"};
    Batches inner(body);
    std::map<NodeId, NodeRef> parameters;
    ArgList slices, others;
    for (const bool sliced : {true, false})
        for_each_input(call, [&](NodeRef ref) {
            if (is_sliced(ref) != sliced || parameters.contains(ref.id)) return;
            ValueMeta meta = graph_.node(ref).meta();
            Levels own = levels(ref);
            if (sliced) {
                meta.sizes.erase(meta.sizes.begin());
                meta.strides.erase(meta.strides.begin());
                own.erase(own.begin());
            }
            const NodeRef parameter = body.placeholder("operand", meta);
            if (!own.empty()) inner.levels_[parameter.id] = own;
            parameters[ref.id] = parameter;
            (sliced ? slices : others).push_back(ref);
        });
    Node part = map_inputs(call, [&](NodeRef ref) { return Arg(parameters.at(ref.id)); });
    NodeRef result;
    if (inner.any(part)) {
        result = inner.call(std::move(part));
    } else {
        part.results = infer(body, part);
        if (part.results.size() != 1)
            throw Error("found " + call.target + " with several results inside vmap, which Whittle does not support");
        result = body.add(std::move(part));
    }
    body.output({result});
    std::string name = body.name;
    for (int n = 1; graph_.subgraphs.contains(name); ++n) name = body.name + "_" + std::to_string(n);
    graph_.subgraphs[name] = std::make_shared<const Graph>(std::move(body));
    Node map{.name = call.name, .target = "higher_order.map", .args = {GraphRef{name}, slices, others}};
    map.stack = call.stack, map.module_path = call.module_path;
    map.results = infer(graph_, map);
    const NodeRef mapped = add_results(graph_, graph_.add(std::move(map))).at(0);
    levels_[mapped.id] = all;
    return mapped;
}

NodeRef Batches::call(Node call) {
    Levels all = levels_of(call);
    switch (batching_of(call.target)) {
        case Batching::elements:
            align(call, all);
            break;
        case Batching::creates:
            all.clear();
            break;
        case Batching::indexes:
            index(call, all);
            break;
        case Batching::unknown:
            return mapped(call, all);
    }
    call.results = infer(graph_, call);
    const NodeRef result = graph_.add(std::move(call));
    if (!all.empty()) levels_[result.id] = all;
    return result;
}

}  // namespace whittle::pt2

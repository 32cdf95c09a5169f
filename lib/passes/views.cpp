#include "passes/views.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

bool shares_memory(const Graph& graph, const Node& call, const ValueMeta& operand) {
    std::int64_t last = 0;
    for (std::size_t d = 0; d < operand.sizes.size(); ++d) {
        if (operand.sizes[d] == 0 || operand.strides[d] < 0) return false;
        last += (operand.sizes[d] - 1) * operand.strides[d];
    }
    const auto storage = Storage::allocate(static_cast<std::size_t>(last + 1) * size_of(operand.dtype));
    const Tensor probe(storage, operand.dtype, operand.sizes, operand.strides);
    return view_of(call, probe, [&](NodeRef ref) { return graph.node(ref).meta(); }).at(0).storage() == storage;
}

}  // namespace

std::optional<NodeRef> viewed_operand(const Graph& graph, const Node& call) {
    const Schema* schema = call.kind == NodeKind::call ? Registry::instance().find(call.target) : nullptr;
    if (!schema || schema->returns.empty() || schema->returns.front().alias.empty() || call.args.empty())
        return std::nullopt;
    const NodeRef* operand = call.args.front().node();
    if (!operand || !shares_memory(graph, call, graph.node(*operand).meta())) return std::nullopt;
    return *operand;
}

namespace {

Arg ints(const std::vector<std::int64_t>& values) { return Arg::ints(values); }

/// Where the view shows every element once: the order of its dimensions in the base's memory, outermost first.
std::optional<std::vector<std::int64_t>> memory_order(const Tensor& shown, const Sizes& base) {
    if (shown.numel() != element_count(base) || shown.offset() != 0) return std::nullopt;
    std::vector<std::int64_t> order(shown.sizes().size());
    std::iota(order.begin(), order.end(), 0);
    const auto size = [&](std::int64_t d) { return shown.sizes()[static_cast<std::size_t>(d)]; };
    const auto stride = [&](std::int64_t d) { return shown.strides()[static_cast<std::size_t>(d)]; };
    // A dimension of size 1 may have any stride: it goes first.
    const auto rank = [&](std::int64_t d) {
        return size(d) == 1 ? std::numeric_limits<std::int64_t>::max() : stride(d);
    };
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return rank(a) > rank(b); });
    std::int64_t expected = 1;
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
        if (size(*d) == 1) continue;
        if (stride(*d) != expected) return std::nullopt;
        expected *= size(*d);
    }
    return order;
}

/// base[.., start : end : step, ..] in dimension `dim`; without that dimension where `drops`.
struct Slice {
    std::int64_t dim, start, end, step;
    bool drops;
};

/// Whether the view's other dimensions are just the base's without `dim`.
bool same_but(const Tensor& shown, const Sizes& base, const Strides& strides, std::size_t dim, bool drops) {
    for (std::size_t b = 0, v = 0; b < base.size(); ++b) {
        if (b == dim) {
            v += drops ? 0 : 1;
            continue;
        }
        if (shown.sizes()[v] != base[b] || (base[b] > 1 && shown.strides()[v] != strides[b])) return false;
        ++v;
    }
    return true;
}

std::optional<Slice> slice_of(const Tensor& shown, const Sizes& base) {
    const Strides strides = contiguous_strides(base);
    const std::size_t rank = base.size(), shown_rank = shown.sizes().size();
    if (rank != shown_rank && rank != shown_rank + 1) return std::nullopt;
    const bool drops = rank != shown_rank;
    for (std::size_t d = 0; d < rank; ++d) {
        if (strides[d] == 0 || shown.offset() % strides[d] != 0 || !same_but(shown, base, strides, d, drops)) continue;
        const std::int64_t start = shown.offset() / strides[d];
        if (start >= base[d]) continue;
        if (drops) return Slice{static_cast<std::int64_t>(d), start, start + 1, 1, true};
        const std::int64_t count = shown.sizes()[d];
        const std::int64_t step = count > 1 ? shown.strides()[d] / strides[d] : 1;
        if (step < 1 || (count > 1 && shown.strides()[d] % strides[d] != 0)) continue;
        return Slice{static_cast<std::int64_t>(d), start, start + (count - 1) * step + 1, step, false};
    }
    return std::nullopt;
}

V write_each(GraphBuilder& builder, const V& base, const Tensor& shown, const V& value) {
    const std::vector<std::int64_t> positions = shown.values<std::int64_t>();
    std::vector<std::int64_t> sorted = positions;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        throw Error(
            "found a write to a view that repeats elements, for example a result of expand(), expected a view that "
            "has each element once",
            "call clone() on the view first, as PyTorch also requires");
    const V flat = builder.call("aten.reshape.default", {arg(base), ints({-1})});
    const V source = builder.call("aten.reshape.default", {arg(value), ints({-1})});
    const V index = builder.constant(Tensor::of(positions, {shown.numel()}), "written");
    const V written = builder.call("aten.scatter.src", {arg(flat), 0, arg(index), arg(source)});
    return builder.call("aten.reshape.default", {arg(written), ints(base.meta.sizes)});
}

}  // namespace

V write_through(GraphBuilder& builder, const V& base, const Tensor& shown, const V& value) {
    const Sizes& sizes = base.meta.sizes;
    if (shown.numel() == 0) return base;
    if (const auto order = memory_order(shown, sizes)) {
        const bool moved = !std::is_sorted(order->begin(), order->end());
        const V straight = moved ? builder.call("aten.permute.default", {arg(value), ints(*order)}) : value;
        const V whole = straight.meta.sizes == sizes
                            ? straight
                            : builder.call("aten.reshape.default", {arg(straight), ints(sizes)});
        // Other views of the base see through its strides.
        return whole.meta.strides == base.meta.strides ? whole
                                                       : builder.call("aten.copy.default", {arg(base), arg(whole)});
    }
    const std::optional<Slice> slice = slice_of(shown, sizes);
    if (slice && slice->drops)
        return builder.call("aten.select_scatter.default", {arg(base), arg(value), slice->dim, slice->start});
    if (slice)
        return builder.call("aten.slice_scatter.default",
                            {arg(base), arg(value), slice->dim, slice->start, slice->end, slice->step});
    return write_each(builder, base, shown, value);
}

}  // namespace whittle

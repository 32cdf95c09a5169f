#include "backends/halide/buffers.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "tensor/dtype.h"

namespace whittle::halide {
namespace {

std::size_t rounded(std::size_t bytes) { return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment; }

bool meet(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

struct Placed {
    std::size_t begin, end, value;
};

/// Where `bytes` fit between those placed that are alive with the value; they are in the order of their beginnings.
std::size_t smallest_gap(const std::vector<Placed>& placed, std::span<const Lifetime> lifetimes, const Lifetime& value,
                         std::size_t bytes) {
    std::size_t free = 0, found = 0, least = std::numeric_limits<std::size_t>::max();
    for (const Placed& other : placed) {
        if (!meet(lifetimes[other.value], value)) continue;
        if (other.begin >= free + bytes && other.begin - free < least) found = free, least = other.begin - free;
        free = std::max(free, other.end);
    }
    return least == std::numeric_limits<std::size_t>::max() ? free : found;
}

BufferPlan placed_in(const std::vector<std::size_t>& order, std::span<const Lifetime> lifetimes) {
    BufferPlan plan{.offsets = std::vector<std::size_t>(lifetimes.size()), .bytes = 0};
    std::vector<Placed> placed;
    for (const std::size_t i : order) {
        const std::size_t bytes = rounded(lifetimes[i].bytes);
        const std::size_t begin = smallest_gap(placed, lifetimes, lifetimes[i], bytes);
        const Placed here{begin, begin + bytes, i};
        placed.insert(std::ranges::upper_bound(placed, begin, {}, &Placed::begin), here);
        plan.offsets[i] = begin;
        plan.bytes = std::max(plan.bytes, here.end);
    }
    return plan;
}

}  // namespace

BufferPlan plan_buffers(std::span<const Lifetime> lifetimes) {
    std::vector<std::size_t> order(lifetimes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    BufferPlan best;
    const auto attempt = [&](const auto& key) {
        std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return key(lifetimes[i]); });
        BufferPlan plan = placed_in(order, lifetimes);
        if (best.offsets.empty() || plan.bytes < best.bytes) best = std::move(plan);
    };
    attempt([](const Lifetime& value) { return std::pair(value.bytes, value.last - value.first); });
    attempt([](const Lifetime& value) { return std::pair(value.last - value.first, value.bytes); });
    return best;
}

std::size_t most_alive(std::span<const Lifetime> lifetimes) {
    std::size_t most = 0;
    for (const Lifetime& at : lifetimes) {  // what is most is so where some value begins
        std::size_t alive = 0;
        for (const Lifetime& value : lifetimes)
            if (value.first <= at.first && at.first <= value.last) alive += rounded(value.bytes);
        most = std::max(most, alive);
    }
    return most;
}

std::vector<ValueLife> lives_of(const program::Plan& plan) {
    std::vector<ValueLife> lives;
    std::map<ValueRef, std::size_t> known;
    const std::size_t end = plan.kernels.size();
    const auto life = [&](const ValueRef& value) -> ValueLife& {
        const auto [found, added] = known.try_emplace(value, lives.size());
        if (added) {
            const ValueMeta& meta = plan.graph.node({value.node}).results.at(static_cast<std::size_t>(value.index));
            ValueLife& made = lives.emplace_back();
            made.value = value;
            made.bytes = static_cast<std::size_t>(meta.numel()) * size_of(meta.dtype);
            made.last = end;
        }
        return lives[found->second];
    };
    for (NodeId id = 0; id < static_cast<NodeId>(plan.graph.nodes.size()); id++) {
        const NodeKind kind = plan.graph.nodes[static_cast<std::size_t>(id)].kind;
        if (kind == NodeKind::placeholder || kind == NodeKind::get_attr) life({id, 0});
    }
    for (std::size_t k = 0; k < end; k++) {
        const program::Kernel& kernel = plan.kernels[k];
        for (const ValueRef& value : kernel.inputs) life(value).last = k;
        for (const ValueRef& value : kernel.outputs) {
            ValueLife& written = life(value);
            written.first = written.last = k;
            written.is_written = true;
        }
    }
    for (std::size_t k = 0; k < end; k++)
        for (const program::PositionsCheck& check : plan.kernels[k].checks) {
            ValueLife& checked = life(check.value);
            checked.last = checked.last == end ? k : std::max(checked.last, k);
            checked.is_seen = true;
        }
    for (const ValueRef& value : plan.outputs) {
        life(value).last = end;
        life(value).is_seen = true;
    }
    return lives;
}

}  // namespace whittle::halide

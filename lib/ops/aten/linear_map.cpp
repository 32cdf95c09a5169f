#include "ops/aten/linear_map.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "ops/core/pointwise.h"

namespace whittle {

namespace {

/// The terms in the order of what they add to; equals stay in the order that they were added in.
LinearMap by_target(const LinearMap& map) {
    std::vector<std::size_t> order(map.to.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return map.to[i]; });
    LinearMap sorted{map.in, map.out};
    for (const std::size_t i : order) sorted.add(map.from[i], map.to[i], map.weights[i]);
    return sorted;
}

/// The same map with as many terms for each element, so that they are summed and not scattered: the last term of an
/// element that has fewer is split into equal ones. Nothing where an element has none, or most have far fewer.
std::optional<LinearMap> evened(const LinearMap& sorted) {
    if (std::cmp_less(sorted.to.size(), sorted.out)) return std::nullopt;  // before as much memory is taken
    std::vector<std::int64_t> counts(static_cast<std::size_t>(sorted.out), 0);
    for (const std::int64_t to : sorted.to) ++counts[static_cast<std::size_t>(to)];
    if (counts.empty() || std::ranges::min(counts) < 1) return std::nullopt;
    const std::int64_t most = std::ranges::max(counts);
    if (most * sorted.out > 2 * static_cast<std::int64_t>(sorted.to.size())) return std::nullopt;
    LinearMap even{sorted.in, sorted.out};
    std::size_t i = 0;
    for (const std::int64_t count : counts) {
        const std::int64_t parts = most - count + 1;
        for (std::int64_t k = 0; k + 1 < count; ++k, ++i) even.add(sorted.from[i], sorted.to[i], sorted.weights[i]);
        for (std::int64_t k = 0; k < parts; ++k)
            even.add(sorted.from[i], sorted.to[i], sorted.weights[i] / static_cast<double>(parts));
        ++i;
    }
    return even;
}

}  // namespace

void LinearMap::check_room(std::int64_t terms) const {
    constexpr std::int64_t kMostTerms = 1 << 24;
    if (terms > kMostTerms - static_cast<std::int64_t>(from.size()))
        throw Error("found a linear map from " + std::to_string(in) + " to " + std::to_string(out) +
                    " elements with too many terms, expected at most 2^24 terms");
}

void LinearMap::add(std::int64_t source, std::int64_t target, double weight) {
    check_room(1);
    from.push_back(source);
    to.push_back(target);
    weights.push_back(weight);
}

NodeValue apply(const Gradient& g, const NodeValue& x, std::int64_t dim, const LinearMap& map) {
    const LinearMap sorted = by_target(map);
    const std::optional<LinearMap> even = evened(sorted);
    const LinearMap& used = even ? *even : sorted;
    const auto terms = static_cast<std::int64_t>(used.from.size());
    const auto d = static_cast<std::size_t>(dim);
    Sizes sizes = x.meta.sizes, along(sizes.size(), 1);
    along[d] = terms;
    NodeValue y = g.call("aten.index_select.default", {arg(x), dim, arg(g.constant(Tensor::of(used.from, {terms})))});
    if (std::ranges::any_of(used.weights, [](double weight) { return weight != 1; }))
        y = g.mul(y, g.constant(Tensor::of(used.weights, along).to(x.meta.dtype)));
    sizes[d] = used.out;
    if (!even)
        return g.call("aten.index_add.default",
                      {arg(g.zeros(sizes, x.meta.dtype)), dim, arg(g.constant(Tensor::of(used.to, {terms}))), arg(y)});
    if (terms == used.out) return y;
    sizes.insert(sizes.begin() + dim + 1, terms / used.out);
    return g.sum(g.reshape(y, sizes), {dim + 1});
}

NodeValue apply_all(const Gradient& g, const NodeValue& x, const std::vector<LinearMap>& maps) {
    NodeValue y = g.as(x, compute_dtype(x.meta.dtype));
    const auto rank = static_cast<std::int64_t>(x.meta.sizes.size());
    for (std::size_t i = 0; i < maps.size(); ++i)
        y = apply(g, y, rank - 1 - static_cast<std::int64_t>(i), maps[maps.size() - 1 - i]);
    return g.as(y, x.meta.dtype);
}

}  // namespace whittle

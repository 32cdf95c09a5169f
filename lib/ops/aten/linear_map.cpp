#include "ops/aten/linear_map.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;

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
                    " elements that needs more than 2^24 weights, expected at most 2^24 weights");
}

void LinearMap::add(std::int64_t source, std::int64_t target, double weight) {
    check_room(1);
    from.push_back(source);
    to.push_back(target);
    weights.push_back(weight);
}

V apply(const V& x, std::int64_t dim, const LinearMap& map) {
    const LinearMap sorted = by_target(map);
    const std::optional<LinearMap> even = evened(sorted);
    const LinearMap& used = even ? *even : sorted;
    const auto terms = static_cast<std::int64_t>(used.from.size());
    const auto d = static_cast<std::size_t>(dim);
    Sizes sizes = x.sizes(), along(sizes.size(), 1);
    along[d] = terms;
    V y = index_select(x, dim, x.builder->constant(Tensor::of(used.from, {terms})));
    if (std::ranges::any_of(used.weights, [](double weight) { return weight != 1; }))
        y = y * x.builder->constant(Tensor::of(used.weights, along).to(x.dtype()));
    sizes[d] = used.out;
    if (!even)
        return index_add(zeros(*x.builder, sizes, x.dtype()), dim, x.builder->constant(Tensor::of(used.to, {terms})),
                         y);
    if (terms == used.out) return y;
    sizes.insert(sizes.begin() + dim + 1, terms / used.out);
    return summed(reshaped(y, sizes), Ints{dim + 1});
}

V apply_all(const V& x, const std::vector<LinearMap>& maps) {
    V y = as(x, compute_dtype(x.dtype()));
    const auto rank = static_cast<std::int64_t>(x.sizes().size());
    for (std::size_t i = 0; i < maps.size(); ++i)
        y = apply(y, rank - 1 - static_cast<std::int64_t>(i), maps[maps.size() - 1 - i]);
    return as(y, x.dtype());
}

}  // namespace whittle

// Linear maps along one dimension, given by their terms: what resampling and means of windows are, and their gradients.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/aten/formulas.h"

namespace whittle {

/// y[to[i]] += x[from[i]] * weights[i], for all i; y has `out` elements, x has `in`.
struct LinearMap {
    std::int64_t in = 0, out = 0;
    std::vector<std::int64_t> from = {}, to = {};
    std::vector<double> weights = {};

    /// Throws Error where so many terms more are more than can be meant, for they become constants of a graph.
    void check_room(std::int64_t terms) const;
    /// A term. Throws as check_room does.
    void add(std::int64_t source, std::int64_t target, double weight);
    /// Of what the map gives, the gradient of what it is given.
    LinearMap transposed() const { return {out, in, to, from, weights}; }
    bool operator==(const LinearMap&) const = default;
};

/// The map of dimension `dim` of x, which has `map.in` elements there. Elements that no term reads do not count, be
/// they infinite. In the dtype of x.
V apply(const V& x, std::int64_t dim, const LinearMap& map);

/// One map for each of the last dimensions, the last one first, in f32 where x has fewer bits.
V apply_all(const V& x, const std::vector<LinearMap>& maps);

}  // namespace whittle

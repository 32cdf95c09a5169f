#include "ops/aten/resize.h"
#include "base/joined.h"
#include "ops/core/integer.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ops/aten/cubic.h"
#include "ops/core/window.h"

namespace whittle {

Sizes Resize::operand_sizes() const { return joined({sizes[0], sizes[1]}, in); }

Resize resize_of(const std::string& op, const ValueMeta& operand, std::size_t rank, const ResizeRequest& request) {
    if (operand.sizes.size() != rank + 2)
        throw Error(op + ": found an input of sizes " + to_string(operand.sizes) + ", expected rank " +
                    std::to_string(rank + 2));
    const auto& wanted = request.sizes;
    if ((wanted ? wanted->size() : request.factors.size()) != rank)
        throw Error(op + ": found " + std::to_string(wanted ? wanted->size() : request.factors.size()) +
                    " sizes or factors, expected " + std::to_string(rank) + ", one for each spatial dimension");
    Resize r;
    r.dtype = operand.dtype;
    r.align_corners = request.align_corners;
    r.in = Sizes(operand.sizes.begin() + 2, operand.sizes.end());
    r.sizes = {operand.sizes[0], operand.sizes[1]};
    r.planes = element_count(r.sizes);
    r.factors = request.factors;
    r.factors.resize(rank);
    for (std::size_t d = 0; d < rank; d++) {
        const double grown = wanted ? 0 : static_cast<double>(r.in[d]) * *r.factors[d];
        if (!(std::abs(grown) < 0x1p63))
            throw Error(op + ": found input " + to_string(operand.sizes) + " and factor " +
                        std::to_string(*r.factors[d]) + ", expected a result of fewer than 2^63 elements");
        r.out.push_back(wanted ? (*wanted)[d] : whole_number(grown, "a result"));
        if (r.in[d] < 1 || r.out[d] < 1)
            throw Error(op + ": found input " + to_string(operand.sizes) + " and result " + to_string(r.out) +
                        ", expected spatial sizes of at least 1");
    }
    r.sizes.insert(r.sizes.end(), r.out.begin(), r.out.end());
    return r;
}

// ---- which elements a result reads ----

namespace {

/// A position, towards zero, as one of n elements. A tiny factor leads beyond what 64 bits hold, and 0 * infinity to
/// none at all: to the last one.
template <class T>
std::int64_t below(T position, std::int64_t n) {
    return position < static_cast<T>(n) ? static_cast<std::int64_t>(std::max(position, T{0})) : n - 1;
}

/// floor(place * ratio), in f32, of a product in f64 for f64.
std::int64_t floor_of_product(const Resize& r, std::size_t d, std::int64_t place) {
    const float position = r.dtype == DType::f64
                               ? static_cast<float>(static_cast<double>(place) * inverse_factor<double>(r, d))
                               : static_cast<float>(place) * inverse_factor<float>(r, d);
    return below(std::floor(position), r.in[d]);
}

std::int64_t nearest_by_sizes(const Resize& r, std::size_t d, std::int64_t place) {
    if (r.in[d] == r.out[d]) return place;
    if (r.out[d] == 2 * r.in[d]) return place / 2;
    const float position = static_cast<float>(place) * inverse_factor<float>(r, d);
    return below(std::floor(position), r.in[d]);
}

std::int64_t exact(const Resize& r, std::size_t d, std::int64_t place) {
    const auto position = static_cast<float>((static_cast<double>(place) + 0.5) * inverse_factor<float>(r, d));
    return below(std::floor(position), r.in[d]);
}

/// Four neighbours, those beyond the image being the outermost ones.
template <class T>
void add_cubic(const Resize& r, std::size_t d, std::int64_t place, LinearMap& map) {
    const PositionMap positions = position_map<T>(r, d);
    const T shift = static_cast<T>(positions.shift);
    const T position = static_cast<T>(positions.scale) * (static_cast<T>(place) + shift) - shift;
    const T first = std::floor(position);
    const std::array<T, 4> weights =
        cubic_weights(position - first, [](double value) { return static_cast<T>(value); });
    // Two before the image and two behind it stand for all that lie further off: they read the outermost only.
    const std::int64_t around =
        first < 0 ? static_cast<std::int64_t>(std::max(first, T{-2})) : below(first, r.in[d] + 2);
    for (std::size_t k = 0; k < 4; ++k) {
        const std::int64_t at = around + static_cast<std::int64_t>(k) - 1;
        map.add(std::clamp<std::int64_t>(at, 0, r.in[d] - 1), place, static_cast<double>(weights[k]));
    }
}

/// The kernel that antialiasing weighs a distance with: a triangle, or Keys' cubic with a = -0.5.
template <class T>
T antialiasing(bool cubic, T x) {
    x = std::fabs(x);
    if (!cubic) return x < 1 ? 1 - x : T{0};
    constexpr T a = T{-0.5};
    if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : T{0};
}

/// All elements within the kernel's reach, which grows as the image shrinks. Their weights are 1 together.
template <class T>
void add_antialiased(const Resize& r, bool cubic, std::size_t d, std::int64_t place, LinearMap& map) {
    const T scale = static_cast<T>(position_map<T>(r, d).scale), reach = cubic ? T{2} : T{1};
    const T support = scale >= 1 ? reach * scale : reach, inverse = scale >= 1 ? 1 / scale : T{1};
    const T center = scale * (static_cast<T>(place) + T{0.5});
    const std::int64_t begin = below(center - support + T{0.5}, r.in[d] + 1);
    const std::int64_t end = below(center + support + T{0.5}, r.in[d] + 1);
    map.check_room(std::max<std::int64_t>(end - begin, 0));
    std::vector<T> weights;
    T total = 0;
    for (std::int64_t at = begin; at < end; ++at) {
        weights.push_back(antialiasing(cubic, (static_cast<T>(at) - center + T{0.5}) * inverse));
        total += weights.back();
    }
    for (std::int64_t at = begin; at < end; ++at) {
        const T weight = weights[static_cast<std::size_t>(at - begin)];
        map.add(at, place, static_cast<double>(total != 0 ? weight / total : weight));
    }
}

template <class T>
void add_terms(const Resize& r, Interpolation how, std::size_t d, std::int64_t place, LinearMap& map) {
    switch (how) {
        case Interpolation::nearest:
        case Interpolation::exact:
            return map.add(nearest(r, how, d, place), place, 1);
        case Interpolation::linear: {
            const Neighbours<T> n = neighbours<T>(r, d, place);
            map.add(n.first, place, static_cast<double>(1 - n.weight));
            return map.add(n.second, place, static_cast<double>(n.weight));
        }
        case Interpolation::cubic:
            return add_cubic<T>(r, d, place, map);
        case Interpolation::linear_antialiased:
            return add_antialiased<T>(r, false, d, place, map);
        case Interpolation::cubic_antialiased:
            return add_antialiased<T>(r, true, d, place, map);
    }
}

}  // namespace

std::int64_t nearest(const Resize& r, Interpolation how, std::size_t d, std::int64_t place) {
    if (how == Interpolation::exact) return exact(r, d, place);
    if (looks_at_sizes(r) && r.in[d] == r.out[d]) return place;
    if (looks_at_sizes(r) && r.out[d] == 2 * r.in[d]) return place / 2;
    return floor_of_product(r, d, place);
}

template <class T>
Neighbours<T> neighbours(const Resize& r, std::size_t d, std::int64_t place) {
    if (r.in[d] == r.out[d]) return {place, place, T{0}};  // as LibTorch, whatever the factor
    const PositionMap map = position_map<T>(r, d);
    const T shift = static_cast<T>(map.shift);
    const T position = std::max(static_cast<T>(map.scale) * (static_cast<T>(place) + shift) - shift, T{0});
    Neighbours<T> n;
    n.first = below(position, r.in[d]);
    n.second = std::min(n.first + 1, r.in[d] - 1);
    n.weight = std::min(position - static_cast<T>(n.first), T{1});
    return n;
}
template Neighbours<float> neighbours(const Resize&, std::size_t, std::int64_t);
template Neighbours<double> neighbours(const Resize&, std::size_t, std::int64_t);

std::vector<LinearMap> resize_maps(const Resize& r, Interpolation how) {
    std::vector<LinearMap> maps;
    for (std::size_t d = 0; d < r.in.size(); ++d) {
        maps.push_back({r.in[d], r.out[d]});
        for (std::int64_t place = 0; place < r.out[d]; ++place)
            r.dtype == DType::f64 ? add_terms<double>(r, how, d, place, maps.back())
                                  : add_terms<float>(r, how, d, place, maps.back());
    }
    return maps;
}

std::vector<LinearMap> resize_gradient_maps(const Resize& r, Interpolation how) {
    if (how == Interpolation::cubic && r.in == r.out) how = Interpolation::nearest;  // which copies
    std::vector<LinearMap> maps = resize_maps(r, how);
    for (std::size_t d = 0; d < maps.size(); ++d) {
        if (how == Interpolation::nearest)
            for (std::int64_t place = 0; place < r.out[d]; ++place)
                maps[d].from[static_cast<std::size_t>(place)] = nearest_by_sizes(r, d, place);
        maps[d] = maps[d].transposed();
    }
    return maps;
}

}  // namespace whittle

#include "ops/core/data_sizes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace whittle {
namespace {

using Ints = std::vector<std::int64_t>;

template <class T>
bool is_nan_element(const T& value) {
    if constexpr (std::is_floating_point_v<T>) return std::isnan(value);
    return false;
}

/// NaN behind every number.
template <class T>
bool before(const T& a, const T& b) {
    if (is_nan_element(a) || is_nan_element(b)) return !is_nan_element(a) && is_nan_element(b);
    return a < b;
}

/// Of `slices` slices of equal length, the elements of each side by side.
template <class T>
Distinct distinct_of(const std::vector<T>& values, std::size_t slices, bool sorted, NaNs nans) {
    const std::size_t length = slices == 0 ? 0 : values.size() / slices;
    const auto less = [&](std::size_t a, std::size_t b) {
        return std::lexicographical_compare(&values[a * length], &values[a * length] + length, &values[b * length],
                                            &values[b * length] + length, before<T>);
    };
    const auto has_nan = [&](std::size_t slice) {
        return std::any_of(&values[slice * length], &values[slice * length] + length, is_nan_element<T>);
    };
    std::vector<std::size_t> order(slices), firsts;
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, less);
    std::vector<std::size_t> first_of(slices);
    for (std::size_t i = 0; i < slices; ++i) {
        const bool same = i > 0 && !less(order[i - 1], order[i]) && (nans == NaNs::equal || !has_nan(order[i]));
        if (!same) firsts.push_back(order[i]);
        first_of[order[i]] = firsts.back();
    }
    if (!sorted) std::ranges::sort(firsts);
    std::map<std::size_t, std::int64_t> position;
    Distinct result;
    for (const std::size_t first : firsts) {
        position[first] = static_cast<std::int64_t>(result.first.size());
        result.first.push_back(static_cast<std::int64_t>(first));
    }
    result.counts.resize(firsts.size(), 0);
    for (const std::size_t first : first_of) {
        result.inverse.push_back(position[first]);
        ++result.counts[static_cast<std::size_t>(position[first])];
    }
    return result;
}

}  // namespace

std::vector<Ints> nonzero_positions(const Tensor& tensor) {
    const std::vector<bool> values = tensor.to(DType::boolean).values<bool>();
    const Sizes& sizes = tensor.sizes();
    std::vector<Ints> positions(sizes.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i]) continue;
        auto rest = static_cast<std::int64_t>(i);
        for (std::size_t dim = sizes.size(); dim-- > 0; rest /= sizes[dim]) positions[dim].push_back(rest % sizes[dim]);
    }
    return positions;
}

std::int64_t nonzero_count(const Tensor& tensor) {
    const std::vector<bool> values = tensor.to(DType::boolean).values<bool>();
    return std::ranges::count(values, true);
}

Distinct distinct_slices(const Tensor& tensor, std::int64_t axis, bool sorted, NaNs nans) {
    Sizes sizes = tensor.sizes();
    Strides strides = tensor.strides();  // the axis first: a slice's elements lie side by side
    std::rotate(sizes.begin(), sizes.begin() + axis, sizes.begin() + axis + 1);
    std::rotate(strides.begin(), strides.begin() + axis, strides.begin() + axis + 1);
    const Tensor turned = tensor.as_strided(sizes, strides, tensor.offset());
    const auto slices = static_cast<std::size_t>(sizes.front());
    if (is_floating(tensor.dtype())) return distinct_of(turned.values<double>(), slices, sorted, nans);
    return distinct_of(turned.values<std::int64_t>(), slices, sorted, nans);
}

}  // namespace whittle

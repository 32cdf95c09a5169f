#include "tensor/shape.h"

#include <algorithm>

#include "base/error.h"
#include "base/words.h"

namespace whittle {
namespace {

[[noreturn]] void too_large(std::span<const std::int64_t> sizes) {
    throw Error("found sizes " + to_string(sizes) + ", expected a tensor of fewer than 2^63 elements");
}

}  // namespace

std::int64_t element_count(std::span<const std::int64_t> sizes) {
    std::int64_t count = 1;
    bool empty = false;
    for (const std::int64_t size : sizes) {
        if (size < 0) throw Error("found sizes " + to_string(sizes) + ", expected no negative size");
        empty = empty || size == 0;
        // Sizes beside a 0 must fit too: strides are made of them.
        if (__builtin_mul_overflow(count, std::max<std::int64_t>(size, 1), &count)) too_large(sizes);
    }
    return empty ? 0 : count;
}

Strides contiguous_strides(std::span<const std::int64_t> sizes) {
    Strides strides(sizes.size());
    std::int64_t stride = 1;
    for (std::size_t d = sizes.size(); d-- > 0;) {
        strides[d] = stride;
        if (__builtin_mul_overflow(stride, std::max<std::int64_t>(sizes[d], 1), &stride)) too_large(sizes);
    }
    return strides;
}

bool is_contiguous(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides) {
    if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return true;
    std::int64_t expected = 1;
    for (std::size_t d = sizes.size(); d-- > 0;) {
        if (sizes[d] == 1) continue;  // never stepped over
        if (strides[d] != expected) return false;
        if (__builtin_mul_overflow(expected, sizes[d], &expected)) return false;
    }
    return true;
}

Sizes broadcast_sizes(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
    const std::size_t rank = std::max(a.size(), b.size());
    Sizes result(rank);
    for (std::size_t d = 0; d < rank; ++d) {
        const std::size_t from_end = rank - d;  // dimensions are aligned at the last
        const std::int64_t x = from_end <= a.size() ? a[a.size() - from_end] : 1;
        const std::int64_t y = from_end <= b.size() ? b[b.size() - from_end] : 1;
        if (x != y && x != 1 && y != 1)
            throw Error("found sizes " + to_string(a) + " and " + to_string(b) +
                        ", expected sizes that broadcast: " + std::to_string(x) + " and " + std::to_string(y) +
                        " do not match in dimension " + std::to_string(d) + " of the result");
        result[d] = x == 1 ? y : x;
    }
    return result;
}

Strides broadcast_strides(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides,
                          std::span<const std::int64_t> to) {
    WHITTLE_CHECK(sizes.size() == strides.size() && sizes.size() <= to.size(),
                  "cannot broadcast " + to_string(sizes) + " to " + to_string(to));
    Strides result(to.size(), 0);
    const std::size_t added = to.size() - sizes.size();
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        WHITTLE_CHECK(sizes[d] == to[added + d] || sizes[d] == 1,
                      "cannot broadcast " + to_string(sizes) + " to " + to_string(to));
        result[added + d] = sizes[d] == to[added + d] ? strides[d] : 0;
    }
    return result;
}

std::int64_t wrap_dim(std::int64_t dim, std::int64_t rank) {
    const std::int64_t wrapped_rank = std::max<std::int64_t>(rank, 1);
    if (dim < -wrapped_rank || dim >= wrapped_rank)
        throw Error("found dimension " + std::to_string(dim) + ", expected " + std::to_string(-wrapped_rank) + " to " +
                    std::to_string(wrapped_rank - 1));
    return dim < 0 ? dim + wrapped_rank : dim;
}

std::string to_string(std::span<const std::int64_t> values) { return "[" + join(values) + "]"; }

}  // namespace whittle

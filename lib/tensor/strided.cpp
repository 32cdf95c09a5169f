#include "tensor/strided.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include "tensor/convert.h"

namespace whittle::detail {
namespace {

/// What is read from memory that holds a T.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class From, class To>
void convert(const void* from, std::int64_t stride, void* to, std::int64_t count) {
    const auto* source = static_cast<const Stored<From>*>(from);
    auto* target = static_cast<To*>(to);
    for (std::int64_t i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<From, bool>)
            target[i] = cast_element<To>(source[i * stride] != 0);
        else
            target[i] = cast_element<To>(source[i * stride]);
    }
}

struct Dimension {
    std::int64_t size, stride;
};

std::vector<Dimension> merged(std::span<const std::int64_t> sizes, std::span<const std::int64_t> strides) {
    std::vector<Dimension> result;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] == 1) continue;
        // stride == outer stride of a dimension that continues it; the product cannot overflow for a checked view
        if (!result.empty() && result.back().stride == strides[d] * sizes[d])
            result.back() = {result.back().size * sizes[d], strides[d]};
        else
            result.push_back({sizes[d], strides[d]});
    }
    if (result.empty()) result.push_back({1, 1});
    return result;
}

}  // namespace

ConvertRow convert_row(DType from, DType to) {
    return visit_dtype(from, [to](auto source) -> ConvertRow {
        return visit_dtype(to, [](auto target) -> ConvertRow { return convert<decltype(source), decltype(target)>; });
    });
}

void convert_strided(const void* base, DType from, std::span<const std::int64_t> sizes,
                     std::span<const std::int64_t> strides, void* to, DType to_dtype) {
    for (const std::int64_t size : sizes)
        if (size == 0) return;
    const std::vector<Dimension> dimensions = merged(sizes, strides);
    const Dimension row = dimensions.back();
    const auto from_size = static_cast<std::int64_t>(size_of(from));
    const std::size_t row_bytes = static_cast<std::size_t>(row.size) * size_of(to_dtype);
    const ConvertRow convert = convert_row(from, to_dtype);
    const bool copy = from == to_dtype && row.stride == 1 && from != DType::boolean;

    std::vector<std::int64_t> index(dimensions.size() - 1, 0);
    std::int64_t offset = 0;  // of the row, in elements
    auto* target = static_cast<std::byte*>(to);
    for (;;) {
        const void* source = static_cast<const std::byte*>(base) + offset * from_size;
        if (copy)
            std::memcpy(target, source, row_bytes);
        else
            convert(source, row.stride, target, row.size);
        target += row_bytes;
        std::size_t d = index.size();
        for (; d-- > 0;) {
            offset += dimensions[d].stride;
            if (++index[d] < dimensions[d].size) break;
            offset -= dimensions[d].stride * dimensions[d].size;
            index[d] = 0;
        }
        if (d == std::size_t(-1)) return;
    }
}

}  // namespace whittle::detail

#include "ops/window.h"

namespace whittle {

Sizes window_parameter(const std::string& op, const std::string& parameter, Sizes values, std::int64_t rank,
                       const Sizes& otherwise, std::int64_t least) {
    if (values.empty()) return otherwise;
    if (values.size() == 1) values.assign(static_cast<std::size_t>(rank), values[0]);
    if (static_cast<std::int64_t>(values.size()) != rank)
        throw Error(op + ": found " + parameter + "=" + to_string(values) + ", expected one value or " +
                    std::to_string(rank));
    for (const std::int64_t value : values)
        if (value < least)
            throw Error(op + ": found " + parameter + "=" + to_string(values) + ", expected values of at least " +
                        std::to_string(least));
    return values;
}

Sizes coordinates(std::int64_t flat, const Sizes& sizes) {
    Sizes result(sizes.size());
    for (std::size_t d = sizes.size(); d-- > 0;) {
        result[d] = flat % sizes[d];
        flat /= sizes[d];
    }
    return result;
}

std::vector<std::int64_t> window_offsets(const Window& window) {
    const std::int64_t taps = window.taps(), places = element_count(window.out);
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(taps * places));
    const std::size_t rank = window.kernel.size();
    const Strides strides = contiguous_strides(window.in);
    for (std::int64_t tap = 0; tap < taps; tap++) {
        const Sizes t = coordinates(tap, window.kernel);
        Sizes place(rank, 0);
        for (std::int64_t p = 0; p < places; p++) {
            std::int64_t offset = 0;
            for (std::size_t d = 0; d < rank && offset >= 0; d++) {
                const std::int64_t at = place[d] * window.stride[d] - window.padding[d] + t[d] * window.dilation[d];
                offset = at < 0 || at >= window.in[d] ? -1 : offset + at * strides[d];
            }
            offsets[static_cast<std::size_t>(tap * places + p)] = offset;
            for (std::size_t d = rank; d-- > 0;) {  // the next place, last dimension fastest
                if (++place[d] < window.out[d]) break;
                place[d] = 0;
            }
        }
    }
    return offsets;
}

}  // namespace whittle

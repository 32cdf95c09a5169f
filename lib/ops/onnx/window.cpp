#include "ops/onnx/window.h"

#include <algorithm>

#include "base/words.h"

namespace whittle::onnx_dialect {
namespace {

using namespace aten;

/// Larger windows and paddings cannot be meant, and their arithmetic could overflow.
constexpr std::int64_t kLargest = std::int64_t{1} << 31;

}  // namespace

Ints per_dimension(const Call& c, std::string_view name, std::size_t rank, std::int64_t value, std::int64_t low) {
    const Ints values = c.optional_integers(name).value_or(Ints(rank, value));
    if (values.size() != rank)
        throw Error("found " + std::string(name) + "=" + to_string(values) + ", expected " + std::to_string(rank) +
                    " numbers");
    for (const std::int64_t v : values)
        if (v < low || v > kLargest)
            throw Error("found " + std::string(name) + "=" + to_string(values) + ", expected numbers from " +
                        std::to_string(low) + " to 2^31");
    return values;
}

void check_removed(std::size_t dim, std::int64_t pads, std::int64_t size) {
    if (pads > size)
        throw Error("found pads that remove " + std::to_string(pads) + " elements from dimension " +
                    std::to_string(dim) + ", expected at most its " + plural(size, "element"));
}

Windows windows_of(const Call& c, const V& x, const Ints& kernel) {
    if (x.rank() < 3)
        throw Error("found " + std::to_string(x.rank()) +
                    " dimensions, expected at least 3: batch, channels and spatial dimensions");
    Windows windows;
    const auto rank = static_cast<std::size_t>(x.rank() - 2);
    windows.kernel = kernel;
    if (kernel.size() != rank)
        throw Error("found a kernel of " + std::to_string(kernel.size()) + " dimensions, expected " +
                    std::to_string(rank) + ", one for each spatial dimension of X");
    for (const std::int64_t size : kernel)
        if (size < 1 || size > kLargest)
            throw Error("found a kernel of sizes " + to_string(kernel) + ", expected sizes from 1 to 2^31");
    windows.strides = per_dimension(c, "strides", rank, 1, 1);
    windows.dilations = c.schema().param("dilations") ? per_dimension(c, "dilations", rank, 1, 1) : Ints(rank, 1);

    const std::string mode = c.text("auto_pad");
    if (mode == "NOTSET") {
        const Ints pads = per_dimension(c, "pads", 2 * rank, 0, 0);
        windows.before.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
        windows.after.assign(pads.begin() + static_cast<std::ptrdiff_t>(rank), pads.end());
        return windows;
    }
    if (mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
        throw Error("found auto_pad '" + mode + "', expected 'NOTSET', 'VALID', 'SAME_UPPER' or 'SAME_LOWER'");
    for (std::size_t d = 0; d < rank; ++d) {
        const std::int64_t size = x.sizes()[d + 2], stride = windows.strides[d];
        const std::int64_t count = (size + stride - 1) / stride;
        const std::int64_t total =
            mode == "VALID" ? 0 : std::max<std::int64_t>((count - 1) * stride + windows.extent(d) - size, 0);
        windows.before.push_back(mode == "SAME_UPPER" ? total / 2 : total - total / 2);
        windows.after.push_back(total - windows.before.back());
    }
    return windows;
}

V padded(const V& x, const Windows& windows, const Scalar& value) {
    Ints pads;  // ATen counts pairs from the last dimension
    for (std::size_t d = windows.rank(); d-- > 0;) {
        pads.push_back(windows.before[d]);
        pads.push_back(windows.after[d]);
    }
    const bool none = std::all_of(pads.begin(), pads.end(), [](std::int64_t pad) { return pad == 0; });
    return none ? x : constant_pad_nd(x, pads, value);
}

}  // namespace whittle::onnx_dialect

// Samples of lib/ops/aten/searchsorted.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Equal neighbours, then NaN for floats.
Tensor sequence_of(DType dtype) {
    std::vector<double> values = {0, 1, 1, 3, 7};
    if (is_floating(dtype)) values.push_back(std::numeric_limits<double>::quiet_NaN());
    return samples::values(dtype, values);
}

Samples search_samples(DType dtype, bool sequence_first) {
    const auto call = [&](const std::string& label, const Tensor& sequence, const Tensor& values,
                          std::vector<std::pair<std::string, Arg>> kwargs = {}) {
        return Sample{.label = label,
                      .tensors = {sequence, values},
                      .args = {t(sequence_first ? 0 : 1), t(sequence_first ? 1 : 0)},
                      .kwargs = std::move(kwargs)};
    };
    const Tensor sequence = sequence_of(dtype), values = uniform(dtype, {3, 4}, 0, 9);
    Samples result = {
        call("left", sequence, values),
        call("right", sequence, transposed(values), {{"right", true}}),
        call("special", sequence, special(dtype), {{"out_int32", true}}),
        call("0-d", sequence, scalar(dtype, 1)),
        call("empty sequence", samples::values(dtype, {}), values),
        call("no values", sequence, samples::values(dtype, {})),
    };
    if (!sequence_first) return result;
    result.push_back(call("lines", samples::values(dtype, {1, 2, 5, 0, 3, 3}, {2, 3}), uniform(dtype, {2, 4}, 0, 6),
                          {{"side", "right"}}));
    return result;
}

}  // namespace

Table search_table() {
    return {{{"aten.searchsorted.Tensor"}, [](DType dtype) { return search_samples(dtype, true); }},
            {{"aten.bucketize.Tensor"}, [](DType dtype) { return search_samples(dtype, false); }}};
}

}  // namespace whittle::samples

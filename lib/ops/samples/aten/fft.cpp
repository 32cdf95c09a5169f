// Samples of lib/ops/aten/fft.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples dispatched(DType dtype, const ArgList& rest, const std::string& label, const Sizes& sizes,
                   const std::vector<std::int64_t>& dims) {
    Samples result;
    for (const int normalization : {0, 1, 2})
        result.push_back({label + ", normalization " + std::to_string(normalization),
                          {random(dtype, sizes)},
                          joined({t(0), Arg::ints(dims), normalization}, rest)});
    return result;
}

Samples c2c_samples(DType dtype) {
    return dispatched(dtype, {true}, "forward", {3, 10}, {1}) + dispatched(dtype, {false}, "back", {3, 10}, {1}) +
           dispatched(dtype, {true}, "planes", {2, 3, 8}, {0, 2});
}
Samples r2c_samples(DType dtype) {
    return dispatched(dtype, {true}, "half", {3, 10}, {1}) + dispatched(dtype, {false}, "whole", {3, 9}, {1}) +
           dispatched(dtype, {true}, "planes", {6, 3, 8}, {0, 2});
}
Samples c2r_samples(DType dtype) {
    return dispatched(dtype, {10}, "even", {3, 6}, {1}) + dispatched(dtype, {9}, "odd", {3, 5}, {1}) +
           dispatched(dtype, {8}, "planes", {6, 3, 5}, {0, 2});
}

}  // namespace

Table fft_table() {
    return {{{"aten._fft_c2c.default"}, c2c_samples},
            {{"aten._fft_r2c.default"}, r2c_samples},
            {{"aten._fft_c2r.default"}, c2r_samples}};
}

}  // namespace whittle::samples

// Samples of lib/ops/aten/histogram.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples histc_samples(DType dtype) {
    const Tensor x = random(dtype, {4, 5}), steps = values(dtype, {-1, 0, 0.5, 1, 1.5, 2, 2.5, 7});
    return {{"bounds", {steps}, {t(0), 4, 0, 2}},
            {"of its own", {x}, {t(0), 7}},
            {"of one number", {values(dtype, {2, 2, 2})}, {t(0), 3}},
            {"transposed", {transposed(x)}, {t(0), 3, -1, 1.5}},
            {"one bin", {x}, {t(0), 1, -1, 1}},
            {"special", {special(dtype)}, {t(0), 5, -2, 2}},
            {"0-d", {scalar(dtype, 1)}, {t(0), 2, 0, 4}},
            {"empty", {random(dtype, {0})}, {t(0), 3, 0, 1}}};
}

}  // namespace

Table histogram_table() { return {{{"aten.histc.default"}, histc_samples}}; }

}  // namespace whittle::samples

// Samples of lib/ops/aten/histogram.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples histc_samples(DType dtype) {
    const Tensor x = random(dtype, {4, 5}), steps = values(dtype, {-1, 0, 0.5, 1, 1.5, 2, 2.5, 7});
    return {call_of("bounds", {steps, 4, 0, 2}),
            call_of("of its own", {x, 7}),
            call_of("of one number", {values(dtype, {2, 2, 2}), 3}),
            call_of("transposed", {transposed(x), 3, -1, 1.5}),
            call_of("one bin", {x, 1, -1, 1}),
            call_of("special", {special(dtype), 5, -2, 2}),
            call_of("0-d", {scalar(dtype, 1), 2, 0, 4}),
            call_of("empty", {random(dtype, {0}), 3, 0, 1})};
}

}  // namespace

Table histogram_table() { return {{{"aten.histc.default"}, histc_samples}}; }

}  // namespace whittle::samples

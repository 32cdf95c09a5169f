// Samples of lib/ops/aten/householder.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples geqrf_samples(DType dtype) {
    const auto call = [&](const char* label, const Sizes& sizes) { return call_of(label, {random(dtype, sizes)}); };
    return {call("square", {3, 3}), call("tall", {4, 2}), call("wide", {2, 4}), call("batch", {2, 3, 2})};
}

Samples householder_samples(DType dtype) {
    const auto call = [&](const char* label, const Sizes& vectors, const Sizes& factors) {
        return call_of(label, {random(dtype, vectors, 1), random(dtype, factors, 2)});
    };
    return {call("tall", {4, 2}, {2}), call("square", {3, 3}, {3}), call("fewer factors", {4, 3}, {2}),
            call("batch", {2, 3, 2}, {2, 2})};
}

Samples ormqr_samples(DType dtype) {
    const auto call = [&](const char* label, const Sizes& vectors, const Sizes& factors, const Sizes& x, bool left,
                          bool transpose) {
        return call_of(label,
                       {random(dtype, vectors, 1), random(dtype, factors, 2), random(dtype, x, 3), left, transpose});
    };
    return {call("left", {4, 2}, {2}, {4, 3}, true, false), call("left, transposed", {4, 2}, {2}, {4, 3}, true, true),
            call("right", {4, 2}, {2}, {3, 4}, false, false),
            call("right, transposed", {4, 2}, {2}, {3, 4}, false, true),
            call("batch", {2, 3, 2}, {2, 2}, {2, 3, 3}, true, false)};
}

}  // namespace

Table householder_table() {
    return {{{"aten.geqrf.default"}, geqrf_samples},
            {{"aten.linalg_householder_product.default"}, householder_samples},
            {{"aten.ormqr.default"}, ormqr_samples}};
}

}  // namespace whittle::samples

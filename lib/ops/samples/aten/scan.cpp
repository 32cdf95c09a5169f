// Samples of lib/ops/aten/scan.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples scan_samples(DType dtype) {
    Samples result = {{.label = "values", .tensors = {uniform(dtype, {3, 5}, 0, 3)}, .args = {t(0), 1}},
                      {.label = "first dim", .tensors = {uniform(dtype, {4, 2, 3}, 0, 3, 2)}, .args = {t(0), -3}}};
    return result + moved(dtype, "special", {3, 4}, {0}) +
           Samples{once(dtype, "one", {1, 2}, {0}), once(dtype, "0-d", {}, {-1}), once(dtype, "empty", {2, 0}, {1}),
                   once(dtype, "no lines", {0, 2}, {1})};
}

Samples typed_scan_samples(DType dtype) {
    Samples result = scan_samples(dtype);
    for (const DType to : {DType::f64, DType::i32, DType::f16}) {
        Sample sample{.label = "as " + std::string(name(to)),
                      .tensors = {uniform(dtype, {6}, 0, 4)},
                      .args = {t(0), 0},
                      .kwargs = {{"dtype", to}}};
        result.push_back(sample);
    }
    return result;
}

}  // namespace

Table scan_table() {
    return {{{"aten.cumsum.default", "aten.cumprod.default"}, typed_scan_samples},
            {{"aten.logcumsumexp.default", "aten.cummax.default", "aten.cummin.default"}, scan_samples},
            {{"aten.diff.default"}, [](DType dtype) -> Samples {
                 Sample both = once(dtype, "with both ends", {2, 4}, {1, -1, t(1), t(2)});
                 both.tensors.push_back(ramp(dtype, {2, 1}));
                 both.tensors.push_back(ramp(dtype, {2, 2}));
                 return {both, once(dtype, "twice", {5}, {2}), once(dtype, "none", {3}, {0}),
                         once(dtype, "more than there are", {2}, {5}), once(dtype, "columns", {3, 2}, {1, 0})};
             }}};
}

}  // namespace whittle::samples

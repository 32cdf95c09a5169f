// Samples of lib/ops/aten/scan.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples scan_samples(DType dtype) {
    Samples result = {call_of("values", {uniform(dtype, {3, 5}, 0, 3), 1}),
                      call_of("first dim", {uniform(dtype, {4, 2, 3}, 0, 3, 2), -3})};
    return result + moved(dtype, "special", {3, 4}, {0}) +
           Samples{once(dtype, "one", {1, 2}, {0}), once(dtype, "0-d", {}, {-1}), once(dtype, "empty", {2, 0}, {1}),
                   once(dtype, "no lines", {0, 2}, {1})};
}

Samples typed_scan_samples(DType dtype) {
    Samples result = scan_samples(dtype);
    for (const DType to : {DType::f64, DType::i32, DType::f16}) {
        Sample sample = call_of("as " + std::string(name(to)), {uniform(dtype, {6}, 0, 4), 0}, {{"dtype", to}});
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

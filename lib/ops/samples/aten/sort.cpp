// Samples of lib/ops/aten/sort.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// op(tensor, rest...) over ties, special values, layouts and empty tensors; the dimension that matters has 5 elements.
Samples order_samples(DType dtype, const ArgList& rest) {
    Samples result = moved(dtype, "special", {5, 3}, rest);
    const ArgList args = joined({t(0)}, rest);
    result.push_back({.label = "ties", .tensors = {uniform(dtype, {5, 4}, 0, 3)}, .args = args});
    result.push_back({.label = "random", .tensors = {random(dtype, {5, 2, 3})}, .args = args});
    result.push_back(once(dtype, "no lines", {5, 0}, rest));
    return result;
}

Samples argsort_samples(DType dtype) { return order_samples(dtype, {0, true}); }

}  // namespace

Table sort_table() {
    return {{{"aten.sort.default"},
             [](DType dtype) {
                 Samples down = order_samples(dtype, {0, true});
                 for (Sample& sample : down) sample.label += ", descending";
                 return order_samples(dtype, {0}) + down +
                        Samples{once(dtype, "last dim", {2, 7}), once(dtype, "0-d", {}), once(dtype, "one", {1}),
                                once(dtype, "empty", {2, 0})};
             }},
            {{"aten.sort.stable"},
             [](DType dtype) {
                 Samples result = order_samples(dtype, {});
                 for (Sample& sample : result) sample.kwargs = {{"stable", true}, {"dim", 0}, {"descending", true}};
                 return result;
             }},
            {{"aten.argsort.default"}, argsort_samples},
            {{"aten.argsort.stable"},
             [](DType dtype) {
                 Samples result = order_samples(dtype, {});
                 for (Sample& sample : result) sample.kwargs = {{"stable", true}, {"dim", 0}};
                 return result;
             }},
            {{"aten.topk.default"},
             [](DType dtype) {
                 Samples smallest = order_samples(dtype, {2, 0, false});
                 for (Sample& sample : smallest) sample.label += ", smallest";
                 return order_samples(dtype, {3, 0}) + smallest +
                        Samples{once(dtype, "all", {2, 4}, {4}), once(dtype, "none", {2, 4}, {0}),
                                once(dtype, "0-d", {}, {1}), once(dtype, "unsorted", {6}, {2, 0, true, false})};
             }},
            {{"aten.kthvalue.default"},
             [](DType dtype) {
                 return order_samples(dtype, {2, 0}) +
                        Samples{once(dtype, "kept dim", {2, 4}, {4, 1, true}), once(dtype, "0-d", {}, {1})};
             }},
            {{"aten.median.dim"},
             [](DType dtype) {
                 return order_samples(dtype, {0}) +
                        Samples{once(dtype, "kept dim", {2, 4}, {-1, true}), once(dtype, "0-d", {}, {0})};
             }},
            {{"aten.mode.default"},
             [](DType dtype) {
                 const Tensor x = values(dtype, {1, 3, 3, 1, 2, 2, 0, 2, 0, 0, 1, 1, 3, 4, 0}, {3, 5});
                 return Samples{call_of("rows", {x}), call_of("columns, kept", {transposed(x), 0, true}),
                                call_of("strided", {strided(x), 1}), once(dtype, "0-d", {}, {0})};
             }},
            {{"aten.median.default"}, [](DType dtype) {
                 Samples result = {call_of("numbers", {random(dtype, {3, 4})}), once(dtype, "special", {7}),
                                   once(dtype, "0-d", {})};
                 if (is_floating(dtype)) result.push_back(once(dtype, "empty", {0}));
                 return result;
             }}};
}

}  // namespace whittle::samples

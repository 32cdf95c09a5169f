// Samples of lib/ops/aten/triangle.cpp.
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples indices_samples(DType dtype) {
    return dtype_samples(dtype, {{"square", {3, 3}}, {"wide", {2, 4, 1}}, {"high", {4, 2, -1}}, {"none", {0, 3}}});
}

}  // namespace

Table triangle_table() {
    return {{{"aten.tril.default", "aten.triu.default"},
             [](DType dtype) {
                 return moved(dtype, "main", {4, 3}) +
                        Samples{once(dtype, "above", {2, 3, 4}, {1}), once(dtype, "below", {3, 4}, {-1}),
                                once(dtype, "all or nothing", {2, 2}, {100}), once(dtype, "empty", {0, 3})};
             }},
            {{"aten.tril_indices.default", "aten.triu_indices.default"}, indices_samples}};
}

}  // namespace whittle::samples

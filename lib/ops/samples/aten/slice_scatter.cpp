// Samples of lib/ops/aten/slice_scatter.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Sample replaced(const std::string& label, const Tensor& self, const Tensor& source, const ArgList& rest) {
    return {.label = label, .tensors = {self, source}, .args = joined({t(0), t(1)}, rest)};
}

}  // namespace

Table slice_scatter_table() {
    return {{{"aten.select_scatter.default"},
             [](DType dtype) -> Samples {
                 return {replaced("row", mixed(dtype, {3, 4}), ramp(dtype, {4}), {0, 1}),
                         replaced("column from the end", transposed(mixed(dtype, {3, 4})), negative(ramp(dtype, {3})),
                                  {1, -4}),
                         replaced("1-d", mixed(dtype, {3}), mixed(dtype, {}), {0, 2})};
             }},
            {{"aten.slice_scatter.default"},
             [](DType dtype) -> Samples {
                 return {replaced("range", mixed(dtype, {4, 3}), ramp(dtype, {2, 3}), {0, 1, 3}),
                         replaced("step", transposed(mixed(dtype, {2, 7})), ramp(dtype, {2, 3}), {1, 1, 6, 2}),
                         replaced("all", mixed(dtype, {3}), mixed(dtype, {3}), {}),
                         replaced("converted", mixed(dtype, {3}), ramp(DType::i32, {2}), {0, -2}),
                         replaced("nothing", mixed(dtype, {3}), ramp(dtype, {0}), {0, 2, 1})};
             }},
            {{"aten.diagonal_scatter.default"},
             [](DType dtype) -> Samples {
                 return {replaced("main", mixed(dtype, {3, 4}), ramp(dtype, {3}), {}),
                         replaced("below", mixed(dtype, {2, 4, 3}), transposed(ramp(dtype, {2, 3})), {-1, 1, 2}),
                         replaced("outside", mixed(dtype, {2, 2}), ramp(dtype, {0}), {5})};
             }},
            {{"aten.diag_embed.default"},
             [](DType dtype) {
                 return moved(dtype, "rows", {2, 3}) +
                        Samples{once(dtype, "above", {3}, {2}), once(dtype, "below", {2, 2}, {-1}),
                                once(dtype, "other dimensions", {2, 3}, {1, 0, 2}),
                                once(dtype, "swapped", {2, 3}, {1, 2, 0}), once(dtype, "empty", {0})};
             }},
            {{"aten.diag.default"}, [](DType dtype) {
                 return moved(dtype, "matrix", {3, 4}) +
                        Samples{once(dtype, "row", {3}), once(dtype, "row below", {3}, {-1}),
                                once(dtype, "matrix above", {3, 4}, {1}), once(dtype, "outside", {2, 2}, {3})};
             }}};
}

}  // namespace whittle::samples

// Samples of lib/ops/aten/distributions.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {

Table distribution_table() {
    return {
        {{"aten.uniform.default", "aten.normal_functional.default", "aten.log_normal.default"},
         [](DType dtype) {
             return unary(dtype, {0.25, 0.5});
         }},
        {{"aten.exponential.default"}, [](DType dtype) { return unary(dtype, {2.0}); }},
        {{"aten.geometric.default"}, [](DType dtype) { return unary(dtype, {0.25}); }},
        {{"aten.cauchy.default"},
         [](DType dtype) {
             return unary(dtype, {1.0, 0.5});
         }},
        {{"aten.normal.Tensor_float"}, [](DType dtype) { return unary(dtype, {0.5}); }},
        {{"aten.normal.float_Tensor"},
         [](DType dtype) -> Samples {
             return {call_of("deviations", {0.5, uniform(dtype, {3, 4}, 0, 2)})};
         }},
        {{"aten.normal.Tensor_Tensor"},
         [](DType dtype) -> Samples {
             return {call_of("broadcast", {random(dtype, {3, 1}), uniform(dtype, {4}, 0, 2)})};
         }},
    };
}

}  // namespace whittle::samples

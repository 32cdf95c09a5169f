// Samples of lib/ops/aten/compare.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Against a number: among the values, beyond the range of narrow integers, between two values of half types.
Samples with_numbers(DType dtype) {
    Samples result = unary(dtype, {Arg(1)}, " with 1");
    const Tensor x = values(dtype, {0, 0.1, 1, 2, 44});
    result.push_back(call_of("with 0.1", {x, Arg(0.1)}));
    result.push_back(call_of("with 300", {x, Arg(300)}));
    result.push_back(call_of("with true", {x, Arg(true)}));
    return result;
}

}  // namespace

Table compare_table() {
    return {
        {{"aten.eq.Tensor", "aten.ne.Tensor"}, binary_with<kAnyDType | kComplex>},
        {{"aten.lt.Tensor", "aten.le.Tensor", "aten.gt.Tensor", "aten.ge.Tensor", "aten.logical_and.default",
          "aten.logical_or.default", "aten.logical_xor.default"},
         binary_with<kAnyDType>},
        {{"aten.eq.Scalar", "aten.ne.Scalar", "aten.lt.Scalar", "aten.le.Scalar", "aten.gt.Scalar", "aten.ge.Scalar"},
         with_numbers}};
}

}  // namespace whittle::samples

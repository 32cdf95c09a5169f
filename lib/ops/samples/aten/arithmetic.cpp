// Samples of lib/ops/aten/arithmetic.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Different numbers, which wrap in narrow integers and round in half types; other alphas.
template <bool kAllowsBool>
Samples weighted_sum_samples(DType dtype) {
    Samples result = binary(dtype, (kAllowsBool ? kAnyDType : kNumbers) | kComplex);
    const Tensor a = ramp(dtype, {2, 3}), b = random(dtype, {3});
    if (dtype != DType::boolean) result.push_back(call_of("alpha", {a, b}, {{"alpha", Arg(-3)}}));
    if (is_floating(dtype)) result.push_back(call_of("alpha 0.3", {a, b}, {{"alpha", Arg(0.3)}}));
    result.push_back(call_of("number", {a, Arg(3)}));
    if (is_floating(dtype)) result.push_back(call_of("floating number", {a, Arg(0.1)}));
    return result;
}
template <bool kAllowsBool>
Samples weighted_number_samples(DType dtype) {
    Samples result = unary(dtype, {Arg(2)});
    const Tensor x = values(dtype, {0, 0.1, 1, 2, 44});
    result.push_back(call_of("floating number", {x, Arg(0.1)}));
    result.push_back(call_of("300", {x, Arg(300)}));
    result.push_back(call_of("alpha", {x, Arg(5), Arg(-2)}));
    if (kAllowsBool) result.push_back(call_of("true", {x, Arg(true)}));
    return result;
}

Samples scalar_samples(DType dtype) {
    Samples result = unary(dtype, {dtype == DType::boolean ? Arg(true) : Arg(3)});
    if (is_floating(dtype)) {
        const Tensor x = values(dtype, {0.1, 1, 3});
        result.push_back(call_of("floating number", {x, Arg(0.1)}));
    }
    return result;
}

}  // namespace

Table arithmetic_table() {
    return {{{"aten.add.Tensor"}, weighted_sum_samples<true>},
            {{"aten.add.Scalar"}, weighted_number_samples<true>},
            {{"aten.sub.Tensor", "aten.rsub.Tensor"}, weighted_sum_samples<false>},
            {{"aten.sub.Scalar", "aten.rsub.Scalar"}, weighted_number_samples<false>},
            {{"aten.mul.Tensor"}, binary_with<kAnyDType | kLimited | kComplex>},
            {{"aten.mul.Scalar", "aten.bitwise_and.Scalar", "aten.bitwise_or.Scalar", "aten.bitwise_xor.Scalar",
              "aten.bitwise_left_shift.Tensor_Scalar", "aten.bitwise_right_shift.Tensor_Scalar",
              "aten.__lshift__.Scalar", "aten.__rshift__.Scalar"},
             scalar_samples},
            {{"aten.maximum.default", "aten.max.other", "aten.minimum.default", "aten.min.other", "aten.fmax.default",
              "aten.fmin.default", "aten.atan2.default"},
             binary_with<kAnyDType | kLimited>},
            {{"aten.bitwise_and.Tensor", "aten.bitwise_or.Tensor", "aten.bitwise_xor.Tensor"},
             binary_with<kIntegers | kLimited | kBool>},
            {{"aten.bitwise_left_shift.Tensor", "aten.bitwise_right_shift.Tensor"}, binary_with<kIntegers>},
            // By amounts within the width: what others do under these names LibTorch leaves open.
            {{"aten.__lshift__.Tensor", "aten.__rshift__.Tensor"}, binary_with<kIntegers, Right::shift>}};
}

}  // namespace whittle::samples

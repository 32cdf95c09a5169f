// Samples of lib/ops/aten/division.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// With signs in all combinations, and numbers.
template <bool kScalar, DTypeSet kPartners>
Samples divided(DType dtype) {
    if (!kScalar) return binary(dtype, kPartners, Right::nonzero);
    Samples result = unary(dtype, {Arg(3)}) + unary(dtype, {Arg(-2)}, " by -2");
    if (is_floating(dtype) || (kPartners & kBool)) result.push_back(call_of("by 0.3", {ramp(dtype, {7}), Arg(0.3)}));
    return result;
}

/// Every mode; unsigned integers have no negative numbers to divide by.
template <bool kScalar>
Samples mode_samples(DType dtype) {
    Samples result;
    for (const char* mode : {"", "floor", "trunc"})
        for (Sample& sample : divided<kScalar, kNumbers>(dtype)) {
            if (*mode)
                sample.kwargs.emplace_back("rounding_mode", Arg(mode));
            else
                sample.kwargs.emplace_back("rounding_mode", Arg());
            sample.label += *mode ? std::string(" ") + mode : "";
            result.push_back(std::move(sample));
        }
    return result;
}

/// Without the smallest integers, of whose magnitudes kernels make something else each.
Samples divisor_samples(DType dtype) {
    Samples result = binary(dtype, kIntegers);
    std::erase_if(result, [](const Sample& sample) { return sample.label == "special"; });
    const Tensor a = values(dtype, {0, 0, -6, 12, -9, 100}), b = values(dtype, {0, 5, 4, -18, -9, 0});
    result.push_back(call_of("zeros and signs", {a, b}));
    return result;
}

}  // namespace

Table division_table() {
    return {
        {{"aten.div.Tensor"}, divided<false, kAnyDType | kLimited | kComplex>},
        {{"aten.div.Scalar"}, divided<true, kAnyDType | kLimited | kComplex>},
        {{"aten.div.Tensor_mode"}, mode_samples<false>},
        {{"aten.div.Scalar_mode"}, mode_samples<true>},
        {{"aten.floor_divide.default", "aten.remainder.Tensor", "aten.fmod.Tensor"},
         divided<false, kNumbers | kLimited>},
        {{"aten.floor_divide.Scalar", "aten.remainder.Scalar", "aten.fmod.Scalar"}, divided<true, kNumbers | kLimited>},
        {{"aten.gcd.default", "aten.lcm.default"}, divisor_samples}};
}

}  // namespace whittle::samples

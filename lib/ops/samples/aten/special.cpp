// Samples of lib/ops/aten/special.cpp.
#include <cmath>
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Up to where pi times the operand is finite in its dtype.
Samples sinc_samples(DType dtype) {
    Samples result = unary(dtype);
    std::erase_if(result, [](const Sample& sample) { return sample.label == "special"; });
    const double infinity = std::numeric_limits<double>::infinity();
    if (is_floating(dtype))
        result.push_back(
            call_of("corners", {values(dtype, {0, -0.0, 0.5, -1, 2.5, infinity, -infinity, std::nan("")})}));
    return result;
}

Samples nan_to_num_samples(DType dtype) { return unary(dtype) + unary(dtype, {1.5, 2.0, -3.0}, ", given"); }

}  // namespace

Table special_table() {
    return {{{"aten.xlogy.Tensor", "aten.copysign.Tensor"}, binary_with<kAnyDType>},
            {{"aten.xlogy.Scalar_Other"},
             [](DType dtype) { return unary(dtype, {2}) + unary(dtype, {Arg(-1.5)}, ", negative"); }},
            {{"aten.hypot.default", "aten.logaddexp.default", "aten.logaddexp2.default"}, binary_with<kFloating>},
            {{"aten.heaviside.default"}, [](DType dtype) { return binary(dtype, set_of(dtype)); }},
            {{"aten.sinc.default"}, sinc_samples},
            {{"aten.nan_to_num.default"}, nan_to_num_samples},
            {{"aten.deg2rad.default", "aten.rad2deg.default"}, unary}};
}

}  // namespace whittle::samples

// Samples of lib/ops/aten/softmax.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples primitive_samples(DType dtype) {
    Samples result;
    for (const auto& [label, x] : reduced(dtype)) {
        result.push_back({label + " last", {x}, {t(0), Arg(-1), Arg(false)}});
        result.push_back({label + " first", {x}, {t(0), Arg(0), Arg(false)}});
    }
    const double inf = std::numeric_limits<double>::infinity();
    result.push_back({"-inf", {values(dtype, {-inf, 1, -inf, -inf, -inf, -inf}, {2, 3})}, {t(0), Arg(1), Arg(false)}});
    result.push_back({"large", {values(dtype, {1000, 1001, -1000, 0}, {2, 2})}, {t(0), Arg(1), Arg(false)}});
    result.push_back({"0-d", {scalar(dtype, 3)}, {t(0), Arg(0), Arg(false)}});
    result.push_back({"empty", {ramp(dtype, {0, 3})}, {t(0), Arg(1), Arg(false)}});
    result.push_back({"empty rows", {ramp(dtype, {3, 0})}, {t(0), Arg(1), Arg(false)}});
    if (dtype == DType::f16) result.push_back({"half_to_float", {random(dtype, {2, 3})}, {t(0), Arg(1), Arg(true)}});
    return result;
}

/// Integers need a dtype.
Samples composite_samples(DType dtype) {
    Samples result;
    if (is_floating(dtype)) result.push_back({"plain", {random(dtype, {2, 3})}, {t(0), Arg(1)}});
    for (const DType to : {DType::f64, DType::f32})
        result.push_back({"dtype " + std::string(name(to)), {random(dtype, {2, 3})}, {t(0), Arg(-1), Arg(to)}});
    return result;
}

}  // namespace

Table softmax_table() {
    return {{{"aten._softmax.default", "aten._log_softmax.default"}, primitive_samples},
            {{"aten.softmax.int", "aten.log_softmax.int"}, composite_samples}};
}

}  // namespace whittle::samples

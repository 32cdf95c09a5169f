// Samples of lib/ops/aten/softmax.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples primitive_samples(DType dtype) {
    Samples result;
    for (const auto& [label, x] : reduced(dtype)) {
        result.push_back(call_of(label + " last", {x, Arg(-1), Arg(false)}));
        result.push_back(call_of(label + " first", {x, Arg(0), Arg(false)}));
    }
    const double inf = std::numeric_limits<double>::infinity();
    result.push_back(call_of("-inf", {values(dtype, {-inf, 1, -inf, -inf, -inf, -inf}, {2, 3}), Arg(1), Arg(false)}));
    result.push_back(call_of("large", {values(dtype, {1000, 1001, -1000, 0}, {2, 2}), Arg(1), Arg(false)}));
    result.push_back(call_of("0-d", {scalar(dtype, 3), Arg(0), Arg(false)}));
    result.push_back(call_of("empty", {ramp(dtype, {0, 3}), Arg(1), Arg(false)}));
    result.push_back(call_of("empty rows", {ramp(dtype, {3, 0}), Arg(1), Arg(false)}));
    if (dtype == DType::f16) result.push_back(call_of("half_to_float", {random(dtype, {2, 3}), Arg(1), Arg(true)}));
    return result;
}

/// Integers need a dtype.
Samples composite_samples(DType dtype) {
    Samples result;
    if (is_floating(dtype)) result.push_back(call_of("plain", {random(dtype, {2, 3}), Arg(1)}));
    for (const DType to : {DType::f64, DType::f32})
        result.push_back(call_of("dtype " + std::string(name(to)), {random(dtype, {2, 3}), Arg(-1), Arg(to)}));
    return result;
}

}  // namespace

Table softmax_table() {
    return {{{"aten._softmax.default", "aten._log_softmax.default"}, primitive_samples},
            {{"aten.softmax.int", "aten.log_softmax.int"}, composite_samples}};
}

}  // namespace whittle::samples

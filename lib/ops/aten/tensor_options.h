// What ops that make tensors share: ATen's options. There is one device and one layout, so those are read and only a
// layout other than strided is refused.
#pragma once

#include "base/error.h"
#include "ops/core/op.h"

namespace whittle {

#define WHITTLE_TENSOR_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

template <class T>
void check_options(const Arguments<T>& a) {
    if (a.schema().param("layout") && a.has("layout") && a.text("layout") != "strided")
        throw Error(a.schema().name + ": found layout " + a.text("layout") + ", expected strided");
}

/// A sample with the result's dtype given, and one that leaves it to the op, of each call.
inline std::vector<Sample> dtype_samples(DType dtype, const std::vector<std::pair<std::string, ArgList>>& calls) {
    std::vector<Sample> result;
    for (const auto& [label, args] : calls) {
        result.push_back({.label = label, .tensors = {}, .args = args, .kwargs = {{"dtype", dtype}}});
        result.push_back(
            {.label = label + ", default dtype, " + std::string(name(dtype)), .tensors = {}, .args = args});
    }
    return result;
}

}  // namespace whittle

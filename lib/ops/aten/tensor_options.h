// What ops that make tensors share: ATen's options. There is one device and one layout, so those are read and only a
// layout other than strided is refused.
#pragma once

#include "base/error.h"
#include "ops/core/op.h"

namespace whittle {

#define WHITTLE_TENSOR_OPTIONS "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

void check_options(const AnyArguments auto& a) {
    if (a.schema().param("layout") && a.has("layout") && a.text("layout") != "strided")
        throw Error(a.schema().name + ": found layout=" + a.text("layout") + ", expected layout=strided");
}

}  // namespace whittle

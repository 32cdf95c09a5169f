// Samples of lib/ops/aten/dropout.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples evaluation_samples(DType dtype) {
    return unary(dtype, {0.5, false}, ", evaluation") + unary(dtype, {0.0, true}, ", p = 0");
}

}  // namespace

Table dropout_table() {
    return {{{"aten.dropout.default", "aten.native_dropout.default", "aten.feature_dropout.default",
              "aten.alpha_dropout.default", "aten.feature_alpha_dropout.default"},
             evaluation_samples}};
}

}  // namespace whittle::samples

// Samples of lib/ops/aten/assertions.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples assertion_samples(DType dtype) {
    const Tensor holds = values(dtype, {1}, {});
    return {{"of itself", {holds}, {t(0), "it holds", t(0)}},
            {"of a number", {holds, values(DType::i64, {3}, {})}, {t(0), "it holds", t(1)}},
            {"one element", {values(dtype, {1}, {1}), ramp(DType::f32, {2, 3})}, {t(0), "", t(1)}}};
}

}  // namespace

Table assertion_table() { return {{{"aten._functional_assert_async.msg"}, assertion_samples}}; }

}  // namespace whittle::samples

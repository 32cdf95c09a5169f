// Samples of lib/ops/aten/assertions.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples assertion_samples(DType dtype) {
    const Tensor holds = values(dtype, {1}, {});
    return {call_of("of itself", {holds, "it holds", t(0)}),
            call_of("of a number", {holds, "it holds", values(DType::i64, {3}, {})}),
            call_of("one element", {values(dtype, {1}, {1}), "", ramp(DType::f32, {2, 3})})};
}

}  // namespace

Table assertion_table() { return {{{"aten._functional_assert_async.msg"}, assertion_samples}}; }

}  // namespace whittle::samples

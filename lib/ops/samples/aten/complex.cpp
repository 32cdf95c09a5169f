// Samples of lib/ops/aten/complex.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples as_complex_samples(DType dtype) {
    const Tensor whole = mixed(dtype, {4, 3, 2});
    return {call_of("whole", {whole}),
            call_of("rows", {whole.as_strided({2, 3, 2}, {12, 2, 1}, 0)}),
            call_of("transposed", {whole.as_strided({3, 4, 2}, {2, 6, 1}, 0)}),
            call_of("from the second", {whole.as_strided({3, 2}, {2, 1}, 2)}),
            call_of("one", {ramp(dtype, {2})}),
            call_of("empty", {ramp(dtype, {0, 2})})};
}

Samples pair_samples(DType dtype) { return binary(dtype, 0); }

}  // namespace

Table complex_table() {
    return {{{"aten.real.default", "aten.imag.default", "aten.view_as_real.default", "aten.conj.default",
              "aten._conj.default", "aten.conj_physical.default", "aten.resolve_conj.default",
              "aten.resolve_neg.default", "aten.angle.default"},
             unary},
            {{"aten.view_as_complex.default"}, as_complex_samples},
            {{"aten.complex.default", "aten.polar.default"}, pair_samples}};
}

}  // namespace whittle::samples

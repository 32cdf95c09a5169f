// Samples of lib/ops/aten/packed.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples pack_backward_samples(DType dtype) {
    const Tensor grad = random(dtype, {7, 2}), batch_sizes = values(DType::i64, {3, 2, 1, 1});
    return {{"steps first", {grad, batch_sizes}, {t(0), Arg::ints({4, 3, 2}), t(1), false}},
            {"batch first", {transposed(grad), batch_sizes}, {t(0), Arg::ints({3, 4, 2}), t(1), true}},
            {"more steps", {grad, batch_sizes}, {t(0), Arg::ints({6, 3, 2}), t(1), false}},
            {"numbers", {random(dtype, {7}), batch_sizes}, {t(0), Arg::ints({4, 3}), t(1), false}}};
}

}  // namespace

Table packed_table() { return {{{"aten._pack_padded_sequence_backward.default"}, pack_backward_samples}}; }

}  // namespace whittle::samples

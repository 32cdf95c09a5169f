// Samples of lib/ops/aten/packed.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples pack_backward_samples(DType dtype) {
    const Tensor grad = random(dtype, {7, 2}), batch_sizes = values(DType::i64, {3, 2, 1, 1});
    return {call_of("steps first", {grad, Arg::ints({4, 3, 2}), batch_sizes, false}),
            call_of("batch first", {transposed(grad), Arg::ints({3, 4, 2}), batch_sizes, true}),
            call_of("more steps", {grad, Arg::ints({6, 3, 2}), batch_sizes, false}),
            call_of("numbers", {random(dtype, {7}), Arg::ints({4, 3}), batch_sizes, false})};
}

}  // namespace

Table packed_table() { return {{{"aten._pack_padded_sequence_backward.default"}, pack_backward_samples}}; }

}  // namespace whittle::samples

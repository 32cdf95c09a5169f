#include "ops/aten/packed.h"

#include "base/checked.h"
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"

namespace whittle {

using namespace aten;

Packing packing_of(std::int64_t time, std::int64_t batch, const V& batch_sizes, std::int64_t rows) {
    const std::int64_t all = (Checked(time) * batch).value();
    const auto range = [&](std::int64_t count) { return arange(*batch_sizes.builder, count, DType::i64); };
    const V ends = cumsum(batch_sizes, 0);
    const V starts = ends - batch_sizes, which = range(batch);
    const V there = lt(which, reshaped(batch_sizes, Ints{time, 1}));
    const V at = reshaped(starts, Ints{time, 1}) + which;
    const V known = where(there, at, 0);
    const V row = range(rows);
    const V step = searchsorted(ends, row, false, true);
    const V within = row - index_select(starts, 0, step);
    const V begin = step * batch;
    return {reshaped(there, Ints{time, batch, 1}), reshaped(known, Ints{all}), begin + within};
}

namespace {

/// The gradient of the packed rows at the steps that they are of, zero in the padding.
CallResults decompose_pack_backward(const Call& c) {
    const V grad = c.tensor("grad"), batch_sizes = c.tensor("batch_sizes");
    const std::vector<std::int64_t> input = c.integers("input_size");
    const bool batch_first = c.boolean("batch_first");
    if (input.size() < 2 || input.size() != grad.sizes().size() + 1)
        throw Error("_pack_padded_sequence_backward: found input_size=" + to_string(input) +
                    " for a gradient of sizes " + to_string(grad.sizes()) + ", expected an input_size with " +
                    std::to_string(std::max<std::size_t>(grad.sizes().size() + 1, 2)) + " entries");
    const std::int64_t steps = input[batch_first ? 1 : 0], batch = input[batch_first ? 0 : 1];
    const Packing packing = packing_of(batch_sizes.numel(), batch, batch_sizes, grad.sizes()[0]);
    Sizes rows = grad.sizes(), sizes(input.begin(), input.end());
    rows[0] = (Checked(steps) * batch).value();
    sizes[0] = steps, sizes[1] = batch;
    const V zeros = aten::zeros(c.builder(), rows, grad.dtype());
    const V all = index_add(zeros, 0, packing.unpacked, grad);
    const V whole = reshaped(all, sizes);
    if (!batch_first) return whole;
    return contiguous(transpose(whole, 0, 1));
}

constexpr OpDef kPackedOps[] = {
    composite("_pack_padded_sequence_backward(Tensor grad, SymInt[] input_size, Tensor batch_sizes, bool batch_first) "
              "-> Tensor",
              "the gradient of _pack_padded_sequence; "
              "pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html",
              kFloating, decompose_pack_backward),
};

}  // namespace

std::span<const OpDef> packed_ops() { return kPackedOps; }

}  // namespace whittle

#include "ops/aten/packed.h"

#include "base/checked.h"
#include "base/error.h"
#include "ops/aten/backward.h"
#include "ops/aten/families.h"

namespace whittle {

Packing packing_of(GraphBuilder& b, std::int64_t time, std::int64_t batch, const NodeValue& batch_sizes,
                   std::int64_t rows) {
    const Gradient g(b);
    const std::int64_t all = (Checked(time) * batch).value();
    const auto range = [&](std::int64_t count) {
        return b.call("aten.arange.default", {count}, {{"dtype", DType::i64}});
    };
    const NodeValue ends = b.call("aten.cumsum.default", {arg(batch_sizes), 0});
    const NodeValue starts = g.sub(ends, batch_sizes), which = range(batch);
    const NodeValue there = b.call("aten.lt.Tensor", {arg(which), arg(g.reshape(batch_sizes, {time, 1}))});
    const NodeValue at = g.add(g.reshape(starts, {time, 1}), which);
    const NodeValue known = b.call("aten.where.ScalarOther", {arg(there), arg(at), 0});
    const NodeValue row = range(rows);
    const NodeValue step = b.call("aten.searchsorted.Tensor", {arg(ends), arg(row)}, {{"right", true}});
    const NodeValue within = g.sub(row, b.call("aten.index_select.default", {arg(starts), 0, arg(step)}));
    const NodeValue begin = b.call("aten.mul.Scalar", {arg(step), batch});
    return {g.reshape(there, {time, batch, 1}), g.reshape(known, {all}), g.add(begin, within)};
}

namespace {

/// The gradient of the packed rows at the steps that they are of, zero in the padding.
std::vector<NodeRef> decompose_pack_backward(GraphBuilder& b, const Arguments<NodeValue>& args) {
    const Gradient g(b);
    const NodeValue grad = args.tensor("grad"), batch_sizes = args.tensor("batch_sizes");
    const std::vector<std::int64_t> input = args.integers("input_size");
    const bool batch_first = args.boolean("batch_first");
    if (input.size() < 2 || input.size() != grad.meta.sizes.size() + 1)
        throw Error("_pack_padded_sequence_backward: found input_size=" + to_string(input) +
                    " for a gradient of sizes " + to_string(grad.meta.sizes) +
                    ", expected an input_size with one entry more than the gradient has dimensions");
    const std::int64_t steps = input[batch_first ? 1 : 0], batch = input[batch_first ? 0 : 1];
    const Packing packing = packing_of(b, batch_sizes.meta.numel(), batch, batch_sizes, grad.meta.sizes[0]);
    Sizes rows = grad.meta.sizes, sizes(input.begin(), input.end());
    rows[0] = (Checked(steps) * batch).value();
    sizes[0] = steps, sizes[1] = batch;
    const NodeValue zeros = g.zeros(rows, grad.meta.dtype);
    const NodeValue all = b.call("aten.index_add.default", {arg(zeros), 0, arg(packing.unpacked), arg(grad)});
    const NodeValue whole = g.reshape(all, sizes);
    if (!batch_first) return {whole.ref};
    return {g.of("aten.contiguous.default", b.call("aten.transpose.int", {arg(whole), 0, 1})).ref};
}

constexpr OpDef kPackedOps[] = {
    {.name = "aten._pack_padded_sequence_backward.default",
     .doc = "the gradient of packing; pytorch.org/docs/stable/generated/torch.nn.utils.rnn.pack_padded_sequence.html",
     .schema = "_pack_padded_sequence_backward(Tensor grad, SymInt[] input_size, Tensor batch_sizes, bool batch_first) "
               "-> Tensor",
     .dtypes = kFloating,
     .decompose = decompose_pack_backward},
};

}  // namespace

std::span<const OpDef> packed_ops() { return kPackedOps; }

}  // namespace whittle

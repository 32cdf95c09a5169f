// When results of ATen's ops are open: rules for OpDef::open, each after the documentation that the op's `doc` names.
// Which element PyTorch takes of several that are equal (topk, sort, kthvalue) is not among them.
#pragma once

#include "ops/core/op.h"

namespace whittle::aten_open {

using Operands = Arguments<Tensor>;
using Answer = std::optional<std::string>;

// --- Indices ---

/// `index` along `dim` of `self`: of gather, and of those that write or add slices.
Answer index_along_dim(std::string_view op, const Operands& a);
/// The same, from the end where it is negative.
Answer any_index_along_dim(std::string_view op, const Operands& a);
/// Of take_along_dim: along `dim`, or of all elements.
Answer indices_along_dim(std::string_view op, const Operands& a);
/// Of scatter: which of several values remains where they go to one element ("will be picked arbitrarily").
Answer scattered(std::string_view op, const Operands& a);
/// Of index_copy: "the output is nondeterministic" where an index is there twice.
Answer copied_slices(std::string_view op, const Operands& a);
/// Of take, among all elements; and of put, which may write to one twice.
Answer index_anywhere(std::string_view op, const Operands& a);
Answer put_anywhere(std::string_view op, const Operands& a);
/// Of index and index_put, one per dimension.
Answer index_per_dim(std::string_view op, const Operands& a);
Answer put_per_dim(std::string_view op, const Operands& a);
/// Rows of `weight`, or of `num_weights`.
Answer table_rows(std::string_view op, const Operands& a);
Answer counted_rows(std::string_view op, const Operands& a);
/// Of one_hot.
Answer hot_class(std::string_view op, const Operands& a);
/// Of losses: `target` is a class of `self`, or `ignore_index`; of margin losses, which end a row with -1, none.
Answer target_class(std::string_view op, const Operands& a);
Answer margin_target(std::string_view op, const Operands& a);
Answer margin_targets(std::string_view op, const Operands& a);
/// Of max_unpool: "nondeterministic when the input indices has repeat values".
Answer unpooled(std::string_view op, const Operands& a);
/// Of the gradients of max pooling, in an image of `self`, its last Dims dimensions: 2 or 3.
template <int Dims>
Answer pooled_positions(std::string_view op, const Operands& a);
/// Of ctc_loss: targets are classes of `log_probs`, and none is the blank one.
Answer ctc_targets(std::string_view op, const Operands& a);

// --- Numbers ---

Answer divided(std::string_view op, const Operands& a);
Answer shifted(std::string_view op, const Operands& a);
/// "If the truncated value cannot fit into the target type (e.g., casting torch.inf to torch.long), the behavior is
/// undefined": https://pytorch.org/docs/stable/generated/torch.Tensor.to.html. Of `self` to the call's dtype.
Answer converted(std::string_view op, const Operands& a);
/// The same of `self` as the dtype of `other`, and of `src` as that of `self`.
Answer converted_as(std::string_view op, const Operands& a);
Answer copied(std::string_view op, const Operands& a);
/// Of searchsorted and bucketize, whose result is open for a sequence that does not increase.
Answer sorted_sequence(std::string_view op, const Operands& a);
Answer sorted_boundaries(std::string_view op, const Operands& a);
/// Of masked_scatter: the source has as many elements as the mask has ones.
Answer masked_source(std::string_view op, const Operands& a);
/// Of fake_quantize.
Answer quantized_scale(std::string_view op, const Operands& a);
Answer quantized_scales(std::string_view op, const Operands& a);
/// Of binary_cross_entropy, which refuses what is no probability.
Answer probabilities(std::string_view op, const Operands& a);

}  // namespace whittle::aten_open

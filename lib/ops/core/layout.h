// Layout: the strides of results that are no views, as ATen gives them. A rule says for an op how its results' elements
// lie, from how its operands' do; infer and the interpreter apply the same rule to what the op's own functions give,
// which is contiguous where there is none.
#pragma once

#include <span>
#include <vector>

#include "ops/core/registry.h"

namespace whittle {

/// Whether elements of the same sizes lie alike: strides of dimensions with one element, or of no elements at all,
/// place nothing.
bool same_strides(const ValueMeta& a, const ValueMeta& b);

/// The value with the strides of `meta`, which has its sizes: itself where its elements lie so already.
Tensor laid_out_as(Tensor value, const ValueMeta& meta);

/// Strides of dense elements of these sizes, the dimension order[0] outermost.
Strides dense_strides(const Sizes& sizes, std::span<const std::size_t> order);
/// Batches and channels outermost and innermost, as at::MemoryFormat::ChannelsLast and ChannelsLast3d; of rank 4 or 5.
Strides channels_last_strides(const Sizes& sizes);
/// Whether at::Tensor::suggest_memory_format() is channels last (c10/core/MemoryFormat.h).
bool suggests_channels_last(const ValueMeta& meta);

/// The strides that at::TensorIterator gives a result that `operands` broadcast to: dense, dimensions in the order of
/// the first operand's strides, ties decided by the next operand (reorder_dimensions in
/// aten/src/ATen/TensorIterator.cpp).
Strides pointwise_strides(const Sizes& sizes, std::span<const ValueMeta> operands);

/// What the op's own kernel gives, as its rule lays it out. The op must have one.
std::vector<Tensor> run_kernel(const RegisteredOp& op, const Arguments<Tensor>& arguments);

/// The results of `op` as its rule lays them out.
void lay_out(const RegisteredOp& op, const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results);
void lay_out(const RegisteredOp& op, const Arguments<Tensor>& arguments, std::vector<Tensor>& results);

}  // namespace whittle

// When results of ONNX's ops are open, or their operands not allowed: rules for OpDef::open, each after the text of the
// operator that the op's `doc` names; of OneHot the text defines indices out of range, too.
#pragma once

#include "ops/core/op.h"

namespace whittle::onnx_open {

using Operands = Arguments<Tensor>;
using Answer = std::optional<std::string>;

/// Of Gather and GatherElements: "It is an error if any of the index values are out of bounds".
Answer gathered(std::string_view op, const Operands& a);
Answer gathered_tuples(std::string_view op, const Operands& a);
/// Of ScatterElements and ScatterND, which also say: "indices should not have duplicate entries" without a reduction.
Answer scattered(std::string_view op, const Operands& a);
Answer scattered_tuples(std::string_view op, const Operands& a);
/// Of TensorScatter: rows are written at write_indices, and in "linear" mode must not end behind the cache.
Answer written_rows(std::string_view op, const Operands& a);
/// Of RotaryEmbedding: rows of the caches.
Answer token_positions(std::string_view op, const Operands& a);
/// Of ReverseSequence, RNN, GRU and LSTM: no sequence is longer than the data.
Answer reversed_lengths(std::string_view op, const Operands& a);
Answer recurrent_lengths(std::string_view op, const Operands& a);
/// "Target element value shall be in range of [0, C)", or be `ignore_index`.
Answer target_class(std::string_view op, const Operands& a);
Answer label_class(std::string_view op, const Operands& a);
/// Of MaxUnpool: indices in the image; whether they count in the output_shape or in what was pooled is open
/// (https://github.com/onnx/onnx/issues/2398), and which of two elements remains at one index.
Answer unpooled(std::string_view op, const Operands& a);
/// Of RoiAlign: images of the batch, and regions that are numbers.
Answer aligned_regions(std::string_view op, const Operands& a);
/// Of Resize: the region counts in tf_crop_and_resize mode alone; a scale "takes value greater than 0".
Answer resized_region(std::string_view op, const Operands& a);

/// Div and Mod leave integer division by 0 open. ("In case of dividend being zero, the results will be platform
/// dependent" means the divisor.)
Answer divided(std::string_view op, const Operands& a);
Answer shifted(std::string_view op, const Operands& a);
Answer raised(std::string_view op, const Operands& a);
/// Of floats to integers: "undefined if OOR", https://onnx.ai/onnx/operators/onnx__Cast.html.
Answer converted(std::string_view op, const Operands& a);
Answer converted_like(std::string_view op, const Operands& a);
/// Of QuantizeLinear: a division by 0, or a step that is NaN, which no integer is.
Answer quantized(std::string_view op, const Operands& a);
/// Of DequantizeLinear: with a scale of 0, which no quantization has, the values say nothing.
Answer dequantized(std::string_view op, const Operands& a);
/// Of DynamicQuantizeLinear: nothing but zeros have a scale of 0, by which they are divided.
Answer dynamically_quantized(std::string_view op, const Operands& a);
/// Of QLinearMatMul and QLinearConv.
Answer requantized(std::string_view op, const Operands& a);

}  // namespace whittle::onnx_open

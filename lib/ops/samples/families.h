// The samples of each family of ops: the function X_table() lists those of X_ops() (lib/ops/aten/families.h,
// lib/ops/onnx/families.h). Samples of an op of lib/ops/aten/FAMILY.cpp lie in aten/FAMILY.cpp, those of one of
// lib/ops/onnx/FAMILY.cpp in onnx/FAMILY.cpp; table.cpp concatenates the tables.
#pragma once

#include <string_view>
#include <vector>

#include "ops/samples/samples.h"

namespace whittle::samples {

/// For one dtype that the op takes, corner cases included.
using SamplesFn = Samples (*)(DType dtype);

/// The ops ("aten.relu.default", "onnx.Relu") that these are the samples of.
struct OpSamples {
    std::vector<std::string_view> ops;
    SamplesFn samples;
};
using Table = std::vector<OpSamples>;
using FamilyTable = Table();

FamilyTable unary_table, activation_table, arithmetic_table, division_table, power_table, special_table,
    activation_form_table, view_form_table, linalg_form_table, arithmetic_form_table, complex_table, fft_table,
    fft_form_table, compare_table, select_table, ternary_table, cast_table, reduction_table, extremum_table,
    statistic_table, softmax_table, norm_table, batch_norm_table, view_table, split_table, reshape_table, join_table,
    pad_table, rearrange_table, gather_table, index_table, scatter_table, index_slice_table, embedding_bag_table,
    ctc_table, window_table, histogram_table, fake_quantize_table, quantized_decomposed_table, slice_scatter_table,
    creation_table, range_table, triangle_table, scan_table, sort_table, search_table, matmul_table, linear_table,
    attention_table, conv_table, conv_form_table, pool_table, avg_pool_table, patch_table, upsample_table, grid_table,
    distance_table, rnn_table, packed_table, einsum_table, assertion_table, data_size_table, random_table,
    dropout_table, higher_order_table, loss_table, loss_form_table, margin_loss_table, similarity_table, linalg_table,
    factorization_table, backward_table, unary_backward_table, pool_backward_table, grid_backward_table,
    upsample_backward_table, layer_backward_table;
FamilyTable onnx_activation_table, onnx_attention_table, onnx_binary_table, onnx_cast_table, onnx_control_table,
    onnx_conv_table, onnx_count_table, onnx_create_table, onnx_detection_table, onnx_index_table, onnx_loss_table,
    onnx_matmul_table, onnx_norm_table, onnx_slice_table, onnx_pool_table, onnx_quantize_table, onnx_random_table,
    onnx_reduce_table, onnx_resize_table, onnx_rnn_table, onnx_shape_table, onnx_signal_table, onnx_softmax_table,
    onnx_training_table, onnx_unary_table;

}  // namespace whittle::samples

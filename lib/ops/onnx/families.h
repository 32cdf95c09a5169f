// The ONNX dialect's families, one file each; families.cpp concatenates them. Definitions of all ops:
// https://github.com/onnx/onnx/blob/main/docs/Operators.md and, for each opset, docs/Changelog.md.
#pragma once

#include <span>
#include <vector>

#include "ops/core/op.h"

namespace whittle {

/// All of the domain ai.onnx.
std::vector<std::span<const OpDef>> onnx_families();

std::span<const OpDef> onnx_activation_ops();  ///< Relu, Elu, HardSigmoid …
std::span<const OpDef> onnx_attention_ops();   ///< Attention, RotaryEmbedding, TensorScatter
std::span<const OpDef> onnx_binary_ops();      ///< Add, Pow, Equal, And, Max, Clip, Where …
std::span<const OpDef> onnx_cast_ops();        ///< Cast, Identity, Dropout
std::span<const OpDef> onnx_control_ops();     ///< If, Loop, Scan
std::span<const OpDef> onnx_conv_ops();        ///< Conv, ConvTranspose
std::span<const OpDef> onnx_count_ops();       ///< Unique, TfIdfVectorizer
std::span<const OpDef> onnx_create_ops();      ///< ConstantOfShape, Range, OneHot …
std::span<const OpDef> onnx_detection_ops();   ///< GridSample, RoiAlign, NonMaxSuppression, MaxUnpool
std::span<const OpDef> onnx_index_ops();       ///< Gather…, Scatter…, Compress, NonZero
std::span<const OpDef> onnx_loss_ops();        ///< NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss
std::span<const OpDef> onnx_matmul_ops();      ///< MatMul, Gemm, Einsum, Det
std::span<const OpDef> onnx_norm_ops();        ///< BatchNormalization, LayerNormalization, LRN …
std::span<const OpDef> onnx_slice_ops();       ///< Concat, Split, Slice, Pad
std::span<const OpDef> onnx_pool_ops();        ///< MaxPool, AveragePool …
std::span<const OpDef> onnx_quantize_ops();    ///< QuantizeLinear, QLinearConv, MatMulInteger …
std::span<const OpDef> onnx_random_ops();      ///< RandomUniform, RandomNormalLike, Bernoulli …
std::span<const OpDef> onnx_reduce_ops();      ///< ReduceSum …, ArgMax
std::span<const OpDef> onnx_resize_ops();      ///< Resize, Upsample
std::span<const OpDef> onnx_rnn_ops();         ///< RNN, GRU, LSTM
std::span<const OpDef> onnx_shape_ops();       ///< Shape, Reshape, Transpose, Expand …
std::span<const OpDef> onnx_signal_ops();      ///< HannWindow, DFT, STFT, MelWeightMatrix …
std::span<const OpDef> onnx_softmax_ops();     ///< Softmax, CumSum, TopK …
std::span<const OpDef> onnx_training_ops();    ///< ai.onnx.preview.training: Adagrad, Adam, Momentum
std::span<const OpDef> onnx_unary_ops();       ///< Abs, Exp, IsNaN …

}  // namespace whittle

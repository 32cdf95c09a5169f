// The op families, one line each; ops/families.cpp concatenates them. A family is a list of OpDef records with static
// lifetime, constexpr because programs may compute before main(); everything about its ops stays in its own files.
#pragma once

#include <span>

#include "ops/core/op.h"

namespace whittle {

std::span<const OpDef> unary_ops();       ///< one operand, element by element
std::span<const OpDef> activation_ops();  ///< the activation functions of networks
std::span<const OpDef> arithmetic_ops();  ///< sums, products, extrema and bits of two operands
std::span<const OpDef> division_ops();    ///< quotients and remainders
std::span<const OpDef> power_ops();
std::span<const OpDef> special_ops();          ///< xlogy, logaddexp, hypot, copysign, sinc
std::span<const OpDef> activation_form_ops();  ///< prelu, glu, shrinking, thresholds, and their gradients
std::span<const OpDef> view_form_ops();        ///< views and conversions as torch spells them
std::span<const OpDef> linalg_form_ops();      ///< linear algebra as torch spells it
std::span<const OpDef> arithmetic_form_ops();  ///< other composites of simple ops
std::span<const OpDef> complex_ops();          ///< complex numbers and their parts
std::span<const OpDef> fft_ops();              ///< Fourier transforms as ATen dispatches them
std::span<const OpDef> fft_form_ops();         ///< torch.fft and stft
std::span<const OpDef> compare_ops();          ///< comparisons and logic
std::span<const OpDef> select_ops();           ///< where, masked_fill
std::span<const OpDef> ternary_ops();          ///< clamp, lerp, addcmul, addcdiv
std::span<const OpDef> cast_ops();             ///< dtype conversions, copies, aliases
std::span<const OpDef> reduction_ops();        ///< sum, mean, prod, any, all, norms
std::span<const OpDef> extremum_ops();         ///< max, min, argmax, argmin, amax, amin
std::span<const OpDef> statistic_ops();        ///< var, std, var_mean, logsumexp
std::span<const OpDef> softmax_ops();
std::span<const OpDef> norm_ops();           ///< layer, group and RMS normalization
std::span<const OpDef> batch_norm_ops();     ///< batch and instance normalization
std::span<const OpDef> view_ops();           ///< permute, squeeze, expand, select, slice …
std::span<const OpDef> split_ops();          ///< split, chunk, unbind, unfold, diagonal
std::span<const OpDef> reshape_ops();        ///< view, reshape, flatten, as_strided
std::span<const OpDef> join_ops();           ///< cat, stack, repeat, tile
std::span<const OpDef> pad_ops();            ///< constant, reflection, replication
std::span<const OpDef> rearrange_ops();      ///< flip, roll, pixel_shuffle
std::span<const OpDef> gather_ops();         ///< gather, index_select, embedding, take
std::span<const OpDef> index_ops();          ///< index.Tensor and index_put
std::span<const OpDef> scatter_ops();        ///< scatter*
std::span<const OpDef> index_slice_ops();    ///< index_add, index_copy, index_fill, index_reduce
std::span<const OpDef> embedding_bag_ops();  ///< rows of tables reduced by bags
std::span<const OpDef> ctc_ops();            ///< the loss of sequences without alignment
std::span<const OpDef> window_ops();         ///< hann_window and others
std::span<const OpDef> histogram_ops();
std::span<const OpDef> fake_quantize_ops();
std::span<const OpDef> quantized_decomposed_ops();  ///< of a dialect of their own: PT2E's
std::span<const OpDef> slice_scatter_ops();         ///< select_scatter, slice_scatter
std::span<const OpDef> creation_ops();              ///< full, zeros, ones and their likes
std::span<const OpDef> range_ops();                 ///< arange, linspace, eye, meshgrid
std::span<const OpDef> triangle_ops();              ///< tril, triu and their indices
std::span<const OpDef> scan_ops();                  ///< cumsum, cumprod, cummax, logcumsumexp, diff
std::span<const OpDef> sort_ops();                  ///< sort, argsort, topk, kthvalue, median
std::span<const OpDef> search_ops();                ///< searchsorted, bucketize
std::span<const OpDef> matmul_ops();
std::span<const OpDef> linear_ops();  ///< products of any rank
std::span<const OpDef> attention_ops();
std::span<const OpDef> conv_ops();
std::span<const OpDef> conv_form_ops();  ///< convolution as networks call it
std::span<const OpDef> pool_ops();       ///< maxima over windows
std::span<const OpDef> avg_pool_ops();   ///< means over windows
std::span<const OpDef> patch_ops();      ///< im2col, col2im, max_unpool
std::span<const OpDef> upsample_ops();   ///< resizing of images
std::span<const OpDef> grid_ops();
std::span<const OpDef> distance_ops();
std::span<const OpDef> rnn_ops();
std::span<const OpDef> packed_ops();  ///< the gradient of packing sequences
std::span<const OpDef> einsum_ops();
std::span<const OpDef> assertion_ops();     ///< calls that refuse values
std::span<const OpDef> data_size_ops();     ///< nonzero, masked_select, _unique2: results of unknown sizes
std::span<const OpDef> random_ops();        ///< rand, randn, bernoulli
std::span<const OpDef> dropout_ops();       ///< dropout in training and evaluation
std::span<const OpDef> higher_order_ops();  ///< cond, while_loop, map, scan: nested graphs
std::span<const OpDef> loss_ops();          ///< losses and their gradients
std::span<const OpDef> loss_form_ops();  ///< huber_loss, binary_cross_entropy, nll_loss2d, kl_div, poisson_nll_loss, …
std::span<const OpDef> margin_loss_ops();    ///< losses that ask for margins between scores, and their gradients
std::span<const OpDef> similarity_ops();     ///< distances and similarities, and losses of them
std::span<const OpDef> linalg_ops();         ///< equations, inverses, determinants of matrices
std::span<const OpDef> factorization_ops();  ///< Cholesky, QR, eigenvalues, singular values
std::span<const OpDef> backward_ops();  ///< gradients of activations, embeddings and slices, as autograd calls them
std::span<const OpDef> unary_backward_ops();     ///< those with corners or parameters
std::span<const OpDef> pool_backward_ops();      ///< gradients of pooling
std::span<const OpDef> grid_backward_ops();      ///< gradients of reading at positions
std::span<const OpDef> upsample_backward_ops();  ///< gradients of resizing
std::span<const OpDef> layer_backward_ops();     ///< gradients of normalization, convolution and avg_pool2d

}  // namespace whittle

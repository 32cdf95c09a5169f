// Generated from the registry by scripts/update api-functions; do not edit.
// clang-format off
#define WHITTLE_API_IMPLEMENTATION
#include "api/call.h"

namespace whittle::api {

Tensor __lshift__(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.__lshift__.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::__lshift__(const Scalar& other) const { return call<Tensor>("aten.__lshift__.Scalar", __builtin_return_address(0), *this, other); }
Tensor __lshift__(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.__lshift__.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::__lshift__(const Tensor& other) const { return call<Tensor>("aten.__lshift__.Tensor", __builtin_return_address(0), *this, other); }
Tensor __rshift__(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.__rshift__.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::__rshift__(const Scalar& other) const { return call<Tensor>("aten.__rshift__.Scalar", __builtin_return_address(0), *this, other); }
Tensor __rshift__(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.__rshift__.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::__rshift__(const Tensor& other) const { return call<Tensor>("aten.__rshift__.Tensor", __builtin_return_address(0), *this, other); }
Tensor _adaptive_avg_pool2d(const Tensor& self, const IntList& output_size) { return call<Tensor>("aten._adaptive_avg_pool2d.default", __builtin_return_address(0), self, output_size); }
Tensor Tensor::_adaptive_avg_pool2d(const IntList& output_size) const { return call<Tensor>("aten._adaptive_avg_pool2d.default", __builtin_return_address(0), *this, output_size); }
Tensor _adaptive_avg_pool2d_backward(const Tensor& grad_output, const Tensor& self) { return call<Tensor>("aten._adaptive_avg_pool2d_backward.default", __builtin_return_address(0), grad_output, self); }
Tensor _adaptive_avg_pool3d(const Tensor& self, const IntList& output_size) { return call<Tensor>("aten._adaptive_avg_pool3d.default", __builtin_return_address(0), self, output_size); }
Tensor Tensor::_adaptive_avg_pool3d(const IntList& output_size) const { return call<Tensor>("aten._adaptive_avg_pool3d.default", __builtin_return_address(0), *this, output_size); }
Tensor _adaptive_avg_pool3d_backward(const Tensor& grad_output, const Tensor& self) { return call<Tensor>("aten._adaptive_avg_pool3d_backward.default", __builtin_return_address(0), grad_output, self); }
Tensor _cdist_backward(const Tensor& grad, const Tensor& x1, const Tensor& x2, double p, const Tensor& cdist) { return call<Tensor>("aten._cdist_backward.default", __builtin_return_address(0), grad, x1, x2, p, cdist); }
Tensor _cdist_forward(const Tensor& x1, const Tensor& x2, double p, std::optional<std::int64_t> compute_mode) { return call<Tensor>("aten._cdist_forward.default", __builtin_return_address(0), x1, x2, p, compute_mode); }
Tensor _conj(const Tensor& self) { return call<Tensor>("aten._conj.default", __builtin_return_address(0), self); }
Tensor Tensor::_conj() const { return call<Tensor>("aten._conj.default", __builtin_return_address(0), *this); }
Tensor _convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, bool transposed, const IntList& output_padding, std::int64_t groups, bool benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) { return call<Tensor>("aten._convolution.default", __builtin_return_address(0), input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, benchmark, deterministic, cudnn_enabled, allow_tf32); }
Tensor _convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, bool transposed, const IntList& output_padding, std::int64_t groups, bool benchmark, bool deterministic, bool cudnn_enabled) { return call<Tensor>("aten._convolution.deprecated", __builtin_return_address(0), input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, benchmark, deterministic, cudnn_enabled); }
std::tuple<Tensor, Tensor> _ctc_loss(const Tensor& log_probs, const Tensor& targets, const IntList& input_lengths, const IntList& target_lengths, std::int64_t blank, bool zero_infinity) { return call<std::tuple<Tensor, Tensor>>("aten._ctc_loss.default", __builtin_return_address(0), log_probs, targets, input_lengths, target_lengths, blank, zero_infinity); }
Tensor _ctc_loss_backward(const Tensor& grad, const Tensor& log_probs, const Tensor& targets, const IntList& input_lengths, const IntList& target_lengths, const Tensor& neg_log_likelihood, const Tensor& log_alpha, std::int64_t blank, bool zero_infinity) { return call<Tensor>("aten._ctc_loss_backward.default", __builtin_return_address(0), grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank, zero_infinity); }
std::tuple<Tensor, Tensor, Tensor, Tensor> _embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, std::int64_t mode, bool sparse, const OptionalTensor& per_sample_weights, bool include_last_offset, std::int64_t padding_idx) { return call<std::tuple<Tensor, Tensor, Tensor, Tensor>>("aten._embedding_bag.default", __builtin_return_address(0), weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx); }
Tensor _embedding_bag_backward(const Tensor& grad, const Tensor& indices, const Tensor& offsets, const Tensor& offset2bag, const Tensor& bag_size, const Tensor& maximum_indices, std::int64_t num_weights, bool scale_grad_by_freq, std::int64_t mode, bool sparse, const OptionalTensor& per_sample_weights, std::int64_t padding_idx) { return call<Tensor>("aten._embedding_bag_backward.default", __builtin_return_address(0), grad, indices, offsets, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx); }
Tensor _embedding_bag_dense_backward(const Tensor& grad, const Tensor& indices, const Tensor& offset2bag, const Tensor& bag_size, const Tensor& maximum_indices, std::int64_t num_weights, bool scale_grad_by_freq, std::int64_t mode, const OptionalTensor& per_sample_weights, std::int64_t padding_idx) { return call<Tensor>("aten._embedding_bag_dense_backward.default", __builtin_return_address(0), grad, indices, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode, per_sample_weights, padding_idx); }
std::tuple<Tensor, Tensor, Tensor, Tensor> _embedding_bag_forward_only(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, std::int64_t mode, bool sparse, const OptionalTensor& per_sample_weights, bool include_last_offset, std::int64_t padding_idx) { return call<std::tuple<Tensor, Tensor, Tensor, Tensor>>("aten._embedding_bag_forward_only.default", __builtin_return_address(0), weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx); }
Tensor _embedding_bag_per_sample_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices, const Tensor& offsets, const Tensor& offset2bag, std::int64_t mode, std::int64_t padding_idx) { return call<Tensor>("aten._embedding_bag_per_sample_weights_backward.default", __builtin_return_address(0), grad, weight, indices, offsets, offset2bag, mode, padding_idx); }
Tensor _euclidean_dist(const Tensor& x1, const Tensor& x2) { return call<Tensor>("aten._euclidean_dist.default", __builtin_return_address(0), x1, x2); }
Tensor _fft_c2c(const Tensor& self, const IntList& dim, std::int64_t normalization, bool forward) { return call<Tensor>("aten._fft_c2c.default", __builtin_return_address(0), self, dim, normalization, forward); }
Tensor Tensor::_fft_c2c(const IntList& dim, std::int64_t normalization, bool forward) const { return call<Tensor>("aten._fft_c2c.default", __builtin_return_address(0), *this, dim, normalization, forward); }
Tensor _fft_c2r(const Tensor& self, const IntList& dim, std::int64_t normalization, std::int64_t last_dim_size) { return call<Tensor>("aten._fft_c2r.default", __builtin_return_address(0), self, dim, normalization, last_dim_size); }
Tensor Tensor::_fft_c2r(const IntList& dim, std::int64_t normalization, std::int64_t last_dim_size) const { return call<Tensor>("aten._fft_c2r.default", __builtin_return_address(0), *this, dim, normalization, last_dim_size); }
Tensor _fft_r2c(const Tensor& self, const IntList& dim, std::int64_t normalization, bool onesided) { return call<Tensor>("aten._fft_r2c.default", __builtin_return_address(0), self, dim, normalization, onesided); }
Tensor Tensor::_fft_r2c(const IntList& dim, std::int64_t normalization, bool onesided) const { return call<Tensor>("aten._fft_r2c.default", __builtin_return_address(0), *this, dim, normalization, onesided); }
Tensor _functional_assert_async(const Tensor& self, const std::string& assert_msg, const Tensor& dep_token) { return call<Tensor>("aten._functional_assert_async.msg", __builtin_return_address(0), self, assert_msg, dep_token); }
Tensor Tensor::_functional_assert_async(const std::string& assert_msg, const Tensor& dep_token) const { return call<Tensor>("aten._functional_assert_async.msg", __builtin_return_address(0), *this, assert_msg, dep_token); }
std::tuple<Tensor, Tensor, Tensor> _linalg_det(const Tensor& A) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten._linalg_det.default", __builtin_return_address(0), A); }
std::tuple<Tensor, Tensor> _linalg_eigh(const Tensor& A, const std::string& UPLO, bool compute_v) { return call<std::tuple<Tensor, Tensor>>("aten._linalg_eigh.default", __builtin_return_address(0), A, UPLO, compute_v); }
std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_slogdet(const Tensor& A) { return call<std::tuple<Tensor, Tensor, Tensor, Tensor>>("aten._linalg_slogdet.default", __builtin_return_address(0), A); }
std::tuple<Tensor, Tensor, Tensor, Tensor> _linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) { return call<std::tuple<Tensor, Tensor, Tensor, Tensor>>("aten._linalg_solve_ex.default", __builtin_return_address(0), A, B, keyword("left", left), keyword("check_errors", check_errors)); }
std::tuple<Tensor, Tensor, Tensor> _linalg_svd(const Tensor& A, bool full_matrices, bool compute_uv, const std::optional<std::string>& driver) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten._linalg_svd.default", __builtin_return_address(0), A, full_matrices, compute_uv, keyword("driver", driver)); }
Tensor _log_softmax(const Tensor& self, std::int64_t dim, bool half_to_float) { return call<Tensor>("aten._log_softmax.default", __builtin_return_address(0), self, dim, half_to_float); }
Tensor Tensor::_log_softmax(std::int64_t dim, bool half_to_float) const { return call<Tensor>("aten._log_softmax.default", __builtin_return_address(0), *this, dim, half_to_float); }
Tensor _log_softmax_backward_data(const Tensor& grad_output, const Tensor& output, std::int64_t dim, ScalarType input_dtype) { return call<Tensor>("aten._log_softmax_backward_data.default", __builtin_return_address(0), grad_output, output, dim, input_dtype); }
std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, bool training, double momentum, double eps) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten._native_batch_norm_legit.no_stats", __builtin_return_address(0), input, weight, bias, training, momentum, eps); }
std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit_no_training(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, const Tensor& running_mean, const Tensor& running_var, double momentum, double eps) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten._native_batch_norm_legit_no_training.default", __builtin_return_address(0), input, weight, bias, running_mean, running_var, momentum, eps); }
std::tuple<Tensor, Tensor> _pack_padded_sequence(const Tensor& input, const Tensor& lengths, bool batch_first) { return call<std::tuple<Tensor, Tensor>>("aten._pack_padded_sequence.default", __builtin_return_address(0), input, lengths, batch_first); }
Tensor _pack_padded_sequence_backward(const Tensor& grad, const IntList& input_size, const Tensor& batch_sizes, bool batch_first) { return call<Tensor>("aten._pack_padded_sequence_backward.default", __builtin_return_address(0), grad, input_size, batch_sizes, batch_first); }
Tensor _pdist_backward(const Tensor& grad, const Tensor& self, double p, const Tensor& pdist) { return call<Tensor>("aten._pdist_backward.default", __builtin_return_address(0), grad, self, p, pdist); }
Tensor _pdist_forward(const Tensor& self, double p) { return call<Tensor>("aten._pdist_forward.default", __builtin_return_address(0), self, p); }
Tensor Tensor::_pdist_forward(double p) const { return call<Tensor>("aten._pdist_forward.default", __builtin_return_address(0), *this, p); }
Tensor _softmax(const Tensor& self, std::int64_t dim, bool half_to_float) { return call<Tensor>("aten._softmax.default", __builtin_return_address(0), self, dim, half_to_float); }
Tensor Tensor::_softmax(std::int64_t dim, bool half_to_float) const { return call<Tensor>("aten._softmax.default", __builtin_return_address(0), *this, dim, half_to_float); }
Tensor _softmax_backward_data(const Tensor& grad_output, const Tensor& output, std::int64_t dim, ScalarType input_dtype) { return call<Tensor>("aten._softmax_backward_data.default", __builtin_return_address(0), grad_output, output, dim, input_dtype); }
Tensor _to_copy(const Tensor& self, std::optional<ScalarType> dtype) { return call<Tensor>("aten._to_copy.default", __builtin_return_address(0), self, keyword("dtype", dtype)); }
Tensor Tensor::_to_copy(std::optional<ScalarType> dtype) const { return call<Tensor>("aten._to_copy.default", __builtin_return_address(0), *this, keyword("dtype", dtype)); }
Tensor _trilinear(const Tensor& i1, const Tensor& i2, const Tensor& i3, const IntList& expand1, const IntList& expand2, const IntList& expand3, const IntList& sumdim, std::int64_t unroll_dim) { return call<Tensor>("aten._trilinear.default", __builtin_return_address(0), i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim); }
std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool sorted, bool return_inverse, bool return_counts) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten._unique2.default", __builtin_return_address(0), self, sorted, return_inverse, return_counts); }
std::tuple<Tensor, Tensor, Tensor> Tensor::_unique2(bool sorted, bool return_inverse, bool return_counts) const { return call<std::tuple<Tensor, Tensor, Tensor>>("aten._unique2.default", __builtin_return_address(0), *this, sorted, return_inverse, return_counts); }
Tensor _unsafe_view(const Tensor& self, const IntList& size) { return call<Tensor>("aten._unsafe_view.default", __builtin_return_address(0), self, size); }
Tensor Tensor::_unsafe_view(const IntList& size) const { return call<Tensor>("aten._unsafe_view.default", __builtin_return_address(0), *this, size); }
Tensor _upsample_bicubic2d_aa(const Tensor& self, const IntList& output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten._upsample_bicubic2d_aa.default", __builtin_return_address(0), self, output_size, align_corners, scales_h, scales_w); }
Tensor Tensor::_upsample_bicubic2d_aa(const IntList& output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) const { return call<Tensor>("aten._upsample_bicubic2d_aa.default", __builtin_return_address(0), *this, output_size, align_corners, scales_h, scales_w); }
Tensor _upsample_bicubic2d_aa(const Tensor& input, const IntList& output_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten._upsample_bicubic2d_aa.vec", __builtin_return_address(0), input, output_size, align_corners, scale_factors); }
Tensor _upsample_bicubic2d_aa_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten._upsample_bicubic2d_aa_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scales_h, scales_w); }
Tensor _upsample_bicubic2d_aa_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten._upsample_bicubic2d_aa_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scale_factors); }
Tensor _upsample_bilinear2d_aa(const Tensor& self, const IntList& output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten._upsample_bilinear2d_aa.default", __builtin_return_address(0), self, output_size, align_corners, scales_h, scales_w); }
Tensor Tensor::_upsample_bilinear2d_aa(const IntList& output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) const { return call<Tensor>("aten._upsample_bilinear2d_aa.default", __builtin_return_address(0), *this, output_size, align_corners, scales_h, scales_w); }
Tensor _upsample_bilinear2d_aa(const Tensor& input, const IntList& output_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten._upsample_bilinear2d_aa.vec", __builtin_return_address(0), input, output_size, align_corners, scale_factors); }
Tensor _upsample_bilinear2d_aa_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten._upsample_bilinear2d_aa_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scales_h, scales_w); }
Tensor _upsample_bilinear2d_aa_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten._upsample_bilinear2d_aa_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scale_factors); }
Tensor _upsample_nearest_exact1d(const Tensor& self, const IntList& output_size, std::optional<double> scales) { return call<Tensor>("aten._upsample_nearest_exact1d.default", __builtin_return_address(0), self, output_size, scales); }
Tensor Tensor::_upsample_nearest_exact1d(const IntList& output_size, std::optional<double> scales) const { return call<Tensor>("aten._upsample_nearest_exact1d.default", __builtin_return_address(0), *this, output_size, scales); }
Tensor _upsample_nearest_exact1d(const Tensor& input, const IntList& output_size, const FloatList& scale_factors) { return call<Tensor>("aten._upsample_nearest_exact1d.vec", __builtin_return_address(0), input, output_size, scale_factors); }
Tensor _upsample_nearest_exact1d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, std::optional<double> scales) { return call<Tensor>("aten._upsample_nearest_exact1d_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, scales); }
Tensor _upsample_nearest_exact1d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, const FloatList& scale_factors) { return call<Tensor>("aten._upsample_nearest_exact1d_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, scale_factors); }
Tensor _upsample_nearest_exact2d(const Tensor& self, const IntList& output_size, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten._upsample_nearest_exact2d.default", __builtin_return_address(0), self, output_size, scales_h, scales_w); }
Tensor Tensor::_upsample_nearest_exact2d(const IntList& output_size, std::optional<double> scales_h, std::optional<double> scales_w) const { return call<Tensor>("aten._upsample_nearest_exact2d.default", __builtin_return_address(0), *this, output_size, scales_h, scales_w); }
Tensor _upsample_nearest_exact2d(const Tensor& input, const IntList& output_size, const FloatList& scale_factors) { return call<Tensor>("aten._upsample_nearest_exact2d.vec", __builtin_return_address(0), input, output_size, scale_factors); }
Tensor _upsample_nearest_exact2d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten._upsample_nearest_exact2d_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, scales_h, scales_w); }
Tensor _upsample_nearest_exact2d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, const FloatList& scale_factors) { return call<Tensor>("aten._upsample_nearest_exact2d_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, scale_factors); }
Tensor _upsample_nearest_exact3d(const Tensor& self, const IntList& output_size, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten._upsample_nearest_exact3d.default", __builtin_return_address(0), self, output_size, scales_d, scales_h, scales_w); }
Tensor Tensor::_upsample_nearest_exact3d(const IntList& output_size, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) const { return call<Tensor>("aten._upsample_nearest_exact3d.default", __builtin_return_address(0), *this, output_size, scales_d, scales_h, scales_w); }
Tensor _upsample_nearest_exact3d(const Tensor& input, const IntList& output_size, const FloatList& scale_factors) { return call<Tensor>("aten._upsample_nearest_exact3d.vec", __builtin_return_address(0), input, output_size, scale_factors); }
Tensor _upsample_nearest_exact3d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten._upsample_nearest_exact3d_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, scales_d, scales_h, scales_w); }
Tensor _upsample_nearest_exact3d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, const FloatList& scale_factors) { return call<Tensor>("aten._upsample_nearest_exact3d_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, scale_factors); }
std::tuple<Tensor, Tensor> _weight_norm_interface(const Tensor& v, const Tensor& g, std::int64_t dim) { return call<std::tuple<Tensor, Tensor>>("aten._weight_norm_interface.default", __builtin_return_address(0), v, g, dim); }
std::tuple<Tensor, Tensor> _weight_norm_interface_backward(const Tensor& grad_w, const Tensor& saved_v, const Tensor& saved_g, const Tensor& saved_norms, std::int64_t dim) { return call<std::tuple<Tensor, Tensor>>("aten._weight_norm_interface_backward.default", __builtin_return_address(0), grad_w, saved_v, saved_g, saved_norms, dim); }
Tensor abs(const Tensor& self) { return call<Tensor>("aten.abs.default", __builtin_return_address(0), self); }
Tensor Tensor::abs() const { return call<Tensor>("aten.abs.default", __builtin_return_address(0), *this); }
Tensor Tensor::abs_() const { return call_in_place("aten.abs_.default", __builtin_return_address(0), *this); }
Tensor acos(const Tensor& self) { return call<Tensor>("aten.acos.default", __builtin_return_address(0), self); }
Tensor Tensor::acos() const { return call<Tensor>("aten.acos.default", __builtin_return_address(0), *this); }
Tensor Tensor::acos_() const { return call_in_place("aten.acos_.default", __builtin_return_address(0), *this); }
Tensor acosh(const Tensor& self) { return call<Tensor>("aten.acosh.default", __builtin_return_address(0), self); }
Tensor Tensor::acosh() const { return call<Tensor>("aten.acosh.default", __builtin_return_address(0), *this); }
Tensor Tensor::acosh_() const { return call_in_place("aten.acosh_.default", __builtin_return_address(0), *this); }
Tensor adaptive_avg_pool1d(const Tensor& self, const IntList& output_size) { return call<Tensor>("aten.adaptive_avg_pool1d.default", __builtin_return_address(0), self, output_size); }
Tensor Tensor::adaptive_avg_pool1d(const IntList& output_size) const { return call<Tensor>("aten.adaptive_avg_pool1d.default", __builtin_return_address(0), *this, output_size); }
Tensor adaptive_avg_pool2d(const Tensor& self, const IntList& output_size) { return call<Tensor>("aten.adaptive_avg_pool2d.default", __builtin_return_address(0), self, output_size); }
Tensor Tensor::adaptive_avg_pool2d(const IntList& output_size) const { return call<Tensor>("aten.adaptive_avg_pool2d.default", __builtin_return_address(0), *this, output_size); }
Tensor adaptive_avg_pool3d(const Tensor& self, const IntList& output_size) { return call<Tensor>("aten.adaptive_avg_pool3d.default", __builtin_return_address(0), self, output_size); }
Tensor Tensor::adaptive_avg_pool3d(const IntList& output_size) const { return call<Tensor>("aten.adaptive_avg_pool3d.default", __builtin_return_address(0), *this, output_size); }
std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self, const IntList& output_size) { return call<std::tuple<Tensor, Tensor>>("aten.adaptive_max_pool1d.default", __builtin_return_address(0), self, output_size); }
std::tuple<Tensor, Tensor> Tensor::adaptive_max_pool1d(const IntList& output_size) const { return call<std::tuple<Tensor, Tensor>>("aten.adaptive_max_pool1d.default", __builtin_return_address(0), *this, output_size); }
std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& self, const IntList& output_size) { return call<std::tuple<Tensor, Tensor>>("aten.adaptive_max_pool2d.default", __builtin_return_address(0), self, output_size); }
std::tuple<Tensor, Tensor> Tensor::adaptive_max_pool2d(const IntList& output_size) const { return call<std::tuple<Tensor, Tensor>>("aten.adaptive_max_pool2d.default", __builtin_return_address(0), *this, output_size); }
Tensor adaptive_max_pool2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& indices) { return call<Tensor>("aten.adaptive_max_pool2d_backward.default", __builtin_return_address(0), grad_output, self, indices); }
std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& self, const IntList& output_size) { return call<std::tuple<Tensor, Tensor>>("aten.adaptive_max_pool3d.default", __builtin_return_address(0), self, output_size); }
std::tuple<Tensor, Tensor> Tensor::adaptive_max_pool3d(const IntList& output_size) const { return call<std::tuple<Tensor, Tensor>>("aten.adaptive_max_pool3d.default", __builtin_return_address(0), *this, output_size); }
Tensor adaptive_max_pool3d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& indices) { return call<Tensor>("aten.adaptive_max_pool3d_backward.default", __builtin_return_address(0), grad_output, self, indices); }
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) { return call<Tensor>("aten.add.Scalar", __builtin_return_address(0), self, other, alpha); }
Tensor Tensor::add(const Scalar& other, const Scalar& alpha) const { return call<Tensor>("aten.add.Scalar", __builtin_return_address(0), *this, other, alpha); }
Tensor Tensor::add_(const Scalar& other, const Scalar& alpha) const { return call_in_place("aten.add_.Scalar", __builtin_return_address(0), *this, other, alpha); }
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) { return call<Tensor>("aten.add.Tensor", __builtin_return_address(0), self, other, keyword("alpha", alpha)); }
Tensor Tensor::add(const Tensor& other, const Scalar& alpha) const { return call<Tensor>("aten.add.Tensor", __builtin_return_address(0), *this, other, keyword("alpha", alpha)); }
Tensor Tensor::add_(const Tensor& other, const Scalar& alpha) const { return call_in_place("aten.add_.Tensor", __builtin_return_address(0), *this, other, keyword("alpha", alpha)); }
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) { return call<Tensor>("aten.addbmm.default", __builtin_return_address(0), self, batch1, batch2, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor Tensor::addbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return call<Tensor>("aten.addbmm.default", __builtin_return_address(0), *this, batch1, batch2, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) { return call<Tensor>("aten.addcdiv.default", __builtin_return_address(0), self, tensor1, tensor2, keyword("value", value)); }
Tensor Tensor::addcdiv(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return call<Tensor>("aten.addcdiv.default", __builtin_return_address(0), *this, tensor1, tensor2, keyword("value", value)); }
Tensor Tensor::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return call_in_place("aten.addcdiv_.default", __builtin_return_address(0), *this, tensor1, tensor2, keyword("value", value)); }
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) { return call<Tensor>("aten.addcmul.default", __builtin_return_address(0), self, tensor1, tensor2, keyword("value", value)); }
Tensor Tensor::addcmul(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return call<Tensor>("aten.addcmul.default", __builtin_return_address(0), *this, tensor1, tensor2, keyword("value", value)); }
Tensor Tensor::addcmul_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const { return call_in_place("aten.addcmul_.default", __builtin_return_address(0), *this, tensor1, tensor2, keyword("value", value)); }
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) { return call<Tensor>("aten.addmm.default", __builtin_return_address(0), self, mat1, mat2, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor Tensor::addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const { return call<Tensor>("aten.addmm.default", __builtin_return_address(0), *this, mat1, mat2, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor Tensor::addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const { return call_in_place("aten.addmm_.default", __builtin_return_address(0), *this, mat1, mat2, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) { return call<Tensor>("aten.addmv.default", __builtin_return_address(0), self, mat, vec, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor Tensor::addmv(const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) const { return call<Tensor>("aten.addmv.default", __builtin_return_address(0), *this, mat, vec, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor Tensor::addmv_(const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) const { return call_in_place("aten.addmv_.default", __builtin_return_address(0), *this, mat, vec, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) { return call<Tensor>("aten.addr.default", __builtin_return_address(0), self, vec1, vec2, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor Tensor::addr(const Tensor& vec1, const Tensor& vec2, const Scalar& beta, const Scalar& alpha) const { return call<Tensor>("aten.addr.default", __builtin_return_address(0), *this, vec1, vec2, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor affine_grid_generator(const Tensor& theta, const IntList& size, bool align_corners) { return call<Tensor>("aten.affine_grid_generator.default", __builtin_return_address(0), theta, size, align_corners); }
Tensor alias(const Tensor& self) { return call<Tensor>("aten.alias.default", __builtin_return_address(0), self); }
Tensor Tensor::alias() const { return call<Tensor>("aten.alias.default", __builtin_return_address(0), *this); }
Tensor all(const Tensor& self) { return call<Tensor>("aten.all.default", __builtin_return_address(0), self); }
Tensor Tensor::all() const { return call<Tensor>("aten.all.default", __builtin_return_address(0), *this); }
Tensor all(const Tensor& self, std::int64_t dim, bool keepdim) { return call<Tensor>("aten.all.dim", __builtin_return_address(0), self, dim, keepdim); }
Tensor Tensor::all(std::int64_t dim, bool keepdim) const { return call<Tensor>("aten.all.dim", __builtin_return_address(0), *this, dim, keepdim); }
Tensor all(const Tensor& self, const IntList& dim, bool keepdim) { return call<Tensor>("aten.all.dims", __builtin_return_address(0), self, dim, keepdim); }
Tensor Tensor::all(const IntList& dim, bool keepdim) const { return call<Tensor>("aten.all.dims", __builtin_return_address(0), *this, dim, keepdim); }
Tensor alpha_dropout(const Tensor& input, double p, bool train) { return call<Tensor>("aten.alpha_dropout.default", __builtin_return_address(0), input, p, train); }
Tensor amax(const Tensor& self, const IntList& dim, bool keepdim) { return call<Tensor>("aten.amax.default", __builtin_return_address(0), self, dim, keepdim); }
Tensor Tensor::amax(const IntList& dim, bool keepdim) const { return call<Tensor>("aten.amax.default", __builtin_return_address(0), *this, dim, keepdim); }
Tensor amin(const Tensor& self, const IntList& dim, bool keepdim) { return call<Tensor>("aten.amin.default", __builtin_return_address(0), self, dim, keepdim); }
Tensor Tensor::amin(const IntList& dim, bool keepdim) const { return call<Tensor>("aten.amin.default", __builtin_return_address(0), *this, dim, keepdim); }
std::tuple<Tensor, Tensor> aminmax(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) { return call<std::tuple<Tensor, Tensor>>("aten.aminmax.default", __builtin_return_address(0), self, keyword("dim", dim), keyword("keepdim", keepdim)); }
std::tuple<Tensor, Tensor> Tensor::aminmax(std::optional<std::int64_t> dim, bool keepdim) const { return call<std::tuple<Tensor, Tensor>>("aten.aminmax.default", __builtin_return_address(0), *this, keyword("dim", dim), keyword("keepdim", keepdim)); }
Tensor angle(const Tensor& self) { return call<Tensor>("aten.angle.default", __builtin_return_address(0), self); }
Tensor Tensor::angle() const { return call<Tensor>("aten.angle.default", __builtin_return_address(0), *this); }
Tensor any(const Tensor& self) { return call<Tensor>("aten.any.default", __builtin_return_address(0), self); }
Tensor Tensor::any() const { return call<Tensor>("aten.any.default", __builtin_return_address(0), *this); }
Tensor any(const Tensor& self, std::int64_t dim, bool keepdim) { return call<Tensor>("aten.any.dim", __builtin_return_address(0), self, dim, keepdim); }
Tensor Tensor::any(std::int64_t dim, bool keepdim) const { return call<Tensor>("aten.any.dim", __builtin_return_address(0), *this, dim, keepdim); }
Tensor any(const Tensor& self, const IntList& dim, bool keepdim) { return call<Tensor>("aten.any.dims", __builtin_return_address(0), self, dim, keepdim); }
Tensor Tensor::any(const IntList& dim, bool keepdim) const { return call<Tensor>("aten.any.dims", __builtin_return_address(0), *this, dim, keepdim); }
Tensor arange(const Scalar& end, std::optional<ScalarType> dtype) { return call<Tensor>("aten.arange.default", __builtin_return_address(0), end, keyword("dtype", dtype)); }
Tensor arange(const Scalar& start, const Scalar& end, std::optional<ScalarType> dtype) { return call<Tensor>("aten.arange.start", __builtin_return_address(0), start, end, keyword("dtype", dtype)); }
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<ScalarType> dtype) { return call<Tensor>("aten.arange.start_step", __builtin_return_address(0), start, end, step, keyword("dtype", dtype)); }
Tensor argmax(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) { return call<Tensor>("aten.argmax.default", __builtin_return_address(0), self, dim, keepdim); }
Tensor Tensor::argmax(std::optional<std::int64_t> dim, bool keepdim) const { return call<Tensor>("aten.argmax.default", __builtin_return_address(0), *this, dim, keepdim); }
Tensor argmin(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) { return call<Tensor>("aten.argmin.default", __builtin_return_address(0), self, dim, keepdim); }
Tensor Tensor::argmin(std::optional<std::int64_t> dim, bool keepdim) const { return call<Tensor>("aten.argmin.default", __builtin_return_address(0), *this, dim, keepdim); }
Tensor argsort(const Tensor& self, std::int64_t dim, bool descending) { return call<Tensor>("aten.argsort.default", __builtin_return_address(0), self, dim, descending); }
Tensor Tensor::argsort(std::int64_t dim, bool descending) const { return call<Tensor>("aten.argsort.default", __builtin_return_address(0), *this, dim, descending); }
Tensor argsort(const Tensor& self, bool stable, std::int64_t dim, bool descending) { return call<Tensor>("aten.argsort.stable", __builtin_return_address(0), self, keyword("stable", stable), keyword("dim", dim), keyword("descending", descending)); }
Tensor Tensor::argsort(bool stable, std::int64_t dim, bool descending) const { return call<Tensor>("aten.argsort.stable", __builtin_return_address(0), *this, keyword("stable", stable), keyword("dim", dim), keyword("descending", descending)); }
Tensor as_strided(const Tensor& self, const IntList& size, const IntList& stride, std::optional<std::int64_t> storage_offset) { return call<Tensor>("aten.as_strided.default", __builtin_return_address(0), self, size, stride, storage_offset); }
Tensor Tensor::as_strided(const IntList& size, const IntList& stride, std::optional<std::int64_t> storage_offset) const { return call<Tensor>("aten.as_strided.default", __builtin_return_address(0), *this, size, stride, storage_offset); }
Tensor asin(const Tensor& self) { return call<Tensor>("aten.asin.default", __builtin_return_address(0), self); }
Tensor Tensor::asin() const { return call<Tensor>("aten.asin.default", __builtin_return_address(0), *this); }
Tensor Tensor::asin_() const { return call_in_place("aten.asin_.default", __builtin_return_address(0), *this); }
Tensor asinh(const Tensor& self) { return call<Tensor>("aten.asinh.default", __builtin_return_address(0), self); }
Tensor Tensor::asinh() const { return call<Tensor>("aten.asinh.default", __builtin_return_address(0), *this); }
Tensor Tensor::asinh_() const { return call_in_place("aten.asinh_.default", __builtin_return_address(0), *this); }
Tensor atan(const Tensor& self) { return call<Tensor>("aten.atan.default", __builtin_return_address(0), self); }
Tensor Tensor::atan() const { return call<Tensor>("aten.atan.default", __builtin_return_address(0), *this); }
Tensor Tensor::atan_() const { return call_in_place("aten.atan_.default", __builtin_return_address(0), *this); }
Tensor atan2(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.atan2.default", __builtin_return_address(0), self, other); }
Tensor Tensor::atan2(const Tensor& other) const { return call<Tensor>("aten.atan2.default", __builtin_return_address(0), *this, other); }
Tensor Tensor::atan2_(const Tensor& other) const { return call_in_place("aten.atan2_.default", __builtin_return_address(0), *this, other); }
Tensor atanh(const Tensor& self) { return call<Tensor>("aten.atanh.default", __builtin_return_address(0), self); }
Tensor Tensor::atanh() const { return call<Tensor>("aten.atanh.default", __builtin_return_address(0), *this); }
Tensor Tensor::atanh_() const { return call_in_place("aten.atanh_.default", __builtin_return_address(0), *this); }
Tensor avg_pool1d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad) { return call<Tensor>("aten.avg_pool1d.default", __builtin_return_address(0), self, kernel_size, stride, padding, ceil_mode, count_include_pad); }
Tensor Tensor::avg_pool1d(const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad) const { return call<Tensor>("aten.avg_pool1d.default", __builtin_return_address(0), *this, kernel_size, stride, padding, ceil_mode, count_include_pad); }
Tensor avg_pool2d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) { return call<Tensor>("aten.avg_pool2d.default", __builtin_return_address(0), self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
Tensor Tensor::avg_pool2d(const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) const { return call<Tensor>("aten.avg_pool2d.default", __builtin_return_address(0), *this, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
Tensor avg_pool2d_backward(const Tensor& grad_output, const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) { return call<Tensor>("aten.avg_pool2d_backward.default", __builtin_return_address(0), grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
Tensor avg_pool3d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) { return call<Tensor>("aten.avg_pool3d.default", __builtin_return_address(0), self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
Tensor Tensor::avg_pool3d(const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) const { return call<Tensor>("aten.avg_pool3d.default", __builtin_return_address(0), *this, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
Tensor avg_pool3d_backward(const Tensor& grad_output, const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) { return call<Tensor>("aten.avg_pool3d_backward.default", __builtin_return_address(0), grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override); }
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) { return call<Tensor>("aten.baddbmm.default", __builtin_return_address(0), self, batch1, batch2, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor Tensor::baddbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return call<Tensor>("aten.baddbmm.default", __builtin_return_address(0), *this, batch1, batch2, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor Tensor::baddbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const { return call_in_place("aten.baddbmm_.default", __builtin_return_address(0), *this, batch1, batch2, keyword("beta", beta), keyword("alpha", alpha)); }
Tensor bartlett_window(std::int64_t window_length, std::optional<ScalarType> dtype) { return call<Tensor>("aten.bartlett_window.default", __builtin_return_address(0), window_length, keyword("dtype", dtype)); }
Tensor bartlett_window(std::int64_t window_length, bool periodic, std::optional<ScalarType> dtype) { return call<Tensor>("aten.bartlett_window.periodic", __builtin_return_address(0), window_length, periodic, keyword("dtype", dtype)); }
Tensor bernoulli(const Tensor& self) { return call<Tensor>("aten.bernoulli.default", __builtin_return_address(0), self); }
Tensor Tensor::bernoulli() const { return call<Tensor>("aten.bernoulli.default", __builtin_return_address(0), *this); }
Tensor Tensor::bernoulli_() const { return call_in_place("aten.bernoulli_.default", __builtin_return_address(0), *this); }
Tensor bernoulli(const Tensor& self, double p) { return call<Tensor>("aten.bernoulli.p", __builtin_return_address(0), self, p); }
Tensor Tensor::bernoulli(double p) const { return call<Tensor>("aten.bernoulli.p", __builtin_return_address(0), *this, p); }
Tensor Tensor::bernoulli_(double p) const { return call_in_place("aten.bernoulli_.p", __builtin_return_address(0), *this, p); }
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction) { return call<Tensor>("aten.binary_cross_entropy.default", __builtin_return_address(0), self, target, weight, reduction); }
Tensor Tensor::binary_cross_entropy(const Tensor& target, const OptionalTensor& weight, std::int64_t reduction) const { return call<Tensor>("aten.binary_cross_entropy.default", __builtin_return_address(0), *this, target, weight, reduction); }
Tensor binary_cross_entropy_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction) { return call<Tensor>("aten.binary_cross_entropy_backward.default", __builtin_return_address(0), grad_output, self, target, weight, reduction); }
Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const OptionalTensor& weight, const OptionalTensor& pos_weight, std::int64_t reduction) { return call<Tensor>("aten.binary_cross_entropy_with_logits.default", __builtin_return_address(0), self, target, weight, pos_weight, reduction); }
Tensor Tensor::binary_cross_entropy_with_logits(const Tensor& target, const OptionalTensor& weight, const OptionalTensor& pos_weight, std::int64_t reduction) const { return call<Tensor>("aten.binary_cross_entropy_with_logits.default", __builtin_return_address(0), *this, target, weight, pos_weight, reduction); }
Tensor bincount(const Tensor& self, const OptionalTensor& weights, std::int64_t minlength) { return call<Tensor>("aten.bincount.default", __builtin_return_address(0), self, weights, minlength); }
Tensor Tensor::bincount(const OptionalTensor& weights, std::int64_t minlength) const { return call<Tensor>("aten.bincount.default", __builtin_return_address(0), *this, weights, minlength); }
Tensor bitwise_and(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.bitwise_and.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::bitwise_and(const Scalar& other) const { return call<Tensor>("aten.bitwise_and.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::bitwise_and_(const Scalar& other) const { return call_in_place("aten.bitwise_and_.Scalar", __builtin_return_address(0), *this, other); }
Tensor bitwise_and(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.bitwise_and.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::bitwise_and(const Tensor& other) const { return call<Tensor>("aten.bitwise_and.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::bitwise_and_(const Tensor& other) const { return call_in_place("aten.bitwise_and_.Tensor", __builtin_return_address(0), *this, other); }
Tensor bitwise_left_shift(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.bitwise_left_shift.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::bitwise_left_shift(const Tensor& other) const { return call<Tensor>("aten.bitwise_left_shift.Tensor", __builtin_return_address(0), *this, other); }
Tensor bitwise_left_shift(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.bitwise_left_shift.Tensor_Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::bitwise_left_shift(const Scalar& other) const { return call<Tensor>("aten.bitwise_left_shift.Tensor_Scalar", __builtin_return_address(0), *this, other); }
Tensor bitwise_not(const Tensor& self) { return call<Tensor>("aten.bitwise_not.default", __builtin_return_address(0), self); }
Tensor Tensor::bitwise_not() const { return call<Tensor>("aten.bitwise_not.default", __builtin_return_address(0), *this); }
Tensor Tensor::bitwise_not_() const { return call_in_place("aten.bitwise_not_.default", __builtin_return_address(0), *this); }
Tensor bitwise_or(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.bitwise_or.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::bitwise_or(const Scalar& other) const { return call<Tensor>("aten.bitwise_or.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::bitwise_or_(const Scalar& other) const { return call_in_place("aten.bitwise_or_.Scalar", __builtin_return_address(0), *this, other); }
Tensor bitwise_or(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.bitwise_or.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::bitwise_or(const Tensor& other) const { return call<Tensor>("aten.bitwise_or.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::bitwise_or_(const Tensor& other) const { return call_in_place("aten.bitwise_or_.Tensor", __builtin_return_address(0), *this, other); }
Tensor bitwise_right_shift(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.bitwise_right_shift.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::bitwise_right_shift(const Tensor& other) const { return call<Tensor>("aten.bitwise_right_shift.Tensor", __builtin_return_address(0), *this, other); }
Tensor bitwise_right_shift(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.bitwise_right_shift.Tensor_Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::bitwise_right_shift(const Scalar& other) const { return call<Tensor>("aten.bitwise_right_shift.Tensor_Scalar", __builtin_return_address(0), *this, other); }
Tensor bitwise_xor(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.bitwise_xor.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::bitwise_xor(const Scalar& other) const { return call<Tensor>("aten.bitwise_xor.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::bitwise_xor_(const Scalar& other) const { return call_in_place("aten.bitwise_xor_.Scalar", __builtin_return_address(0), *this, other); }
Tensor bitwise_xor(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.bitwise_xor.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::bitwise_xor(const Tensor& other) const { return call<Tensor>("aten.bitwise_xor.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::bitwise_xor_(const Tensor& other) const { return call_in_place("aten.bitwise_xor_.Tensor", __builtin_return_address(0), *this, other); }
Tensor blackman_window(std::int64_t window_length, std::optional<ScalarType> dtype) { return call<Tensor>("aten.blackman_window.default", __builtin_return_address(0), window_length, keyword("dtype", dtype)); }
Tensor blackman_window(std::int64_t window_length, bool periodic, std::optional<ScalarType> dtype) { return call<Tensor>("aten.blackman_window.periodic", __builtin_return_address(0), window_length, periodic, keyword("dtype", dtype)); }
Tensor bmm(const Tensor& self, const Tensor& mat2) { return call<Tensor>("aten.bmm.default", __builtin_return_address(0), self, mat2); }
Tensor Tensor::bmm(const Tensor& mat2) const { return call<Tensor>("aten.bmm.default", __builtin_return_address(0), *this, mat2); }
Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) { return call<Tensor>("aten.bucketize.Tensor", __builtin_return_address(0), self, boundaries, keyword("out_int32", out_int32), keyword("right", right)); }
Tensor Tensor::bucketize(const Tensor& boundaries, bool out_int32, bool right) const { return call<Tensor>("aten.bucketize.Tensor", __builtin_return_address(0), *this, boundaries, keyword("out_int32", out_int32), keyword("right", right)); }
Tensor cat(const TensorList& tensors, std::int64_t dim) { return call<Tensor>("aten.cat.default", __builtin_return_address(0), tensors, dim); }
Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<std::int64_t> compute_mode) { return call<Tensor>("aten.cdist.default", __builtin_return_address(0), x1, x2, p, compute_mode); }
Tensor ceil(const Tensor& self) { return call<Tensor>("aten.ceil.default", __builtin_return_address(0), self); }
Tensor Tensor::ceil() const { return call<Tensor>("aten.ceil.default", __builtin_return_address(0), *this); }
Tensor Tensor::ceil_() const { return call_in_place("aten.ceil_.default", __builtin_return_address(0), *this); }
Tensor celu(const Tensor& self, const Scalar& alpha) { return call<Tensor>("aten.celu.default", __builtin_return_address(0), self, alpha); }
Tensor Tensor::celu(const Scalar& alpha) const { return call<Tensor>("aten.celu.default", __builtin_return_address(0), *this, alpha); }
Tensor Tensor::celu_(const Scalar& alpha) const { return call_in_place("aten.celu_.default", __builtin_return_address(0), *this, alpha); }
Tensor channel_shuffle(const Tensor& self, std::int64_t groups) { return call<Tensor>("aten.channel_shuffle.default", __builtin_return_address(0), self, groups); }
Tensor Tensor::channel_shuffle(std::int64_t groups) const { return call<Tensor>("aten.channel_shuffle.default", __builtin_return_address(0), *this, groups); }
Tensor cholesky_solve(const Tensor& self, const Tensor& input2, bool upper) { return call<Tensor>("aten.cholesky_solve.default", __builtin_return_address(0), self, input2, upper); }
Tensor Tensor::cholesky_solve(const Tensor& input2, bool upper) const { return call<Tensor>("aten.cholesky_solve.default", __builtin_return_address(0), *this, input2, upper); }
TensorList chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) { return call<TensorList>("aten.chunk.default", __builtin_return_address(0), self, chunks, dim); }
TensorList Tensor::chunk(std::int64_t chunks, std::int64_t dim) const { return call<TensorList>("aten.chunk.default", __builtin_return_address(0), *this, chunks, dim); }
Tensor clamp(const Tensor& self, const OptionalTensor& min, const OptionalTensor& max) { return call<Tensor>("aten.clamp.Tensor", __builtin_return_address(0), self, min, max); }
Tensor Tensor::clamp(const OptionalTensor& min, const OptionalTensor& max) const { return call<Tensor>("aten.clamp.Tensor", __builtin_return_address(0), *this, min, max); }
Tensor Tensor::clamp_(const OptionalTensor& min, const OptionalTensor& max) const { return call_in_place("aten.clamp_.Tensor", __builtin_return_address(0), *this, min, max); }
Tensor clamp(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) { return call<Tensor>("aten.clamp.default", __builtin_return_address(0), self, min, max); }
Tensor Tensor::clamp(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const { return call<Tensor>("aten.clamp.default", __builtin_return_address(0), *this, min, max); }
Tensor Tensor::clamp_(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const { return call_in_place("aten.clamp_.default", __builtin_return_address(0), *this, min, max); }
Tensor clamp_max(const Tensor& self, const Scalar& max) { return call<Tensor>("aten.clamp_max.default", __builtin_return_address(0), self, max); }
Tensor Tensor::clamp_max(const Scalar& max) const { return call<Tensor>("aten.clamp_max.default", __builtin_return_address(0), *this, max); }
Tensor Tensor::clamp_max_(const Scalar& max) const { return call_in_place("aten.clamp_max_.default", __builtin_return_address(0), *this, max); }
Tensor clamp_min(const Tensor& self, const Scalar& min) { return call<Tensor>("aten.clamp_min.default", __builtin_return_address(0), self, min); }
Tensor Tensor::clamp_min(const Scalar& min) const { return call<Tensor>("aten.clamp_min.default", __builtin_return_address(0), *this, min); }
Tensor Tensor::clamp_min_(const Scalar& min) const { return call_in_place("aten.clamp_min_.default", __builtin_return_address(0), *this, min); }
Tensor clone(const Tensor& self) { return call<Tensor>("aten.clone.default", __builtin_return_address(0), self); }
Tensor Tensor::clone() const { return call<Tensor>("aten.clone.default", __builtin_return_address(0), *this); }
Tensor col2im(const Tensor& self, const IntList& output_size, const IntList& kernel_size, const IntList& dilation, const IntList& padding, const IntList& stride) { return call<Tensor>("aten.col2im.default", __builtin_return_address(0), self, output_size, kernel_size, dilation, padding, stride); }
Tensor Tensor::col2im(const IntList& output_size, const IntList& kernel_size, const IntList& dilation, const IntList& padding, const IntList& stride) const { return call<Tensor>("aten.col2im.default", __builtin_return_address(0), *this, output_size, kernel_size, dilation, padding, stride); }
Tensor complex(const Tensor& real, const Tensor& imag) { return call<Tensor>("aten.complex.default", __builtin_return_address(0), real, imag); }
Tensor conj(const Tensor& self) { return call<Tensor>("aten.conj.default", __builtin_return_address(0), self); }
Tensor Tensor::conj() const { return call<Tensor>("aten.conj.default", __builtin_return_address(0), *this); }
Tensor conj_physical(const Tensor& self) { return call<Tensor>("aten.conj_physical.default", __builtin_return_address(0), self); }
Tensor Tensor::conj_physical() const { return call<Tensor>("aten.conj_physical.default", __builtin_return_address(0), *this); }
Tensor constant_pad_nd(const Tensor& self, const IntList& pad, const Scalar& value) { return call<Tensor>("aten.constant_pad_nd.default", __builtin_return_address(0), self, pad, value); }
Tensor Tensor::constant_pad_nd(const IntList& pad, const Scalar& value) const { return call<Tensor>("aten.constant_pad_nd.default", __builtin_return_address(0), *this, pad, value); }
Tensor contiguous(const Tensor& self) { return call<Tensor>("aten.contiguous.default", __builtin_return_address(0), self); }
Tensor Tensor::contiguous() const { return call<Tensor>("aten.contiguous.default", __builtin_return_address(0), *this); }
Tensor conv1d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, std::int64_t groups) { return call<Tensor>("aten.conv1d.default", __builtin_return_address(0), input, weight, bias, stride, padding, dilation, groups); }
Tensor conv1d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const std::string& padding, const IntList& dilation, std::int64_t groups) { return call<Tensor>("aten.conv1d.padding", __builtin_return_address(0), input, weight, bias, stride, padding, dilation, groups); }
Tensor conv2d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, std::int64_t groups) { return call<Tensor>("aten.conv2d.default", __builtin_return_address(0), input, weight, bias, stride, padding, dilation, groups); }
Tensor conv2d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const std::string& padding, const IntList& dilation, std::int64_t groups) { return call<Tensor>("aten.conv2d.padding", __builtin_return_address(0), input, weight, bias, stride, padding, dilation, groups); }
Tensor conv3d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, std::int64_t groups) { return call<Tensor>("aten.conv3d.default", __builtin_return_address(0), input, weight, bias, stride, padding, dilation, groups); }
Tensor conv3d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const std::string& padding, const IntList& dilation, std::int64_t groups) { return call<Tensor>("aten.conv3d.padding", __builtin_return_address(0), input, weight, bias, stride, padding, dilation, groups); }
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& output_padding, std::int64_t groups, const IntList& dilation) { return call<Tensor>("aten.conv_transpose1d.default", __builtin_return_address(0), input, weight, bias, stride, padding, output_padding, groups, dilation); }
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& output_padding, std::int64_t groups, const IntList& dilation) { return call<Tensor>("aten.conv_transpose2d.input", __builtin_return_address(0), input, weight, bias, stride, padding, output_padding, groups, dilation); }
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& output_padding, std::int64_t groups, const IntList& dilation) { return call<Tensor>("aten.conv_transpose3d.input", __builtin_return_address(0), input, weight, bias, stride, padding, output_padding, groups, dilation); }
Tensor convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, bool transposed, const IntList& output_padding, std::int64_t groups) { return call<Tensor>("aten.convolution.default", __builtin_return_address(0), input, weight, bias, stride, padding, dilation, transposed, output_padding, groups); }
std::tuple<Tensor, Tensor, Tensor> convolution_backward(const Tensor& grad_output, const Tensor& input, const Tensor& weight, const IntList& bias_sizes, const IntList& stride, const IntList& padding, const IntList& dilation, bool transposed, const IntList& output_padding, std::int64_t groups, const std::vector<bool>& output_mask) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten.convolution_backward.default", __builtin_return_address(0), grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed, output_padding, groups, output_mask); }
Tensor copy(const Tensor& self, const Tensor& src) { return call<Tensor>("aten.copy.default", __builtin_return_address(0), self, src); }
Tensor Tensor::copy(const Tensor& src) const { return call<Tensor>("aten.copy.default", __builtin_return_address(0), *this, src); }
Tensor Tensor::copy_(const Tensor& src) const { return call_in_place("aten.copy_.default", __builtin_return_address(0), *this, src); }
Tensor copysign(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.copysign.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::copysign(const Tensor& other) const { return call<Tensor>("aten.copysign.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::copysign_(const Tensor& other) const { return call_in_place("aten.copysign_.Tensor", __builtin_return_address(0), *this, other); }
Tensor cos(const Tensor& self) { return call<Tensor>("aten.cos.default", __builtin_return_address(0), self); }
Tensor Tensor::cos() const { return call<Tensor>("aten.cos.default", __builtin_return_address(0), *this); }
Tensor Tensor::cos_() const { return call_in_place("aten.cos_.default", __builtin_return_address(0), *this); }
Tensor cosh(const Tensor& self) { return call<Tensor>("aten.cosh.default", __builtin_return_address(0), self); }
Tensor Tensor::cosh() const { return call<Tensor>("aten.cosh.default", __builtin_return_address(0), *this); }
Tensor Tensor::cosh_() const { return call_in_place("aten.cosh_.default", __builtin_return_address(0), *this); }
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, std::int64_t reduction) { return call<Tensor>("aten.cosine_embedding_loss.default", __builtin_return_address(0), input1, input2, target, margin, reduction); }
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, std::int64_t dim, double eps) { return call<Tensor>("aten.cosine_similarity.default", __builtin_return_address(0), x1, x2, dim, eps); }
Tensor count_nonzero(const Tensor& self, std::optional<std::int64_t> dim) { return call<Tensor>("aten.count_nonzero.default", __builtin_return_address(0), self, dim); }
Tensor Tensor::count_nonzero(std::optional<std::int64_t> dim) const { return call<Tensor>("aten.count_nonzero.default", __builtin_return_address(0), *this, dim); }
Tensor count_nonzero(const Tensor& self, const IntList& dim) { return call<Tensor>("aten.count_nonzero.dim_IntList", __builtin_return_address(0), self, dim); }
Tensor Tensor::count_nonzero(const IntList& dim) const { return call<Tensor>("aten.count_nonzero.dim_IntList", __builtin_return_address(0), *this, dim); }
Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index, double label_smoothing) { return call<Tensor>("aten.cross_entropy_loss.default", __builtin_return_address(0), self, target, weight, reduction, ignore_index, label_smoothing); }
Tensor Tensor::cross_entropy_loss(const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index, double label_smoothing) const { return call<Tensor>("aten.cross_entropy_loss.default", __builtin_return_address(0), *this, target, weight, reduction, ignore_index, label_smoothing); }
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const IntList& input_lengths, const IntList& target_lengths, std::int64_t blank, std::int64_t reduction, bool zero_infinity) { return call<Tensor>("aten.ctc_loss.IntList", __builtin_return_address(0), log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity); }
std::tuple<Tensor, Tensor> cummax(const Tensor& self, std::int64_t dim) { return call<std::tuple<Tensor, Tensor>>("aten.cummax.default", __builtin_return_address(0), self, dim); }
std::tuple<Tensor, Tensor> Tensor::cummax(std::int64_t dim) const { return call<std::tuple<Tensor, Tensor>>("aten.cummax.default", __builtin_return_address(0), *this, dim); }
std::tuple<Tensor, Tensor> cummin(const Tensor& self, std::int64_t dim) { return call<std::tuple<Tensor, Tensor>>("aten.cummin.default", __builtin_return_address(0), self, dim); }
std::tuple<Tensor, Tensor> Tensor::cummin(std::int64_t dim) const { return call<std::tuple<Tensor, Tensor>>("aten.cummin.default", __builtin_return_address(0), *this, dim); }
Tensor cumprod(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype) { return call<Tensor>("aten.cumprod.default", __builtin_return_address(0), self, dim, keyword("dtype", dtype)); }
Tensor Tensor::cumprod(std::int64_t dim, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.cumprod.default", __builtin_return_address(0), *this, dim, keyword("dtype", dtype)); }
Tensor Tensor::cumprod_(std::int64_t dim, std::optional<ScalarType> dtype) const { return call_in_place("aten.cumprod_.default", __builtin_return_address(0), *this, dim, keyword("dtype", dtype)); }
Tensor cumsum(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype) { return call<Tensor>("aten.cumsum.default", __builtin_return_address(0), self, dim, keyword("dtype", dtype)); }
Tensor Tensor::cumsum(std::int64_t dim, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.cumsum.default", __builtin_return_address(0), *this, dim, keyword("dtype", dtype)); }
Tensor Tensor::cumsum_(std::int64_t dim, std::optional<ScalarType> dtype) const { return call_in_place("aten.cumsum_.default", __builtin_return_address(0), *this, dim, keyword("dtype", dtype)); }
Tensor deg2rad(const Tensor& self) { return call<Tensor>("aten.deg2rad.default", __builtin_return_address(0), self); }
Tensor Tensor::deg2rad() const { return call<Tensor>("aten.deg2rad.default", __builtin_return_address(0), *this); }
Tensor detach(const Tensor& self) { return call<Tensor>("aten.detach.default", __builtin_return_address(0), self); }
Tensor Tensor::detach() const { return call<Tensor>("aten.detach.default", __builtin_return_address(0), *this); }
Tensor diag(const Tensor& self, std::int64_t diagonal) { return call<Tensor>("aten.diag.default", __builtin_return_address(0), self, diagonal); }
Tensor Tensor::diag(std::int64_t diagonal) const { return call<Tensor>("aten.diag.default", __builtin_return_address(0), *this, diagonal); }
Tensor diag_embed(const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) { return call<Tensor>("aten.diag_embed.default", __builtin_return_address(0), self, offset, dim1, dim2); }
Tensor Tensor::diag_embed(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const { return call<Tensor>("aten.diag_embed.default", __builtin_return_address(0), *this, offset, dim1, dim2); }
Tensor diagonal(const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) { return call<Tensor>("aten.diagonal.default", __builtin_return_address(0), self, offset, dim1, dim2); }
Tensor Tensor::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const { return call<Tensor>("aten.diagonal.default", __builtin_return_address(0), *this, offset, dim1, dim2); }
Tensor diagonal_backward(const Tensor& grad_output, const IntList& input_sizes, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) { return call<Tensor>("aten.diagonal_backward.default", __builtin_return_address(0), grad_output, input_sizes, offset, dim1, dim2); }
Tensor diagonal_scatter(const Tensor& self, const Tensor& src, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) { return call<Tensor>("aten.diagonal_scatter.default", __builtin_return_address(0), self, src, offset, dim1, dim2); }
Tensor Tensor::diagonal_scatter(const Tensor& src, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const { return call<Tensor>("aten.diagonal_scatter.default", __builtin_return_address(0), *this, src, offset, dim1, dim2); }
Tensor diff(const Tensor& self, std::int64_t n, std::int64_t dim, const OptionalTensor& prepend, const OptionalTensor& append) { return call<Tensor>("aten.diff.default", __builtin_return_address(0), self, n, dim, prepend, append); }
Tensor Tensor::diff(std::int64_t n, std::int64_t dim, const OptionalTensor& prepend, const OptionalTensor& append) const { return call<Tensor>("aten.diff.default", __builtin_return_address(0), *this, n, dim, prepend, append); }
Tensor div(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.div.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::div(const Scalar& other) const { return call<Tensor>("aten.div.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::div_(const Scalar& other) const { return call_in_place("aten.div_.Scalar", __builtin_return_address(0), *this, other); }
Tensor div(const Tensor& self, const Scalar& other, const std::optional<std::string>& rounding_mode) { return call<Tensor>("aten.div.Scalar_mode", __builtin_return_address(0), self, other, keyword("rounding_mode", rounding_mode)); }
Tensor Tensor::div(const Scalar& other, const std::optional<std::string>& rounding_mode) const { return call<Tensor>("aten.div.Scalar_mode", __builtin_return_address(0), *this, other, keyword("rounding_mode", rounding_mode)); }
Tensor Tensor::div_(const Scalar& other, const std::optional<std::string>& rounding_mode) const { return call_in_place("aten.div_.Scalar_mode", __builtin_return_address(0), *this, other, keyword("rounding_mode", rounding_mode)); }
Tensor div(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.div.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::div(const Tensor& other) const { return call<Tensor>("aten.div.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::div_(const Tensor& other) const { return call_in_place("aten.div_.Tensor", __builtin_return_address(0), *this, other); }
Tensor div(const Tensor& self, const Tensor& other, const std::optional<std::string>& rounding_mode) { return call<Tensor>("aten.div.Tensor_mode", __builtin_return_address(0), self, other, keyword("rounding_mode", rounding_mode)); }
Tensor Tensor::div(const Tensor& other, const std::optional<std::string>& rounding_mode) const { return call<Tensor>("aten.div.Tensor_mode", __builtin_return_address(0), *this, other, keyword("rounding_mode", rounding_mode)); }
Tensor Tensor::div_(const Tensor& other, const std::optional<std::string>& rounding_mode) const { return call_in_place("aten.div_.Tensor_mode", __builtin_return_address(0), *this, other, keyword("rounding_mode", rounding_mode)); }
Tensor dot(const Tensor& self, const Tensor& tensor) { return call<Tensor>("aten.dot.default", __builtin_return_address(0), self, tensor); }
Tensor Tensor::dot(const Tensor& tensor) const { return call<Tensor>("aten.dot.default", __builtin_return_address(0), *this, tensor); }
Tensor dropout(const Tensor& input, double p, bool train) { return call<Tensor>("aten.dropout.default", __builtin_return_address(0), input, p, train); }
Tensor einsum(const std::string& equation, const TensorList& tensors, const IntList& path) { return call<Tensor>("aten.einsum.default", __builtin_return_address(0), equation, tensors, keyword("path", path)); }
Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) { return call<Tensor>("aten.elu.default", __builtin_return_address(0), self, alpha, scale, input_scale); }
Tensor Tensor::elu(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) const { return call<Tensor>("aten.elu.default", __builtin_return_address(0), *this, alpha, scale, input_scale); }
Tensor Tensor::elu_(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) const { return call_in_place("aten.elu_.default", __builtin_return_address(0), *this, alpha, scale, input_scale); }
Tensor elu_backward(const Tensor& grad_output, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale, bool is_result, const Tensor& self_or_result) { return call<Tensor>("aten.elu_backward.default", __builtin_return_address(0), grad_output, alpha, scale, input_scale, is_result, self_or_result); }
Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t padding_idx, bool scale_grad_by_freq, bool sparse) { return call<Tensor>("aten.embedding.default", __builtin_return_address(0), weight, indices, padding_idx, scale_grad_by_freq, sparse); }
std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, std::int64_t mode, bool sparse, const OptionalTensor& per_sample_weights, bool include_last_offset) { return call<std::tuple<Tensor, Tensor, Tensor, Tensor>>("aten.embedding_bag.default", __builtin_return_address(0), weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset); }
std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool scale_grad_by_freq, std::int64_t mode, bool sparse, const OptionalTensor& per_sample_weights, bool include_last_offset, std::optional<std::int64_t> padding_idx) { return call<std::tuple<Tensor, Tensor, Tensor, Tensor>>("aten.embedding_bag.padding_idx", __builtin_return_address(0), weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx); }
Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, std::int64_t num_weights, std::int64_t padding_idx, bool scale_grad_by_freq) { return call<Tensor>("aten.embedding_dense_backward.default", __builtin_return_address(0), grad_output, indices, num_weights, padding_idx, scale_grad_by_freq); }
Tensor empty(const IntList& size, std::optional<ScalarType> dtype) { return call<Tensor>("aten.empty.memory_format", __builtin_return_address(0), size, keyword("dtype", dtype)); }
Tensor empty_like(const Tensor& self, std::optional<ScalarType> dtype) { return call<Tensor>("aten.empty_like.default", __builtin_return_address(0), self, keyword("dtype", dtype)); }
Tensor Tensor::empty_like(std::optional<ScalarType> dtype) const { return call<Tensor>("aten.empty_like.default", __builtin_return_address(0), *this, keyword("dtype", dtype)); }
Tensor eq(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.eq.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::eq(const Scalar& other) const { return call<Tensor>("aten.eq.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::eq_(const Scalar& other) const { return call_in_place("aten.eq_.Scalar", __builtin_return_address(0), *this, other); }
Tensor eq(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.eq.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::eq(const Tensor& other) const { return call<Tensor>("aten.eq.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::eq_(const Tensor& other) const { return call_in_place("aten.eq_.Tensor", __builtin_return_address(0), *this, other); }
Tensor erf(const Tensor& self) { return call<Tensor>("aten.erf.default", __builtin_return_address(0), self); }
Tensor Tensor::erf() const { return call<Tensor>("aten.erf.default", __builtin_return_address(0), *this); }
Tensor Tensor::erf_() const { return call_in_place("aten.erf_.default", __builtin_return_address(0), *this); }
Tensor erfc(const Tensor& self) { return call<Tensor>("aten.erfc.default", __builtin_return_address(0), self); }
Tensor Tensor::erfc() const { return call<Tensor>("aten.erfc.default", __builtin_return_address(0), *this); }
Tensor Tensor::erfc_() const { return call_in_place("aten.erfc_.default", __builtin_return_address(0), *this); }
Tensor exp(const Tensor& self) { return call<Tensor>("aten.exp.default", __builtin_return_address(0), self); }
Tensor Tensor::exp() const { return call<Tensor>("aten.exp.default", __builtin_return_address(0), *this); }
Tensor Tensor::exp_() const { return call_in_place("aten.exp_.default", __builtin_return_address(0), *this); }
Tensor exp2(const Tensor& self) { return call<Tensor>("aten.exp2.default", __builtin_return_address(0), self); }
Tensor Tensor::exp2() const { return call<Tensor>("aten.exp2.default", __builtin_return_address(0), *this); }
Tensor Tensor::exp2_() const { return call_in_place("aten.exp2_.default", __builtin_return_address(0), *this); }
Tensor expand(const Tensor& self, const IntList& size, bool implicit) { return call<Tensor>("aten.expand.default", __builtin_return_address(0), self, size, keyword("implicit", implicit)); }
Tensor Tensor::expand(const IntList& size, bool implicit) const { return call<Tensor>("aten.expand.default", __builtin_return_address(0), *this, size, keyword("implicit", implicit)); }
Tensor expm1(const Tensor& self) { return call<Tensor>("aten.expm1.default", __builtin_return_address(0), self); }
Tensor Tensor::expm1() const { return call<Tensor>("aten.expm1.default", __builtin_return_address(0), *this); }
Tensor Tensor::expm1_() const { return call_in_place("aten.expm1_.default", __builtin_return_address(0), *this); }
Tensor eye(std::int64_t n, std::optional<ScalarType> dtype) { return call<Tensor>("aten.eye.default", __builtin_return_address(0), n, keyword("dtype", dtype)); }
Tensor eye(std::int64_t n, std::int64_t m, std::optional<ScalarType> dtype) { return call<Tensor>("aten.eye.m", __builtin_return_address(0), n, m, keyword("dtype", dtype)); }
Tensor fake_quantize_per_channel_affine(const Tensor& self, const Tensor& scale, const Tensor& zero_point, std::int64_t axis, std::int64_t quant_min, std::int64_t quant_max) { return call<Tensor>("aten.fake_quantize_per_channel_affine.default", __builtin_return_address(0), self, scale, zero_point, axis, quant_min, quant_max); }
Tensor Tensor::fake_quantize_per_channel_affine(const Tensor& scale, const Tensor& zero_point, std::int64_t axis, std::int64_t quant_min, std::int64_t quant_max) const { return call<Tensor>("aten.fake_quantize_per_channel_affine.default", __builtin_return_address(0), *this, scale, zero_point, axis, quant_min, quant_max); }
std::tuple<Tensor, Tensor> fake_quantize_per_channel_affine_cachemask(const Tensor& self, const Tensor& scale, const Tensor& zero_point, std::int64_t axis, std::int64_t quant_min, std::int64_t quant_max) { return call<std::tuple<Tensor, Tensor>>("aten.fake_quantize_per_channel_affine_cachemask.default", __builtin_return_address(0), self, scale, zero_point, axis, quant_min, quant_max); }
std::tuple<Tensor, Tensor> Tensor::fake_quantize_per_channel_affine_cachemask(const Tensor& scale, const Tensor& zero_point, std::int64_t axis, std::int64_t quant_min, std::int64_t quant_max) const { return call<std::tuple<Tensor, Tensor>>("aten.fake_quantize_per_channel_affine_cachemask.default", __builtin_return_address(0), *this, scale, zero_point, axis, quant_min, quant_max); }
Tensor fake_quantize_per_channel_affine_cachemask_backward(const Tensor& grad, const Tensor& mask) { return call<Tensor>("aten.fake_quantize_per_channel_affine_cachemask_backward.default", __builtin_return_address(0), grad, mask); }
Tensor fake_quantize_per_tensor_affine(const Tensor& self, double scale, std::int64_t zero_point, std::int64_t quant_min, std::int64_t quant_max) { return call<Tensor>("aten.fake_quantize_per_tensor_affine.default", __builtin_return_address(0), self, scale, zero_point, quant_min, quant_max); }
Tensor Tensor::fake_quantize_per_tensor_affine(double scale, std::int64_t zero_point, std::int64_t quant_min, std::int64_t quant_max) const { return call<Tensor>("aten.fake_quantize_per_tensor_affine.default", __builtin_return_address(0), *this, scale, zero_point, quant_min, quant_max); }
std::tuple<Tensor, Tensor> fake_quantize_per_tensor_affine_cachemask(const Tensor& self, double scale, std::int64_t zero_point, std::int64_t quant_min, std::int64_t quant_max) { return call<std::tuple<Tensor, Tensor>>("aten.fake_quantize_per_tensor_affine_cachemask.default", __builtin_return_address(0), self, scale, zero_point, quant_min, quant_max); }
std::tuple<Tensor, Tensor> Tensor::fake_quantize_per_tensor_affine_cachemask(double scale, std::int64_t zero_point, std::int64_t quant_min, std::int64_t quant_max) const { return call<std::tuple<Tensor, Tensor>>("aten.fake_quantize_per_tensor_affine_cachemask.default", __builtin_return_address(0), *this, scale, zero_point, quant_min, quant_max); }
Tensor fake_quantize_per_tensor_affine_cachemask_backward(const Tensor& grad, const Tensor& mask) { return call<Tensor>("aten.fake_quantize_per_tensor_affine_cachemask_backward.default", __builtin_return_address(0), grad, mask); }
Tensor feature_dropout(const Tensor& input, double p, bool train) { return call<Tensor>("aten.feature_dropout.default", __builtin_return_address(0), input, p, train); }
Tensor fft_fft(const Tensor& self, std::optional<std::int64_t> n, std::int64_t dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_fft.default", __builtin_return_address(0), self, n, dim, norm); }
Tensor Tensor::fft_fft(std::optional<std::int64_t> n, std::int64_t dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_fft.default", __builtin_return_address(0), *this, n, dim, norm); }
Tensor fft_fft2(const Tensor& self, const IntList& s, const IntList& dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_fft2.default", __builtin_return_address(0), self, s, dim, norm); }
Tensor Tensor::fft_fft2(const IntList& s, const IntList& dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_fft2.default", __builtin_return_address(0), *this, s, dim, norm); }
Tensor fft_fftn(const Tensor& self, const IntList& s, const IntList& dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_fftn.default", __builtin_return_address(0), self, s, dim, norm); }
Tensor Tensor::fft_fftn(const IntList& s, const IntList& dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_fftn.default", __builtin_return_address(0), *this, s, dim, norm); }
Tensor fft_fftshift(const Tensor& self, const IntList& dim) { return call<Tensor>("aten.fft_fftshift.default", __builtin_return_address(0), self, dim); }
Tensor Tensor::fft_fftshift(const IntList& dim) const { return call<Tensor>("aten.fft_fftshift.default", __builtin_return_address(0), *this, dim); }
Tensor fft_ifft(const Tensor& self, std::optional<std::int64_t> n, std::int64_t dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_ifft.default", __builtin_return_address(0), self, n, dim, norm); }
Tensor Tensor::fft_ifft(std::optional<std::int64_t> n, std::int64_t dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_ifft.default", __builtin_return_address(0), *this, n, dim, norm); }
Tensor fft_ifft2(const Tensor& self, const IntList& s, const IntList& dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_ifft2.default", __builtin_return_address(0), self, s, dim, norm); }
Tensor Tensor::fft_ifft2(const IntList& s, const IntList& dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_ifft2.default", __builtin_return_address(0), *this, s, dim, norm); }
Tensor fft_ifftn(const Tensor& self, const IntList& s, const IntList& dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_ifftn.default", __builtin_return_address(0), self, s, dim, norm); }
Tensor Tensor::fft_ifftn(const IntList& s, const IntList& dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_ifftn.default", __builtin_return_address(0), *this, s, dim, norm); }
Tensor fft_ifftshift(const Tensor& self, const IntList& dim) { return call<Tensor>("aten.fft_ifftshift.default", __builtin_return_address(0), self, dim); }
Tensor Tensor::fft_ifftshift(const IntList& dim) const { return call<Tensor>("aten.fft_ifftshift.default", __builtin_return_address(0), *this, dim); }
Tensor fft_irfft(const Tensor& self, std::optional<std::int64_t> n, std::int64_t dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_irfft.default", __builtin_return_address(0), self, n, dim, norm); }
Tensor Tensor::fft_irfft(std::optional<std::int64_t> n, std::int64_t dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_irfft.default", __builtin_return_address(0), *this, n, dim, norm); }
Tensor fft_irfft2(const Tensor& self, const IntList& s, const IntList& dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_irfft2.default", __builtin_return_address(0), self, s, dim, norm); }
Tensor Tensor::fft_irfft2(const IntList& s, const IntList& dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_irfft2.default", __builtin_return_address(0), *this, s, dim, norm); }
Tensor fft_irfftn(const Tensor& self, const IntList& s, const IntList& dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_irfftn.default", __builtin_return_address(0), self, s, dim, norm); }
Tensor Tensor::fft_irfftn(const IntList& s, const IntList& dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_irfftn.default", __builtin_return_address(0), *this, s, dim, norm); }
Tensor fft_rfft(const Tensor& self, std::optional<std::int64_t> n, std::int64_t dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_rfft.default", __builtin_return_address(0), self, n, dim, norm); }
Tensor Tensor::fft_rfft(std::optional<std::int64_t> n, std::int64_t dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_rfft.default", __builtin_return_address(0), *this, n, dim, norm); }
Tensor fft_rfft2(const Tensor& self, const IntList& s, const IntList& dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_rfft2.default", __builtin_return_address(0), self, s, dim, norm); }
Tensor Tensor::fft_rfft2(const IntList& s, const IntList& dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_rfft2.default", __builtin_return_address(0), *this, s, dim, norm); }
Tensor fft_rfftn(const Tensor& self, const IntList& s, const IntList& dim, const std::optional<std::string>& norm) { return call<Tensor>("aten.fft_rfftn.default", __builtin_return_address(0), self, s, dim, norm); }
Tensor Tensor::fft_rfftn(const IntList& s, const IntList& dim, const std::optional<std::string>& norm) const { return call<Tensor>("aten.fft_rfftn.default", __builtin_return_address(0), *this, s, dim, norm); }
Tensor fill(const Tensor& self, const Scalar& value) { return call<Tensor>("aten.fill.Scalar", __builtin_return_address(0), self, value); }
Tensor Tensor::fill(const Scalar& value) const { return call<Tensor>("aten.fill.Scalar", __builtin_return_address(0), *this, value); }
Tensor Tensor::fill_(const Scalar& value) const { return call_in_place("aten.fill_.Scalar", __builtin_return_address(0), *this, value); }
Tensor fill(const Tensor& self, const Tensor& value) { return call<Tensor>("aten.fill.Tensor", __builtin_return_address(0), self, value); }
Tensor Tensor::fill(const Tensor& value) const { return call<Tensor>("aten.fill.Tensor", __builtin_return_address(0), *this, value); }
Tensor Tensor::fill_(const Tensor& value) const { return call_in_place("aten.fill_.Tensor", __builtin_return_address(0), *this, value); }
Tensor flatten(const Tensor& self, std::int64_t start_dim, std::int64_t end_dim) { return call<Tensor>("aten.flatten.using_ints", __builtin_return_address(0), self, start_dim, end_dim); }
Tensor Tensor::flatten(std::int64_t start_dim, std::int64_t end_dim) const { return call<Tensor>("aten.flatten.using_ints", __builtin_return_address(0), *this, start_dim, end_dim); }
Tensor flip(const Tensor& self, const IntList& dims) { return call<Tensor>("aten.flip.default", __builtin_return_address(0), self, dims); }
Tensor Tensor::flip(const IntList& dims) const { return call<Tensor>("aten.flip.default", __builtin_return_address(0), *this, dims); }
Tensor floor(const Tensor& self) { return call<Tensor>("aten.floor.default", __builtin_return_address(0), self); }
Tensor Tensor::floor() const { return call<Tensor>("aten.floor.default", __builtin_return_address(0), *this); }
Tensor Tensor::floor_() const { return call_in_place("aten.floor_.default", __builtin_return_address(0), *this); }
Tensor floor_divide(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.floor_divide.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::floor_divide(const Scalar& other) const { return call<Tensor>("aten.floor_divide.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::floor_divide_(const Scalar& other) const { return call_in_place("aten.floor_divide_.Scalar", __builtin_return_address(0), *this, other); }
Tensor floor_divide(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.floor_divide.default", __builtin_return_address(0), self, other); }
Tensor Tensor::floor_divide(const Tensor& other) const { return call<Tensor>("aten.floor_divide.default", __builtin_return_address(0), *this, other); }
Tensor Tensor::floor_divide_(const Tensor& other) const { return call_in_place("aten.floor_divide_.default", __builtin_return_address(0), *this, other); }
Tensor fmax(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.fmax.default", __builtin_return_address(0), self, other); }
Tensor Tensor::fmax(const Tensor& other) const { return call<Tensor>("aten.fmax.default", __builtin_return_address(0), *this, other); }
Tensor fmin(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.fmin.default", __builtin_return_address(0), self, other); }
Tensor Tensor::fmin(const Tensor& other) const { return call<Tensor>("aten.fmin.default", __builtin_return_address(0), *this, other); }
Tensor fmod(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.fmod.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::fmod(const Scalar& other) const { return call<Tensor>("aten.fmod.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::fmod_(const Scalar& other) const { return call_in_place("aten.fmod_.Scalar", __builtin_return_address(0), *this, other); }
Tensor fmod(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.fmod.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::fmod(const Tensor& other) const { return call<Tensor>("aten.fmod.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::fmod_(const Tensor& other) const { return call_in_place("aten.fmod_.Tensor", __builtin_return_address(0), *this, other); }
Tensor frac(const Tensor& self) { return call<Tensor>("aten.frac.default", __builtin_return_address(0), self); }
Tensor Tensor::frac() const { return call<Tensor>("aten.frac.default", __builtin_return_address(0), *this); }
Tensor Tensor::frac_() const { return call_in_place("aten.frac_.default", __builtin_return_address(0), *this); }
Tensor full(const IntList& size, const Scalar& fill_value, std::optional<ScalarType> dtype) { return call<Tensor>("aten.full.default", __builtin_return_address(0), size, fill_value, keyword("dtype", dtype)); }
Tensor full_like(const Tensor& self, const Scalar& fill_value, std::optional<ScalarType> dtype) { return call<Tensor>("aten.full_like.default", __builtin_return_address(0), self, fill_value, keyword("dtype", dtype)); }
Tensor Tensor::full_like(const Scalar& fill_value, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.full_like.default", __builtin_return_address(0), *this, fill_value, keyword("dtype", dtype)); }
Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index, bool sparse_grad) { return call<Tensor>("aten.gather.default", __builtin_return_address(0), self, dim, index, keyword("sparse_grad", sparse_grad)); }
Tensor Tensor::gather(std::int64_t dim, const Tensor& index, bool sparse_grad) const { return call<Tensor>("aten.gather.default", __builtin_return_address(0), *this, dim, index, keyword("sparse_grad", sparse_grad)); }
Tensor gcd(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.gcd.default", __builtin_return_address(0), self, other); }
Tensor Tensor::gcd(const Tensor& other) const { return call<Tensor>("aten.gcd.default", __builtin_return_address(0), *this, other); }
Tensor ge(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.ge.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::ge(const Scalar& other) const { return call<Tensor>("aten.ge.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::ge_(const Scalar& other) const { return call_in_place("aten.ge_.Scalar", __builtin_return_address(0), *this, other); }
Tensor ge(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.ge.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::ge(const Tensor& other) const { return call<Tensor>("aten.ge.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::ge_(const Tensor& other) const { return call_in_place("aten.ge_.Tensor", __builtin_return_address(0), *this, other); }
Tensor gelu(const Tensor& self, const std::string& approximate) { return call<Tensor>("aten.gelu.default", __builtin_return_address(0), self, keyword("approximate", approximate)); }
Tensor Tensor::gelu(const std::string& approximate) const { return call<Tensor>("aten.gelu.default", __builtin_return_address(0), *this, keyword("approximate", approximate)); }
Tensor Tensor::gelu_(const std::string& approximate) const { return call_in_place("aten.gelu_.default", __builtin_return_address(0), *this, keyword("approximate", approximate)); }
Tensor gelu_backward(const Tensor& grad_output, const Tensor& self, const std::string& approximate) { return call<Tensor>("aten.gelu_backward.default", __builtin_return_address(0), grad_output, self, keyword("approximate", approximate)); }
Tensor glu(const Tensor& self, std::int64_t dim) { return call<Tensor>("aten.glu.default", __builtin_return_address(0), self, dim); }
Tensor Tensor::glu(std::int64_t dim) const { return call<Tensor>("aten.glu.default", __builtin_return_address(0), *this, dim); }
Tensor glu_backward(const Tensor& grad_output, const Tensor& self, std::int64_t dim) { return call<Tensor>("aten.glu_backward.default", __builtin_return_address(0), grad_output, self, dim); }
Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, std::int64_t interpolation_mode, std::int64_t padding_mode, bool align_corners) { return call<Tensor>("aten.grid_sampler_2d.default", __builtin_return_address(0), input, grid, interpolation_mode, padding_mode, align_corners); }
std::tuple<Tensor, Tensor> grid_sampler_2d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid, std::int64_t interpolation_mode, std::int64_t padding_mode, bool align_corners, const std::vector<bool>& output_mask) { return call<std::tuple<Tensor, Tensor>>("aten.grid_sampler_2d_backward.default", __builtin_return_address(0), grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask); }
Tensor grid_sampler_3d(const Tensor& input, const Tensor& grid, std::int64_t interpolation_mode, std::int64_t padding_mode, bool align_corners) { return call<Tensor>("aten.grid_sampler_3d.default", __builtin_return_address(0), input, grid, interpolation_mode, padding_mode, align_corners); }
std::tuple<Tensor, Tensor> grid_sampler_3d_backward(const Tensor& grad_output, const Tensor& input, const Tensor& grid, std::int64_t interpolation_mode, std::int64_t padding_mode, bool align_corners, const std::vector<bool>& output_mask) { return call<std::tuple<Tensor, Tensor>>("aten.grid_sampler_3d_backward.default", __builtin_return_address(0), grad_output, input, grid, interpolation_mode, padding_mode, align_corners, output_mask); }
Tensor group_norm(const Tensor& input, std::int64_t num_groups, const OptionalTensor& weight, const OptionalTensor& bias, double eps, bool cudnn_enabled) { return call<Tensor>("aten.group_norm.default", __builtin_return_address(0), input, num_groups, weight, bias, eps, cudnn_enabled); }
std::tuple<Tensor, Tensor> gru(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) { return call<std::tuple<Tensor, Tensor>>("aten.gru.data", __builtin_return_address(0), data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional); }
std::tuple<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) { return call<std::tuple<Tensor, Tensor>>("aten.gru.input", __builtin_return_address(0), input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first); }
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const OptionalTensor& b_ih, const OptionalTensor& b_hh) { return call<Tensor>("aten.gru_cell.default", __builtin_return_address(0), input, hx, w_ih, w_hh, b_ih, b_hh); }
Tensor gt(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.gt.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::gt(const Scalar& other) const { return call<Tensor>("aten.gt.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::gt_(const Scalar& other) const { return call_in_place("aten.gt_.Scalar", __builtin_return_address(0), *this, other); }
Tensor gt(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.gt.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::gt(const Tensor& other) const { return call<Tensor>("aten.gt.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::gt_(const Tensor& other) const { return call_in_place("aten.gt_.Tensor", __builtin_return_address(0), *this, other); }
Tensor hamming_window(std::int64_t window_length, std::optional<ScalarType> dtype) { return call<Tensor>("aten.hamming_window.default", __builtin_return_address(0), window_length, keyword("dtype", dtype)); }
Tensor hamming_window(std::int64_t window_length, bool periodic, std::optional<ScalarType> dtype) { return call<Tensor>("aten.hamming_window.periodic", __builtin_return_address(0), window_length, periodic, keyword("dtype", dtype)); }
Tensor hamming_window(std::int64_t window_length, bool periodic, double alpha, std::optional<ScalarType> dtype) { return call<Tensor>("aten.hamming_window.periodic_alpha", __builtin_return_address(0), window_length, periodic, alpha, keyword("dtype", dtype)); }
Tensor hamming_window(std::int64_t window_length, bool periodic, double alpha, double beta, std::optional<ScalarType> dtype) { return call<Tensor>("aten.hamming_window.periodic_alpha_beta", __builtin_return_address(0), window_length, periodic, alpha, beta, keyword("dtype", dtype)); }
Tensor hann_window(std::int64_t window_length, std::optional<ScalarType> dtype) { return call<Tensor>("aten.hann_window.default", __builtin_return_address(0), window_length, keyword("dtype", dtype)); }
Tensor hann_window(std::int64_t window_length, bool periodic, std::optional<ScalarType> dtype) { return call<Tensor>("aten.hann_window.periodic", __builtin_return_address(0), window_length, periodic, keyword("dtype", dtype)); }
Tensor hardshrink(const Tensor& self, const Scalar& lambd) { return call<Tensor>("aten.hardshrink.default", __builtin_return_address(0), self, lambd); }
Tensor Tensor::hardshrink(const Scalar& lambd) const { return call<Tensor>("aten.hardshrink.default", __builtin_return_address(0), *this, lambd); }
Tensor hardshrink_backward(const Tensor& grad_out, const Tensor& self, const Scalar& lambd) { return call<Tensor>("aten.hardshrink_backward.default", __builtin_return_address(0), grad_out, self, lambd); }
Tensor hardsigmoid(const Tensor& self) { return call<Tensor>("aten.hardsigmoid.default", __builtin_return_address(0), self); }
Tensor Tensor::hardsigmoid() const { return call<Tensor>("aten.hardsigmoid.default", __builtin_return_address(0), *this); }
Tensor Tensor::hardsigmoid_() const { return call_in_place("aten.hardsigmoid_.default", __builtin_return_address(0), *this); }
Tensor hardsigmoid_backward(const Tensor& grad_output, const Tensor& self) { return call<Tensor>("aten.hardsigmoid_backward.default", __builtin_return_address(0), grad_output, self); }
Tensor hardswish(const Tensor& self) { return call<Tensor>("aten.hardswish.default", __builtin_return_address(0), self); }
Tensor Tensor::hardswish() const { return call<Tensor>("aten.hardswish.default", __builtin_return_address(0), *this); }
Tensor Tensor::hardswish_() const { return call_in_place("aten.hardswish_.default", __builtin_return_address(0), *this); }
Tensor hardswish_backward(const Tensor& grad_output, const Tensor& self) { return call<Tensor>("aten.hardswish_backward.default", __builtin_return_address(0), grad_output, self); }
Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) { return call<Tensor>("aten.hardtanh.default", __builtin_return_address(0), self, min_val, max_val); }
Tensor Tensor::hardtanh(const Scalar& min_val, const Scalar& max_val) const { return call<Tensor>("aten.hardtanh.default", __builtin_return_address(0), *this, min_val, max_val); }
Tensor Tensor::hardtanh_(const Scalar& min_val, const Scalar& max_val) const { return call_in_place("aten.hardtanh_.default", __builtin_return_address(0), *this, min_val, max_val); }
Tensor hardtanh_backward(const Tensor& grad_output, const Tensor& self, const Scalar& min_val, const Scalar& max_val) { return call<Tensor>("aten.hardtanh_backward.default", __builtin_return_address(0), grad_output, self, min_val, max_val); }
Tensor heaviside(const Tensor& self, const Tensor& values) { return call<Tensor>("aten.heaviside.default", __builtin_return_address(0), self, values); }
Tensor Tensor::heaviside(const Tensor& values) const { return call<Tensor>("aten.heaviside.default", __builtin_return_address(0), *this, values); }
Tensor Tensor::heaviside_(const Tensor& values) const { return call_in_place("aten.heaviside_.default", __builtin_return_address(0), *this, values); }
Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin, std::int64_t reduction) { return call<Tensor>("aten.hinge_embedding_loss.default", __builtin_return_address(0), self, target, margin, reduction); }
Tensor Tensor::hinge_embedding_loss(const Tensor& target, double margin, std::int64_t reduction) const { return call<Tensor>("aten.hinge_embedding_loss.default", __builtin_return_address(0), *this, target, margin, reduction); }
Tensor histc(const Tensor& self, std::int64_t bins, const Scalar& min, const Scalar& max) { return call<Tensor>("aten.histc.default", __builtin_return_address(0), self, bins, min, max); }
Tensor Tensor::histc(std::int64_t bins, const Scalar& min, const Scalar& max) const { return call<Tensor>("aten.histc.default", __builtin_return_address(0), *this, bins, min, max); }
Tensor hstack(const TensorList& tensors) { return call<Tensor>("aten.hstack.default", __builtin_return_address(0), tensors); }
Tensor huber_loss(const Tensor& self, const Tensor& target, std::int64_t reduction, double delta) { return call<Tensor>("aten.huber_loss.default", __builtin_return_address(0), self, target, reduction, delta); }
Tensor Tensor::huber_loss(const Tensor& target, std::int64_t reduction, double delta) const { return call<Tensor>("aten.huber_loss.default", __builtin_return_address(0), *this, target, reduction, delta); }
Tensor huber_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, std::int64_t reduction, double delta) { return call<Tensor>("aten.huber_loss_backward.default", __builtin_return_address(0), grad_output, self, target, reduction, delta); }
Tensor hypot(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.hypot.default", __builtin_return_address(0), self, other); }
Tensor Tensor::hypot(const Tensor& other) const { return call<Tensor>("aten.hypot.default", __builtin_return_address(0), *this, other); }
Tensor Tensor::hypot_(const Tensor& other) const { return call_in_place("aten.hypot_.default", __builtin_return_address(0), *this, other); }
Tensor im2col(const Tensor& self, const IntList& kernel_size, const IntList& dilation, const IntList& padding, const IntList& stride) { return call<Tensor>("aten.im2col.default", __builtin_return_address(0), self, kernel_size, dilation, padding, stride); }
Tensor Tensor::im2col(const IntList& kernel_size, const IntList& dilation, const IntList& padding, const IntList& stride) const { return call<Tensor>("aten.im2col.default", __builtin_return_address(0), *this, kernel_size, dilation, padding, stride); }
Tensor imag(const Tensor& self) { return call<Tensor>("aten.imag.default", __builtin_return_address(0), self); }
Tensor Tensor::imag() const { return call<Tensor>("aten.imag.default", __builtin_return_address(0), *this); }
Tensor index(const Tensor& self, const std::vector<OptionalTensor>& indices) { return call<Tensor>("aten.index.Tensor", __builtin_return_address(0), self, indices); }
Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) { return call<Tensor>("aten.index_add.default", __builtin_return_address(0), self, dim, index, source, keyword("alpha", alpha)); }
Tensor Tensor::index_add(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const { return call<Tensor>("aten.index_add.default", __builtin_return_address(0), *this, dim, index, source, keyword("alpha", alpha)); }
Tensor Tensor::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const { return call_in_place("aten.index_add_.default", __builtin_return_address(0), *this, dim, index, source, keyword("alpha", alpha)); }
Tensor index_copy(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source) { return call<Tensor>("aten.index_copy.default", __builtin_return_address(0), self, dim, index, source); }
Tensor Tensor::index_copy(std::int64_t dim, const Tensor& index, const Tensor& source) const { return call<Tensor>("aten.index_copy.default", __builtin_return_address(0), *this, dim, index, source); }
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value) { return call<Tensor>("aten.index_fill.int_Scalar", __builtin_return_address(0), self, dim, index, value); }
Tensor Tensor::index_fill(std::int64_t dim, const Tensor& index, const Scalar& value) const { return call<Tensor>("aten.index_fill.int_Scalar", __builtin_return_address(0), *this, dim, index, value); }
Tensor index_fill(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& value) { return call<Tensor>("aten.index_fill.int_Tensor", __builtin_return_address(0), self, dim, index, value); }
Tensor Tensor::index_fill(std::int64_t dim, const Tensor& index, const Tensor& value) const { return call<Tensor>("aten.index_fill.int_Tensor", __builtin_return_address(0), *this, dim, index, value); }
Tensor index_put(const Tensor& self, const std::vector<OptionalTensor>& indices, const Tensor& values, bool accumulate) { return call<Tensor>("aten.index_put.default", __builtin_return_address(0), self, indices, values, accumulate); }
Tensor Tensor::index_put(const std::vector<OptionalTensor>& indices, const Tensor& values, bool accumulate) const { return call<Tensor>("aten.index_put.default", __builtin_return_address(0), *this, indices, values, accumulate); }
Tensor index_reduce(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, const std::string& reduce, bool include_self) { return call<Tensor>("aten.index_reduce.default", __builtin_return_address(0), self, dim, index, source, reduce, keyword("include_self", include_self)); }
Tensor Tensor::index_reduce(std::int64_t dim, const Tensor& index, const Tensor& source, const std::string& reduce, bool include_self) const { return call<Tensor>("aten.index_reduce.default", __builtin_return_address(0), *this, dim, index, source, reduce, keyword("include_self", include_self)); }
Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index) { return call<Tensor>("aten.index_select.default", __builtin_return_address(0), self, dim, index); }
Tensor Tensor::index_select(std::int64_t dim, const Tensor& index) const { return call<Tensor>("aten.index_select.default", __builtin_return_address(0), *this, dim, index); }
Tensor isfinite(const Tensor& self) { return call<Tensor>("aten.isfinite.default", __builtin_return_address(0), self); }
Tensor Tensor::isfinite() const { return call<Tensor>("aten.isfinite.default", __builtin_return_address(0), *this); }
Tensor isinf(const Tensor& self) { return call<Tensor>("aten.isinf.default", __builtin_return_address(0), self); }
Tensor Tensor::isinf() const { return call<Tensor>("aten.isinf.default", __builtin_return_address(0), *this); }
Tensor isnan(const Tensor& self) { return call<Tensor>("aten.isnan.default", __builtin_return_address(0), self); }
Tensor Tensor::isnan() const { return call<Tensor>("aten.isnan.default", __builtin_return_address(0), *this); }
Tensor istft(const Tensor& self, std::int64_t n_fft, std::optional<std::int64_t> hop_length, std::optional<std::int64_t> win_length, const OptionalTensor& window, bool center, bool normalized, std::optional<bool> onesided, std::optional<std::int64_t> length, bool return_complex) { return call<Tensor>("aten.istft.default", __builtin_return_address(0), self, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex); }
Tensor Tensor::istft(std::int64_t n_fft, std::optional<std::int64_t> hop_length, std::optional<std::int64_t> win_length, const OptionalTensor& window, bool center, bool normalized, std::optional<bool> onesided, std::optional<std::int64_t> length, bool return_complex) const { return call<Tensor>("aten.istft.default", __builtin_return_address(0), *this, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex); }
Tensor kaiser_window(std::int64_t window_length, bool periodic, double beta, std::optional<ScalarType> dtype) { return call<Tensor>("aten.kaiser_window.beta", __builtin_return_address(0), window_length, periodic, beta, keyword("dtype", dtype)); }
Tensor kaiser_window(std::int64_t window_length, std::optional<ScalarType> dtype) { return call<Tensor>("aten.kaiser_window.default", __builtin_return_address(0), window_length, keyword("dtype", dtype)); }
Tensor kaiser_window(std::int64_t window_length, bool periodic, std::optional<ScalarType> dtype) { return call<Tensor>("aten.kaiser_window.periodic", __builtin_return_address(0), window_length, periodic, keyword("dtype", dtype)); }
Tensor kl_div(const Tensor& self, const Tensor& target, std::int64_t reduction, bool log_target) { return call<Tensor>("aten.kl_div.default", __builtin_return_address(0), self, target, reduction, keyword("log_target", log_target)); }
Tensor Tensor::kl_div(const Tensor& target, std::int64_t reduction, bool log_target) const { return call<Tensor>("aten.kl_div.default", __builtin_return_address(0), *this, target, reduction, keyword("log_target", log_target)); }
Tensor kron(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.kron.default", __builtin_return_address(0), self, other); }
Tensor Tensor::kron(const Tensor& other) const { return call<Tensor>("aten.kron.default", __builtin_return_address(0), *this, other); }
std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, std::int64_t k, std::int64_t dim, bool keepdim) { return call<std::tuple<Tensor, Tensor>>("aten.kthvalue.default", __builtin_return_address(0), self, k, dim, keepdim); }
std::tuple<Tensor, Tensor> Tensor::kthvalue(std::int64_t k, std::int64_t dim, bool keepdim) const { return call<std::tuple<Tensor, Tensor>>("aten.kthvalue.default", __builtin_return_address(0), *this, k, dim, keepdim); }
Tensor l1_loss(const Tensor& self, const Tensor& target, std::int64_t reduction) { return call<Tensor>("aten.l1_loss.default", __builtin_return_address(0), self, target, reduction); }
Tensor Tensor::l1_loss(const Tensor& target, std::int64_t reduction) const { return call<Tensor>("aten.l1_loss.default", __builtin_return_address(0), *this, target, reduction); }
Tensor layer_norm(const Tensor& input, const IntList& normalized_shape, const OptionalTensor& weight, const OptionalTensor& bias, double eps, bool cudnn_enable) { return call<Tensor>("aten.layer_norm.default", __builtin_return_address(0), input, normalized_shape, weight, bias, eps, cudnn_enable); }
Tensor lcm(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.lcm.default", __builtin_return_address(0), self, other); }
Tensor Tensor::lcm(const Tensor& other) const { return call<Tensor>("aten.lcm.default", __builtin_return_address(0), *this, other); }
Tensor le(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.le.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::le(const Scalar& other) const { return call<Tensor>("aten.le.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::le_(const Scalar& other) const { return call_in_place("aten.le_.Scalar", __builtin_return_address(0), *this, other); }
Tensor le(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.le.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::le(const Tensor& other) const { return call<Tensor>("aten.le.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::le_(const Tensor& other) const { return call_in_place("aten.le_.Tensor", __builtin_return_address(0), *this, other); }
Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope) { return call<Tensor>("aten.leaky_relu.default", __builtin_return_address(0), self, negative_slope); }
Tensor Tensor::leaky_relu(const Scalar& negative_slope) const { return call<Tensor>("aten.leaky_relu.default", __builtin_return_address(0), *this, negative_slope); }
Tensor Tensor::leaky_relu_(const Scalar& negative_slope) const { return call_in_place("aten.leaky_relu_.default", __builtin_return_address(0), *this, negative_slope); }
Tensor leaky_relu_backward(const Tensor& grad_output, const Tensor& self, const Scalar& negative_slope, bool self_is_result) { return call<Tensor>("aten.leaky_relu_backward.default", __builtin_return_address(0), grad_output, self, negative_slope, self_is_result); }
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) { return call<Tensor>("aten.lerp.Scalar", __builtin_return_address(0), self, end, weight); }
Tensor Tensor::lerp(const Tensor& end, const Scalar& weight) const { return call<Tensor>("aten.lerp.Scalar", __builtin_return_address(0), *this, end, weight); }
Tensor Tensor::lerp_(const Tensor& end, const Scalar& weight) const { return call_in_place("aten.lerp_.Scalar", __builtin_return_address(0), *this, end, weight); }
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) { return call<Tensor>("aten.lerp.Tensor", __builtin_return_address(0), self, end, weight); }
Tensor Tensor::lerp(const Tensor& end, const Tensor& weight) const { return call<Tensor>("aten.lerp.Tensor", __builtin_return_address(0), *this, end, weight); }
Tensor Tensor::lerp_(const Tensor& end, const Tensor& weight) const { return call_in_place("aten.lerp_.Tensor", __builtin_return_address(0), *this, end, weight); }
Tensor lgamma(const Tensor& self) { return call<Tensor>("aten.lgamma.default", __builtin_return_address(0), self); }
Tensor Tensor::lgamma() const { return call<Tensor>("aten.lgamma.default", __builtin_return_address(0), *this); }
Tensor lift_fresh_copy(const Tensor& self) { return call<Tensor>("aten.lift_fresh_copy.default", __builtin_return_address(0), self); }
Tensor Tensor::lift_fresh_copy() const { return call<Tensor>("aten.lift_fresh_copy.default", __builtin_return_address(0), *this); }
std::tuple<Tensor, Tensor> linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) { return call<std::tuple<Tensor, Tensor>>("aten.linalg_cholesky_ex.default", __builtin_return_address(0), self, keyword("upper", upper), keyword("check_errors", check_errors)); }
std::tuple<Tensor, Tensor> Tensor::linalg_cholesky_ex(bool upper, bool check_errors) const { return call<std::tuple<Tensor, Tensor>>("aten.linalg_cholesky_ex.default", __builtin_return_address(0), *this, keyword("upper", upper), keyword("check_errors", check_errors)); }
Tensor linalg_cross(const Tensor& self, const Tensor& other, std::int64_t dim) { return call<Tensor>("aten.linalg_cross.default", __builtin_return_address(0), self, other, keyword("dim", dim)); }
Tensor Tensor::linalg_cross(const Tensor& other, std::int64_t dim) const { return call<Tensor>("aten.linalg_cross.default", __builtin_return_address(0), *this, other, keyword("dim", dim)); }
std::tuple<Tensor, Tensor> linalg_inv_ex(const Tensor& A, bool check_errors) { return call<std::tuple<Tensor, Tensor>>("aten.linalg_inv_ex.default", __builtin_return_address(0), A, keyword("check_errors", check_errors)); }
std::tuple<Tensor, Tensor> linalg_qr(const Tensor& A, const std::string& mode) { return call<std::tuple<Tensor, Tensor>>("aten.linalg_qr.default", __builtin_return_address(0), A, mode); }
Tensor linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular) { return call<Tensor>("aten.linalg_solve_triangular.default", __builtin_return_address(0), self, B, keyword("upper", upper), keyword("left", left), keyword("unitriangular", unitriangular)); }
Tensor Tensor::linalg_solve_triangular(const Tensor& B, bool upper, bool left, bool unitriangular) const { return call<Tensor>("aten.linalg_solve_triangular.default", __builtin_return_address(0), *this, B, keyword("upper", upper), keyword("left", left), keyword("unitriangular", unitriangular)); }
Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) { return call<Tensor>("aten.linalg_vector_norm.default", __builtin_return_address(0), self, ord, dim, keepdim, keyword("dtype", dtype)); }
Tensor Tensor::linalg_vector_norm(const Scalar& ord, const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.linalg_vector_norm.default", __builtin_return_address(0), *this, ord, dim, keepdim, keyword("dtype", dtype)); }
Tensor linear(const Tensor& input, const Tensor& weight, const OptionalTensor& bias) { return call<Tensor>("aten.linear.default", __builtin_return_address(0), input, weight, bias); }
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, std::optional<ScalarType> dtype) { return call<Tensor>("aten.linspace.default", __builtin_return_address(0), start, end, steps, keyword("dtype", dtype)); }
Tensor log(const Tensor& self) { return call<Tensor>("aten.log.default", __builtin_return_address(0), self); }
Tensor Tensor::log() const { return call<Tensor>("aten.log.default", __builtin_return_address(0), *this); }
Tensor Tensor::log_() const { return call_in_place("aten.log_.default", __builtin_return_address(0), *this); }
Tensor log10(const Tensor& self) { return call<Tensor>("aten.log10.default", __builtin_return_address(0), self); }
Tensor Tensor::log10() const { return call<Tensor>("aten.log10.default", __builtin_return_address(0), *this); }
Tensor Tensor::log10_() const { return call_in_place("aten.log10_.default", __builtin_return_address(0), *this); }
Tensor log1p(const Tensor& self) { return call<Tensor>("aten.log1p.default", __builtin_return_address(0), self); }
Tensor Tensor::log1p() const { return call<Tensor>("aten.log1p.default", __builtin_return_address(0), *this); }
Tensor Tensor::log1p_() const { return call_in_place("aten.log1p_.default", __builtin_return_address(0), *this); }
Tensor log2(const Tensor& self) { return call<Tensor>("aten.log2.default", __builtin_return_address(0), self); }
Tensor Tensor::log2() const { return call<Tensor>("aten.log2.default", __builtin_return_address(0), *this); }
Tensor Tensor::log2_() const { return call_in_place("aten.log2_.default", __builtin_return_address(0), *this); }
Tensor log_sigmoid(const Tensor& self) { return call<Tensor>("aten.log_sigmoid.default", __builtin_return_address(0), self); }
Tensor Tensor::log_sigmoid() const { return call<Tensor>("aten.log_sigmoid.default", __builtin_return_address(0), *this); }
Tensor log_sigmoid_backward(const Tensor& grad_output, const Tensor& self, const Tensor& buffer) { return call<Tensor>("aten.log_sigmoid_backward.default", __builtin_return_address(0), grad_output, self, buffer); }
std::tuple<Tensor, Tensor> log_sigmoid_forward(const Tensor& self) { return call<std::tuple<Tensor, Tensor>>("aten.log_sigmoid_forward.default", __builtin_return_address(0), self); }
std::tuple<Tensor, Tensor> Tensor::log_sigmoid_forward() const { return call<std::tuple<Tensor, Tensor>>("aten.log_sigmoid_forward.default", __builtin_return_address(0), *this); }
Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype) { return call<Tensor>("aten.log_softmax.int", __builtin_return_address(0), self, dim, dtype); }
Tensor Tensor::log_softmax(std::int64_t dim, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.log_softmax.int", __builtin_return_address(0), *this, dim, dtype); }
Tensor logaddexp(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.logaddexp.default", __builtin_return_address(0), self, other); }
Tensor Tensor::logaddexp(const Tensor& other) const { return call<Tensor>("aten.logaddexp.default", __builtin_return_address(0), *this, other); }
Tensor logaddexp2(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.logaddexp2.default", __builtin_return_address(0), self, other); }
Tensor Tensor::logaddexp2(const Tensor& other) const { return call<Tensor>("aten.logaddexp2.default", __builtin_return_address(0), *this, other); }
Tensor logcumsumexp(const Tensor& self, std::int64_t dim) { return call<Tensor>("aten.logcumsumexp.default", __builtin_return_address(0), self, dim); }
Tensor Tensor::logcumsumexp(std::int64_t dim) const { return call<Tensor>("aten.logcumsumexp.default", __builtin_return_address(0), *this, dim); }
Tensor logical_and(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.logical_and.default", __builtin_return_address(0), self, other); }
Tensor Tensor::logical_and(const Tensor& other) const { return call<Tensor>("aten.logical_and.default", __builtin_return_address(0), *this, other); }
Tensor Tensor::logical_and_(const Tensor& other) const { return call_in_place("aten.logical_and_.default", __builtin_return_address(0), *this, other); }
Tensor logical_not(const Tensor& self) { return call<Tensor>("aten.logical_not.default", __builtin_return_address(0), self); }
Tensor Tensor::logical_not() const { return call<Tensor>("aten.logical_not.default", __builtin_return_address(0), *this); }
Tensor Tensor::logical_not_() const { return call_in_place("aten.logical_not_.default", __builtin_return_address(0), *this); }
Tensor logical_or(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.logical_or.default", __builtin_return_address(0), self, other); }
Tensor Tensor::logical_or(const Tensor& other) const { return call<Tensor>("aten.logical_or.default", __builtin_return_address(0), *this, other); }
Tensor Tensor::logical_or_(const Tensor& other) const { return call_in_place("aten.logical_or_.default", __builtin_return_address(0), *this, other); }
Tensor logical_xor(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.logical_xor.default", __builtin_return_address(0), self, other); }
Tensor Tensor::logical_xor(const Tensor& other) const { return call<Tensor>("aten.logical_xor.default", __builtin_return_address(0), *this, other); }
Tensor Tensor::logical_xor_(const Tensor& other) const { return call_in_place("aten.logical_xor_.default", __builtin_return_address(0), *this, other); }
Tensor logit(const Tensor& self, std::optional<double> eps) { return call<Tensor>("aten.logit.default", __builtin_return_address(0), self, eps); }
Tensor Tensor::logit(std::optional<double> eps) const { return call<Tensor>("aten.logit.default", __builtin_return_address(0), *this, eps); }
Tensor Tensor::logit_(std::optional<double> eps) const { return call_in_place("aten.logit_.default", __builtin_return_address(0), *this, eps); }
Tensor logit_backward(const Tensor& grad_output, const Tensor& self, std::optional<double> eps) { return call<Tensor>("aten.logit_backward.default", __builtin_return_address(0), grad_output, self, eps); }
Tensor logsumexp(const Tensor& self, const IntList& dim, bool keepdim) { return call<Tensor>("aten.logsumexp.default", __builtin_return_address(0), self, dim, keepdim); }
Tensor Tensor::logsumexp(const IntList& dim, bool keepdim) const { return call<Tensor>("aten.logsumexp.default", __builtin_return_address(0), *this, dim, keepdim); }
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& data, const Tensor& batch_sizes, const TensorList& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten.lstm.data", __builtin_return_address(0), data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional); }
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const TensorList& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten.lstm.input", __builtin_return_address(0), input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first); }
std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, const TensorList& hx, const Tensor& w_ih, const Tensor& w_hh, const OptionalTensor& b_ih, const OptionalTensor& b_hh) { return call<std::tuple<Tensor, Tensor>>("aten.lstm_cell.default", __builtin_return_address(0), input, hx, w_ih, w_hh, b_ih, b_hh); }
Tensor lt(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.lt.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::lt(const Scalar& other) const { return call<Tensor>("aten.lt.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::lt_(const Scalar& other) const { return call_in_place("aten.lt_.Scalar", __builtin_return_address(0), *this, other); }
Tensor lt(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.lt.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::lt(const Tensor& other) const { return call<Tensor>("aten.lt.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::lt_(const Tensor& other) const { return call_in_place("aten.lt_.Tensor", __builtin_return_address(0), *this, other); }
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target, double margin, std::int64_t reduction) { return call<Tensor>("aten.margin_ranking_loss.default", __builtin_return_address(0), input1, input2, target, margin, reduction); }
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) { return call<Tensor>("aten.masked_fill.Scalar", __builtin_return_address(0), self, mask, value); }
Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const { return call<Tensor>("aten.masked_fill.Scalar", __builtin_return_address(0), *this, mask, value); }
Tensor Tensor::masked_fill_(const Tensor& mask, const Scalar& value) const { return call_in_place("aten.masked_fill_.Scalar", __builtin_return_address(0), *this, mask, value); }
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) { return call<Tensor>("aten.masked_fill.Tensor", __builtin_return_address(0), self, mask, value); }
Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const { return call<Tensor>("aten.masked_fill.Tensor", __builtin_return_address(0), *this, mask, value); }
Tensor Tensor::masked_fill_(const Tensor& mask, const Tensor& value) const { return call_in_place("aten.masked_fill_.Tensor", __builtin_return_address(0), *this, mask, value); }
Tensor masked_scatter(const Tensor& self, const Tensor& mask, const Tensor& source) { return call<Tensor>("aten.masked_scatter.default", __builtin_return_address(0), self, mask, source); }
Tensor Tensor::masked_scatter(const Tensor& mask, const Tensor& source) const { return call<Tensor>("aten.masked_scatter.default", __builtin_return_address(0), *this, mask, source); }
Tensor masked_select(const Tensor& self, const Tensor& mask) { return call<Tensor>("aten.masked_select.default", __builtin_return_address(0), self, mask); }
Tensor Tensor::masked_select(const Tensor& mask) const { return call<Tensor>("aten.masked_select.default", __builtin_return_address(0), *this, mask); }
Tensor matmul(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.matmul.default", __builtin_return_address(0), self, other); }
Tensor Tensor::matmul(const Tensor& other) const { return call<Tensor>("aten.matmul.default", __builtin_return_address(0), *this, other); }
Tensor max(const Tensor& self) { return call<Tensor>("aten.max.default", __builtin_return_address(0), self); }
Tensor Tensor::max() const { return call<Tensor>("aten.max.default", __builtin_return_address(0), *this); }
std::tuple<Tensor, Tensor> max(const Tensor& self, std::int64_t dim, bool keepdim) { return call<std::tuple<Tensor, Tensor>>("aten.max.dim", __builtin_return_address(0), self, dim, keepdim); }
std::tuple<Tensor, Tensor> Tensor::max(std::int64_t dim, bool keepdim) const { return call<std::tuple<Tensor, Tensor>>("aten.max.dim", __builtin_return_address(0), *this, dim, keepdim); }
Tensor max(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.max.other", __builtin_return_address(0), self, other); }
Tensor Tensor::max(const Tensor& other) const { return call<Tensor>("aten.max.other", __builtin_return_address(0), *this, other); }
Tensor max_pool1d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) { return call<Tensor>("aten.max_pool1d.default", __builtin_return_address(0), self, kernel_size, stride, padding, dilation, ceil_mode); }
Tensor Tensor::max_pool1d(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const { return call<Tensor>("aten.max_pool1d.default", __builtin_return_address(0), *this, kernel_size, stride, padding, dilation, ceil_mode); }
std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) { return call<std::tuple<Tensor, Tensor>>("aten.max_pool1d_with_indices.default", __builtin_return_address(0), self, kernel_size, stride, padding, dilation, ceil_mode); }
std::tuple<Tensor, Tensor> Tensor::max_pool1d_with_indices(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const { return call<std::tuple<Tensor, Tensor>>("aten.max_pool1d_with_indices.default", __builtin_return_address(0), *this, kernel_size, stride, padding, dilation, ceil_mode); }
Tensor max_pool2d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) { return call<Tensor>("aten.max_pool2d.default", __builtin_return_address(0), self, kernel_size, stride, padding, dilation, ceil_mode); }
Tensor Tensor::max_pool2d(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const { return call<Tensor>("aten.max_pool2d.default", __builtin_return_address(0), *this, kernel_size, stride, padding, dilation, ceil_mode); }
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) { return call<std::tuple<Tensor, Tensor>>("aten.max_pool2d_with_indices.default", __builtin_return_address(0), self, kernel_size, stride, padding, dilation, ceil_mode); }
std::tuple<Tensor, Tensor> Tensor::max_pool2d_with_indices(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const { return call<std::tuple<Tensor, Tensor>>("aten.max_pool2d_with_indices.default", __builtin_return_address(0), *this, kernel_size, stride, padding, dilation, ceil_mode); }
Tensor max_pool2d_with_indices_backward(const Tensor& grad_output, const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode, const Tensor& indices) { return call<Tensor>("aten.max_pool2d_with_indices_backward.default", __builtin_return_address(0), grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices); }
Tensor max_pool3d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) { return call<Tensor>("aten.max_pool3d.default", __builtin_return_address(0), self, kernel_size, stride, padding, dilation, ceil_mode); }
Tensor Tensor::max_pool3d(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const { return call<Tensor>("aten.max_pool3d.default", __builtin_return_address(0), *this, kernel_size, stride, padding, dilation, ceil_mode); }
std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) { return call<std::tuple<Tensor, Tensor>>("aten.max_pool3d_with_indices.default", __builtin_return_address(0), self, kernel_size, stride, padding, dilation, ceil_mode); }
std::tuple<Tensor, Tensor> Tensor::max_pool3d_with_indices(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const { return call<std::tuple<Tensor, Tensor>>("aten.max_pool3d_with_indices.default", __builtin_return_address(0), *this, kernel_size, stride, padding, dilation, ceil_mode); }
Tensor max_pool3d_with_indices_backward(const Tensor& grad_output, const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode, const Tensor& indices) { return call<Tensor>("aten.max_pool3d_with_indices_backward.default", __builtin_return_address(0), grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices); }
Tensor max_unpool2d(const Tensor& self, const Tensor& indices, const IntList& output_size) { return call<Tensor>("aten.max_unpool2d.default", __builtin_return_address(0), self, indices, output_size); }
Tensor Tensor::max_unpool2d(const Tensor& indices, const IntList& output_size) const { return call<Tensor>("aten.max_unpool2d.default", __builtin_return_address(0), *this, indices, output_size); }
Tensor max_unpool3d(const Tensor& self, const Tensor& indices, const IntList& output_size, const IntList& stride, const IntList& padding) { return call<Tensor>("aten.max_unpool3d.default", __builtin_return_address(0), self, indices, output_size, stride, padding); }
Tensor Tensor::max_unpool3d(const Tensor& indices, const IntList& output_size, const IntList& stride, const IntList& padding) const { return call<Tensor>("aten.max_unpool3d.default", __builtin_return_address(0), *this, indices, output_size, stride, padding); }
Tensor maximum(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.maximum.default", __builtin_return_address(0), self, other); }
Tensor Tensor::maximum(const Tensor& other) const { return call<Tensor>("aten.maximum.default", __builtin_return_address(0), *this, other); }
Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) { return call<Tensor>("aten.mean.default", __builtin_return_address(0), self, keyword("dtype", dtype)); }
Tensor Tensor::mean(std::optional<ScalarType> dtype) const { return call<Tensor>("aten.mean.default", __builtin_return_address(0), *this, keyword("dtype", dtype)); }
Tensor mean(const Tensor& self, const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) { return call<Tensor>("aten.mean.dim", __builtin_return_address(0), self, dim, keepdim, keyword("dtype", dtype)); }
Tensor Tensor::mean(const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.mean.dim", __builtin_return_address(0), *this, dim, keepdim, keyword("dtype", dtype)); }
Tensor median(const Tensor& self) { return call<Tensor>("aten.median.default", __builtin_return_address(0), self); }
Tensor Tensor::median() const { return call<Tensor>("aten.median.default", __builtin_return_address(0), *this); }
std::tuple<Tensor, Tensor> median(const Tensor& self, std::int64_t dim, bool keepdim) { return call<std::tuple<Tensor, Tensor>>("aten.median.dim", __builtin_return_address(0), self, dim, keepdim); }
std::tuple<Tensor, Tensor> Tensor::median(std::int64_t dim, bool keepdim) const { return call<std::tuple<Tensor, Tensor>>("aten.median.dim", __builtin_return_address(0), *this, dim, keepdim); }
TensorList meshgrid(const TensorList& tensors) { return call<TensorList>("aten.meshgrid.default", __builtin_return_address(0), tensors); }
TensorList meshgrid(const TensorList& tensors, const std::string& indexing) { return call<TensorList>("aten.meshgrid.indexing", __builtin_return_address(0), tensors, keyword("indexing", indexing)); }
Tensor min(const Tensor& self) { return call<Tensor>("aten.min.default", __builtin_return_address(0), self); }
Tensor Tensor::min() const { return call<Tensor>("aten.min.default", __builtin_return_address(0), *this); }
std::tuple<Tensor, Tensor> min(const Tensor& self, std::int64_t dim, bool keepdim) { return call<std::tuple<Tensor, Tensor>>("aten.min.dim", __builtin_return_address(0), self, dim, keepdim); }
std::tuple<Tensor, Tensor> Tensor::min(std::int64_t dim, bool keepdim) const { return call<std::tuple<Tensor, Tensor>>("aten.min.dim", __builtin_return_address(0), *this, dim, keepdim); }
Tensor min(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.min.other", __builtin_return_address(0), self, other); }
Tensor Tensor::min(const Tensor& other) const { return call<Tensor>("aten.min.other", __builtin_return_address(0), *this, other); }
Tensor minimum(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.minimum.default", __builtin_return_address(0), self, other); }
Tensor Tensor::minimum(const Tensor& other) const { return call<Tensor>("aten.minimum.default", __builtin_return_address(0), *this, other); }
Tensor mish(const Tensor& self) { return call<Tensor>("aten.mish.default", __builtin_return_address(0), self); }
Tensor Tensor::mish() const { return call<Tensor>("aten.mish.default", __builtin_return_address(0), *this); }
Tensor Tensor::mish_() const { return call_in_place("aten.mish_.default", __builtin_return_address(0), *this); }
Tensor mish_backward(const Tensor& grad_output, const Tensor& self) { return call<Tensor>("aten.mish_backward.default", __builtin_return_address(0), grad_output, self); }
Tensor mm(const Tensor& self, const Tensor& mat2) { return call<Tensor>("aten.mm.default", __builtin_return_address(0), self, mat2); }
Tensor Tensor::mm(const Tensor& mat2) const { return call<Tensor>("aten.mm.default", __builtin_return_address(0), *this, mat2); }
Tensor movedim(const Tensor& self, std::int64_t source, std::int64_t destination) { return call<Tensor>("aten.movedim.int", __builtin_return_address(0), self, source, destination); }
Tensor Tensor::movedim(std::int64_t source, std::int64_t destination) const { return call<Tensor>("aten.movedim.int", __builtin_return_address(0), *this, source, destination); }
Tensor movedim(const Tensor& self, const IntList& source, const IntList& destination) { return call<Tensor>("aten.movedim.intlist", __builtin_return_address(0), self, source, destination); }
Tensor Tensor::movedim(const IntList& source, const IntList& destination) const { return call<Tensor>("aten.movedim.intlist", __builtin_return_address(0), *this, source, destination); }
Tensor mse_loss(const Tensor& self, const Tensor& target, std::int64_t reduction) { return call<Tensor>("aten.mse_loss.default", __builtin_return_address(0), self, target, reduction); }
Tensor Tensor::mse_loss(const Tensor& target, std::int64_t reduction) const { return call<Tensor>("aten.mse_loss.default", __builtin_return_address(0), *this, target, reduction); }
Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, std::int64_t reduction) { return call<Tensor>("aten.mse_loss_backward.default", __builtin_return_address(0), grad_output, self, target, reduction); }
Tensor mul(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.mul.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::mul(const Scalar& other) const { return call<Tensor>("aten.mul.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::mul_(const Scalar& other) const { return call_in_place("aten.mul_.Scalar", __builtin_return_address(0), *this, other); }
Tensor mul(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.mul.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::mul(const Tensor& other) const { return call<Tensor>("aten.mul.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::mul_(const Tensor& other) const { return call_in_place("aten.mul_.Tensor", __builtin_return_address(0), *this, other); }
Tensor multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin, const OptionalTensor& weight, std::int64_t reduction) { return call<Tensor>("aten.multi_margin_loss.default", __builtin_return_address(0), self, target, p, margin, weight, reduction); }
Tensor Tensor::multi_margin_loss(const Tensor& target, const Scalar& p, const Scalar& margin, const OptionalTensor& weight, std::int64_t reduction) const { return call<Tensor>("aten.multi_margin_loss.default", __builtin_return_address(0), *this, target, p, margin, weight, reduction); }
Tensor multi_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const Scalar& p, const Scalar& margin, const OptionalTensor& weight, std::int64_t reduction) { return call<Tensor>("aten.multi_margin_loss_backward.default", __builtin_return_address(0), grad_output, self, target, p, margin, weight, reduction); }
Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, std::int64_t reduction) { return call<Tensor>("aten.multilabel_margin_loss.default", __builtin_return_address(0), self, target, reduction); }
Tensor Tensor::multilabel_margin_loss(const Tensor& target, std::int64_t reduction) const { return call<Tensor>("aten.multilabel_margin_loss.default", __builtin_return_address(0), *this, target, reduction); }
Tensor multilabel_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, std::int64_t reduction, const Tensor& is_target) { return call<Tensor>("aten.multilabel_margin_loss_backward.default", __builtin_return_address(0), grad_output, self, target, reduction, is_target); }
std::tuple<Tensor, Tensor> multilabel_margin_loss_forward(const Tensor& self, const Tensor& target, std::int64_t reduction) { return call<std::tuple<Tensor, Tensor>>("aten.multilabel_margin_loss_forward.default", __builtin_return_address(0), self, target, reduction); }
std::tuple<Tensor, Tensor> Tensor::multilabel_margin_loss_forward(const Tensor& target, std::int64_t reduction) const { return call<std::tuple<Tensor, Tensor>>("aten.multilabel_margin_loss_forward.default", __builtin_return_address(0), *this, target, reduction); }
Tensor mv(const Tensor& self, const Tensor& vec) { return call<Tensor>("aten.mv.default", __builtin_return_address(0), self, vec); }
Tensor Tensor::mv(const Tensor& vec) const { return call<Tensor>("aten.mv.default", __builtin_return_address(0), *this, vec); }
Tensor nan_to_num(const Tensor& self, std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) { return call<Tensor>("aten.nan_to_num.default", __builtin_return_address(0), self, nan, posinf, neginf); }
Tensor Tensor::nan_to_num(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const { return call<Tensor>("aten.nan_to_num.default", __builtin_return_address(0), *this, nan, posinf, neginf); }
Tensor Tensor::nan_to_num_(std::optional<double> nan, std::optional<double> posinf, std::optional<double> neginf) const { return call_in_place("aten.nan_to_num_.default", __builtin_return_address(0), *this, nan, posinf, neginf); }
Tensor nansum(const Tensor& self, const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) { return call<Tensor>("aten.nansum.default", __builtin_return_address(0), self, dim, keepdim, keyword("dtype", dtype)); }
Tensor Tensor::nansum(const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.nansum.default", __builtin_return_address(0), *this, dim, keepdim, keyword("dtype", dtype)); }
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) { return call<Tensor>("aten.narrow.default", __builtin_return_address(0), self, dim, start, length); }
Tensor Tensor::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const { return call<Tensor>("aten.narrow.default", __builtin_return_address(0), *this, dim, start, length); }
std::tuple<Tensor, Tensor, Tensor> native_batch_norm_backward(const Tensor& grad_out, const Tensor& input, const OptionalTensor& weight, const OptionalTensor& running_mean, const OptionalTensor& running_var, const OptionalTensor& save_mean, const OptionalTensor& save_invstd, bool train, double eps, const std::vector<bool>& output_mask) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten.native_batch_norm_backward.default", __builtin_return_address(0), grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask); }
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) { return call<std::tuple<Tensor, Tensor>>("aten.native_dropout.default", __builtin_return_address(0), input, p, train); }
std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, std::int64_t N, std::int64_t C, std::int64_t HxW, std::int64_t group, double eps) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten.native_group_norm.default", __builtin_return_address(0), input, weight, bias, N, C, HxW, group, eps); }
std::tuple<Tensor, Tensor, Tensor> native_group_norm_backward(const Tensor& grad_out, const Tensor& input, const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight, std::int64_t N, std::int64_t C, std::int64_t HxW, std::int64_t group, const std::vector<bool>& output_mask) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten.native_group_norm_backward.default", __builtin_return_address(0), grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask); }
std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, const IntList& normalized_shape, const OptionalTensor& weight, const OptionalTensor& bias, double eps) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten.native_layer_norm.default", __builtin_return_address(0), input, normalized_shape, weight, bias, eps); }
std::tuple<Tensor, Tensor, Tensor> native_layer_norm_backward(const Tensor& grad_out, const Tensor& input, const IntList& normalized_shape, const Tensor& mean, const Tensor& rstd, const OptionalTensor& weight, const OptionalTensor& bias, const std::vector<bool>& output_mask) { return call<std::tuple<Tensor, Tensor, Tensor>>("aten.native_layer_norm_backward.default", __builtin_return_address(0), grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask); }
Tensor ne(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.ne.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::ne(const Scalar& other) const { return call<Tensor>("aten.ne.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::ne_(const Scalar& other) const { return call_in_place("aten.ne_.Scalar", __builtin_return_address(0), *this, other); }
Tensor ne(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.ne.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::ne(const Tensor& other) const { return call<Tensor>("aten.ne.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::ne_(const Tensor& other) const { return call_in_place("aten.ne_.Tensor", __builtin_return_address(0), *this, other); }
Tensor neg(const Tensor& self) { return call<Tensor>("aten.neg.default", __builtin_return_address(0), self); }
Tensor Tensor::neg() const { return call<Tensor>("aten.neg.default", __builtin_return_address(0), *this); }
Tensor Tensor::neg_() const { return call_in_place("aten.neg_.default", __builtin_return_address(0), *this); }
Tensor new_full(const Tensor& self, const IntList& size, const Scalar& fill_value, std::optional<ScalarType> dtype) { return call<Tensor>("aten.new_full.default", __builtin_return_address(0), self, size, fill_value, keyword("dtype", dtype)); }
Tensor Tensor::new_full(const IntList& size, const Scalar& fill_value, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.new_full.default", __builtin_return_address(0), *this, size, fill_value, keyword("dtype", dtype)); }
Tensor new_ones(const Tensor& self, const IntList& size, std::optional<ScalarType> dtype) { return call<Tensor>("aten.new_ones.default", __builtin_return_address(0), self, size, keyword("dtype", dtype)); }
Tensor Tensor::new_ones(const IntList& size, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.new_ones.default", __builtin_return_address(0), *this, size, keyword("dtype", dtype)); }
Tensor new_zeros(const Tensor& self, const IntList& size, std::optional<ScalarType> dtype) { return call<Tensor>("aten.new_zeros.default", __builtin_return_address(0), self, size, keyword("dtype", dtype)); }
Tensor Tensor::new_zeros(const IntList& size, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.new_zeros.default", __builtin_return_address(0), *this, size, keyword("dtype", dtype)); }
Tensor nll_loss(const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index) { return call<Tensor>("aten.nll_loss.default", __builtin_return_address(0), self, target, weight, reduction, ignore_index); }
Tensor Tensor::nll_loss(const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index) const { return call<Tensor>("aten.nll_loss.default", __builtin_return_address(0), *this, target, weight, reduction, ignore_index); }
Tensor nll_loss2d_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index, const Tensor& total_weight) { return call<Tensor>("aten.nll_loss2d_backward.default", __builtin_return_address(0), grad_output, self, target, weight, reduction, ignore_index, total_weight); }
std::tuple<Tensor, Tensor> nll_loss2d_forward(const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index) { return call<std::tuple<Tensor, Tensor>>("aten.nll_loss2d_forward.default", __builtin_return_address(0), self, target, weight, reduction, ignore_index); }
std::tuple<Tensor, Tensor> Tensor::nll_loss2d_forward(const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index) const { return call<std::tuple<Tensor, Tensor>>("aten.nll_loss2d_forward.default", __builtin_return_address(0), *this, target, weight, reduction, ignore_index); }
Tensor nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index, const Tensor& total_weight) { return call<Tensor>("aten.nll_loss_backward.default", __builtin_return_address(0), grad_output, self, target, weight, reduction, ignore_index, total_weight); }
std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index) { return call<std::tuple<Tensor, Tensor>>("aten.nll_loss_forward.default", __builtin_return_address(0), self, target, weight, reduction, ignore_index); }
std::tuple<Tensor, Tensor> Tensor::nll_loss_forward(const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index) const { return call<std::tuple<Tensor, Tensor>>("aten.nll_loss_forward.default", __builtin_return_address(0), *this, target, weight, reduction, ignore_index); }
Tensor nonzero(const Tensor& self) { return call<Tensor>("aten.nonzero.default", __builtin_return_address(0), self); }
Tensor Tensor::nonzero() const { return call<Tensor>("aten.nonzero.default", __builtin_return_address(0), *this); }
Tensor norm(const Tensor& self, const Scalar& p) { return call<Tensor>("aten.norm.Scalar", __builtin_return_address(0), self, p); }
Tensor Tensor::norm(const Scalar& p) const { return call<Tensor>("aten.norm.Scalar", __builtin_return_address(0), *this, p); }
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, const IntList& dim, bool keepdim) { return call<Tensor>("aten.norm.ScalarOpt_dim", __builtin_return_address(0), self, p, dim, keepdim); }
Tensor Tensor::norm(const std::optional<Scalar>& p, const IntList& dim, bool keepdim) const { return call<Tensor>("aten.norm.ScalarOpt_dim", __builtin_return_address(0), *this, p, dim, keepdim); }
Tensor one_hot(const Tensor& self, std::int64_t num_classes) { return call<Tensor>("aten.one_hot.default", __builtin_return_address(0), self, num_classes); }
Tensor Tensor::one_hot(std::int64_t num_classes) const { return call<Tensor>("aten.one_hot.default", __builtin_return_address(0), *this, num_classes); }
Tensor ones(const IntList& size, std::optional<ScalarType> dtype) { return call<Tensor>("aten.ones.default", __builtin_return_address(0), size, keyword("dtype", dtype)); }
Tensor ones_like(const Tensor& self, std::optional<ScalarType> dtype) { return call<Tensor>("aten.ones_like.default", __builtin_return_address(0), self, keyword("dtype", dtype)); }
Tensor Tensor::ones_like(std::optional<ScalarType> dtype) const { return call<Tensor>("aten.ones_like.default", __builtin_return_address(0), *this, keyword("dtype", dtype)); }
Tensor outer(const Tensor& self, const Tensor& vec2) { return call<Tensor>("aten.outer.default", __builtin_return_address(0), self, vec2); }
Tensor Tensor::outer(const Tensor& vec2) const { return call<Tensor>("aten.outer.default", __builtin_return_address(0), *this, vec2); }
Tensor pad(const Tensor& self, const IntList& pad, const std::string& mode, std::optional<double> value) { return call<Tensor>("aten.pad.default", __builtin_return_address(0), self, pad, mode, value); }
Tensor Tensor::pad(const IntList& pad, const std::string& mode, std::optional<double> value) const { return call<Tensor>("aten.pad.default", __builtin_return_address(0), *this, pad, mode, value); }
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) { return call<Tensor>("aten.pairwise_distance.default", __builtin_return_address(0), x1, x2, p, eps, keepdim); }
Tensor permute(const Tensor& self, const IntList& dims) { return call<Tensor>("aten.permute.default", __builtin_return_address(0), self, dims); }
Tensor Tensor::permute(const IntList& dims) const { return call<Tensor>("aten.permute.default", __builtin_return_address(0), *this, dims); }
Tensor pixel_shuffle(const Tensor& self, std::int64_t upscale_factor) { return call<Tensor>("aten.pixel_shuffle.default", __builtin_return_address(0), self, upscale_factor); }
Tensor Tensor::pixel_shuffle(std::int64_t upscale_factor) const { return call<Tensor>("aten.pixel_shuffle.default", __builtin_return_address(0), *this, upscale_factor); }
Tensor pixel_unshuffle(const Tensor& self, std::int64_t downscale_factor) { return call<Tensor>("aten.pixel_unshuffle.default", __builtin_return_address(0), self, downscale_factor); }
Tensor Tensor::pixel_unshuffle(std::int64_t downscale_factor) const { return call<Tensor>("aten.pixel_unshuffle.default", __builtin_return_address(0), *this, downscale_factor); }
Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full, double eps, std::int64_t reduction) { return call<Tensor>("aten.poisson_nll_loss.default", __builtin_return_address(0), input, target, log_input, full, eps, reduction); }
Tensor polar(const Tensor& abs, const Tensor& angle) { return call<Tensor>("aten.polar.default", __builtin_return_address(0), abs, angle); }
Tensor pow(const Scalar& self, const Tensor& exponent) { return call<Tensor>("aten.pow.Scalar", __builtin_return_address(0), self, exponent); }
Tensor pow(const Tensor& self, const Scalar& exponent) { return call<Tensor>("aten.pow.Tensor_Scalar", __builtin_return_address(0), self, exponent); }
Tensor Tensor::pow(const Scalar& exponent) const { return call<Tensor>("aten.pow.Tensor_Scalar", __builtin_return_address(0), *this, exponent); }
Tensor Tensor::pow_(const Scalar& exponent) const { return call_in_place("aten.pow_.Tensor_Scalar", __builtin_return_address(0), *this, exponent); }
Tensor pow(const Tensor& self, const Tensor& exponent) { return call<Tensor>("aten.pow.Tensor_Tensor", __builtin_return_address(0), self, exponent); }
Tensor Tensor::pow(const Tensor& exponent) const { return call<Tensor>("aten.pow.Tensor_Tensor", __builtin_return_address(0), *this, exponent); }
Tensor Tensor::pow_(const Tensor& exponent) const { return call_in_place("aten.pow_.Tensor_Tensor", __builtin_return_address(0), *this, exponent); }
Tensor prelu(const Tensor& self, const Tensor& weight) { return call<Tensor>("aten.prelu.default", __builtin_return_address(0), self, weight); }
Tensor Tensor::prelu(const Tensor& weight) const { return call<Tensor>("aten.prelu.default", __builtin_return_address(0), *this, weight); }
std::tuple<Tensor, Tensor> prelu_backward(const Tensor& grad_output, const Tensor& self, const Tensor& weight) { return call<std::tuple<Tensor, Tensor>>("aten.prelu_backward.default", __builtin_return_address(0), grad_output, self, weight); }
Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) { return call<Tensor>("aten.prod.default", __builtin_return_address(0), self, keyword("dtype", dtype)); }
Tensor Tensor::prod(std::optional<ScalarType> dtype) const { return call<Tensor>("aten.prod.default", __builtin_return_address(0), *this, keyword("dtype", dtype)); }
Tensor prod(const Tensor& self, std::int64_t dim, bool keepdim, std::optional<ScalarType> dtype) { return call<Tensor>("aten.prod.dim_int", __builtin_return_address(0), self, dim, keepdim, keyword("dtype", dtype)); }
Tensor Tensor::prod(std::int64_t dim, bool keepdim, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.prod.dim_int", __builtin_return_address(0), *this, dim, keepdim, keyword("dtype", dtype)); }
Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) { return call<Tensor>("aten.put.default", __builtin_return_address(0), self, index, source, accumulate); }
Tensor Tensor::put(const Tensor& index, const Tensor& source, bool accumulate) const { return call<Tensor>("aten.put.default", __builtin_return_address(0), *this, index, source, accumulate); }
Tensor rad2deg(const Tensor& self) { return call<Tensor>("aten.rad2deg.default", __builtin_return_address(0), self); }
Tensor Tensor::rad2deg() const { return call<Tensor>("aten.rad2deg.default", __builtin_return_address(0), *this); }
Tensor rand(const IntList& size, std::optional<ScalarType> dtype) { return call<Tensor>("aten.rand.default", __builtin_return_address(0), size, keyword("dtype", dtype)); }
Tensor rand_like(const Tensor& self, std::optional<ScalarType> dtype) { return call<Tensor>("aten.rand_like.default", __builtin_return_address(0), self, keyword("dtype", dtype)); }
Tensor Tensor::rand_like(std::optional<ScalarType> dtype) const { return call<Tensor>("aten.rand_like.default", __builtin_return_address(0), *this, keyword("dtype", dtype)); }
Tensor randint(std::int64_t high, const IntList& size, std::optional<ScalarType> dtype) { return call<Tensor>("aten.randint.default", __builtin_return_address(0), high, size, keyword("dtype", dtype)); }
Tensor randint(std::int64_t low, std::int64_t high, const IntList& size, std::optional<ScalarType> dtype) { return call<Tensor>("aten.randint.low", __builtin_return_address(0), low, high, size, keyword("dtype", dtype)); }
Tensor randn(const IntList& size, std::optional<ScalarType> dtype) { return call<Tensor>("aten.randn.default", __builtin_return_address(0), size, keyword("dtype", dtype)); }
Tensor randn_like(const Tensor& self, std::optional<ScalarType> dtype) { return call<Tensor>("aten.randn_like.default", __builtin_return_address(0), self, keyword("dtype", dtype)); }
Tensor Tensor::randn_like(std::optional<ScalarType> dtype) const { return call<Tensor>("aten.randn_like.default", __builtin_return_address(0), *this, keyword("dtype", dtype)); }
Tensor randperm(std::int64_t n, std::optional<ScalarType> dtype) { return call<Tensor>("aten.randperm.default", __builtin_return_address(0), n, keyword("dtype", dtype)); }
Tensor real(const Tensor& self) { return call<Tensor>("aten.real.default", __builtin_return_address(0), self); }
Tensor Tensor::real() const { return call<Tensor>("aten.real.default", __builtin_return_address(0), *this); }
Tensor reciprocal(const Tensor& self) { return call<Tensor>("aten.reciprocal.default", __builtin_return_address(0), self); }
Tensor Tensor::reciprocal() const { return call<Tensor>("aten.reciprocal.default", __builtin_return_address(0), *this); }
Tensor Tensor::reciprocal_() const { return call_in_place("aten.reciprocal_.default", __builtin_return_address(0), *this); }
Tensor reflection_pad1d(const Tensor& self, const IntList& padding) { return call<Tensor>("aten.reflection_pad1d.default", __builtin_return_address(0), self, padding); }
Tensor Tensor::reflection_pad1d(const IntList& padding) const { return call<Tensor>("aten.reflection_pad1d.default", __builtin_return_address(0), *this, padding); }
Tensor reflection_pad1d_backward(const Tensor& grad_output, const Tensor& self, const IntList& padding) { return call<Tensor>("aten.reflection_pad1d_backward.default", __builtin_return_address(0), grad_output, self, padding); }
Tensor reflection_pad2d(const Tensor& self, const IntList& padding) { return call<Tensor>("aten.reflection_pad2d.default", __builtin_return_address(0), self, padding); }
Tensor Tensor::reflection_pad2d(const IntList& padding) const { return call<Tensor>("aten.reflection_pad2d.default", __builtin_return_address(0), *this, padding); }
Tensor reflection_pad2d_backward(const Tensor& grad_output, const Tensor& self, const IntList& padding) { return call<Tensor>("aten.reflection_pad2d_backward.default", __builtin_return_address(0), grad_output, self, padding); }
Tensor reflection_pad3d(const Tensor& self, const IntList& padding) { return call<Tensor>("aten.reflection_pad3d.default", __builtin_return_address(0), self, padding); }
Tensor Tensor::reflection_pad3d(const IntList& padding) const { return call<Tensor>("aten.reflection_pad3d.default", __builtin_return_address(0), *this, padding); }
Tensor reflection_pad3d_backward(const Tensor& grad_output, const Tensor& self, const IntList& padding) { return call<Tensor>("aten.reflection_pad3d_backward.default", __builtin_return_address(0), grad_output, self, padding); }
Tensor relu(const Tensor& self) { return call<Tensor>("aten.relu.default", __builtin_return_address(0), self); }
Tensor Tensor::relu() const { return call<Tensor>("aten.relu.default", __builtin_return_address(0), *this); }
Tensor Tensor::relu_() const { return call_in_place("aten.relu_.default", __builtin_return_address(0), *this); }
Tensor relu6(const Tensor& self) { return call<Tensor>("aten.relu6.default", __builtin_return_address(0), self); }
Tensor Tensor::relu6() const { return call<Tensor>("aten.relu6.default", __builtin_return_address(0), *this); }
Tensor Tensor::relu6_() const { return call_in_place("aten.relu6_.default", __builtin_return_address(0), *this); }
Tensor remainder(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.remainder.Scalar", __builtin_return_address(0), self, other); }
Tensor Tensor::remainder(const Scalar& other) const { return call<Tensor>("aten.remainder.Scalar", __builtin_return_address(0), *this, other); }
Tensor Tensor::remainder_(const Scalar& other) const { return call_in_place("aten.remainder_.Scalar", __builtin_return_address(0), *this, other); }
Tensor remainder(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.remainder.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::remainder(const Tensor& other) const { return call<Tensor>("aten.remainder.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::remainder_(const Tensor& other) const { return call_in_place("aten.remainder_.Tensor", __builtin_return_address(0), *this, other); }
Tensor repeat(const Tensor& self, const IntList& repeats) { return call<Tensor>("aten.repeat.default", __builtin_return_address(0), self, repeats); }
Tensor Tensor::repeat(const IntList& repeats) const { return call<Tensor>("aten.repeat.default", __builtin_return_address(0), *this, repeats); }
Tensor repeat_interleave(const Tensor& self, std::int64_t repeats, std::optional<std::int64_t> dim, std::optional<std::int64_t> output_size) { return call<Tensor>("aten.repeat_interleave.self_int", __builtin_return_address(0), self, repeats, dim, keyword("output_size", output_size)); }
Tensor Tensor::repeat_interleave(std::int64_t repeats, std::optional<std::int64_t> dim, std::optional<std::int64_t> output_size) const { return call<Tensor>("aten.repeat_interleave.self_int", __builtin_return_address(0), *this, repeats, dim, keyword("output_size", output_size)); }
Tensor replication_pad1d(const Tensor& self, const IntList& padding) { return call<Tensor>("aten.replication_pad1d.default", __builtin_return_address(0), self, padding); }
Tensor Tensor::replication_pad1d(const IntList& padding) const { return call<Tensor>("aten.replication_pad1d.default", __builtin_return_address(0), *this, padding); }
Tensor replication_pad1d_backward(const Tensor& grad_output, const Tensor& self, const IntList& padding) { return call<Tensor>("aten.replication_pad1d_backward.default", __builtin_return_address(0), grad_output, self, padding); }
Tensor replication_pad2d(const Tensor& self, const IntList& padding) { return call<Tensor>("aten.replication_pad2d.default", __builtin_return_address(0), self, padding); }
Tensor Tensor::replication_pad2d(const IntList& padding) const { return call<Tensor>("aten.replication_pad2d.default", __builtin_return_address(0), *this, padding); }
Tensor replication_pad2d_backward(const Tensor& grad_output, const Tensor& self, const IntList& padding) { return call<Tensor>("aten.replication_pad2d_backward.default", __builtin_return_address(0), grad_output, self, padding); }
Tensor replication_pad3d(const Tensor& self, const IntList& padding) { return call<Tensor>("aten.replication_pad3d.default", __builtin_return_address(0), self, padding); }
Tensor Tensor::replication_pad3d(const IntList& padding) const { return call<Tensor>("aten.replication_pad3d.default", __builtin_return_address(0), *this, padding); }
Tensor replication_pad3d_backward(const Tensor& grad_output, const Tensor& self, const IntList& padding) { return call<Tensor>("aten.replication_pad3d_backward.default", __builtin_return_address(0), grad_output, self, padding); }
Tensor reshape(const Tensor& self, const IntList& shape) { return call<Tensor>("aten.reshape.default", __builtin_return_address(0), self, shape); }
Tensor Tensor::reshape(const IntList& shape) const { return call<Tensor>("aten.reshape.default", __builtin_return_address(0), *this, shape); }
Tensor resolve_conj(const Tensor& self) { return call<Tensor>("aten.resolve_conj.default", __builtin_return_address(0), self); }
Tensor Tensor::resolve_conj() const { return call<Tensor>("aten.resolve_conj.default", __builtin_return_address(0), *this); }
Tensor resolve_neg(const Tensor& self) { return call<Tensor>("aten.resolve_neg.default", __builtin_return_address(0), self); }
Tensor Tensor::resolve_neg() const { return call<Tensor>("aten.resolve_neg.default", __builtin_return_address(0), *this); }
Tensor rms_norm(const Tensor& input, const IntList& normalized_shape, const OptionalTensor& weight, std::optional<double> eps) { return call<Tensor>("aten.rms_norm.default", __builtin_return_address(0), input, normalized_shape, weight, eps); }
std::tuple<Tensor, Tensor> rnn_relu(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) { return call<std::tuple<Tensor, Tensor>>("aten.rnn_relu.data", __builtin_return_address(0), data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional); }
std::tuple<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) { return call<std::tuple<Tensor, Tensor>>("aten.rnn_relu.input", __builtin_return_address(0), input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first); }
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const OptionalTensor& b_ih, const OptionalTensor& b_hh) { return call<Tensor>("aten.rnn_relu_cell.default", __builtin_return_address(0), input, hx, w_ih, w_hh, b_ih, b_hh); }
std::tuple<Tensor, Tensor> rnn_tanh(const Tensor& data, const Tensor& batch_sizes, const Tensor& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional) { return call<std::tuple<Tensor, Tensor>>("aten.rnn_tanh.data", __builtin_return_address(0), data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional); }
std::tuple<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) { return call<std::tuple<Tensor, Tensor>>("aten.rnn_tanh.input", __builtin_return_address(0), input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first); }
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const OptionalTensor& b_ih, const OptionalTensor& b_hh) { return call<Tensor>("aten.rnn_tanh_cell.default", __builtin_return_address(0), input, hx, w_ih, w_hh, b_ih, b_hh); }
Tensor roll(const Tensor& self, const IntList& shifts, const IntList& dims) { return call<Tensor>("aten.roll.default", __builtin_return_address(0), self, shifts, dims); }
Tensor Tensor::roll(const IntList& shifts, const IntList& dims) const { return call<Tensor>("aten.roll.default", __builtin_return_address(0), *this, shifts, dims); }
Tensor rot90(const Tensor& self, std::int64_t k, const IntList& dims) { return call<Tensor>("aten.rot90.default", __builtin_return_address(0), self, k, dims); }
Tensor Tensor::rot90(std::int64_t k, const IntList& dims) const { return call<Tensor>("aten.rot90.default", __builtin_return_address(0), *this, k, dims); }
Tensor round(const Tensor& self, std::int64_t decimals) { return call<Tensor>("aten.round.decimals", __builtin_return_address(0), self, keyword("decimals", decimals)); }
Tensor Tensor::round(std::int64_t decimals) const { return call<Tensor>("aten.round.decimals", __builtin_return_address(0), *this, keyword("decimals", decimals)); }
Tensor Tensor::round_(std::int64_t decimals) const { return call_in_place("aten.round_.decimals", __builtin_return_address(0), *this, keyword("decimals", decimals)); }
Tensor round(const Tensor& self) { return call<Tensor>("aten.round.default", __builtin_return_address(0), self); }
Tensor Tensor::round() const { return call<Tensor>("aten.round.default", __builtin_return_address(0), *this); }
Tensor Tensor::round_() const { return call_in_place("aten.round_.default", __builtin_return_address(0), *this); }
Tensor rsqrt(const Tensor& self) { return call<Tensor>("aten.rsqrt.default", __builtin_return_address(0), self); }
Tensor Tensor::rsqrt() const { return call<Tensor>("aten.rsqrt.default", __builtin_return_address(0), *this); }
Tensor Tensor::rsqrt_() const { return call_in_place("aten.rsqrt_.default", __builtin_return_address(0), *this); }
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) { return call<Tensor>("aten.rsub.Scalar", __builtin_return_address(0), self, other, alpha); }
Tensor Tensor::rsub(const Scalar& other, const Scalar& alpha) const { return call<Tensor>("aten.rsub.Scalar", __builtin_return_address(0), *this, other, alpha); }
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) { return call<Tensor>("aten.rsub.Tensor", __builtin_return_address(0), self, other, keyword("alpha", alpha)); }
Tensor Tensor::rsub(const Tensor& other, const Scalar& alpha) const { return call<Tensor>("aten.rsub.Tensor", __builtin_return_address(0), *this, other, keyword("alpha", alpha)); }
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& attn_mask, double dropout_p, bool is_causal, std::optional<double> scale, bool enable_gqa) { return call<Tensor>("aten.scaled_dot_product_attention.default", __builtin_return_address(0), query, key, value, attn_mask, dropout_p, is_causal, keyword("scale", scale), keyword("enable_gqa", enable_gqa)); }
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) { return call<Tensor>("aten.scatter.src", __builtin_return_address(0), self, dim, index, src); }
Tensor Tensor::scatter(std::int64_t dim, const Tensor& index, const Tensor& src) const { return call<Tensor>("aten.scatter.src", __builtin_return_address(0), *this, dim, index, src); }
Tensor Tensor::scatter_(std::int64_t dim, const Tensor& index, const Tensor& src) const { return call_in_place("aten.scatter_.src", __builtin_return_address(0), *this, dim, index, src); }
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value) { return call<Tensor>("aten.scatter.value", __builtin_return_address(0), self, dim, index, value); }
Tensor Tensor::scatter(std::int64_t dim, const Tensor& index, const Scalar& value) const { return call<Tensor>("aten.scatter.value", __builtin_return_address(0), *this, dim, index, value); }
Tensor Tensor::scatter_(std::int64_t dim, const Tensor& index, const Scalar& value) const { return call_in_place("aten.scatter_.value", __builtin_return_address(0), *this, dim, index, value); }
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) { return call<Tensor>("aten.scatter_add.default", __builtin_return_address(0), self, dim, index, src); }
Tensor Tensor::scatter_add(std::int64_t dim, const Tensor& index, const Tensor& src) const { return call<Tensor>("aten.scatter_add.default", __builtin_return_address(0), *this, dim, index, src); }
Tensor Tensor::scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& src) const { return call_in_place("aten.scatter_add_.default", __builtin_return_address(0), *this, dim, index, src); }
Tensor scatter_reduce(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce, bool include_self) { return call<Tensor>("aten.scatter_reduce.two", __builtin_return_address(0), self, dim, index, src, reduce, keyword("include_self", include_self)); }
Tensor Tensor::scatter_reduce(std::int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce, bool include_self) const { return call<Tensor>("aten.scatter_reduce.two", __builtin_return_address(0), *this, dim, index, src, reduce, keyword("include_self", include_self)); }
Tensor Tensor::scatter_reduce_(std::int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce, bool include_self) const { return call_in_place("aten.scatter_reduce_.two", __builtin_return_address(0), *this, dim, index, src, reduce, keyword("include_self", include_self)); }
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right, const std::optional<std::string>& side, const OptionalTensor& sorter) { return call<Tensor>("aten.searchsorted.Tensor", __builtin_return_address(0), sorted_sequence, self, keyword("out_int32", out_int32), keyword("right", right), keyword("side", side), keyword("sorter", sorter)); }
Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index) { return call<Tensor>("aten.select.int", __builtin_return_address(0), self, dim, index); }
Tensor Tensor::select(std::int64_t dim, std::int64_t index) const { return call<Tensor>("aten.select.int", __builtin_return_address(0), *this, dim, index); }
Tensor select_backward(const Tensor& grad_output, const IntList& input_sizes, std::int64_t dim, std::int64_t index) { return call<Tensor>("aten.select_backward.default", __builtin_return_address(0), grad_output, input_sizes, dim, index); }
Tensor select_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::int64_t index) { return call<Tensor>("aten.select_scatter.default", __builtin_return_address(0), self, src, dim, index); }
Tensor Tensor::select_scatter(const Tensor& src, std::int64_t dim, std::int64_t index) const { return call<Tensor>("aten.select_scatter.default", __builtin_return_address(0), *this, src, dim, index); }
Tensor selu(const Tensor& self) { return call<Tensor>("aten.selu.default", __builtin_return_address(0), self); }
Tensor Tensor::selu() const { return call<Tensor>("aten.selu.default", __builtin_return_address(0), *this); }
Tensor Tensor::selu_() const { return call_in_place("aten.selu_.default", __builtin_return_address(0), *this); }
Tensor sgn(const Tensor& self) { return call<Tensor>("aten.sgn.default", __builtin_return_address(0), self); }
Tensor Tensor::sgn() const { return call<Tensor>("aten.sgn.default", __builtin_return_address(0), *this); }
Tensor Tensor::sgn_() const { return call_in_place("aten.sgn_.default", __builtin_return_address(0), *this); }
Tensor sigmoid(const Tensor& self) { return call<Tensor>("aten.sigmoid.default", __builtin_return_address(0), self); }
Tensor Tensor::sigmoid() const { return call<Tensor>("aten.sigmoid.default", __builtin_return_address(0), *this); }
Tensor Tensor::sigmoid_() const { return call_in_place("aten.sigmoid_.default", __builtin_return_address(0), *this); }
Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& output) { return call<Tensor>("aten.sigmoid_backward.default", __builtin_return_address(0), grad_output, output); }
Tensor sign(const Tensor& self) { return call<Tensor>("aten.sign.default", __builtin_return_address(0), self); }
Tensor Tensor::sign() const { return call<Tensor>("aten.sign.default", __builtin_return_address(0), *this); }
Tensor Tensor::sign_() const { return call_in_place("aten.sign_.default", __builtin_return_address(0), *this); }
Tensor silu(const Tensor& self) { return call<Tensor>("aten.silu.default", __builtin_return_address(0), self); }
Tensor Tensor::silu() const { return call<Tensor>("aten.silu.default", __builtin_return_address(0), *this); }
Tensor Tensor::silu_() const { return call_in_place("aten.silu_.default", __builtin_return_address(0), *this); }
Tensor silu_backward(const Tensor& grad_output, const Tensor& self) { return call<Tensor>("aten.silu_backward.default", __builtin_return_address(0), grad_output, self); }
Tensor sin(const Tensor& self) { return call<Tensor>("aten.sin.default", __builtin_return_address(0), self); }
Tensor Tensor::sin() const { return call<Tensor>("aten.sin.default", __builtin_return_address(0), *this); }
Tensor Tensor::sin_() const { return call_in_place("aten.sin_.default", __builtin_return_address(0), *this); }
Tensor sinc(const Tensor& self) { return call<Tensor>("aten.sinc.default", __builtin_return_address(0), self); }
Tensor Tensor::sinc() const { return call<Tensor>("aten.sinc.default", __builtin_return_address(0), *this); }
Tensor Tensor::sinc_() const { return call_in_place("aten.sinc_.default", __builtin_return_address(0), *this); }
Tensor sinh(const Tensor& self) { return call<Tensor>("aten.sinh.default", __builtin_return_address(0), self); }
Tensor Tensor::sinh() const { return call<Tensor>("aten.sinh.default", __builtin_return_address(0), *this); }
Tensor Tensor::sinh_() const { return call_in_place("aten.sinh_.default", __builtin_return_address(0), *this); }
Tensor slice(const Tensor& self, std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step) { return call<Tensor>("aten.slice.Tensor", __builtin_return_address(0), self, dim, start, end, step); }
Tensor Tensor::slice(std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step) const { return call<Tensor>("aten.slice.Tensor", __builtin_return_address(0), *this, dim, start, end, step); }
Tensor slice_backward(const Tensor& grad_output, const IntList& input_sizes, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) { return call<Tensor>("aten.slice_backward.default", __builtin_return_address(0), grad_output, input_sizes, dim, start, end, step); }
Tensor slice_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step) { return call<Tensor>("aten.slice_scatter.default", __builtin_return_address(0), self, src, dim, start, end, step); }
Tensor Tensor::slice_scatter(const Tensor& src, std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step) const { return call<Tensor>("aten.slice_scatter.default", __builtin_return_address(0), *this, src, dim, start, end, step); }
Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, std::int64_t reduction, double beta) { return call<Tensor>("aten.smooth_l1_loss.default", __builtin_return_address(0), self, target, reduction, beta); }
Tensor Tensor::smooth_l1_loss(const Tensor& target, std::int64_t reduction, double beta) const { return call<Tensor>("aten.smooth_l1_loss.default", __builtin_return_address(0), *this, target, reduction, beta); }
Tensor smooth_l1_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, std::int64_t reduction, double beta) { return call<Tensor>("aten.smooth_l1_loss_backward.default", __builtin_return_address(0), grad_output, self, target, reduction, beta); }
Tensor soft_margin_loss(const Tensor& self, const Tensor& target, std::int64_t reduction) { return call<Tensor>("aten.soft_margin_loss.default", __builtin_return_address(0), self, target, reduction); }
Tensor Tensor::soft_margin_loss(const Tensor& target, std::int64_t reduction) const { return call<Tensor>("aten.soft_margin_loss.default", __builtin_return_address(0), *this, target, reduction); }
Tensor soft_margin_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, std::int64_t reduction) { return call<Tensor>("aten.soft_margin_loss_backward.default", __builtin_return_address(0), grad_output, self, target, reduction); }
Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype) { return call<Tensor>("aten.softmax.int", __builtin_return_address(0), self, dim, dtype); }
Tensor Tensor::softmax(std::int64_t dim, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.softmax.int", __builtin_return_address(0), *this, dim, dtype); }
Tensor softplus(const Tensor& self, const Scalar& beta, const Scalar& threshold) { return call<Tensor>("aten.softplus.default", __builtin_return_address(0), self, beta, threshold); }
Tensor Tensor::softplus(const Scalar& beta, const Scalar& threshold) const { return call<Tensor>("aten.softplus.default", __builtin_return_address(0), *this, beta, threshold); }
Tensor softplus_backward(const Tensor& grad_output, const Tensor& self, const Scalar& beta, const Scalar& threshold) { return call<Tensor>("aten.softplus_backward.default", __builtin_return_address(0), grad_output, self, beta, threshold); }
Tensor softshrink(const Tensor& self, const Scalar& lambd) { return call<Tensor>("aten.softshrink.default", __builtin_return_address(0), self, lambd); }
Tensor Tensor::softshrink(const Scalar& lambd) const { return call<Tensor>("aten.softshrink.default", __builtin_return_address(0), *this, lambd); }
Tensor softshrink_backward(const Tensor& grad_output, const Tensor& self, const Scalar& lambd) { return call<Tensor>("aten.softshrink_backward.default", __builtin_return_address(0), grad_output, self, lambd); }
std::tuple<Tensor, Tensor> sort(const Tensor& self, std::int64_t dim, bool descending) { return call<std::tuple<Tensor, Tensor>>("aten.sort.default", __builtin_return_address(0), self, dim, descending); }
std::tuple<Tensor, Tensor> Tensor::sort(std::int64_t dim, bool descending) const { return call<std::tuple<Tensor, Tensor>>("aten.sort.default", __builtin_return_address(0), *this, dim, descending); }
std::tuple<Tensor, Tensor> sort(const Tensor& self, std::optional<bool> stable, std::int64_t dim, bool descending) { return call<std::tuple<Tensor, Tensor>>("aten.sort.stable", __builtin_return_address(0), self, keyword("stable", stable), keyword("dim", dim), keyword("descending", descending)); }
std::tuple<Tensor, Tensor> Tensor::sort(std::optional<bool> stable, std::int64_t dim, bool descending) const { return call<std::tuple<Tensor, Tensor>>("aten.sort.stable", __builtin_return_address(0), *this, keyword("stable", stable), keyword("dim", dim), keyword("descending", descending)); }
TensorList split(const Tensor& self, std::int64_t split_size, std::int64_t dim) { return call<TensorList>("aten.split.Tensor", __builtin_return_address(0), self, split_size, dim); }
TensorList Tensor::split(std::int64_t split_size, std::int64_t dim) const { return call<TensorList>("aten.split.Tensor", __builtin_return_address(0), *this, split_size, dim); }
TensorList split_with_sizes(const Tensor& self, const IntList& split_sizes, std::int64_t dim) { return call<TensorList>("aten.split_with_sizes.default", __builtin_return_address(0), self, split_sizes, dim); }
TensorList Tensor::split_with_sizes(const IntList& split_sizes, std::int64_t dim) const { return call<TensorList>("aten.split_with_sizes.default", __builtin_return_address(0), *this, split_sizes, dim); }
Tensor sqrt(const Tensor& self) { return call<Tensor>("aten.sqrt.default", __builtin_return_address(0), self); }
Tensor Tensor::sqrt() const { return call<Tensor>("aten.sqrt.default", __builtin_return_address(0), *this); }
Tensor Tensor::sqrt_() const { return call_in_place("aten.sqrt_.default", __builtin_return_address(0), *this); }
Tensor square(const Tensor& self) { return call<Tensor>("aten.square.default", __builtin_return_address(0), self); }
Tensor Tensor::square() const { return call<Tensor>("aten.square.default", __builtin_return_address(0), *this); }
Tensor Tensor::square_() const { return call_in_place("aten.square_.default", __builtin_return_address(0), *this); }
Tensor squeeze(const Tensor& self) { return call<Tensor>("aten.squeeze.default", __builtin_return_address(0), self); }
Tensor Tensor::squeeze() const { return call<Tensor>("aten.squeeze.default", __builtin_return_address(0), *this); }
Tensor squeeze(const Tensor& self, std::int64_t dim) { return call<Tensor>("aten.squeeze.dim", __builtin_return_address(0), self, dim); }
Tensor Tensor::squeeze(std::int64_t dim) const { return call<Tensor>("aten.squeeze.dim", __builtin_return_address(0), *this, dim); }
Tensor squeeze(const Tensor& self, const IntList& dim) { return call<Tensor>("aten.squeeze.dims", __builtin_return_address(0), self, dim); }
Tensor Tensor::squeeze(const IntList& dim) const { return call<Tensor>("aten.squeeze.dims", __builtin_return_address(0), *this, dim); }
Tensor stack(const TensorList& tensors, std::int64_t dim) { return call<Tensor>("aten.stack.default", __builtin_return_address(0), tensors, dim); }
Tensor std(const Tensor& self, const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) { return call<Tensor>("aten.std.correction", __builtin_return_address(0), self, dim, keyword("correction", correction), keyword("keepdim", keepdim)); }
Tensor Tensor::std(const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) const { return call<Tensor>("aten.std.correction", __builtin_return_address(0), *this, dim, keyword("correction", correction), keyword("keepdim", keepdim)); }
Tensor std(const Tensor& self, bool unbiased) { return call<Tensor>("aten.std.default", __builtin_return_address(0), self, unbiased); }
Tensor Tensor::std(bool unbiased) const { return call<Tensor>("aten.std.default", __builtin_return_address(0), *this, unbiased); }
Tensor std(const Tensor& self, const IntList& dim, bool unbiased, bool keepdim) { return call<Tensor>("aten.std.dim", __builtin_return_address(0), self, dim, unbiased, keepdim); }
Tensor Tensor::std(const IntList& dim, bool unbiased, bool keepdim) const { return call<Tensor>("aten.std.dim", __builtin_return_address(0), *this, dim, unbiased, keepdim); }
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) { return call<std::tuple<Tensor, Tensor>>("aten.std_mean.correction", __builtin_return_address(0), self, dim, keyword("correction", correction), keyword("keepdim", keepdim)); }
std::tuple<Tensor, Tensor> Tensor::std_mean(const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) const { return call<std::tuple<Tensor, Tensor>>("aten.std_mean.correction", __builtin_return_address(0), *this, dim, keyword("correction", correction), keyword("keepdim", keepdim)); }
Tensor stft(const Tensor& self, std::int64_t n_fft, std::optional<std::int64_t> hop_length, std::optional<std::int64_t> win_length, const OptionalTensor& window, bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex) { return call<Tensor>("aten.stft.default", __builtin_return_address(0), self, n_fft, hop_length, win_length, window, normalized, onesided, return_complex); }
Tensor Tensor::stft(std::int64_t n_fft, std::optional<std::int64_t> hop_length, std::optional<std::int64_t> win_length, const OptionalTensor& window, bool normalized, std::optional<bool> onesided, std::optional<bool> return_complex) const { return call<Tensor>("aten.stft.default", __builtin_return_address(0), *this, n_fft, hop_length, win_length, window, normalized, onesided, return_complex); }
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) { return call<Tensor>("aten.sub.Scalar", __builtin_return_address(0), self, other, alpha); }
Tensor Tensor::sub(const Scalar& other, const Scalar& alpha) const { return call<Tensor>("aten.sub.Scalar", __builtin_return_address(0), *this, other, alpha); }
Tensor Tensor::sub_(const Scalar& other, const Scalar& alpha) const { return call_in_place("aten.sub_.Scalar", __builtin_return_address(0), *this, other, alpha); }
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) { return call<Tensor>("aten.sub.Tensor", __builtin_return_address(0), self, other, keyword("alpha", alpha)); }
Tensor Tensor::sub(const Tensor& other, const Scalar& alpha) const { return call<Tensor>("aten.sub.Tensor", __builtin_return_address(0), *this, other, keyword("alpha", alpha)); }
Tensor Tensor::sub_(const Tensor& other, const Scalar& alpha) const { return call_in_place("aten.sub_.Tensor", __builtin_return_address(0), *this, other, keyword("alpha", alpha)); }
Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) { return call<Tensor>("aten.sum.default", __builtin_return_address(0), self, keyword("dtype", dtype)); }
Tensor Tensor::sum(std::optional<ScalarType> dtype) const { return call<Tensor>("aten.sum.default", __builtin_return_address(0), *this, keyword("dtype", dtype)); }
Tensor sum(const Tensor& self, const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) { return call<Tensor>("aten.sum.dim_IntList", __builtin_return_address(0), self, dim, keepdim, keyword("dtype", dtype)); }
Tensor Tensor::sum(const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) const { return call<Tensor>("aten.sum.dim_IntList", __builtin_return_address(0), *this, dim, keepdim, keyword("dtype", dtype)); }
Tensor t(const Tensor& self) { return call<Tensor>("aten.t.default", __builtin_return_address(0), self); }
Tensor Tensor::t() const { return call<Tensor>("aten.t.default", __builtin_return_address(0), *this); }
Tensor take(const Tensor& self, const Tensor& index) { return call<Tensor>("aten.take.default", __builtin_return_address(0), self, index); }
Tensor Tensor::take(const Tensor& index) const { return call<Tensor>("aten.take.default", __builtin_return_address(0), *this, index); }
Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<std::int64_t> dim) { return call<Tensor>("aten.take_along_dim.default", __builtin_return_address(0), self, indices, dim); }
Tensor Tensor::take_along_dim(const Tensor& indices, std::optional<std::int64_t> dim) const { return call<Tensor>("aten.take_along_dim.default", __builtin_return_address(0), *this, indices, dim); }
Tensor tan(const Tensor& self) { return call<Tensor>("aten.tan.default", __builtin_return_address(0), self); }
Tensor Tensor::tan() const { return call<Tensor>("aten.tan.default", __builtin_return_address(0), *this); }
Tensor Tensor::tan_() const { return call_in_place("aten.tan_.default", __builtin_return_address(0), *this); }
Tensor tanh(const Tensor& self) { return call<Tensor>("aten.tanh.default", __builtin_return_address(0), self); }
Tensor Tensor::tanh() const { return call<Tensor>("aten.tanh.default", __builtin_return_address(0), *this); }
Tensor Tensor::tanh_() const { return call_in_place("aten.tanh_.default", __builtin_return_address(0), *this); }
Tensor tanh_backward(const Tensor& grad_output, const Tensor& output) { return call<Tensor>("aten.tanh_backward.default", __builtin_return_address(0), grad_output, output); }
Tensor tensordot(const Tensor& self, const Tensor& other, const IntList& dims_self, const IntList& dims_other) { return call<Tensor>("aten.tensordot.default", __builtin_return_address(0), self, other, dims_self, dims_other); }
Tensor Tensor::tensordot(const Tensor& other, const IntList& dims_self, const IntList& dims_other) const { return call<Tensor>("aten.tensordot.default", __builtin_return_address(0), *this, other, dims_self, dims_other); }
Tensor threshold(const Tensor& self, const Scalar& threshold, const Scalar& value) { return call<Tensor>("aten.threshold.default", __builtin_return_address(0), self, threshold, value); }
Tensor Tensor::threshold(const Scalar& threshold, const Scalar& value) const { return call<Tensor>("aten.threshold.default", __builtin_return_address(0), *this, threshold, value); }
Tensor Tensor::threshold_(const Scalar& threshold, const Scalar& value) const { return call_in_place("aten.threshold_.default", __builtin_return_address(0), *this, threshold, value); }
Tensor threshold_backward(const Tensor& grad_output, const Tensor& self, const Scalar& threshold) { return call<Tensor>("aten.threshold_backward.default", __builtin_return_address(0), grad_output, self, threshold); }
Tensor tile(const Tensor& self, const IntList& dims) { return call<Tensor>("aten.tile.default", __builtin_return_address(0), self, dims); }
Tensor Tensor::tile(const IntList& dims) const { return call<Tensor>("aten.tile.default", __builtin_return_address(0), *this, dims); }
Tensor to(const Tensor& self, ScalarType dtype, bool copy) { return call<Tensor>("aten.to.dtype", __builtin_return_address(0), self, dtype, keyword("copy", copy)); }
Tensor Tensor::to(ScalarType dtype, bool copy) const { return call<Tensor>("aten.to.dtype", __builtin_return_address(0), *this, dtype, keyword("copy", copy)); }
std::tuple<Tensor, Tensor> topk(const Tensor& self, std::int64_t k, std::int64_t dim, bool largest, bool sorted) { return call<std::tuple<Tensor, Tensor>>("aten.topk.default", __builtin_return_address(0), self, k, dim, largest, sorted); }
std::tuple<Tensor, Tensor> Tensor::topk(std::int64_t k, std::int64_t dim, bool largest, bool sorted) const { return call<std::tuple<Tensor, Tensor>>("aten.topk.default", __builtin_return_address(0), *this, k, dim, largest, sorted); }
Tensor trace(const Tensor& self) { return call<Tensor>("aten.trace.default", __builtin_return_address(0), self); }
Tensor Tensor::trace() const { return call<Tensor>("aten.trace.default", __builtin_return_address(0), *this); }
Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1) { return call<Tensor>("aten.transpose.int", __builtin_return_address(0), self, dim0, dim1); }
Tensor Tensor::transpose(std::int64_t dim0, std::int64_t dim1) const { return call<Tensor>("aten.transpose.int", __builtin_return_address(0), *this, dim0, dim1); }
Tensor tril(const Tensor& self, std::int64_t diagonal) { return call<Tensor>("aten.tril.default", __builtin_return_address(0), self, diagonal); }
Tensor Tensor::tril(std::int64_t diagonal) const { return call<Tensor>("aten.tril.default", __builtin_return_address(0), *this, diagonal); }
Tensor Tensor::tril_(std::int64_t diagonal) const { return call_in_place("aten.tril_.default", __builtin_return_address(0), *this, diagonal); }
Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<ScalarType> dtype) { return call<Tensor>("aten.tril_indices.default", __builtin_return_address(0), row, col, offset, keyword("dtype", dtype)); }
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative, double margin, double p, double eps, bool swap, std::int64_t reduction) { return call<Tensor>("aten.triplet_margin_loss.default", __builtin_return_address(0), anchor, positive, negative, margin, p, eps, swap, reduction); }
Tensor triu(const Tensor& self, std::int64_t diagonal) { return call<Tensor>("aten.triu.default", __builtin_return_address(0), self, diagonal); }
Tensor Tensor::triu(std::int64_t diagonal) const { return call<Tensor>("aten.triu.default", __builtin_return_address(0), *this, diagonal); }
Tensor Tensor::triu_(std::int64_t diagonal) const { return call_in_place("aten.triu_.default", __builtin_return_address(0), *this, diagonal); }
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<ScalarType> dtype) { return call<Tensor>("aten.triu_indices.default", __builtin_return_address(0), row, col, offset, keyword("dtype", dtype)); }
Tensor trunc(const Tensor& self) { return call<Tensor>("aten.trunc.default", __builtin_return_address(0), self); }
Tensor Tensor::trunc() const { return call<Tensor>("aten.trunc.default", __builtin_return_address(0), *this); }
Tensor Tensor::trunc_() const { return call_in_place("aten.trunc_.default", __builtin_return_address(0), *this); }
Tensor type_as(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.type_as.default", __builtin_return_address(0), self, other); }
Tensor Tensor::type_as(const Tensor& other) const { return call<Tensor>("aten.type_as.default", __builtin_return_address(0), *this, other); }
TensorList unbind(const Tensor& self, std::int64_t dim) { return call<TensorList>("aten.unbind.int", __builtin_return_address(0), self, dim); }
TensorList Tensor::unbind(std::int64_t dim) const { return call<TensorList>("aten.unbind.int", __builtin_return_address(0), *this, dim); }
Tensor unflatten(const Tensor& self, std::int64_t dim, const IntList& sizes) { return call<Tensor>("aten.unflatten.int", __builtin_return_address(0), self, dim, sizes); }
Tensor Tensor::unflatten(std::int64_t dim, const IntList& sizes) const { return call<Tensor>("aten.unflatten.int", __builtin_return_address(0), *this, dim, sizes); }
Tensor unfold(const Tensor& self, std::int64_t dimension, std::int64_t size, std::int64_t step) { return call<Tensor>("aten.unfold.default", __builtin_return_address(0), self, dimension, size, step); }
Tensor Tensor::unfold(std::int64_t dimension, std::int64_t size, std::int64_t step) const { return call<Tensor>("aten.unfold.default", __builtin_return_address(0), *this, dimension, size, step); }
Tensor unfold_backward(const Tensor& grad_in, const IntList& input_sizes, std::int64_t dim, std::int64_t size, std::int64_t step) { return call<Tensor>("aten.unfold_backward.default", __builtin_return_address(0), grad_in, input_sizes, dim, size, step); }
TensorList unsafe_chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) { return call<TensorList>("aten.unsafe_chunk.default", __builtin_return_address(0), self, chunks, dim); }
TensorList Tensor::unsafe_chunk(std::int64_t chunks, std::int64_t dim) const { return call<TensorList>("aten.unsafe_chunk.default", __builtin_return_address(0), *this, chunks, dim); }
TensorList unsafe_split(const Tensor& self, std::int64_t split_size, std::int64_t dim) { return call<TensorList>("aten.unsafe_split.Tensor", __builtin_return_address(0), self, split_size, dim); }
TensorList Tensor::unsafe_split(std::int64_t split_size, std::int64_t dim) const { return call<TensorList>("aten.unsafe_split.Tensor", __builtin_return_address(0), *this, split_size, dim); }
TensorList unsafe_split_with_sizes(const Tensor& self, const IntList& split_sizes, std::int64_t dim) { return call<TensorList>("aten.unsafe_split_with_sizes.default", __builtin_return_address(0), self, split_sizes, dim); }
TensorList Tensor::unsafe_split_with_sizes(const IntList& split_sizes, std::int64_t dim) const { return call<TensorList>("aten.unsafe_split_with_sizes.default", __builtin_return_address(0), *this, split_sizes, dim); }
Tensor unsqueeze(const Tensor& self, std::int64_t dim) { return call<Tensor>("aten.unsqueeze.default", __builtin_return_address(0), self, dim); }
Tensor Tensor::unsqueeze(std::int64_t dim) const { return call<Tensor>("aten.unsqueeze.default", __builtin_return_address(0), *this, dim); }
Tensor upsample_bicubic2d(const Tensor& self, const IntList& output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten.upsample_bicubic2d.default", __builtin_return_address(0), self, output_size, align_corners, scales_h, scales_w); }
Tensor Tensor::upsample_bicubic2d(const IntList& output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) const { return call<Tensor>("aten.upsample_bicubic2d.default", __builtin_return_address(0), *this, output_size, align_corners, scales_h, scales_w); }
Tensor upsample_bicubic2d(const Tensor& input, const IntList& output_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_bicubic2d.vec", __builtin_return_address(0), input, output_size, align_corners, scale_factors); }
Tensor upsample_bicubic2d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten.upsample_bicubic2d_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scales_h, scales_w); }
Tensor upsample_bicubic2d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_bicubic2d_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scale_factors); }
Tensor upsample_bilinear2d(const Tensor& self, const IntList& output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten.upsample_bilinear2d.default", __builtin_return_address(0), self, output_size, align_corners, scales_h, scales_w); }
Tensor Tensor::upsample_bilinear2d(const IntList& output_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) const { return call<Tensor>("aten.upsample_bilinear2d.default", __builtin_return_address(0), *this, output_size, align_corners, scales_h, scales_w); }
Tensor upsample_bilinear2d(const Tensor& input, const IntList& output_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_bilinear2d.vec", __builtin_return_address(0), input, output_size, align_corners, scale_factors); }
Tensor upsample_bilinear2d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten.upsample_bilinear2d_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scales_h, scales_w); }
Tensor upsample_bilinear2d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_bilinear2d_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scale_factors); }
Tensor upsample_linear1d(const Tensor& self, const IntList& output_size, bool align_corners, std::optional<double> scales) { return call<Tensor>("aten.upsample_linear1d.default", __builtin_return_address(0), self, output_size, align_corners, scales); }
Tensor Tensor::upsample_linear1d(const IntList& output_size, bool align_corners, std::optional<double> scales) const { return call<Tensor>("aten.upsample_linear1d.default", __builtin_return_address(0), *this, output_size, align_corners, scales); }
Tensor upsample_linear1d(const Tensor& input, const IntList& output_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_linear1d.vec", __builtin_return_address(0), input, output_size, align_corners, scale_factors); }
Tensor upsample_linear1d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, std::optional<double> scales) { return call<Tensor>("aten.upsample_linear1d_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scales); }
Tensor upsample_linear1d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_linear1d_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scale_factors); }
Tensor upsample_nearest1d(const Tensor& self, const IntList& output_size, std::optional<double> scales) { return call<Tensor>("aten.upsample_nearest1d.default", __builtin_return_address(0), self, output_size, scales); }
Tensor Tensor::upsample_nearest1d(const IntList& output_size, std::optional<double> scales) const { return call<Tensor>("aten.upsample_nearest1d.default", __builtin_return_address(0), *this, output_size, scales); }
Tensor upsample_nearest1d(const Tensor& input, const IntList& output_size, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_nearest1d.vec", __builtin_return_address(0), input, output_size, scale_factors); }
Tensor upsample_nearest1d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, std::optional<double> scales) { return call<Tensor>("aten.upsample_nearest1d_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, scales); }
Tensor upsample_nearest1d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_nearest1d_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, scale_factors); }
Tensor upsample_nearest2d(const Tensor& self, const IntList& output_size, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten.upsample_nearest2d.default", __builtin_return_address(0), self, output_size, scales_h, scales_w); }
Tensor Tensor::upsample_nearest2d(const IntList& output_size, std::optional<double> scales_h, std::optional<double> scales_w) const { return call<Tensor>("aten.upsample_nearest2d.default", __builtin_return_address(0), *this, output_size, scales_h, scales_w); }
Tensor upsample_nearest2d(const Tensor& input, const IntList& output_size, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_nearest2d.vec", __builtin_return_address(0), input, output_size, scale_factors); }
Tensor upsample_nearest2d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten.upsample_nearest2d_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, scales_h, scales_w); }
Tensor upsample_nearest2d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_nearest2d_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, scale_factors); }
Tensor upsample_nearest3d(const Tensor& self, const IntList& output_size, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten.upsample_nearest3d.default", __builtin_return_address(0), self, output_size, scales_d, scales_h, scales_w); }
Tensor Tensor::upsample_nearest3d(const IntList& output_size, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) const { return call<Tensor>("aten.upsample_nearest3d.default", __builtin_return_address(0), *this, output_size, scales_d, scales_h, scales_w); }
Tensor upsample_nearest3d(const Tensor& input, const IntList& output_size, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_nearest3d.vec", __builtin_return_address(0), input, output_size, scale_factors); }
Tensor upsample_nearest3d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten.upsample_nearest3d_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, scales_d, scales_h, scales_w); }
Tensor upsample_nearest3d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_nearest3d_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, scale_factors); }
Tensor upsample_trilinear3d(const Tensor& self, const IntList& output_size, bool align_corners, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten.upsample_trilinear3d.default", __builtin_return_address(0), self, output_size, align_corners, scales_d, scales_h, scales_w); }
Tensor Tensor::upsample_trilinear3d(const IntList& output_size, bool align_corners, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) const { return call<Tensor>("aten.upsample_trilinear3d.default", __builtin_return_address(0), *this, output_size, align_corners, scales_d, scales_h, scales_w); }
Tensor upsample_trilinear3d(const Tensor& input, const IntList& output_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_trilinear3d.vec", __builtin_return_address(0), input, output_size, align_corners, scale_factors); }
Tensor upsample_trilinear3d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, std::optional<double> scales_d, std::optional<double> scales_h, std::optional<double> scales_w) { return call<Tensor>("aten.upsample_trilinear3d_backward.default", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scales_d, scales_h, scales_w); }
Tensor upsample_trilinear3d_backward(const Tensor& grad_output, const IntList& output_size, const IntList& input_size, bool align_corners, const FloatList& scale_factors) { return call<Tensor>("aten.upsample_trilinear3d_backward.vec", __builtin_return_address(0), grad_output, output_size, input_size, align_corners, scale_factors); }
Tensor var(const Tensor& self, const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) { return call<Tensor>("aten.var.correction", __builtin_return_address(0), self, dim, keyword("correction", correction), keyword("keepdim", keepdim)); }
Tensor Tensor::var(const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) const { return call<Tensor>("aten.var.correction", __builtin_return_address(0), *this, dim, keyword("correction", correction), keyword("keepdim", keepdim)); }
Tensor var(const Tensor& self, bool unbiased) { return call<Tensor>("aten.var.default", __builtin_return_address(0), self, unbiased); }
Tensor Tensor::var(bool unbiased) const { return call<Tensor>("aten.var.default", __builtin_return_address(0), *this, unbiased); }
Tensor var(const Tensor& self, const IntList& dim, bool unbiased, bool keepdim) { return call<Tensor>("aten.var.dim", __builtin_return_address(0), self, dim, unbiased, keepdim); }
Tensor Tensor::var(const IntList& dim, bool unbiased, bool keepdim) const { return call<Tensor>("aten.var.dim", __builtin_return_address(0), *this, dim, unbiased, keepdim); }
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) { return call<std::tuple<Tensor, Tensor>>("aten.var_mean.correction", __builtin_return_address(0), self, dim, keyword("correction", correction), keyword("keepdim", keepdim)); }
std::tuple<Tensor, Tensor> Tensor::var_mean(const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) const { return call<std::tuple<Tensor, Tensor>>("aten.var_mean.correction", __builtin_return_address(0), *this, dim, keyword("correction", correction), keyword("keepdim", keepdim)); }
Tensor view(const Tensor& self, const IntList& size) { return call<Tensor>("aten.view.default", __builtin_return_address(0), self, size); }
Tensor Tensor::view(const IntList& size) const { return call<Tensor>("aten.view.default", __builtin_return_address(0), *this, size); }
Tensor view(const Tensor& self, ScalarType dtype) { return call<Tensor>("aten.view.dtype", __builtin_return_address(0), self, dtype); }
Tensor Tensor::view(ScalarType dtype) const { return call<Tensor>("aten.view.dtype", __builtin_return_address(0), *this, dtype); }
Tensor view_as_complex(const Tensor& self) { return call<Tensor>("aten.view_as_complex.default", __builtin_return_address(0), self); }
Tensor Tensor::view_as_complex() const { return call<Tensor>("aten.view_as_complex.default", __builtin_return_address(0), *this); }
Tensor view_as_real(const Tensor& self) { return call<Tensor>("aten.view_as_real.default", __builtin_return_address(0), self); }
Tensor Tensor::view_as_real() const { return call<Tensor>("aten.view_as_real.default", __builtin_return_address(0), *this); }
Tensor vstack(const TensorList& tensors) { return call<Tensor>("aten.vstack.default", __builtin_return_address(0), tensors); }
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) { return call<Tensor>("aten.where.Scalar", __builtin_return_address(0), condition, self, other); }
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) { return call<Tensor>("aten.where.ScalarOther", __builtin_return_address(0), condition, self, other); }
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) { return call<Tensor>("aten.where.ScalarSelf", __builtin_return_address(0), condition, self, other); }
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) { return call<Tensor>("aten.where.self", __builtin_return_address(0), condition, self, other); }
Tensor xlogy(const Tensor& self, const Scalar& other) { return call<Tensor>("aten.xlogy.Scalar_Other", __builtin_return_address(0), self, other); }
Tensor Tensor::xlogy(const Scalar& other) const { return call<Tensor>("aten.xlogy.Scalar_Other", __builtin_return_address(0), *this, other); }
Tensor Tensor::xlogy_(const Scalar& other) const { return call_in_place("aten.xlogy_.Scalar_Other", __builtin_return_address(0), *this, other); }
Tensor xlogy(const Tensor& self, const Tensor& other) { return call<Tensor>("aten.xlogy.Tensor", __builtin_return_address(0), self, other); }
Tensor Tensor::xlogy(const Tensor& other) const { return call<Tensor>("aten.xlogy.Tensor", __builtin_return_address(0), *this, other); }
Tensor Tensor::xlogy_(const Tensor& other) const { return call_in_place("aten.xlogy_.Tensor", __builtin_return_address(0), *this, other); }
Tensor zero(const Tensor& self) { return call<Tensor>("aten.zero.default", __builtin_return_address(0), self); }
Tensor Tensor::zero() const { return call<Tensor>("aten.zero.default", __builtin_return_address(0), *this); }
Tensor Tensor::zero_() const { return call_in_place("aten.zero_.default", __builtin_return_address(0), *this); }
Tensor zeros(const IntList& size, std::optional<ScalarType> dtype) { return call<Tensor>("aten.zeros.default", __builtin_return_address(0), size, keyword("dtype", dtype)); }
Tensor zeros_like(const Tensor& self, std::optional<ScalarType> dtype) { return call<Tensor>("aten.zeros_like.default", __builtin_return_address(0), self, keyword("dtype", dtype)); }
Tensor Tensor::zeros_like(std::optional<ScalarType> dtype) const { return call<Tensor>("aten.zeros_like.default", __builtin_return_address(0), *this, keyword("dtype", dtype)); }
Tensor count_nonzero(const Tensor& self, std::int64_t dim) { return call<Tensor>("aten.count_nonzero.default", __builtin_return_address(0), self, dim); }
Tensor Tensor::count_nonzero(std::int64_t dim) const { return call<Tensor>("aten.count_nonzero.default", __builtin_return_address(0), *this, dim); }
Tensor std(const Tensor& self, int dim) { return call<Tensor>("aten.std.correction", __builtin_return_address(0), self, IntList(dim)); }
Tensor Tensor::std(int dim) const { return call<Tensor>("aten.std.correction", __builtin_return_address(0), *this, IntList(dim)); }
Tensor std(const Tensor& self, std::int64_t dim) { return call<Tensor>("aten.std.correction", __builtin_return_address(0), self, IntList(dim)); }
Tensor Tensor::std(std::int64_t dim) const { return call<Tensor>("aten.std.correction", __builtin_return_address(0), *this, IntList(dim)); }
Tensor var(const Tensor& self, int dim) { return call<Tensor>("aten.var.correction", __builtin_return_address(0), self, IntList(dim)); }
Tensor Tensor::var(int dim) const { return call<Tensor>("aten.var.correction", __builtin_return_address(0), *this, IntList(dim)); }
Tensor var(const Tensor& self, std::int64_t dim) { return call<Tensor>("aten.var.correction", __builtin_return_address(0), self, IntList(dim)); }
Tensor Tensor::var(std::int64_t dim) const { return call<Tensor>("aten.var.correction", __builtin_return_address(0), *this, IntList(dim)); }

}  // namespace whittle::api

// Generated from the registry by scripts/update-api-functions; do not edit.
// clang-format off
#define WHITTLE_API_IMPLEMENTATION
#include "api/call.h"

namespace whittle::api {

Tensor _adaptive_avg_pool2d(const Tensor& self, const IntList& output_size) {
    Call call("aten._adaptive_avg_pool2d.default", __builtin_return_address(0));
    call.add(self);
    call.add(output_size);
    return call.one();
}
Tensor Tensor::_adaptive_avg_pool2d(const IntList& output_size) const {
    Call call("aten._adaptive_avg_pool2d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(output_size);
    return call.one();
}
Tensor _adaptive_avg_pool3d(const Tensor& self, const IntList& output_size) {
    Call call("aten._adaptive_avg_pool3d.default", __builtin_return_address(0));
    call.add(self);
    call.add(output_size);
    return call.one();
}
Tensor Tensor::_adaptive_avg_pool3d(const IntList& output_size) const {
    Call call("aten._adaptive_avg_pool3d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(output_size);
    return call.one();
}
Tensor _log_softmax(const Tensor& self, std::int64_t dim, bool half_to_float) {
    Call call("aten._log_softmax.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(half_to_float);
    return call.one();
}
Tensor Tensor::_log_softmax(std::int64_t dim, bool half_to_float) const {
    Call call("aten._log_softmax.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(half_to_float);
    return call.one();
}
Tensor _log_softmax_backward_data(const Tensor& grad_output, const Tensor& output, std::int64_t dim, ScalarType input_dtype) {
    Call call("aten._log_softmax_backward_data.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(output);
    call.add(dim);
    call.add(input_dtype);
    return call.one();
}
std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, bool training, double momentum, double eps) {
    Call call("aten._native_batch_norm_legit.no_stats", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(training);
    call.add(momentum);
    call.add(eps);
    return call.tuple<3>();
}
std::tuple<Tensor, Tensor, Tensor> _native_batch_norm_legit_no_training(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, const Tensor& running_mean, const Tensor& running_var, double momentum, double eps) {
    Call call("aten._native_batch_norm_legit_no_training.default", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(running_mean);
    call.add(running_var);
    call.add(momentum);
    call.add(eps);
    return call.tuple<3>();
}
Tensor _softmax(const Tensor& self, std::int64_t dim, bool half_to_float) {
    Call call("aten._softmax.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(half_to_float);
    return call.one();
}
Tensor Tensor::_softmax(std::int64_t dim, bool half_to_float) const {
    Call call("aten._softmax.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(half_to_float);
    return call.one();
}
Tensor _softmax_backward_data(const Tensor& grad_output, const Tensor& output, std::int64_t dim, ScalarType input_dtype) {
    Call call("aten._softmax_backward_data.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(output);
    call.add(dim);
    call.add(input_dtype);
    return call.one();
}
Tensor _to_copy(const Tensor& self, std::optional<ScalarType> dtype) {
    Call call("aten._to_copy.default", __builtin_return_address(0));
    call.add(self);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::_to_copy(std::optional<ScalarType> dtype) const {
    Call call("aten._to_copy.default", __builtin_return_address(0));
    call.add(*this);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor _unsafe_view(const Tensor& self, const IntList& size) {
    Call call("aten._unsafe_view.default", __builtin_return_address(0));
    call.add(self);
    call.add(size);
    return call.one();
}
Tensor Tensor::_unsafe_view(const IntList& size) const {
    Call call("aten._unsafe_view.default", __builtin_return_address(0));
    call.add(*this);
    call.add(size);
    return call.one();
}
Tensor abs(const Tensor& self) {
    Call call("aten.abs.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::abs() const {
    Call call("aten.abs.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::abs_() const {
    Call call("aten.abs_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor acos(const Tensor& self) {
    Call call("aten.acos.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::acos() const {
    Call call("aten.acos.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::acos_() const {
    Call call("aten.acos_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor acosh(const Tensor& self) {
    Call call("aten.acosh.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::acosh() const {
    Call call("aten.acosh.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::acosh_() const {
    Call call("aten.acosh_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor adaptive_avg_pool1d(const Tensor& self, const IntList& output_size) {
    Call call("aten.adaptive_avg_pool1d.default", __builtin_return_address(0));
    call.add(self);
    call.add(output_size);
    return call.one();
}
Tensor Tensor::adaptive_avg_pool1d(const IntList& output_size) const {
    Call call("aten.adaptive_avg_pool1d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(output_size);
    return call.one();
}
Tensor adaptive_avg_pool2d(const Tensor& self, const IntList& output_size) {
    Call call("aten.adaptive_avg_pool2d.default", __builtin_return_address(0));
    call.add(self);
    call.add(output_size);
    return call.one();
}
Tensor Tensor::adaptive_avg_pool2d(const IntList& output_size) const {
    Call call("aten.adaptive_avg_pool2d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(output_size);
    return call.one();
}
Tensor adaptive_avg_pool3d(const Tensor& self, const IntList& output_size) {
    Call call("aten.adaptive_avg_pool3d.default", __builtin_return_address(0));
    call.add(self);
    call.add(output_size);
    return call.one();
}
Tensor Tensor::adaptive_avg_pool3d(const IntList& output_size) const {
    Call call("aten.adaptive_avg_pool3d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(output_size);
    return call.one();
}
std::tuple<Tensor, Tensor> adaptive_max_pool1d(const Tensor& self, const IntList& output_size) {
    Call call("aten.adaptive_max_pool1d.default", __builtin_return_address(0));
    call.add(self);
    call.add(output_size);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::adaptive_max_pool1d(const IntList& output_size) const {
    Call call("aten.adaptive_max_pool1d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(output_size);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> adaptive_max_pool2d(const Tensor& self, const IntList& output_size) {
    Call call("aten.adaptive_max_pool2d.default", __builtin_return_address(0));
    call.add(self);
    call.add(output_size);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::adaptive_max_pool2d(const IntList& output_size) const {
    Call call("aten.adaptive_max_pool2d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(output_size);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> adaptive_max_pool3d(const Tensor& self, const IntList& output_size) {
    Call call("aten.adaptive_max_pool3d.default", __builtin_return_address(0));
    call.add(self);
    call.add(output_size);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::adaptive_max_pool3d(const IntList& output_size) const {
    Call call("aten.adaptive_max_pool3d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(output_size);
    return call.tuple<2>();
}
Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha) {
    Call call("aten.add.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    call.add(alpha);
    return call.one();
}
Tensor Tensor::add(const Scalar& other, const Scalar& alpha) const {
    Call call("aten.add.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.add(alpha);
    return call.one();
}
Tensor Tensor::add_(const Scalar& other, const Scalar& alpha) const {
    Call call("aten.add_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.add(alpha);
    call.in_place(*this);
    return *this;
}
Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha) {
    Call call("aten.add.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::add(const Tensor& other, const Scalar& alpha) const {
    Call call("aten.add.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::add_(const Tensor& other, const Scalar& alpha) const {
    Call call("aten.add_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.keyword("alpha", alpha);
    call.in_place(*this);
    return *this;
}
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
    Call call("aten.addcdiv.default", __builtin_return_address(0));
    call.add(self);
    call.add(tensor1);
    call.add(tensor2);
    call.keyword("value", value);
    return call.one();
}
Tensor Tensor::addcdiv(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
    Call call("aten.addcdiv.default", __builtin_return_address(0));
    call.add(*this);
    call.add(tensor1);
    call.add(tensor2);
    call.keyword("value", value);
    return call.one();
}
Tensor Tensor::addcdiv_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
    Call call("aten.addcdiv_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(tensor1);
    call.add(tensor2);
    call.keyword("value", value);
    call.in_place(*this);
    return *this;
}
Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) {
    Call call("aten.addcmul.default", __builtin_return_address(0));
    call.add(self);
    call.add(tensor1);
    call.add(tensor2);
    call.keyword("value", value);
    return call.one();
}
Tensor Tensor::addcmul(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
    Call call("aten.addcmul.default", __builtin_return_address(0));
    call.add(*this);
    call.add(tensor1);
    call.add(tensor2);
    call.keyword("value", value);
    return call.one();
}
Tensor Tensor::addcmul_(const Tensor& tensor1, const Tensor& tensor2, const Scalar& value) const {
    Call call("aten.addcmul_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(tensor1);
    call.add(tensor2);
    call.keyword("value", value);
    call.in_place(*this);
    return *this;
}
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) {
    Call call("aten.addmm.default", __builtin_return_address(0));
    call.add(self);
    call.add(mat1);
    call.add(mat2);
    call.keyword("beta", beta);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::addmm(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const {
    Call call("aten.addmm.default", __builtin_return_address(0));
    call.add(*this);
    call.add(mat1);
    call.add(mat2);
    call.keyword("beta", beta);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::addmm_(const Tensor& mat1, const Tensor& mat2, const Scalar& beta, const Scalar& alpha) const {
    Call call("aten.addmm_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(mat1);
    call.add(mat2);
    call.keyword("beta", beta);
    call.keyword("alpha", alpha);
    call.in_place(*this);
    return *this;
}
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) {
    Call call("aten.addmv.default", __builtin_return_address(0));
    call.add(self);
    call.add(mat);
    call.add(vec);
    call.keyword("beta", beta);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::addmv(const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) const {
    Call call("aten.addmv.default", __builtin_return_address(0));
    call.add(*this);
    call.add(mat);
    call.add(vec);
    call.keyword("beta", beta);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::addmv_(const Tensor& mat, const Tensor& vec, const Scalar& beta, const Scalar& alpha) const {
    Call call("aten.addmv_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(mat);
    call.add(vec);
    call.keyword("beta", beta);
    call.keyword("alpha", alpha);
    call.in_place(*this);
    return *this;
}
Tensor alias(const Tensor& self) {
    Call call("aten.alias.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::alias() const {
    Call call("aten.alias.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor all(const Tensor& self) {
    Call call("aten.all.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::all() const {
    Call call("aten.all.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor all(const Tensor& self, std::int64_t dim, bool keepdim) {
    Call call("aten.all.dim", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::all(std::int64_t dim, bool keepdim) const {
    Call call("aten.all.dim", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor all(const Tensor& self, const IntList& dim, bool keepdim) {
    Call call("aten.all.dims", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::all(const IntList& dim, bool keepdim) const {
    Call call("aten.all.dims", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor alpha_dropout(const Tensor& input, double p, bool train) {
    Call call("aten.alpha_dropout.default", __builtin_return_address(0));
    call.add(input);
    call.add(p);
    call.add(train);
    return call.one();
}
Tensor amax(const Tensor& self, const IntList& dim, bool keepdim) {
    Call call("aten.amax.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::amax(const IntList& dim, bool keepdim) const {
    Call call("aten.amax.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor amin(const Tensor& self, const IntList& dim, bool keepdim) {
    Call call("aten.amin.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::amin(const IntList& dim, bool keepdim) const {
    Call call("aten.amin.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor any(const Tensor& self) {
    Call call("aten.any.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::any() const {
    Call call("aten.any.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor any(const Tensor& self, std::int64_t dim, bool keepdim) {
    Call call("aten.any.dim", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::any(std::int64_t dim, bool keepdim) const {
    Call call("aten.any.dim", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor any(const Tensor& self, const IntList& dim, bool keepdim) {
    Call call("aten.any.dims", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::any(const IntList& dim, bool keepdim) const {
    Call call("aten.any.dims", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor arange(const Scalar& end, std::optional<ScalarType> dtype) {
    Call call("aten.arange.default", __builtin_return_address(0));
    call.add(end);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor arange(const Scalar& start, const Scalar& end, std::optional<ScalarType> dtype) {
    Call call("aten.arange.start", __builtin_return_address(0));
    call.add(start);
    call.add(end);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, std::optional<ScalarType> dtype) {
    Call call("aten.arange.start_step", __builtin_return_address(0));
    call.add(start);
    call.add(end);
    call.add(step);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor argmax(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
    Call call("aten.argmax.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::argmax(std::optional<std::int64_t> dim, bool keepdim) const {
    Call call("aten.argmax.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor argmin(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
    Call call("aten.argmin.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::argmin(std::optional<std::int64_t> dim, bool keepdim) const {
    Call call("aten.argmin.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor argsort(const Tensor& self, std::int64_t dim, bool descending) {
    Call call("aten.argsort.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(descending);
    return call.one();
}
Tensor Tensor::argsort(std::int64_t dim, bool descending) const {
    Call call("aten.argsort.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(descending);
    return call.one();
}
Tensor argsort(const Tensor& self, bool stable, std::int64_t dim, bool descending) {
    Call call("aten.argsort.stable", __builtin_return_address(0));
    call.add(self);
    call.keyword("stable", stable);
    call.keyword("dim", dim);
    call.keyword("descending", descending);
    return call.one();
}
Tensor Tensor::argsort(bool stable, std::int64_t dim, bool descending) const {
    Call call("aten.argsort.stable", __builtin_return_address(0));
    call.add(*this);
    call.keyword("stable", stable);
    call.keyword("dim", dim);
    call.keyword("descending", descending);
    return call.one();
}
Tensor as_strided(const Tensor& self, const IntList& size, const IntList& stride, std::optional<std::int64_t> storage_offset) {
    Call call("aten.as_strided.default", __builtin_return_address(0));
    call.add(self);
    call.add(size);
    call.add(stride);
    call.add(storage_offset);
    return call.one();
}
Tensor Tensor::as_strided(const IntList& size, const IntList& stride, std::optional<std::int64_t> storage_offset) const {
    Call call("aten.as_strided.default", __builtin_return_address(0));
    call.add(*this);
    call.add(size);
    call.add(stride);
    call.add(storage_offset);
    return call.one();
}
Tensor asin(const Tensor& self) {
    Call call("aten.asin.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::asin() const {
    Call call("aten.asin.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::asin_() const {
    Call call("aten.asin_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor asinh(const Tensor& self) {
    Call call("aten.asinh.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::asinh() const {
    Call call("aten.asinh.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::asinh_() const {
    Call call("aten.asinh_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor atan(const Tensor& self) {
    Call call("aten.atan.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::atan() const {
    Call call("aten.atan.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::atan_() const {
    Call call("aten.atan_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor atan2(const Tensor& self, const Tensor& other) {
    Call call("aten.atan2.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::atan2(const Tensor& other) const {
    Call call("aten.atan2.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::atan2_(const Tensor& other) const {
    Call call("aten.atan2_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor atanh(const Tensor& self) {
    Call call("aten.atanh.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::atanh() const {
    Call call("aten.atanh.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::atanh_() const {
    Call call("aten.atanh_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor avg_pool1d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad) {
    Call call("aten.avg_pool1d.default", __builtin_return_address(0));
    call.add(self);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(ceil_mode);
    call.add(count_include_pad);
    return call.one();
}
Tensor Tensor::avg_pool1d(const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad) const {
    Call call("aten.avg_pool1d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(ceil_mode);
    call.add(count_include_pad);
    return call.one();
}
Tensor avg_pool2d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) {
    Call call("aten.avg_pool2d.default", __builtin_return_address(0));
    call.add(self);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(ceil_mode);
    call.add(count_include_pad);
    call.add(divisor_override);
    return call.one();
}
Tensor Tensor::avg_pool2d(const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) const {
    Call call("aten.avg_pool2d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(ceil_mode);
    call.add(count_include_pad);
    call.add(divisor_override);
    return call.one();
}
Tensor avg_pool2d_backward(const Tensor& grad_output, const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) {
    Call call("aten.avg_pool2d_backward.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(self);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(ceil_mode);
    call.add(count_include_pad);
    call.add(divisor_override);
    return call.one();
}
Tensor avg_pool3d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) {
    Call call("aten.avg_pool3d.default", __builtin_return_address(0));
    call.add(self);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(ceil_mode);
    call.add(count_include_pad);
    call.add(divisor_override);
    return call.one();
}
Tensor Tensor::avg_pool3d(const IntList& kernel_size, const IntList& stride, const IntList& padding, bool ceil_mode, bool count_include_pad, std::optional<std::int64_t> divisor_override) const {
    Call call("aten.avg_pool3d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(ceil_mode);
    call.add(count_include_pad);
    call.add(divisor_override);
    return call.one();
}
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) {
    Call call("aten.baddbmm.default", __builtin_return_address(0));
    call.add(self);
    call.add(batch1);
    call.add(batch2);
    call.keyword("beta", beta);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::baddbmm(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const {
    Call call("aten.baddbmm.default", __builtin_return_address(0));
    call.add(*this);
    call.add(batch1);
    call.add(batch2);
    call.keyword("beta", beta);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::baddbmm_(const Tensor& batch1, const Tensor& batch2, const Scalar& beta, const Scalar& alpha) const {
    Call call("aten.baddbmm_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(batch1);
    call.add(batch2);
    call.keyword("beta", beta);
    call.keyword("alpha", alpha);
    call.in_place(*this);
    return *this;
}
Tensor bernoulli(const Tensor& self) {
    Call call("aten.bernoulli.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::bernoulli() const {
    Call call("aten.bernoulli.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::bernoulli_() const {
    Call call("aten.bernoulli_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor bernoulli(const Tensor& self, double p) {
    Call call("aten.bernoulli.p", __builtin_return_address(0));
    call.add(self);
    call.add(p);
    return call.one();
}
Tensor Tensor::bernoulli(double p) const {
    Call call("aten.bernoulli.p", __builtin_return_address(0));
    call.add(*this);
    call.add(p);
    return call.one();
}
Tensor Tensor::bernoulli_(double p) const {
    Call call("aten.bernoulli_.p", __builtin_return_address(0));
    call.add(*this);
    call.add(p);
    call.in_place(*this);
    return *this;
}
Tensor bitwise_and(const Tensor& self, const Scalar& other) {
    Call call("aten.bitwise_and.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_and(const Scalar& other) const {
    Call call("aten.bitwise_and.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_and_(const Scalar& other) const {
    Call call("aten.bitwise_and_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor bitwise_and(const Tensor& self, const Tensor& other) {
    Call call("aten.bitwise_and.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_and(const Tensor& other) const {
    Call call("aten.bitwise_and.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_and_(const Tensor& other) const {
    Call call("aten.bitwise_and_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor bitwise_left_shift(const Tensor& self, const Tensor& other) {
    Call call("aten.bitwise_left_shift.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_left_shift(const Tensor& other) const {
    Call call("aten.bitwise_left_shift.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor bitwise_left_shift(const Tensor& self, const Scalar& other) {
    Call call("aten.bitwise_left_shift.Tensor_Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_left_shift(const Scalar& other) const {
    Call call("aten.bitwise_left_shift.Tensor_Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor bitwise_not(const Tensor& self) {
    Call call("aten.bitwise_not.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::bitwise_not() const {
    Call call("aten.bitwise_not.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::bitwise_not_() const {
    Call call("aten.bitwise_not_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor bitwise_or(const Tensor& self, const Scalar& other) {
    Call call("aten.bitwise_or.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_or(const Scalar& other) const {
    Call call("aten.bitwise_or.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_or_(const Scalar& other) const {
    Call call("aten.bitwise_or_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor bitwise_or(const Tensor& self, const Tensor& other) {
    Call call("aten.bitwise_or.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_or(const Tensor& other) const {
    Call call("aten.bitwise_or.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_or_(const Tensor& other) const {
    Call call("aten.bitwise_or_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor bitwise_right_shift(const Tensor& self, const Tensor& other) {
    Call call("aten.bitwise_right_shift.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_right_shift(const Tensor& other) const {
    Call call("aten.bitwise_right_shift.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor bitwise_right_shift(const Tensor& self, const Scalar& other) {
    Call call("aten.bitwise_right_shift.Tensor_Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_right_shift(const Scalar& other) const {
    Call call("aten.bitwise_right_shift.Tensor_Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor bitwise_xor(const Tensor& self, const Scalar& other) {
    Call call("aten.bitwise_xor.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_xor(const Scalar& other) const {
    Call call("aten.bitwise_xor.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_xor_(const Scalar& other) const {
    Call call("aten.bitwise_xor_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor bitwise_xor(const Tensor& self, const Tensor& other) {
    Call call("aten.bitwise_xor.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_xor(const Tensor& other) const {
    Call call("aten.bitwise_xor.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::bitwise_xor_(const Tensor& other) const {
    Call call("aten.bitwise_xor_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor bmm(const Tensor& self, const Tensor& mat2) {
    Call call("aten.bmm.default", __builtin_return_address(0));
    call.add(self);
    call.add(mat2);
    return call.one();
}
Tensor Tensor::bmm(const Tensor& mat2) const {
    Call call("aten.bmm.default", __builtin_return_address(0));
    call.add(*this);
    call.add(mat2);
    return call.one();
}
Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
    Call call("aten.bucketize.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(boundaries);
    call.keyword("out_int32", out_int32);
    call.keyword("right", right);
    return call.one();
}
Tensor Tensor::bucketize(const Tensor& boundaries, bool out_int32, bool right) const {
    Call call("aten.bucketize.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(boundaries);
    call.keyword("out_int32", out_int32);
    call.keyword("right", right);
    return call.one();
}
Tensor cat(const TensorList& tensors, std::int64_t dim) {
    Call call("aten.cat.default", __builtin_return_address(0));
    call.add(tensors);
    call.add(dim);
    return call.one();
}
Tensor cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<std::int64_t> compute_mode) {
    Call call("aten.cdist.default", __builtin_return_address(0));
    call.add(x1);
    call.add(x2);
    call.add(p);
    call.add(compute_mode);
    return call.one();
}
Tensor ceil(const Tensor& self) {
    Call call("aten.ceil.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::ceil() const {
    Call call("aten.ceil.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::ceil_() const {
    Call call("aten.ceil_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor celu(const Tensor& self, const Scalar& alpha) {
    Call call("aten.celu.default", __builtin_return_address(0));
    call.add(self);
    call.add(alpha);
    return call.one();
}
Tensor Tensor::celu(const Scalar& alpha) const {
    Call call("aten.celu.default", __builtin_return_address(0));
    call.add(*this);
    call.add(alpha);
    return call.one();
}
Tensor Tensor::celu_(const Scalar& alpha) const {
    Call call("aten.celu_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(alpha);
    call.in_place(*this);
    return *this;
}
TensorList chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) {
    Call call("aten.chunk.default", __builtin_return_address(0));
    call.add(self);
    call.add(chunks);
    call.add(dim);
    return call.list();
}
TensorList Tensor::chunk(std::int64_t chunks, std::int64_t dim) const {
    Call call("aten.chunk.default", __builtin_return_address(0));
    call.add(*this);
    call.add(chunks);
    call.add(dim);
    return call.list();
}
Tensor clamp(const Tensor& self, const OptionalTensor& min, const OptionalTensor& max) {
    Call call("aten.clamp.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(min);
    call.add(max);
    return call.one();
}
Tensor Tensor::clamp(const OptionalTensor& min, const OptionalTensor& max) const {
    Call call("aten.clamp.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(min);
    call.add(max);
    return call.one();
}
Tensor Tensor::clamp_(const OptionalTensor& min, const OptionalTensor& max) const {
    Call call("aten.clamp_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(min);
    call.add(max);
    call.in_place(*this);
    return *this;
}
Tensor clamp(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max) {
    Call call("aten.clamp.default", __builtin_return_address(0));
    call.add(self);
    call.add(min);
    call.add(max);
    return call.one();
}
Tensor Tensor::clamp(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const {
    Call call("aten.clamp.default", __builtin_return_address(0));
    call.add(*this);
    call.add(min);
    call.add(max);
    return call.one();
}
Tensor Tensor::clamp_(const std::optional<Scalar>& min, const std::optional<Scalar>& max) const {
    Call call("aten.clamp_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(min);
    call.add(max);
    call.in_place(*this);
    return *this;
}
Tensor clamp_max(const Tensor& self, const Scalar& max) {
    Call call("aten.clamp_max.default", __builtin_return_address(0));
    call.add(self);
    call.add(max);
    return call.one();
}
Tensor Tensor::clamp_max(const Scalar& max) const {
    Call call("aten.clamp_max.default", __builtin_return_address(0));
    call.add(*this);
    call.add(max);
    return call.one();
}
Tensor Tensor::clamp_max_(const Scalar& max) const {
    Call call("aten.clamp_max_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(max);
    call.in_place(*this);
    return *this;
}
Tensor clamp_min(const Tensor& self, const Scalar& min) {
    Call call("aten.clamp_min.default", __builtin_return_address(0));
    call.add(self);
    call.add(min);
    return call.one();
}
Tensor Tensor::clamp_min(const Scalar& min) const {
    Call call("aten.clamp_min.default", __builtin_return_address(0));
    call.add(*this);
    call.add(min);
    return call.one();
}
Tensor Tensor::clamp_min_(const Scalar& min) const {
    Call call("aten.clamp_min_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(min);
    call.in_place(*this);
    return *this;
}
Tensor clone(const Tensor& self) {
    Call call("aten.clone.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::clone() const {
    Call call("aten.clone.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor constant_pad_nd(const Tensor& self, const IntList& pad, const Scalar& value) {
    Call call("aten.constant_pad_nd.default", __builtin_return_address(0));
    call.add(self);
    call.add(pad);
    call.add(value);
    return call.one();
}
Tensor Tensor::constant_pad_nd(const IntList& pad, const Scalar& value) const {
    Call call("aten.constant_pad_nd.default", __builtin_return_address(0));
    call.add(*this);
    call.add(pad);
    call.add(value);
    return call.one();
}
Tensor contiguous(const Tensor& self) {
    Call call("aten.contiguous.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::contiguous() const {
    Call call("aten.contiguous.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor conv1d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, std::int64_t groups) {
    Call call("aten.conv1d.default", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(groups);
    return call.one();
}
Tensor conv1d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const std::string& padding, const IntList& dilation, std::int64_t groups) {
    Call call("aten.conv1d.padding", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(groups);
    return call.one();
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, std::int64_t groups) {
    Call call("aten.conv2d.default", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(groups);
    return call.one();
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const std::string& padding, const IntList& dilation, std::int64_t groups) {
    Call call("aten.conv2d.padding", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(groups);
    return call.one();
}
Tensor conv3d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, std::int64_t groups) {
    Call call("aten.conv3d.default", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(groups);
    return call.one();
}
Tensor conv3d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const std::string& padding, const IntList& dilation, std::int64_t groups) {
    Call call("aten.conv3d.padding", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(groups);
    return call.one();
}
Tensor conv_transpose1d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& output_padding, std::int64_t groups, const IntList& dilation) {
    Call call("aten.conv_transpose1d.default", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(stride);
    call.add(padding);
    call.add(output_padding);
    call.add(groups);
    call.add(dilation);
    return call.one();
}
Tensor conv_transpose2d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& output_padding, std::int64_t groups, const IntList& dilation) {
    Call call("aten.conv_transpose2d.input", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(stride);
    call.add(padding);
    call.add(output_padding);
    call.add(groups);
    call.add(dilation);
    return call.one();
}
Tensor conv_transpose3d(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& output_padding, std::int64_t groups, const IntList& dilation) {
    Call call("aten.conv_transpose3d.input", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(stride);
    call.add(padding);
    call.add(output_padding);
    call.add(groups);
    call.add(dilation);
    return call.one();
}
Tensor convolution(const Tensor& input, const Tensor& weight, const OptionalTensor& bias, const IntList& stride, const IntList& padding, const IntList& dilation, bool transposed, const IntList& output_padding, std::int64_t groups) {
    Call call("aten.convolution.default", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(transposed);
    call.add(output_padding);
    call.add(groups);
    return call.one();
}
Tensor copy(const Tensor& self, const Tensor& src) {
    Call call("aten.copy.default", __builtin_return_address(0));
    call.add(self);
    call.add(src);
    return call.one();
}
Tensor Tensor::copy(const Tensor& src) const {
    Call call("aten.copy.default", __builtin_return_address(0));
    call.add(*this);
    call.add(src);
    return call.one();
}
Tensor Tensor::copy_(const Tensor& src) const {
    Call call("aten.copy_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(src);
    call.in_place(*this);
    return *this;
}
Tensor cos(const Tensor& self) {
    Call call("aten.cos.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::cos() const {
    Call call("aten.cos.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::cos_() const {
    Call call("aten.cos_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor cosh(const Tensor& self) {
    Call call("aten.cosh.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::cosh() const {
    Call call("aten.cosh.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::cosh_() const {
    Call call("aten.cosh_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor count_nonzero(const Tensor& self, const IntList& dim) {
    Call call("aten.count_nonzero.dim_IntList", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    return call.one();
}
Tensor Tensor::count_nonzero(const IntList& dim) const {
    Call call("aten.count_nonzero.dim_IntList", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    return call.one();
}
Tensor cross_entropy_loss(const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index, double label_smoothing) {
    Call call("aten.cross_entropy_loss.default", __builtin_return_address(0));
    call.add(self);
    call.add(target);
    call.add(weight);
    call.add(reduction);
    call.add(ignore_index);
    call.add(label_smoothing);
    return call.one();
}
Tensor Tensor::cross_entropy_loss(const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index, double label_smoothing) const {
    Call call("aten.cross_entropy_loss.default", __builtin_return_address(0));
    call.add(*this);
    call.add(target);
    call.add(weight);
    call.add(reduction);
    call.add(ignore_index);
    call.add(label_smoothing);
    return call.one();
}
std::tuple<Tensor, Tensor> cummax(const Tensor& self, std::int64_t dim) {
    Call call("aten.cummax.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::cummax(std::int64_t dim) const {
    Call call("aten.cummax.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> cummin(const Tensor& self, std::int64_t dim) {
    Call call("aten.cummin.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::cummin(std::int64_t dim) const {
    Call call("aten.cummin.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    return call.tuple<2>();
}
Tensor cumprod(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype) {
    Call call("aten.cumprod.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::cumprod(std::int64_t dim, std::optional<ScalarType> dtype) const {
    Call call("aten.cumprod.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::cumprod_(std::int64_t dim, std::optional<ScalarType> dtype) const {
    Call call("aten.cumprod_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.keyword("dtype", dtype);
    call.in_place(*this);
    return *this;
}
Tensor cumsum(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype) {
    Call call("aten.cumsum.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::cumsum(std::int64_t dim, std::optional<ScalarType> dtype) const {
    Call call("aten.cumsum.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::cumsum_(std::int64_t dim, std::optional<ScalarType> dtype) const {
    Call call("aten.cumsum_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.keyword("dtype", dtype);
    call.in_place(*this);
    return *this;
}
Tensor detach(const Tensor& self) {
    Call call("aten.detach.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::detach() const {
    Call call("aten.detach.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor diagonal(const Tensor& self, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
    Call call("aten.diagonal.default", __builtin_return_address(0));
    call.add(self);
    call.add(offset);
    call.add(dim1);
    call.add(dim2);
    return call.one();
}
Tensor Tensor::diagonal(std::int64_t offset, std::int64_t dim1, std::int64_t dim2) const {
    Call call("aten.diagonal.default", __builtin_return_address(0));
    call.add(*this);
    call.add(offset);
    call.add(dim1);
    call.add(dim2);
    return call.one();
}
Tensor diff(const Tensor& self, std::int64_t n, std::int64_t dim, const OptionalTensor& prepend, const OptionalTensor& append) {
    Call call("aten.diff.default", __builtin_return_address(0));
    call.add(self);
    call.add(n);
    call.add(dim);
    call.add(prepend);
    call.add(append);
    return call.one();
}
Tensor Tensor::diff(std::int64_t n, std::int64_t dim, const OptionalTensor& prepend, const OptionalTensor& append) const {
    Call call("aten.diff.default", __builtin_return_address(0));
    call.add(*this);
    call.add(n);
    call.add(dim);
    call.add(prepend);
    call.add(append);
    return call.one();
}
Tensor div(const Tensor& self, const Scalar& other) {
    Call call("aten.div.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::div(const Scalar& other) const {
    Call call("aten.div.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::div_(const Scalar& other) const {
    Call call("aten.div_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor div(const Tensor& self, const Scalar& other, const std::optional<std::string>& rounding_mode) {
    Call call("aten.div.Scalar_mode", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    call.keyword("rounding_mode", rounding_mode);
    return call.one();
}
Tensor Tensor::div(const Scalar& other, const std::optional<std::string>& rounding_mode) const {
    Call call("aten.div.Scalar_mode", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.keyword("rounding_mode", rounding_mode);
    return call.one();
}
Tensor Tensor::div_(const Scalar& other, const std::optional<std::string>& rounding_mode) const {
    Call call("aten.div_.Scalar_mode", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.keyword("rounding_mode", rounding_mode);
    call.in_place(*this);
    return *this;
}
Tensor div(const Tensor& self, const Tensor& other) {
    Call call("aten.div.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::div(const Tensor& other) const {
    Call call("aten.div.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::div_(const Tensor& other) const {
    Call call("aten.div_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor div(const Tensor& self, const Tensor& other, const std::optional<std::string>& rounding_mode) {
    Call call("aten.div.Tensor_mode", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    call.keyword("rounding_mode", rounding_mode);
    return call.one();
}
Tensor Tensor::div(const Tensor& other, const std::optional<std::string>& rounding_mode) const {
    Call call("aten.div.Tensor_mode", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.keyword("rounding_mode", rounding_mode);
    return call.one();
}
Tensor Tensor::div_(const Tensor& other, const std::optional<std::string>& rounding_mode) const {
    Call call("aten.div_.Tensor_mode", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.keyword("rounding_mode", rounding_mode);
    call.in_place(*this);
    return *this;
}
Tensor dot(const Tensor& self, const Tensor& tensor) {
    Call call("aten.dot.default", __builtin_return_address(0));
    call.add(self);
    call.add(tensor);
    return call.one();
}
Tensor Tensor::dot(const Tensor& tensor) const {
    Call call("aten.dot.default", __builtin_return_address(0));
    call.add(*this);
    call.add(tensor);
    return call.one();
}
Tensor dropout(const Tensor& input, double p, bool train) {
    Call call("aten.dropout.default", __builtin_return_address(0));
    call.add(input);
    call.add(p);
    call.add(train);
    return call.one();
}
Tensor einsum(const std::string& equation, const TensorList& tensors, const IntList& path) {
    Call call("aten.einsum.default", __builtin_return_address(0));
    call.add(equation);
    call.add(tensors);
    call.keyword("path", path);
    return call.one();
}
Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
    Call call("aten.elu.default", __builtin_return_address(0));
    call.add(self);
    call.add(alpha);
    call.add(scale);
    call.add(input_scale);
    return call.one();
}
Tensor Tensor::elu(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) const {
    Call call("aten.elu.default", __builtin_return_address(0));
    call.add(*this);
    call.add(alpha);
    call.add(scale);
    call.add(input_scale);
    return call.one();
}
Tensor Tensor::elu_(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) const {
    Call call("aten.elu_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(alpha);
    call.add(scale);
    call.add(input_scale);
    call.in_place(*this);
    return *this;
}
Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t padding_idx, bool scale_grad_by_freq, bool sparse) {
    Call call("aten.embedding.default", __builtin_return_address(0));
    call.add(weight);
    call.add(indices);
    call.add(padding_idx);
    call.add(scale_grad_by_freq);
    call.add(sparse);
    return call.one();
}
Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, std::int64_t num_weights, std::int64_t padding_idx, bool scale_grad_by_freq) {
    Call call("aten.embedding_dense_backward.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(indices);
    call.add(num_weights);
    call.add(padding_idx);
    call.add(scale_grad_by_freq);
    return call.one();
}
Tensor empty(const IntList& size, std::optional<ScalarType> dtype) {
    Call call("aten.empty.memory_format", __builtin_return_address(0));
    call.add(size);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor empty_like(const Tensor& self, std::optional<ScalarType> dtype) {
    Call call("aten.empty_like.default", __builtin_return_address(0));
    call.add(self);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::empty_like(std::optional<ScalarType> dtype) const {
    Call call("aten.empty_like.default", __builtin_return_address(0));
    call.add(*this);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor eq(const Tensor& self, const Scalar& other) {
    Call call("aten.eq.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::eq(const Scalar& other) const {
    Call call("aten.eq.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::eq_(const Scalar& other) const {
    Call call("aten.eq_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor eq(const Tensor& self, const Tensor& other) {
    Call call("aten.eq.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::eq(const Tensor& other) const {
    Call call("aten.eq.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::eq_(const Tensor& other) const {
    Call call("aten.eq_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor erf(const Tensor& self) {
    Call call("aten.erf.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::erf() const {
    Call call("aten.erf.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::erf_() const {
    Call call("aten.erf_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor erfc(const Tensor& self) {
    Call call("aten.erfc.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::erfc() const {
    Call call("aten.erfc.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::erfc_() const {
    Call call("aten.erfc_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor exp(const Tensor& self) {
    Call call("aten.exp.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::exp() const {
    Call call("aten.exp.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::exp_() const {
    Call call("aten.exp_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor exp2(const Tensor& self) {
    Call call("aten.exp2.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::exp2() const {
    Call call("aten.exp2.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::exp2_() const {
    Call call("aten.exp2_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor expand(const Tensor& self, const IntList& size, bool implicit) {
    Call call("aten.expand.default", __builtin_return_address(0));
    call.add(self);
    call.add(size);
    call.keyword("implicit", implicit);
    return call.one();
}
Tensor Tensor::expand(const IntList& size, bool implicit) const {
    Call call("aten.expand.default", __builtin_return_address(0));
    call.add(*this);
    call.add(size);
    call.keyword("implicit", implicit);
    return call.one();
}
Tensor expm1(const Tensor& self) {
    Call call("aten.expm1.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::expm1() const {
    Call call("aten.expm1.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::expm1_() const {
    Call call("aten.expm1_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor eye(std::int64_t n, std::optional<ScalarType> dtype) {
    Call call("aten.eye.default", __builtin_return_address(0));
    call.add(n);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor eye(std::int64_t n, std::int64_t m, std::optional<ScalarType> dtype) {
    Call call("aten.eye.m", __builtin_return_address(0));
    call.add(n);
    call.add(m);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor feature_dropout(const Tensor& input, double p, bool train) {
    Call call("aten.feature_dropout.default", __builtin_return_address(0));
    call.add(input);
    call.add(p);
    call.add(train);
    return call.one();
}
Tensor fill(const Tensor& self, const Scalar& value) {
    Call call("aten.fill.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(value);
    return call.one();
}
Tensor Tensor::fill(const Scalar& value) const {
    Call call("aten.fill.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(value);
    return call.one();
}
Tensor Tensor::fill_(const Scalar& value) const {
    Call call("aten.fill_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(value);
    call.in_place(*this);
    return *this;
}
Tensor flatten(const Tensor& self, std::int64_t start_dim, std::int64_t end_dim) {
    Call call("aten.flatten.using_ints", __builtin_return_address(0));
    call.add(self);
    call.add(start_dim);
    call.add(end_dim);
    return call.one();
}
Tensor Tensor::flatten(std::int64_t start_dim, std::int64_t end_dim) const {
    Call call("aten.flatten.using_ints", __builtin_return_address(0));
    call.add(*this);
    call.add(start_dim);
    call.add(end_dim);
    return call.one();
}
Tensor flip(const Tensor& self, const IntList& dims) {
    Call call("aten.flip.default", __builtin_return_address(0));
    call.add(self);
    call.add(dims);
    return call.one();
}
Tensor Tensor::flip(const IntList& dims) const {
    Call call("aten.flip.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dims);
    return call.one();
}
Tensor floor(const Tensor& self) {
    Call call("aten.floor.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::floor() const {
    Call call("aten.floor.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::floor_() const {
    Call call("aten.floor_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor floor_divide(const Tensor& self, const Scalar& other) {
    Call call("aten.floor_divide.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::floor_divide(const Scalar& other) const {
    Call call("aten.floor_divide.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::floor_divide_(const Scalar& other) const {
    Call call("aten.floor_divide_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor floor_divide(const Tensor& self, const Tensor& other) {
    Call call("aten.floor_divide.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::floor_divide(const Tensor& other) const {
    Call call("aten.floor_divide.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::floor_divide_(const Tensor& other) const {
    Call call("aten.floor_divide_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor fmax(const Tensor& self, const Tensor& other) {
    Call call("aten.fmax.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::fmax(const Tensor& other) const {
    Call call("aten.fmax.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor fmin(const Tensor& self, const Tensor& other) {
    Call call("aten.fmin.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::fmin(const Tensor& other) const {
    Call call("aten.fmin.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor fmod(const Tensor& self, const Scalar& other) {
    Call call("aten.fmod.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::fmod(const Scalar& other) const {
    Call call("aten.fmod.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::fmod_(const Scalar& other) const {
    Call call("aten.fmod_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor fmod(const Tensor& self, const Tensor& other) {
    Call call("aten.fmod.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::fmod(const Tensor& other) const {
    Call call("aten.fmod.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::fmod_(const Tensor& other) const {
    Call call("aten.fmod_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor frac(const Tensor& self) {
    Call call("aten.frac.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::frac() const {
    Call call("aten.frac.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::frac_() const {
    Call call("aten.frac_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor full(const IntList& size, const Scalar& fill_value, std::optional<ScalarType> dtype) {
    Call call("aten.full.default", __builtin_return_address(0));
    call.add(size);
    call.add(fill_value);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor full_like(const Tensor& self, const Scalar& fill_value, std::optional<ScalarType> dtype) {
    Call call("aten.full_like.default", __builtin_return_address(0));
    call.add(self);
    call.add(fill_value);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::full_like(const Scalar& fill_value, std::optional<ScalarType> dtype) const {
    Call call("aten.full_like.default", __builtin_return_address(0));
    call.add(*this);
    call.add(fill_value);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index, bool sparse_grad) {
    Call call("aten.gather.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(index);
    call.keyword("sparse_grad", sparse_grad);
    return call.one();
}
Tensor Tensor::gather(std::int64_t dim, const Tensor& index, bool sparse_grad) const {
    Call call("aten.gather.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    call.keyword("sparse_grad", sparse_grad);
    return call.one();
}
Tensor ge(const Tensor& self, const Scalar& other) {
    Call call("aten.ge.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::ge(const Scalar& other) const {
    Call call("aten.ge.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::ge_(const Scalar& other) const {
    Call call("aten.ge_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor ge(const Tensor& self, const Tensor& other) {
    Call call("aten.ge.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::ge(const Tensor& other) const {
    Call call("aten.ge.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::ge_(const Tensor& other) const {
    Call call("aten.ge_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor gelu(const Tensor& self, const std::string& approximate) {
    Call call("aten.gelu.default", __builtin_return_address(0));
    call.add(self);
    call.keyword("approximate", approximate);
    return call.one();
}
Tensor Tensor::gelu(const std::string& approximate) const {
    Call call("aten.gelu.default", __builtin_return_address(0));
    call.add(*this);
    call.keyword("approximate", approximate);
    return call.one();
}
Tensor Tensor::gelu_(const std::string& approximate) const {
    Call call("aten.gelu_.default", __builtin_return_address(0));
    call.add(*this);
    call.keyword("approximate", approximate);
    call.in_place(*this);
    return *this;
}
Tensor gelu_backward(const Tensor& grad_output, const Tensor& self, const std::string& approximate) {
    Call call("aten.gelu_backward.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(self);
    call.keyword("approximate", approximate);
    return call.one();
}
Tensor grid_sampler_2d(const Tensor& input, const Tensor& grid, std::int64_t interpolation_mode, std::int64_t padding_mode, bool align_corners) {
    Call call("aten.grid_sampler_2d.default", __builtin_return_address(0));
    call.add(input);
    call.add(grid);
    call.add(interpolation_mode);
    call.add(padding_mode);
    call.add(align_corners);
    return call.one();
}
Tensor group_norm(const Tensor& input, std::int64_t num_groups, const OptionalTensor& weight, const OptionalTensor& bias, double eps, bool cudnn_enabled) {
    Call call("aten.group_norm.default", __builtin_return_address(0));
    call.add(input);
    call.add(num_groups);
    call.add(weight);
    call.add(bias);
    call.add(eps);
    call.add(cudnn_enabled);
    return call.one();
}
std::tuple<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
    Call call("aten.gru.input", __builtin_return_address(0));
    call.add(input);
    call.add(hx);
    call.add(params);
    call.add(has_biases);
    call.add(num_layers);
    call.add(dropout);
    call.add(train);
    call.add(bidirectional);
    call.add(batch_first);
    return call.tuple<2>();
}
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
    Call call("aten.gru_cell.default", __builtin_return_address(0));
    call.add(input);
    call.add(hx);
    call.add(w_ih);
    call.add(w_hh);
    call.add(b_ih);
    call.add(b_hh);
    return call.one();
}
Tensor gt(const Tensor& self, const Scalar& other) {
    Call call("aten.gt.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::gt(const Scalar& other) const {
    Call call("aten.gt.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::gt_(const Scalar& other) const {
    Call call("aten.gt_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor gt(const Tensor& self, const Tensor& other) {
    Call call("aten.gt.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::gt(const Tensor& other) const {
    Call call("aten.gt.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::gt_(const Tensor& other) const {
    Call call("aten.gt_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor hardsigmoid(const Tensor& self) {
    Call call("aten.hardsigmoid.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::hardsigmoid() const {
    Call call("aten.hardsigmoid.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::hardsigmoid_() const {
    Call call("aten.hardsigmoid_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor hardswish(const Tensor& self) {
    Call call("aten.hardswish.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::hardswish() const {
    Call call("aten.hardswish.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::hardswish_() const {
    Call call("aten.hardswish_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor hardtanh(const Tensor& self, const Scalar& min_val, const Scalar& max_val) {
    Call call("aten.hardtanh.default", __builtin_return_address(0));
    call.add(self);
    call.add(min_val);
    call.add(max_val);
    return call.one();
}
Tensor Tensor::hardtanh(const Scalar& min_val, const Scalar& max_val) const {
    Call call("aten.hardtanh.default", __builtin_return_address(0));
    call.add(*this);
    call.add(min_val);
    call.add(max_val);
    return call.one();
}
Tensor Tensor::hardtanh_(const Scalar& min_val, const Scalar& max_val) const {
    Call call("aten.hardtanh_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(min_val);
    call.add(max_val);
    call.in_place(*this);
    return *this;
}
Tensor hstack(const TensorList& tensors) {
    Call call("aten.hstack.default", __builtin_return_address(0));
    call.add(tensors);
    return call.one();
}
Tensor index(const Tensor& self, const std::vector<OptionalTensor>& indices) {
    Call call("aten.index.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(indices);
    return call.one();
}
Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
    Call call("aten.index_add.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(index);
    call.add(source);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::index_add(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const {
    Call call("aten.index_add.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    call.add(source);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const {
    Call call("aten.index_add_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    call.add(source);
    call.keyword("alpha", alpha);
    call.in_place(*this);
    return *this;
}
Tensor index_put(const Tensor& self, const std::vector<OptionalTensor>& indices, const Tensor& values, bool accumulate) {
    Call call("aten.index_put.default", __builtin_return_address(0));
    call.add(self);
    call.add(indices);
    call.add(values);
    call.add(accumulate);
    return call.one();
}
Tensor Tensor::index_put(const std::vector<OptionalTensor>& indices, const Tensor& values, bool accumulate) const {
    Call call("aten.index_put.default", __builtin_return_address(0));
    call.add(*this);
    call.add(indices);
    call.add(values);
    call.add(accumulate);
    return call.one();
}
Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index) {
    Call call("aten.index_select.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(index);
    return call.one();
}
Tensor Tensor::index_select(std::int64_t dim, const Tensor& index) const {
    Call call("aten.index_select.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    return call.one();
}
Tensor instance_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, const OptionalTensor& running_mean, const OptionalTensor& running_var, bool use_input_stats, double momentum, double eps, bool cudnn_enabled) {
    Call call("aten.instance_norm.default", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(running_mean);
    call.add(running_var);
    call.add(use_input_stats);
    call.add(momentum);
    call.add(eps);
    call.add(cudnn_enabled);
    return call.one();
}
Tensor isfinite(const Tensor& self) {
    Call call("aten.isfinite.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::isfinite() const {
    Call call("aten.isfinite.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor isinf(const Tensor& self) {
    Call call("aten.isinf.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::isinf() const {
    Call call("aten.isinf.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor isnan(const Tensor& self) {
    Call call("aten.isnan.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::isnan() const {
    Call call("aten.isnan.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor kron(const Tensor& self, const Tensor& other) {
    Call call("aten.kron.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::kron(const Tensor& other) const {
    Call call("aten.kron.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
std::tuple<Tensor, Tensor> kthvalue(const Tensor& self, std::int64_t k, std::int64_t dim, bool keepdim) {
    Call call("aten.kthvalue.default", __builtin_return_address(0));
    call.add(self);
    call.add(k);
    call.add(dim);
    call.add(keepdim);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::kthvalue(std::int64_t k, std::int64_t dim, bool keepdim) const {
    Call call("aten.kthvalue.default", __builtin_return_address(0));
    call.add(*this);
    call.add(k);
    call.add(dim);
    call.add(keepdim);
    return call.tuple<2>();
}
Tensor layer_norm(const Tensor& input, const IntList& normalized_shape, const OptionalTensor& weight, const OptionalTensor& bias, double eps, bool cudnn_enable) {
    Call call("aten.layer_norm.default", __builtin_return_address(0));
    call.add(input);
    call.add(normalized_shape);
    call.add(weight);
    call.add(bias);
    call.add(eps);
    call.add(cudnn_enable);
    return call.one();
}
Tensor le(const Tensor& self, const Scalar& other) {
    Call call("aten.le.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::le(const Scalar& other) const {
    Call call("aten.le.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::le_(const Scalar& other) const {
    Call call("aten.le_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor le(const Tensor& self, const Tensor& other) {
    Call call("aten.le.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::le(const Tensor& other) const {
    Call call("aten.le.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::le_(const Tensor& other) const {
    Call call("aten.le_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope) {
    Call call("aten.leaky_relu.default", __builtin_return_address(0));
    call.add(self);
    call.add(negative_slope);
    return call.one();
}
Tensor Tensor::leaky_relu(const Scalar& negative_slope) const {
    Call call("aten.leaky_relu.default", __builtin_return_address(0));
    call.add(*this);
    call.add(negative_slope);
    return call.one();
}
Tensor Tensor::leaky_relu_(const Scalar& negative_slope) const {
    Call call("aten.leaky_relu_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(negative_slope);
    call.in_place(*this);
    return *this;
}
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight) {
    Call call("aten.lerp.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(end);
    call.add(weight);
    return call.one();
}
Tensor Tensor::lerp(const Tensor& end, const Scalar& weight) const {
    Call call("aten.lerp.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(end);
    call.add(weight);
    return call.one();
}
Tensor Tensor::lerp_(const Tensor& end, const Scalar& weight) const {
    Call call("aten.lerp_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(end);
    call.add(weight);
    call.in_place(*this);
    return *this;
}
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight) {
    Call call("aten.lerp.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(end);
    call.add(weight);
    return call.one();
}
Tensor Tensor::lerp(const Tensor& end, const Tensor& weight) const {
    Call call("aten.lerp.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(end);
    call.add(weight);
    return call.one();
}
Tensor Tensor::lerp_(const Tensor& end, const Tensor& weight) const {
    Call call("aten.lerp_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(end);
    call.add(weight);
    call.in_place(*this);
    return *this;
}
Tensor lgamma(const Tensor& self) {
    Call call("aten.lgamma.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::lgamma() const {
    Call call("aten.lgamma.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor lift_fresh_copy(const Tensor& self) {
    Call call("aten.lift_fresh_copy.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::lift_fresh_copy() const {
    Call call("aten.lift_fresh_copy.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor linalg_vector_norm(const Tensor& self, const Scalar& ord, const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) {
    Call call("aten.linalg_vector_norm.default", __builtin_return_address(0));
    call.add(self);
    call.add(ord);
    call.add(dim);
    call.add(keepdim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::linalg_vector_norm(const Scalar& ord, const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) const {
    Call call("aten.linalg_vector_norm.default", __builtin_return_address(0));
    call.add(*this);
    call.add(ord);
    call.add(dim);
    call.add(keepdim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor linear(const Tensor& input, const Tensor& weight, const OptionalTensor& bias) {
    Call call("aten.linear.default", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    return call.one();
}
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, std::optional<ScalarType> dtype) {
    Call call("aten.linspace.default", __builtin_return_address(0));
    call.add(start);
    call.add(end);
    call.add(steps);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor log(const Tensor& self) {
    Call call("aten.log.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::log() const {
    Call call("aten.log.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::log_() const {
    Call call("aten.log_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor log10(const Tensor& self) {
    Call call("aten.log10.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::log10() const {
    Call call("aten.log10.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::log10_() const {
    Call call("aten.log10_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor log1p(const Tensor& self) {
    Call call("aten.log1p.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::log1p() const {
    Call call("aten.log1p.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::log1p_() const {
    Call call("aten.log1p_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor log2(const Tensor& self) {
    Call call("aten.log2.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::log2() const {
    Call call("aten.log2.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::log2_() const {
    Call call("aten.log2_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor log_sigmoid(const Tensor& self) {
    Call call("aten.log_sigmoid.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::log_sigmoid() const {
    Call call("aten.log_sigmoid.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype) {
    Call call("aten.log_softmax.int", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(dtype);
    return call.one();
}
Tensor Tensor::log_softmax(std::int64_t dim, std::optional<ScalarType> dtype) const {
    Call call("aten.log_softmax.int", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(dtype);
    return call.one();
}
Tensor logcumsumexp(const Tensor& self, std::int64_t dim) {
    Call call("aten.logcumsumexp.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    return call.one();
}
Tensor Tensor::logcumsumexp(std::int64_t dim) const {
    Call call("aten.logcumsumexp.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    return call.one();
}
Tensor logical_and(const Tensor& self, const Tensor& other) {
    Call call("aten.logical_and.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::logical_and(const Tensor& other) const {
    Call call("aten.logical_and.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::logical_and_(const Tensor& other) const {
    Call call("aten.logical_and_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor logical_not(const Tensor& self) {
    Call call("aten.logical_not.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::logical_not() const {
    Call call("aten.logical_not.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::logical_not_() const {
    Call call("aten.logical_not_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor logical_or(const Tensor& self, const Tensor& other) {
    Call call("aten.logical_or.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::logical_or(const Tensor& other) const {
    Call call("aten.logical_or.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::logical_or_(const Tensor& other) const {
    Call call("aten.logical_or_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor logical_xor(const Tensor& self, const Tensor& other) {
    Call call("aten.logical_xor.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::logical_xor(const Tensor& other) const {
    Call call("aten.logical_xor.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::logical_xor_(const Tensor& other) const {
    Call call("aten.logical_xor_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor logsumexp(const Tensor& self, const IntList& dim, bool keepdim) {
    Call call("aten.logsumexp.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::logsumexp(const IntList& dim, bool keepdim) const {
    Call call("aten.logsumexp.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, const TensorList& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
    Call call("aten.lstm.input", __builtin_return_address(0));
    call.add(input);
    call.add(hx);
    call.add(params);
    call.add(has_biases);
    call.add(num_layers);
    call.add(dropout);
    call.add(train);
    call.add(bidirectional);
    call.add(batch_first);
    return call.tuple<3>();
}
std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, const TensorList& hx, const Tensor& w_ih, const Tensor& w_hh, const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
    Call call("aten.lstm_cell.default", __builtin_return_address(0));
    call.add(input);
    call.add(hx);
    call.add(w_ih);
    call.add(w_hh);
    call.add(b_ih);
    call.add(b_hh);
    return call.tuple<2>();
}
Tensor lt(const Tensor& self, const Scalar& other) {
    Call call("aten.lt.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::lt(const Scalar& other) const {
    Call call("aten.lt.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::lt_(const Scalar& other) const {
    Call call("aten.lt_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor lt(const Tensor& self, const Tensor& other) {
    Call call("aten.lt.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::lt(const Tensor& other) const {
    Call call("aten.lt.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::lt_(const Tensor& other) const {
    Call call("aten.lt_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value) {
    Call call("aten.masked_fill.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(mask);
    call.add(value);
    return call.one();
}
Tensor Tensor::masked_fill(const Tensor& mask, const Scalar& value) const {
    Call call("aten.masked_fill.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(mask);
    call.add(value);
    return call.one();
}
Tensor Tensor::masked_fill_(const Tensor& mask, const Scalar& value) const {
    Call call("aten.masked_fill_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(mask);
    call.add(value);
    call.in_place(*this);
    return *this;
}
Tensor masked_fill(const Tensor& self, const Tensor& mask, const Tensor& value) {
    Call call("aten.masked_fill.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(mask);
    call.add(value);
    return call.one();
}
Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const {
    Call call("aten.masked_fill.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(mask);
    call.add(value);
    return call.one();
}
Tensor Tensor::masked_fill_(const Tensor& mask, const Tensor& value) const {
    Call call("aten.masked_fill_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(mask);
    call.add(value);
    call.in_place(*this);
    return *this;
}
Tensor matmul(const Tensor& self, const Tensor& other) {
    Call call("aten.matmul.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::matmul(const Tensor& other) const {
    Call call("aten.matmul.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor max(const Tensor& self) {
    Call call("aten.max.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::max() const {
    Call call("aten.max.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
std::tuple<Tensor, Tensor> max(const Tensor& self, std::int64_t dim, bool keepdim) {
    Call call("aten.max.dim", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::max(std::int64_t dim, bool keepdim) const {
    Call call("aten.max.dim", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.tuple<2>();
}
Tensor max(const Tensor& self, const Tensor& other) {
    Call call("aten.max.other", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::max(const Tensor& other) const {
    Call call("aten.max.other", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor max_pool1d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) {
    Call call("aten.max_pool1d.default", __builtin_return_address(0));
    call.add(self);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.one();
}
Tensor Tensor::max_pool1d(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const {
    Call call("aten.max_pool1d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.one();
}
std::tuple<Tensor, Tensor> max_pool1d_with_indices(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) {
    Call call("aten.max_pool1d_with_indices.default", __builtin_return_address(0));
    call.add(self);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::max_pool1d_with_indices(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const {
    Call call("aten.max_pool1d_with_indices.default", __builtin_return_address(0));
    call.add(*this);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.tuple<2>();
}
Tensor max_pool2d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) {
    Call call("aten.max_pool2d.default", __builtin_return_address(0));
    call.add(self);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.one();
}
Tensor Tensor::max_pool2d(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const {
    Call call("aten.max_pool2d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.one();
}
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) {
    Call call("aten.max_pool2d_with_indices.default", __builtin_return_address(0));
    call.add(self);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::max_pool2d_with_indices(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const {
    Call call("aten.max_pool2d_with_indices.default", __builtin_return_address(0));
    call.add(*this);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.tuple<2>();
}
Tensor max_pool2d_with_indices_backward(const Tensor& grad_output, const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode, const Tensor& indices) {
    Call call("aten.max_pool2d_with_indices_backward.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(self);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    call.add(indices);
    return call.one();
}
Tensor max_pool3d(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) {
    Call call("aten.max_pool3d.default", __builtin_return_address(0));
    call.add(self);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.one();
}
Tensor Tensor::max_pool3d(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const {
    Call call("aten.max_pool3d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.one();
}
std::tuple<Tensor, Tensor> max_pool3d_with_indices(const Tensor& self, const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) {
    Call call("aten.max_pool3d_with_indices.default", __builtin_return_address(0));
    call.add(self);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::max_pool3d_with_indices(const IntList& kernel_size, const IntList& stride, const IntList& padding, const IntList& dilation, bool ceil_mode) const {
    Call call("aten.max_pool3d_with_indices.default", __builtin_return_address(0));
    call.add(*this);
    call.add(kernel_size);
    call.add(stride);
    call.add(padding);
    call.add(dilation);
    call.add(ceil_mode);
    return call.tuple<2>();
}
Tensor maximum(const Tensor& self, const Tensor& other) {
    Call call("aten.maximum.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::maximum(const Tensor& other) const {
    Call call("aten.maximum.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor mean(const Tensor& self, std::optional<ScalarType> dtype) {
    Call call("aten.mean.default", __builtin_return_address(0));
    call.add(self);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::mean(std::optional<ScalarType> dtype) const {
    Call call("aten.mean.default", __builtin_return_address(0));
    call.add(*this);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor mean(const Tensor& self, const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) {
    Call call("aten.mean.dim", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::mean(const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) const {
    Call call("aten.mean.dim", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor median(const Tensor& self) {
    Call call("aten.median.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::median() const {
    Call call("aten.median.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
std::tuple<Tensor, Tensor> median(const Tensor& self, std::int64_t dim, bool keepdim) {
    Call call("aten.median.dim", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::median(std::int64_t dim, bool keepdim) const {
    Call call("aten.median.dim", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.tuple<2>();
}
TensorList meshgrid(const TensorList& tensors) {
    Call call("aten.meshgrid.default", __builtin_return_address(0));
    call.add(tensors);
    return call.list();
}
TensorList meshgrid(const TensorList& tensors, const std::string& indexing) {
    Call call("aten.meshgrid.indexing", __builtin_return_address(0));
    call.add(tensors);
    call.keyword("indexing", indexing);
    return call.list();
}
Tensor min(const Tensor& self) {
    Call call("aten.min.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::min() const {
    Call call("aten.min.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
std::tuple<Tensor, Tensor> min(const Tensor& self, std::int64_t dim, bool keepdim) {
    Call call("aten.min.dim", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::min(std::int64_t dim, bool keepdim) const {
    Call call("aten.min.dim", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    return call.tuple<2>();
}
Tensor min(const Tensor& self, const Tensor& other) {
    Call call("aten.min.other", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::min(const Tensor& other) const {
    Call call("aten.min.other", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor minimum(const Tensor& self, const Tensor& other) {
    Call call("aten.minimum.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::minimum(const Tensor& other) const {
    Call call("aten.minimum.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor mish(const Tensor& self) {
    Call call("aten.mish.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::mish() const {
    Call call("aten.mish.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::mish_() const {
    Call call("aten.mish_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor mm(const Tensor& self, const Tensor& mat2) {
    Call call("aten.mm.default", __builtin_return_address(0));
    call.add(self);
    call.add(mat2);
    return call.one();
}
Tensor Tensor::mm(const Tensor& mat2) const {
    Call call("aten.mm.default", __builtin_return_address(0));
    call.add(*this);
    call.add(mat2);
    return call.one();
}
Tensor movedim(const Tensor& self, std::int64_t source, std::int64_t destination) {
    Call call("aten.movedim.int", __builtin_return_address(0));
    call.add(self);
    call.add(source);
    call.add(destination);
    return call.one();
}
Tensor Tensor::movedim(std::int64_t source, std::int64_t destination) const {
    Call call("aten.movedim.int", __builtin_return_address(0));
    call.add(*this);
    call.add(source);
    call.add(destination);
    return call.one();
}
Tensor movedim(const Tensor& self, const IntList& source, const IntList& destination) {
    Call call("aten.movedim.intlist", __builtin_return_address(0));
    call.add(self);
    call.add(source);
    call.add(destination);
    return call.one();
}
Tensor Tensor::movedim(const IntList& source, const IntList& destination) const {
    Call call("aten.movedim.intlist", __builtin_return_address(0));
    call.add(*this);
    call.add(source);
    call.add(destination);
    return call.one();
}
Tensor mse_loss(const Tensor& self, const Tensor& target, std::int64_t reduction) {
    Call call("aten.mse_loss.default", __builtin_return_address(0));
    call.add(self);
    call.add(target);
    call.add(reduction);
    return call.one();
}
Tensor Tensor::mse_loss(const Tensor& target, std::int64_t reduction) const {
    Call call("aten.mse_loss.default", __builtin_return_address(0));
    call.add(*this);
    call.add(target);
    call.add(reduction);
    return call.one();
}
Tensor mse_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, std::int64_t reduction) {
    Call call("aten.mse_loss_backward.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(self);
    call.add(target);
    call.add(reduction);
    return call.one();
}
Tensor mul(const Tensor& self, const Scalar& other) {
    Call call("aten.mul.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::mul(const Scalar& other) const {
    Call call("aten.mul.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::mul_(const Scalar& other) const {
    Call call("aten.mul_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor mul(const Tensor& self, const Tensor& other) {
    Call call("aten.mul.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::mul(const Tensor& other) const {
    Call call("aten.mul.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::mul_(const Tensor& other) const {
    Call call("aten.mul_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor mv(const Tensor& self, const Tensor& vec) {
    Call call("aten.mv.default", __builtin_return_address(0));
    call.add(self);
    call.add(vec);
    return call.one();
}
Tensor Tensor::mv(const Tensor& vec) const {
    Call call("aten.mv.default", __builtin_return_address(0));
    call.add(*this);
    call.add(vec);
    return call.one();
}
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) {
    Call call("aten.narrow.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(start);
    call.add(length);
    return call.one();
}
Tensor Tensor::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const {
    Call call("aten.narrow.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(start);
    call.add(length);
    return call.one();
}
std::tuple<Tensor, Tensor> native_dropout(const Tensor& input, double p, std::optional<bool> train) {
    Call call("aten.native_dropout.default", __builtin_return_address(0));
    call.add(input);
    call.add(p);
    call.add(train);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor, Tensor> native_group_norm(const Tensor& input, const OptionalTensor& weight, const OptionalTensor& bias, std::int64_t N, std::int64_t C, std::int64_t HxW, std::int64_t group, double eps) {
    Call call("aten.native_group_norm.default", __builtin_return_address(0));
    call.add(input);
    call.add(weight);
    call.add(bias);
    call.add(N);
    call.add(C);
    call.add(HxW);
    call.add(group);
    call.add(eps);
    return call.tuple<3>();
}
std::tuple<Tensor, Tensor, Tensor> native_layer_norm(const Tensor& input, const IntList& normalized_shape, const OptionalTensor& weight, const OptionalTensor& bias, double eps) {
    Call call("aten.native_layer_norm.default", __builtin_return_address(0));
    call.add(input);
    call.add(normalized_shape);
    call.add(weight);
    call.add(bias);
    call.add(eps);
    return call.tuple<3>();
}
Tensor ne(const Tensor& self, const Scalar& other) {
    Call call("aten.ne.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::ne(const Scalar& other) const {
    Call call("aten.ne.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::ne_(const Scalar& other) const {
    Call call("aten.ne_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor ne(const Tensor& self, const Tensor& other) {
    Call call("aten.ne.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::ne(const Tensor& other) const {
    Call call("aten.ne.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::ne_(const Tensor& other) const {
    Call call("aten.ne_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor neg(const Tensor& self) {
    Call call("aten.neg.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::neg() const {
    Call call("aten.neg.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::neg_() const {
    Call call("aten.neg_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor new_full(const Tensor& self, const IntList& size, const Scalar& fill_value, std::optional<ScalarType> dtype) {
    Call call("aten.new_full.default", __builtin_return_address(0));
    call.add(self);
    call.add(size);
    call.add(fill_value);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::new_full(const IntList& size, const Scalar& fill_value, std::optional<ScalarType> dtype) const {
    Call call("aten.new_full.default", __builtin_return_address(0));
    call.add(*this);
    call.add(size);
    call.add(fill_value);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor new_ones(const Tensor& self, const IntList& size, std::optional<ScalarType> dtype) {
    Call call("aten.new_ones.default", __builtin_return_address(0));
    call.add(self);
    call.add(size);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::new_ones(const IntList& size, std::optional<ScalarType> dtype) const {
    Call call("aten.new_ones.default", __builtin_return_address(0));
    call.add(*this);
    call.add(size);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor new_zeros(const Tensor& self, const IntList& size, std::optional<ScalarType> dtype) {
    Call call("aten.new_zeros.default", __builtin_return_address(0));
    call.add(self);
    call.add(size);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::new_zeros(const IntList& size, std::optional<ScalarType> dtype) const {
    Call call("aten.new_zeros.default", __builtin_return_address(0));
    call.add(*this);
    call.add(size);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor nll_loss(const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index) {
    Call call("aten.nll_loss.default", __builtin_return_address(0));
    call.add(self);
    call.add(target);
    call.add(weight);
    call.add(reduction);
    call.add(ignore_index);
    return call.one();
}
Tensor Tensor::nll_loss(const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index) const {
    Call call("aten.nll_loss.default", __builtin_return_address(0));
    call.add(*this);
    call.add(target);
    call.add(weight);
    call.add(reduction);
    call.add(ignore_index);
    return call.one();
}
Tensor nll_loss_backward(const Tensor& grad_output, const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index, const Tensor& total_weight) {
    Call call("aten.nll_loss_backward.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(self);
    call.add(target);
    call.add(weight);
    call.add(reduction);
    call.add(ignore_index);
    call.add(total_weight);
    return call.one();
}
std::tuple<Tensor, Tensor> nll_loss_forward(const Tensor& self, const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index) {
    Call call("aten.nll_loss_forward.default", __builtin_return_address(0));
    call.add(self);
    call.add(target);
    call.add(weight);
    call.add(reduction);
    call.add(ignore_index);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::nll_loss_forward(const Tensor& target, const OptionalTensor& weight, std::int64_t reduction, std::int64_t ignore_index) const {
    Call call("aten.nll_loss_forward.default", __builtin_return_address(0));
    call.add(*this);
    call.add(target);
    call.add(weight);
    call.add(reduction);
    call.add(ignore_index);
    return call.tuple<2>();
}
Tensor norm(const Tensor& self, const Scalar& p) {
    Call call("aten.norm.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(p);
    return call.one();
}
Tensor Tensor::norm(const Scalar& p) const {
    Call call("aten.norm.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(p);
    return call.one();
}
Tensor norm(const Tensor& self, const std::optional<Scalar>& p, const IntList& dim, bool keepdim) {
    Call call("aten.norm.ScalarOpt_dim", __builtin_return_address(0));
    call.add(self);
    call.add(p);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::norm(const std::optional<Scalar>& p, const IntList& dim, bool keepdim) const {
    Call call("aten.norm.ScalarOpt_dim", __builtin_return_address(0));
    call.add(*this);
    call.add(p);
    call.add(dim);
    call.add(keepdim);
    return call.one();
}
Tensor one_hot(const Tensor& self, std::int64_t num_classes) {
    Call call("aten.one_hot.default", __builtin_return_address(0));
    call.add(self);
    call.add(num_classes);
    return call.one();
}
Tensor Tensor::one_hot(std::int64_t num_classes) const {
    Call call("aten.one_hot.default", __builtin_return_address(0));
    call.add(*this);
    call.add(num_classes);
    return call.one();
}
Tensor ones(const IntList& size, std::optional<ScalarType> dtype) {
    Call call("aten.ones.default", __builtin_return_address(0));
    call.add(size);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor ones_like(const Tensor& self, std::optional<ScalarType> dtype) {
    Call call("aten.ones_like.default", __builtin_return_address(0));
    call.add(self);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::ones_like(std::optional<ScalarType> dtype) const {
    Call call("aten.ones_like.default", __builtin_return_address(0));
    call.add(*this);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor outer(const Tensor& self, const Tensor& vec2) {
    Call call("aten.outer.default", __builtin_return_address(0));
    call.add(self);
    call.add(vec2);
    return call.one();
}
Tensor Tensor::outer(const Tensor& vec2) const {
    Call call("aten.outer.default", __builtin_return_address(0));
    call.add(*this);
    call.add(vec2);
    return call.one();
}
Tensor pad(const Tensor& self, const IntList& pad, const std::string& mode, std::optional<double> value) {
    Call call("aten.pad.default", __builtin_return_address(0));
    call.add(self);
    call.add(pad);
    call.add(mode);
    call.add(value);
    return call.one();
}
Tensor Tensor::pad(const IntList& pad, const std::string& mode, std::optional<double> value) const {
    Call call("aten.pad.default", __builtin_return_address(0));
    call.add(*this);
    call.add(pad);
    call.add(mode);
    call.add(value);
    return call.one();
}
Tensor permute(const Tensor& self, const IntList& dims) {
    Call call("aten.permute.default", __builtin_return_address(0));
    call.add(self);
    call.add(dims);
    return call.one();
}
Tensor Tensor::permute(const IntList& dims) const {
    Call call("aten.permute.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dims);
    return call.one();
}
Tensor pixel_shuffle(const Tensor& self, std::int64_t upscale_factor) {
    Call call("aten.pixel_shuffle.default", __builtin_return_address(0));
    call.add(self);
    call.add(upscale_factor);
    return call.one();
}
Tensor Tensor::pixel_shuffle(std::int64_t upscale_factor) const {
    Call call("aten.pixel_shuffle.default", __builtin_return_address(0));
    call.add(*this);
    call.add(upscale_factor);
    return call.one();
}
Tensor pixel_unshuffle(const Tensor& self, std::int64_t downscale_factor) {
    Call call("aten.pixel_unshuffle.default", __builtin_return_address(0));
    call.add(self);
    call.add(downscale_factor);
    return call.one();
}
Tensor Tensor::pixel_unshuffle(std::int64_t downscale_factor) const {
    Call call("aten.pixel_unshuffle.default", __builtin_return_address(0));
    call.add(*this);
    call.add(downscale_factor);
    return call.one();
}
Tensor pow(const Scalar& self, const Tensor& exponent) {
    Call call("aten.pow.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(exponent);
    return call.one();
}
Tensor pow(const Tensor& self, const Scalar& exponent) {
    Call call("aten.pow.Tensor_Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(exponent);
    return call.one();
}
Tensor Tensor::pow(const Scalar& exponent) const {
    Call call("aten.pow.Tensor_Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(exponent);
    return call.one();
}
Tensor Tensor::pow_(const Scalar& exponent) const {
    Call call("aten.pow_.Tensor_Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(exponent);
    call.in_place(*this);
    return *this;
}
Tensor pow(const Tensor& self, const Tensor& exponent) {
    Call call("aten.pow.Tensor_Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(exponent);
    return call.one();
}
Tensor Tensor::pow(const Tensor& exponent) const {
    Call call("aten.pow.Tensor_Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(exponent);
    return call.one();
}
Tensor Tensor::pow_(const Tensor& exponent) const {
    Call call("aten.pow_.Tensor_Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(exponent);
    call.in_place(*this);
    return *this;
}
Tensor prod(const Tensor& self, std::optional<ScalarType> dtype) {
    Call call("aten.prod.default", __builtin_return_address(0));
    call.add(self);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::prod(std::optional<ScalarType> dtype) const {
    Call call("aten.prod.default", __builtin_return_address(0));
    call.add(*this);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor prod(const Tensor& self, std::int64_t dim, bool keepdim, std::optional<ScalarType> dtype) {
    Call call("aten.prod.dim_int", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::prod(std::int64_t dim, bool keepdim, std::optional<ScalarType> dtype) const {
    Call call("aten.prod.dim_int", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor rand(const IntList& size, std::optional<ScalarType> dtype) {
    Call call("aten.rand.default", __builtin_return_address(0));
    call.add(size);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor rand_like(const Tensor& self, std::optional<ScalarType> dtype) {
    Call call("aten.rand_like.default", __builtin_return_address(0));
    call.add(self);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::rand_like(std::optional<ScalarType> dtype) const {
    Call call("aten.rand_like.default", __builtin_return_address(0));
    call.add(*this);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor randint(std::int64_t high, const IntList& size, std::optional<ScalarType> dtype) {
    Call call("aten.randint.default", __builtin_return_address(0));
    call.add(high);
    call.add(size);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor randint(std::int64_t low, std::int64_t high, const IntList& size, std::optional<ScalarType> dtype) {
    Call call("aten.randint.low", __builtin_return_address(0));
    call.add(low);
    call.add(high);
    call.add(size);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor randn(const IntList& size, std::optional<ScalarType> dtype) {
    Call call("aten.randn.default", __builtin_return_address(0));
    call.add(size);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor randn_like(const Tensor& self, std::optional<ScalarType> dtype) {
    Call call("aten.randn_like.default", __builtin_return_address(0));
    call.add(self);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::randn_like(std::optional<ScalarType> dtype) const {
    Call call("aten.randn_like.default", __builtin_return_address(0));
    call.add(*this);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor randperm(std::int64_t n, std::optional<ScalarType> dtype) {
    Call call("aten.randperm.default", __builtin_return_address(0));
    call.add(n);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor reciprocal(const Tensor& self) {
    Call call("aten.reciprocal.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::reciprocal() const {
    Call call("aten.reciprocal.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::reciprocal_() const {
    Call call("aten.reciprocal_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor reflection_pad1d(const Tensor& self, const IntList& padding) {
    Call call("aten.reflection_pad1d.default", __builtin_return_address(0));
    call.add(self);
    call.add(padding);
    return call.one();
}
Tensor Tensor::reflection_pad1d(const IntList& padding) const {
    Call call("aten.reflection_pad1d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(padding);
    return call.one();
}
Tensor reflection_pad2d(const Tensor& self, const IntList& padding) {
    Call call("aten.reflection_pad2d.default", __builtin_return_address(0));
    call.add(self);
    call.add(padding);
    return call.one();
}
Tensor Tensor::reflection_pad2d(const IntList& padding) const {
    Call call("aten.reflection_pad2d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(padding);
    return call.one();
}
Tensor reflection_pad3d(const Tensor& self, const IntList& padding) {
    Call call("aten.reflection_pad3d.default", __builtin_return_address(0));
    call.add(self);
    call.add(padding);
    return call.one();
}
Tensor Tensor::reflection_pad3d(const IntList& padding) const {
    Call call("aten.reflection_pad3d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(padding);
    return call.one();
}
Tensor relu(const Tensor& self) {
    Call call("aten.relu.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::relu() const {
    Call call("aten.relu.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::relu_() const {
    Call call("aten.relu_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor relu6(const Tensor& self) {
    Call call("aten.relu6.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::relu6() const {
    Call call("aten.relu6.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::relu6_() const {
    Call call("aten.relu6_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor remainder(const Tensor& self, const Scalar& other) {
    Call call("aten.remainder.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::remainder(const Scalar& other) const {
    Call call("aten.remainder.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::remainder_(const Scalar& other) const {
    Call call("aten.remainder_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor remainder(const Tensor& self, const Tensor& other) {
    Call call("aten.remainder.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::remainder(const Tensor& other) const {
    Call call("aten.remainder.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
Tensor Tensor::remainder_(const Tensor& other) const {
    Call call("aten.remainder_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.in_place(*this);
    return *this;
}
Tensor repeat(const Tensor& self, const IntList& repeats) {
    Call call("aten.repeat.default", __builtin_return_address(0));
    call.add(self);
    call.add(repeats);
    return call.one();
}
Tensor Tensor::repeat(const IntList& repeats) const {
    Call call("aten.repeat.default", __builtin_return_address(0));
    call.add(*this);
    call.add(repeats);
    return call.one();
}
Tensor repeat_interleave(const Tensor& self, std::int64_t repeats, std::optional<std::int64_t> dim, std::optional<std::int64_t> output_size) {
    Call call("aten.repeat_interleave.self_int", __builtin_return_address(0));
    call.add(self);
    call.add(repeats);
    call.add(dim);
    call.keyword("output_size", output_size);
    return call.one();
}
Tensor Tensor::repeat_interleave(std::int64_t repeats, std::optional<std::int64_t> dim, std::optional<std::int64_t> output_size) const {
    Call call("aten.repeat_interleave.self_int", __builtin_return_address(0));
    call.add(*this);
    call.add(repeats);
    call.add(dim);
    call.keyword("output_size", output_size);
    return call.one();
}
Tensor replication_pad1d(const Tensor& self, const IntList& padding) {
    Call call("aten.replication_pad1d.default", __builtin_return_address(0));
    call.add(self);
    call.add(padding);
    return call.one();
}
Tensor Tensor::replication_pad1d(const IntList& padding) const {
    Call call("aten.replication_pad1d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(padding);
    return call.one();
}
Tensor replication_pad2d(const Tensor& self, const IntList& padding) {
    Call call("aten.replication_pad2d.default", __builtin_return_address(0));
    call.add(self);
    call.add(padding);
    return call.one();
}
Tensor Tensor::replication_pad2d(const IntList& padding) const {
    Call call("aten.replication_pad2d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(padding);
    return call.one();
}
Tensor replication_pad3d(const Tensor& self, const IntList& padding) {
    Call call("aten.replication_pad3d.default", __builtin_return_address(0));
    call.add(self);
    call.add(padding);
    return call.one();
}
Tensor Tensor::replication_pad3d(const IntList& padding) const {
    Call call("aten.replication_pad3d.default", __builtin_return_address(0));
    call.add(*this);
    call.add(padding);
    return call.one();
}
Tensor reshape(const Tensor& self, const IntList& shape) {
    Call call("aten.reshape.default", __builtin_return_address(0));
    call.add(self);
    call.add(shape);
    return call.one();
}
Tensor Tensor::reshape(const IntList& shape) const {
    Call call("aten.reshape.default", __builtin_return_address(0));
    call.add(*this);
    call.add(shape);
    return call.one();
}
Tensor rms_norm(const Tensor& input, const IntList& normalized_shape, const OptionalTensor& weight, std::optional<double> eps) {
    Call call("aten.rms_norm.default", __builtin_return_address(0));
    call.add(input);
    call.add(normalized_shape);
    call.add(weight);
    call.add(eps);
    return call.one();
}
std::tuple<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
    Call call("aten.rnn_relu.input", __builtin_return_address(0));
    call.add(input);
    call.add(hx);
    call.add(params);
    call.add(has_biases);
    call.add(num_layers);
    call.add(dropout);
    call.add(train);
    call.add(bidirectional);
    call.add(batch_first);
    return call.tuple<2>();
}
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
    Call call("aten.rnn_relu_cell.default", __builtin_return_address(0));
    call.add(input);
    call.add(hx);
    call.add(w_ih);
    call.add(w_hh);
    call.add(b_ih);
    call.add(b_hh);
    return call.one();
}
std::tuple<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx, const TensorList& params, bool has_biases, std::int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
    Call call("aten.rnn_tanh.input", __builtin_return_address(0));
    call.add(input);
    call.add(hx);
    call.add(params);
    call.add(has_biases);
    call.add(num_layers);
    call.add(dropout);
    call.add(train);
    call.add(bidirectional);
    call.add(batch_first);
    return call.tuple<2>();
}
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh, const OptionalTensor& b_ih, const OptionalTensor& b_hh) {
    Call call("aten.rnn_tanh_cell.default", __builtin_return_address(0));
    call.add(input);
    call.add(hx);
    call.add(w_ih);
    call.add(w_hh);
    call.add(b_ih);
    call.add(b_hh);
    return call.one();
}
Tensor roll(const Tensor& self, const IntList& shifts, const IntList& dims) {
    Call call("aten.roll.default", __builtin_return_address(0));
    call.add(self);
    call.add(shifts);
    call.add(dims);
    return call.one();
}
Tensor Tensor::roll(const IntList& shifts, const IntList& dims) const {
    Call call("aten.roll.default", __builtin_return_address(0));
    call.add(*this);
    call.add(shifts);
    call.add(dims);
    return call.one();
}
Tensor round(const Tensor& self) {
    Call call("aten.round.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::round() const {
    Call call("aten.round.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::round_() const {
    Call call("aten.round_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor rsqrt(const Tensor& self) {
    Call call("aten.rsqrt.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::rsqrt() const {
    Call call("aten.rsqrt.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::rsqrt_() const {
    Call call("aten.rsqrt_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
    Call call("aten.rsub.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    call.add(alpha);
    return call.one();
}
Tensor Tensor::rsub(const Scalar& other, const Scalar& alpha) const {
    Call call("aten.rsub.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.add(alpha);
    return call.one();
}
Tensor rsub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
    Call call("aten.rsub.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::rsub(const Tensor& other, const Scalar& alpha) const {
    Call call("aten.rsub.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const OptionalTensor& attn_mask, double dropout_p, bool is_causal, std::optional<double> scale, bool enable_gqa) {
    Call call("aten.scaled_dot_product_attention.default", __builtin_return_address(0));
    call.add(query);
    call.add(key);
    call.add(value);
    call.add(attn_mask);
    call.add(dropout_p);
    call.add(is_causal);
    call.keyword("scale", scale);
    call.keyword("enable_gqa", enable_gqa);
    return call.one();
}
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
    Call call("aten.scatter.src", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(index);
    call.add(src);
    return call.one();
}
Tensor Tensor::scatter(std::int64_t dim, const Tensor& index, const Tensor& src) const {
    Call call("aten.scatter.src", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    call.add(src);
    return call.one();
}
Tensor Tensor::scatter_(std::int64_t dim, const Tensor& index, const Tensor& src) const {
    Call call("aten.scatter_.src", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    call.add(src);
    call.in_place(*this);
    return *this;
}
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Scalar& value) {
    Call call("aten.scatter.value", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(index);
    call.add(value);
    return call.one();
}
Tensor Tensor::scatter(std::int64_t dim, const Tensor& index, const Scalar& value) const {
    Call call("aten.scatter.value", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    call.add(value);
    return call.one();
}
Tensor Tensor::scatter_(std::int64_t dim, const Tensor& index, const Scalar& value) const {
    Call call("aten.scatter_.value", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    call.add(value);
    call.in_place(*this);
    return *this;
}
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
    Call call("aten.scatter_add.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(index);
    call.add(src);
    return call.one();
}
Tensor Tensor::scatter_add(std::int64_t dim, const Tensor& index, const Tensor& src) const {
    Call call("aten.scatter_add.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    call.add(src);
    return call.one();
}
Tensor Tensor::scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& src) const {
    Call call("aten.scatter_add_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    call.add(src);
    call.in_place(*this);
    return *this;
}
Tensor scatter_reduce(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce, bool include_self) {
    Call call("aten.scatter_reduce.two", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(index);
    call.add(src);
    call.add(reduce);
    call.keyword("include_self", include_self);
    return call.one();
}
Tensor Tensor::scatter_reduce(std::int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce, bool include_self) const {
    Call call("aten.scatter_reduce.two", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    call.add(src);
    call.add(reduce);
    call.keyword("include_self", include_self);
    return call.one();
}
Tensor Tensor::scatter_reduce_(std::int64_t dim, const Tensor& index, const Tensor& src, const std::string& reduce, bool include_self) const {
    Call call("aten.scatter_reduce_.two", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    call.add(src);
    call.add(reduce);
    call.keyword("include_self", include_self);
    call.in_place(*this);
    return *this;
}
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right, const std::optional<std::string>& side, const OptionalTensor& sorter) {
    Call call("aten.searchsorted.Tensor", __builtin_return_address(0));
    call.add(sorted_sequence);
    call.add(self);
    call.keyword("out_int32", out_int32);
    call.keyword("right", right);
    call.keyword("side", side);
    call.keyword("sorter", sorter);
    return call.one();
}
Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index) {
    Call call("aten.select.int", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(index);
    return call.one();
}
Tensor Tensor::select(std::int64_t dim, std::int64_t index) const {
    Call call("aten.select.int", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(index);
    return call.one();
}
Tensor select_backward(const Tensor& grad_output, const IntList& input_sizes, std::int64_t dim, std::int64_t index) {
    Call call("aten.select_backward.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(input_sizes);
    call.add(dim);
    call.add(index);
    return call.one();
}
Tensor select_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::int64_t index) {
    Call call("aten.select_scatter.default", __builtin_return_address(0));
    call.add(self);
    call.add(src);
    call.add(dim);
    call.add(index);
    return call.one();
}
Tensor Tensor::select_scatter(const Tensor& src, std::int64_t dim, std::int64_t index) const {
    Call call("aten.select_scatter.default", __builtin_return_address(0));
    call.add(*this);
    call.add(src);
    call.add(dim);
    call.add(index);
    return call.one();
}
Tensor selu(const Tensor& self) {
    Call call("aten.selu.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::selu() const {
    Call call("aten.selu.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::selu_() const {
    Call call("aten.selu_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor sigmoid(const Tensor& self) {
    Call call("aten.sigmoid.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::sigmoid() const {
    Call call("aten.sigmoid.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::sigmoid_() const {
    Call call("aten.sigmoid_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& output) {
    Call call("aten.sigmoid_backward.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(output);
    return call.one();
}
Tensor sign(const Tensor& self) {
    Call call("aten.sign.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::sign() const {
    Call call("aten.sign.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::sign_() const {
    Call call("aten.sign_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor silu(const Tensor& self) {
    Call call("aten.silu.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::silu() const {
    Call call("aten.silu.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::silu_() const {
    Call call("aten.silu_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor sin(const Tensor& self) {
    Call call("aten.sin.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::sin() const {
    Call call("aten.sin.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::sin_() const {
    Call call("aten.sin_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor sinh(const Tensor& self) {
    Call call("aten.sinh.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::sinh() const {
    Call call("aten.sinh.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::sinh_() const {
    Call call("aten.sinh_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor slice(const Tensor& self, std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step) {
    Call call("aten.slice.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(start);
    call.add(end);
    call.add(step);
    return call.one();
}
Tensor Tensor::slice(std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step) const {
    Call call("aten.slice.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(start);
    call.add(end);
    call.add(step);
    return call.one();
}
Tensor slice_backward(const Tensor& grad_output, const IntList& input_sizes, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
    Call call("aten.slice_backward.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(input_sizes);
    call.add(dim);
    call.add(start);
    call.add(end);
    call.add(step);
    return call.one();
}
Tensor slice_scatter(const Tensor& self, const Tensor& src, std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step) {
    Call call("aten.slice_scatter.default", __builtin_return_address(0));
    call.add(self);
    call.add(src);
    call.add(dim);
    call.add(start);
    call.add(end);
    call.add(step);
    return call.one();
}
Tensor Tensor::slice_scatter(const Tensor& src, std::int64_t dim, std::optional<std::int64_t> start, std::optional<std::int64_t> end, std::int64_t step) const {
    Call call("aten.slice_scatter.default", __builtin_return_address(0));
    call.add(*this);
    call.add(src);
    call.add(dim);
    call.add(start);
    call.add(end);
    call.add(step);
    return call.one();
}
Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype) {
    Call call("aten.softmax.int", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(dtype);
    return call.one();
}
Tensor Tensor::softmax(std::int64_t dim, std::optional<ScalarType> dtype) const {
    Call call("aten.softmax.int", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(dtype);
    return call.one();
}
Tensor softplus(const Tensor& self, const Scalar& beta, const Scalar& threshold) {
    Call call("aten.softplus.default", __builtin_return_address(0));
    call.add(self);
    call.add(beta);
    call.add(threshold);
    return call.one();
}
Tensor Tensor::softplus(const Scalar& beta, const Scalar& threshold) const {
    Call call("aten.softplus.default", __builtin_return_address(0));
    call.add(*this);
    call.add(beta);
    call.add(threshold);
    return call.one();
}
std::tuple<Tensor, Tensor> sort(const Tensor& self, std::int64_t dim, bool descending) {
    Call call("aten.sort.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(descending);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::sort(std::int64_t dim, bool descending) const {
    Call call("aten.sort.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(descending);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> sort(const Tensor& self, std::optional<bool> stable, std::int64_t dim, bool descending) {
    Call call("aten.sort.stable", __builtin_return_address(0));
    call.add(self);
    call.keyword("stable", stable);
    call.keyword("dim", dim);
    call.keyword("descending", descending);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::sort(std::optional<bool> stable, std::int64_t dim, bool descending) const {
    Call call("aten.sort.stable", __builtin_return_address(0));
    call.add(*this);
    call.keyword("stable", stable);
    call.keyword("dim", dim);
    call.keyword("descending", descending);
    return call.tuple<2>();
}
TensorList split(const Tensor& self, std::int64_t split_size, std::int64_t dim) {
    Call call("aten.split.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(split_size);
    call.add(dim);
    return call.list();
}
TensorList Tensor::split(std::int64_t split_size, std::int64_t dim) const {
    Call call("aten.split.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(split_size);
    call.add(dim);
    return call.list();
}
TensorList split_with_sizes(const Tensor& self, const IntList& split_sizes, std::int64_t dim) {
    Call call("aten.split_with_sizes.default", __builtin_return_address(0));
    call.add(self);
    call.add(split_sizes);
    call.add(dim);
    return call.list();
}
TensorList Tensor::split_with_sizes(const IntList& split_sizes, std::int64_t dim) const {
    Call call("aten.split_with_sizes.default", __builtin_return_address(0));
    call.add(*this);
    call.add(split_sizes);
    call.add(dim);
    return call.list();
}
Tensor sqrt(const Tensor& self) {
    Call call("aten.sqrt.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::sqrt() const {
    Call call("aten.sqrt.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::sqrt_() const {
    Call call("aten.sqrt_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor square(const Tensor& self) {
    Call call("aten.square.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::square() const {
    Call call("aten.square.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::square_() const {
    Call call("aten.square_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor squeeze(const Tensor& self) {
    Call call("aten.squeeze.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::squeeze() const {
    Call call("aten.squeeze.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor squeeze(const Tensor& self, std::int64_t dim) {
    Call call("aten.squeeze.dim", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    return call.one();
}
Tensor Tensor::squeeze(std::int64_t dim) const {
    Call call("aten.squeeze.dim", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    return call.one();
}
Tensor squeeze(const Tensor& self, const IntList& dim) {
    Call call("aten.squeeze.dims", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    return call.one();
}
Tensor Tensor::squeeze(const IntList& dim) const {
    Call call("aten.squeeze.dims", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    return call.one();
}
Tensor stack(const TensorList& tensors, std::int64_t dim) {
    Call call("aten.stack.default", __builtin_return_address(0));
    call.add(tensors);
    call.add(dim);
    return call.one();
}
Tensor std(const Tensor& self, const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) {
    Call call("aten.std.correction", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.keyword("correction", correction);
    call.keyword("keepdim", keepdim);
    return call.one();
}
Tensor Tensor::std(const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) const {
    Call call("aten.std.correction", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.keyword("correction", correction);
    call.keyword("keepdim", keepdim);
    return call.one();
}
Tensor std(const Tensor& self, bool unbiased) {
    Call call("aten.std.default", __builtin_return_address(0));
    call.add(self);
    call.add(unbiased);
    return call.one();
}
Tensor Tensor::std(bool unbiased) const {
    Call call("aten.std.default", __builtin_return_address(0));
    call.add(*this);
    call.add(unbiased);
    return call.one();
}
Tensor std(const Tensor& self, const IntList& dim, bool unbiased, bool keepdim) {
    Call call("aten.std.dim", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(unbiased);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::std(const IntList& dim, bool unbiased, bool keepdim) const {
    Call call("aten.std.dim", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(unbiased);
    call.add(keepdim);
    return call.one();
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& self, const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) {
    Call call("aten.std_mean.correction", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.keyword("correction", correction);
    call.keyword("keepdim", keepdim);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::std_mean(const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) const {
    Call call("aten.std_mean.correction", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.keyword("correction", correction);
    call.keyword("keepdim", keepdim);
    return call.tuple<2>();
}
Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha) {
    Call call("aten.sub.Scalar", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    call.add(alpha);
    return call.one();
}
Tensor Tensor::sub(const Scalar& other, const Scalar& alpha) const {
    Call call("aten.sub.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.add(alpha);
    return call.one();
}
Tensor Tensor::sub_(const Scalar& other, const Scalar& alpha) const {
    Call call("aten.sub_.Scalar", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.add(alpha);
    call.in_place(*this);
    return *this;
}
Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha) {
    Call call("aten.sub.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::sub(const Tensor& other, const Scalar& alpha) const {
    Call call("aten.sub.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.keyword("alpha", alpha);
    return call.one();
}
Tensor Tensor::sub_(const Tensor& other, const Scalar& alpha) const {
    Call call("aten.sub_.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.keyword("alpha", alpha);
    call.in_place(*this);
    return *this;
}
Tensor sum(const Tensor& self, std::optional<ScalarType> dtype) {
    Call call("aten.sum.default", __builtin_return_address(0));
    call.add(self);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::sum(std::optional<ScalarType> dtype) const {
    Call call("aten.sum.default", __builtin_return_address(0));
    call.add(*this);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor sum(const Tensor& self, const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) {
    Call call("aten.sum.dim_IntList", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(keepdim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::sum(const IntList& dim, bool keepdim, std::optional<ScalarType> dtype) const {
    Call call("aten.sum.dim_IntList", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(keepdim);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor t(const Tensor& self) {
    Call call("aten.t.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::t() const {
    Call call("aten.t.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor take(const Tensor& self, const Tensor& index) {
    Call call("aten.take.default", __builtin_return_address(0));
    call.add(self);
    call.add(index);
    return call.one();
}
Tensor Tensor::take(const Tensor& index) const {
    Call call("aten.take.default", __builtin_return_address(0));
    call.add(*this);
    call.add(index);
    return call.one();
}
Tensor take_along_dim(const Tensor& self, const Tensor& indices, std::optional<std::int64_t> dim) {
    Call call("aten.take_along_dim.default", __builtin_return_address(0));
    call.add(self);
    call.add(indices);
    call.add(dim);
    return call.one();
}
Tensor Tensor::take_along_dim(const Tensor& indices, std::optional<std::int64_t> dim) const {
    Call call("aten.take_along_dim.default", __builtin_return_address(0));
    call.add(*this);
    call.add(indices);
    call.add(dim);
    return call.one();
}
Tensor tan(const Tensor& self) {
    Call call("aten.tan.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::tan() const {
    Call call("aten.tan.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::tan_() const {
    Call call("aten.tan_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor tanh(const Tensor& self) {
    Call call("aten.tanh.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::tanh() const {
    Call call("aten.tanh.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::tanh_() const {
    Call call("aten.tanh_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor tanh_backward(const Tensor& grad_output, const Tensor& output) {
    Call call("aten.tanh_backward.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(output);
    return call.one();
}
Tensor tensordot(const Tensor& self, const Tensor& other, const IntList& dims_self, const IntList& dims_other) {
    Call call("aten.tensordot.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    call.add(dims_self);
    call.add(dims_other);
    return call.one();
}
Tensor Tensor::tensordot(const Tensor& other, const IntList& dims_self, const IntList& dims_other) const {
    Call call("aten.tensordot.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    call.add(dims_self);
    call.add(dims_other);
    return call.one();
}
Tensor threshold_backward(const Tensor& grad_output, const Tensor& self, const Scalar& threshold) {
    Call call("aten.threshold_backward.default", __builtin_return_address(0));
    call.add(grad_output);
    call.add(self);
    call.add(threshold);
    return call.one();
}
Tensor tile(const Tensor& self, const IntList& dims) {
    Call call("aten.tile.default", __builtin_return_address(0));
    call.add(self);
    call.add(dims);
    return call.one();
}
Tensor Tensor::tile(const IntList& dims) const {
    Call call("aten.tile.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dims);
    return call.one();
}
Tensor to(const Tensor& self, ScalarType dtype, bool copy) {
    Call call("aten.to.dtype", __builtin_return_address(0));
    call.add(self);
    call.add(dtype);
    call.keyword("copy", copy);
    return call.one();
}
Tensor Tensor::to(ScalarType dtype, bool copy) const {
    Call call("aten.to.dtype", __builtin_return_address(0));
    call.add(*this);
    call.add(dtype);
    call.keyword("copy", copy);
    return call.one();
}
std::tuple<Tensor, Tensor> topk(const Tensor& self, std::int64_t k, std::int64_t dim, bool largest, bool sorted) {
    Call call("aten.topk.default", __builtin_return_address(0));
    call.add(self);
    call.add(k);
    call.add(dim);
    call.add(largest);
    call.add(sorted);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::topk(std::int64_t k, std::int64_t dim, bool largest, bool sorted) const {
    Call call("aten.topk.default", __builtin_return_address(0));
    call.add(*this);
    call.add(k);
    call.add(dim);
    call.add(largest);
    call.add(sorted);
    return call.tuple<2>();
}
Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
    Call call("aten.transpose.int", __builtin_return_address(0));
    call.add(self);
    call.add(dim0);
    call.add(dim1);
    return call.one();
}
Tensor Tensor::transpose(std::int64_t dim0, std::int64_t dim1) const {
    Call call("aten.transpose.int", __builtin_return_address(0));
    call.add(*this);
    call.add(dim0);
    call.add(dim1);
    return call.one();
}
Tensor tril(const Tensor& self, std::int64_t diagonal) {
    Call call("aten.tril.default", __builtin_return_address(0));
    call.add(self);
    call.add(diagonal);
    return call.one();
}
Tensor Tensor::tril(std::int64_t diagonal) const {
    Call call("aten.tril.default", __builtin_return_address(0));
    call.add(*this);
    call.add(diagonal);
    return call.one();
}
Tensor Tensor::tril_(std::int64_t diagonal) const {
    Call call("aten.tril_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(diagonal);
    call.in_place(*this);
    return *this;
}
Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<ScalarType> dtype) {
    Call call("aten.tril_indices.default", __builtin_return_address(0));
    call.add(row);
    call.add(col);
    call.add(offset);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor triu(const Tensor& self, std::int64_t diagonal) {
    Call call("aten.triu.default", __builtin_return_address(0));
    call.add(self);
    call.add(diagonal);
    return call.one();
}
Tensor Tensor::triu(std::int64_t diagonal) const {
    Call call("aten.triu.default", __builtin_return_address(0));
    call.add(*this);
    call.add(diagonal);
    return call.one();
}
Tensor Tensor::triu_(std::int64_t diagonal) const {
    Call call("aten.triu_.default", __builtin_return_address(0));
    call.add(*this);
    call.add(diagonal);
    call.in_place(*this);
    return *this;
}
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset, std::optional<ScalarType> dtype) {
    Call call("aten.triu_indices.default", __builtin_return_address(0));
    call.add(row);
    call.add(col);
    call.add(offset);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor trunc(const Tensor& self) {
    Call call("aten.trunc.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::trunc() const {
    Call call("aten.trunc.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::trunc_() const {
    Call call("aten.trunc_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor type_as(const Tensor& self, const Tensor& other) {
    Call call("aten.type_as.default", __builtin_return_address(0));
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor Tensor::type_as(const Tensor& other) const {
    Call call("aten.type_as.default", __builtin_return_address(0));
    call.add(*this);
    call.add(other);
    return call.one();
}
TensorList unbind(const Tensor& self, std::int64_t dim) {
    Call call("aten.unbind.int", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    return call.list();
}
TensorList Tensor::unbind(std::int64_t dim) const {
    Call call("aten.unbind.int", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    return call.list();
}
Tensor unflatten(const Tensor& self, std::int64_t dim, const IntList& sizes) {
    Call call("aten.unflatten.int", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(sizes);
    return call.one();
}
Tensor Tensor::unflatten(std::int64_t dim, const IntList& sizes) const {
    Call call("aten.unflatten.int", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(sizes);
    return call.one();
}
Tensor unfold(const Tensor& self, std::int64_t dimension, std::int64_t size, std::int64_t step) {
    Call call("aten.unfold.default", __builtin_return_address(0));
    call.add(self);
    call.add(dimension);
    call.add(size);
    call.add(step);
    return call.one();
}
Tensor Tensor::unfold(std::int64_t dimension, std::int64_t size, std::int64_t step) const {
    Call call("aten.unfold.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dimension);
    call.add(size);
    call.add(step);
    return call.one();
}
TensorList unsafe_chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) {
    Call call("aten.unsafe_chunk.default", __builtin_return_address(0));
    call.add(self);
    call.add(chunks);
    call.add(dim);
    return call.list();
}
TensorList Tensor::unsafe_chunk(std::int64_t chunks, std::int64_t dim) const {
    Call call("aten.unsafe_chunk.default", __builtin_return_address(0));
    call.add(*this);
    call.add(chunks);
    call.add(dim);
    return call.list();
}
TensorList unsafe_split(const Tensor& self, std::int64_t split_size, std::int64_t dim) {
    Call call("aten.unsafe_split.Tensor", __builtin_return_address(0));
    call.add(self);
    call.add(split_size);
    call.add(dim);
    return call.list();
}
TensorList Tensor::unsafe_split(std::int64_t split_size, std::int64_t dim) const {
    Call call("aten.unsafe_split.Tensor", __builtin_return_address(0));
    call.add(*this);
    call.add(split_size);
    call.add(dim);
    return call.list();
}
TensorList unsafe_split_with_sizes(const Tensor& self, const IntList& split_sizes, std::int64_t dim) {
    Call call("aten.unsafe_split_with_sizes.default", __builtin_return_address(0));
    call.add(self);
    call.add(split_sizes);
    call.add(dim);
    return call.list();
}
TensorList Tensor::unsafe_split_with_sizes(const IntList& split_sizes, std::int64_t dim) const {
    Call call("aten.unsafe_split_with_sizes.default", __builtin_return_address(0));
    call.add(*this);
    call.add(split_sizes);
    call.add(dim);
    return call.list();
}
Tensor unsqueeze(const Tensor& self, std::int64_t dim) {
    Call call("aten.unsqueeze.default", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    return call.one();
}
Tensor Tensor::unsqueeze(std::int64_t dim) const {
    Call call("aten.unsqueeze.default", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    return call.one();
}
Tensor upsample_bilinear2d(const Tensor& input, const IntList& output_size, bool align_corners, const FloatList& scale_factors) {
    Call call("aten.upsample_bilinear2d.vec", __builtin_return_address(0));
    call.add(input);
    call.add(output_size);
    call.add(align_corners);
    call.add(scale_factors);
    return call.one();
}
Tensor upsample_linear1d(const Tensor& input, const IntList& output_size, bool align_corners, const FloatList& scale_factors) {
    Call call("aten.upsample_linear1d.vec", __builtin_return_address(0));
    call.add(input);
    call.add(output_size);
    call.add(align_corners);
    call.add(scale_factors);
    return call.one();
}
Tensor upsample_nearest1d(const Tensor& input, const IntList& output_size, const FloatList& scale_factors) {
    Call call("aten.upsample_nearest1d.vec", __builtin_return_address(0));
    call.add(input);
    call.add(output_size);
    call.add(scale_factors);
    return call.one();
}
Tensor upsample_nearest2d(const Tensor& input, const IntList& output_size, const FloatList& scale_factors) {
    Call call("aten.upsample_nearest2d.vec", __builtin_return_address(0));
    call.add(input);
    call.add(output_size);
    call.add(scale_factors);
    return call.one();
}
Tensor upsample_nearest3d(const Tensor& input, const IntList& output_size, const FloatList& scale_factors) {
    Call call("aten.upsample_nearest3d.vec", __builtin_return_address(0));
    call.add(input);
    call.add(output_size);
    call.add(scale_factors);
    return call.one();
}
Tensor var(const Tensor& self, const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) {
    Call call("aten.var.correction", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.keyword("correction", correction);
    call.keyword("keepdim", keepdim);
    return call.one();
}
Tensor Tensor::var(const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) const {
    Call call("aten.var.correction", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.keyword("correction", correction);
    call.keyword("keepdim", keepdim);
    return call.one();
}
Tensor var(const Tensor& self, bool unbiased) {
    Call call("aten.var.default", __builtin_return_address(0));
    call.add(self);
    call.add(unbiased);
    return call.one();
}
Tensor Tensor::var(bool unbiased) const {
    Call call("aten.var.default", __builtin_return_address(0));
    call.add(*this);
    call.add(unbiased);
    return call.one();
}
Tensor var(const Tensor& self, const IntList& dim, bool unbiased, bool keepdim) {
    Call call("aten.var.dim", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.add(unbiased);
    call.add(keepdim);
    return call.one();
}
Tensor Tensor::var(const IntList& dim, bool unbiased, bool keepdim) const {
    Call call("aten.var.dim", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.add(unbiased);
    call.add(keepdim);
    return call.one();
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& self, const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) {
    Call call("aten.var_mean.correction", __builtin_return_address(0));
    call.add(self);
    call.add(dim);
    call.keyword("correction", correction);
    call.keyword("keepdim", keepdim);
    return call.tuple<2>();
}
std::tuple<Tensor, Tensor> Tensor::var_mean(const IntList& dim, const std::optional<Scalar>& correction, bool keepdim) const {
    Call call("aten.var_mean.correction", __builtin_return_address(0));
    call.add(*this);
    call.add(dim);
    call.keyword("correction", correction);
    call.keyword("keepdim", keepdim);
    return call.tuple<2>();
}
Tensor view(const Tensor& self, const IntList& size) {
    Call call("aten.view.default", __builtin_return_address(0));
    call.add(self);
    call.add(size);
    return call.one();
}
Tensor Tensor::view(const IntList& size) const {
    Call call("aten.view.default", __builtin_return_address(0));
    call.add(*this);
    call.add(size);
    return call.one();
}
Tensor vstack(const TensorList& tensors) {
    Call call("aten.vstack.default", __builtin_return_address(0));
    call.add(tensors);
    return call.one();
}
Tensor where(const Tensor& condition, const Scalar& self, const Scalar& other) {
    Call call("aten.where.Scalar", __builtin_return_address(0));
    call.add(condition);
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other) {
    Call call("aten.where.ScalarOther", __builtin_return_address(0));
    call.add(condition);
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other) {
    Call call("aten.where.ScalarSelf", __builtin_return_address(0));
    call.add(condition);
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other) {
    Call call("aten.where.self", __builtin_return_address(0));
    call.add(condition);
    call.add(self);
    call.add(other);
    return call.one();
}
Tensor zero(const Tensor& self) {
    Call call("aten.zero.default", __builtin_return_address(0));
    call.add(self);
    return call.one();
}
Tensor Tensor::zero() const {
    Call call("aten.zero.default", __builtin_return_address(0));
    call.add(*this);
    return call.one();
}
Tensor Tensor::zero_() const {
    Call call("aten.zero_.default", __builtin_return_address(0));
    call.add(*this);
    call.in_place(*this);
    return *this;
}
Tensor zeros(const IntList& size, std::optional<ScalarType> dtype) {
    Call call("aten.zeros.default", __builtin_return_address(0));
    call.add(size);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor zeros_like(const Tensor& self, std::optional<ScalarType> dtype) {
    Call call("aten.zeros_like.default", __builtin_return_address(0));
    call.add(self);
    call.keyword("dtype", dtype);
    return call.one();
}
Tensor Tensor::zeros_like(std::optional<ScalarType> dtype) const {
    Call call("aten.zeros_like.default", __builtin_return_address(0));
    call.add(*this);
    call.keyword("dtype", dtype);
    return call.one();
}

}  // namespace whittle::api

// The ops whose results do not lie row by row, by the rule of ATen that says how they lie. Ops that are missing here
// give contiguous results, or views. A test holds all against LibTorch (test/backends/libtorch/strides_test.cpp).
#include "ops/core/layout.h"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <string>

#include "ops/core/dense.h"

namespace whittle {
namespace {

/// The tensors among the arguments, in the schema's order.
std::vector<ValueMeta> tensor_operands(const Arguments<ValueMeta>& arguments) {
    std::vector<ValueMeta> operands;
    for (const Arg& argument : arguments.bound()) {
        if (const NodeRef* ref = argument.node()) operands.push_back(arguments.value(*ref));
        if (const ArgList* list = argument.list())
            for (const Arg& element : *list)
                if (const NodeRef* ref = element.node()) operands.push_back(arguments.value(*ref));
    }
    return operands;
}

void keep_order(ValueMeta& result, const std::vector<ValueMeta>& operands) {
    std::vector<ValueMeta> elements;
    for (const ValueMeta& operand : operands)
        if (expands_to(operand.sizes, result.sizes)) elements.push_back(operand);
    result.strides = pointwise_strides(result.sizes, elements);
}

/// Row by row, where the parts of a composite lie otherwise.
void of_rows(const Arguments<ValueMeta>&, std::vector<ValueMeta>& results) {
    for (ValueMeta& result : results) result.strides = contiguous_strides(result.sizes);
}

/// at::TensorIterator over all operands that have the result's elements.
void of_all_operands(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    for (ValueMeta& result : results) keep_order(result, tensor_operands(arguments));
}

/// As the elements of the given operands lie, the first before the others. Of one operand: empty_like() with
/// MemoryFormat::Preserve.
template <std::size_t... kOperands>
void of_operand(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    const std::vector<ValueMeta> operands = tensor_operands(arguments);
    std::vector<ValueMeta> first;
    for (const std::size_t i : {kOperands...})
        if (i < operands.size()) first.push_back(operands[i]);  // not given as a number
    for (ValueMeta& result : results) keep_order(result, first);
}

/// The angles of complex numbers are written row by row.
void of_angle(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    if (!is_complex(arguments.tensor("self").dtype)) of_operand<0>(arguments, results);
}

/// The operand itself where it is real.
void of_conjugate(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    const ValueMeta self = arguments.tensor("self");
    if (is_complex(self.dtype)) return of_operand<0>(arguments, results);
    results.at(0).strides = self.strides;
}

/// By the argument memory_format; without one as the first operand's elements lie.
void of_format(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    const std::string format = arguments.has("memory_format") ? arguments.text("memory_format") : "preserve_format";
    if (format == "preserve_format") of_operand<0>(arguments, results);
    if (format.starts_with("channels_last")) results.at(0).strides = channels_last_strides(results.at(0).sizes);
}

/// The operand itself where nothing changes.
void of_conversion(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    if (arguments.boolean("copy") || results.at(0).dtype != arguments.tensor("self").dtype)
        of_format(arguments, results);
}

/// The operand that a kernel of images takes its format from.
ValueMeta image_operand(const Arguments<ValueMeta>& arguments) {
    for (const char* name : {"self", "input"})
        if (arguments.schema().param(name)) return arguments.tensor(name);
    return tensor_operands(arguments).at(0);
}

/// Channels last if suggest_memory_format() of the image is, else contiguous.
void of_image(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    const bool last = suggests_channels_last(image_operand(arguments));
    for (ValueMeta& result : results)
        result.strides =
            last && result.sizes.size() >= 4 ? channels_last_strides(result.sizes) : contiguous_strides(result.sizes);
}

/// Three dimensions as the four of an image of one row, which kernels of lines compute with: unsqueeze(2).
ValueMeta as_image(ValueMeta line) {
    if (line.sizes.size() != 3) return line;
    line.strides.insert(line.strides.begin() + 2, line.sizes[2] * line.strides[2]);
    line.sizes.insert(line.sizes.begin() + 2, 1);
    return line;
}

/// An image or line of `dims` dimensions, with or without a batch, channels last or row by row.
void lay_image(ValueMeta& result, bool channels_last, std::size_t dims) {
    ValueMeta image = ValueMeta::contiguous(result.dtype, result.sizes);
    if (image.sizes.size() == dims + 1) image.sizes.insert(image.sizes.begin(), 1);
    if (dims == 1) image.sizes.insert(image.sizes.begin() + 2, 1);
    if (channels_last && image.sizes.size() == 4) {
        image.strides = channels_last_strides(image.sizes);
        if (dims == 1) image.strides.erase(image.strides.begin() + 2);
        if (result.sizes.size() == dims + 1) image.strides.erase(image.strides.begin());
    }
    result.strides = image.strides;
}

/// of_image() of lines.
void of_line(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    const bool last = suggests_channels_last(as_image(image_operand(arguments)));
    for (ValueMeta& result : results) lay_image(result, last, 1);
}

/// In two dimensions channels last if the image or the kernels are; of lines the kernels alone decide. Others, and what
/// is transposed, lie row by row (LibTorch 1.13 on a CPU).
void of_convolution(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    const Schema& schema = arguments.schema();
    const ValueMeta input = arguments.tensor("input"), weight = arguments.tensor("weight");
    const std::size_t dims = weight.sizes.size() - 2;
    const bool transposed =
        schema.param("transposed") ? arguments.boolean("transposed") : schema.name.starts_with("conv_transpose");
    const bool last = !transposed && dims < 3 &&
                      (suggests_channels_last(as_image(weight)) || (dims == 2 && suggests_channels_last(input)));
    for (ValueMeta& result : results)
        if (result.sizes.size() > dims) lay_image(result, last, dims);
}

/// Channels last if all that is joined is.
void of_joined(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    if (std::ranges::all_of(tensor_operands(arguments), suggests_channels_last))
        results.at(0).strides = channels_last_strides(results.at(0).sizes);
}

void exchange(ValueMeta& result, std::size_t a, std::size_t b) {
    std::vector<std::size_t> order(result.sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order.at(a), order.at(b));
    result.strides = dense_strides(result.sizes, order);
}

/// LAPACK's matrices lie column by column; a vector has no columns.
template <std::size_t... kResults>
void of_columns(const Arguments<ValueMeta>&, std::vector<ValueMeta>& results) {
    for (const std::size_t i : {kResults...})
        if (const std::size_t rank = results.at(i).sizes.size(); rank >= 2) exchange(results[i], rank - 1, rank - 2);
}

/// The solution from the right is computed of transposed matrices.
void of_solution(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    arguments.boolean("left") ? of_columns<0, 1>(arguments, results) : of_columns<1>(arguments, results);
}

/// By factors that are there already: from the right, the last product lies row by row.
void of_equations(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    arguments.boolean("left") ? of_columns<0>(arguments, results) : of_rows(arguments, results);
}
void of_least_squares(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    if (arguments.tensor("self").sizes.size() == arguments.tensor("b").sizes.size()) of_columns<0>(arguments, results);
}

/// One dimension after the other.
void of_positions(const Arguments<ValueMeta>&, std::vector<ValueMeta>& results) { exchange(results.at(0), 0, 1); }

/// Elements move along two dimensions, and then these are seen exchanged.
void of_rotation(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    ValueMeta self = arguments.tensor("self");
    const std::int64_t turns = (arguments.integer("k") % 4 + 4) % 4,
                       rank = static_cast<std::int64_t>(self.sizes.size());
    if (turns == 0) return of_rows(arguments, results);
    results.at(0).strides = pointwise_strides(self.sizes, std::span(&self, 1));
    const std::vector<std::int64_t> dims = arguments.integers("dims");
    if (turns != 2)
        std::swap(results[0].strides[static_cast<std::size_t>(wrap_dim(dims.at(0), rank))],
                  results[0].strides[static_cast<std::size_t>(wrap_dim(dims.at(1), rank))]);
}

/// Steps lie outside of sequences, though the result has the sequences first.
void of_sequences(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    if (arguments.boolean("batch_first") && results.at(0).sizes.size() > 2) exchange(results[0], 0, 1);
}

/// The dimensions of `self` that a list of indices leaves as they are, and where the indices' own come in: where those
/// that are indexed lie side by side in their place, else in front (at::native::make_info in
/// TensorAdvancedIndexing.cpp).
void of_index(const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    const ValueMeta self = arguments.tensor("self");
    ValueMeta& result = results.at(0);
    std::vector<ValueMeta> indices;
    std::vector<std::size_t> kept, indexed;
    std::size_t dim = 0;
    for (const std::optional<ValueMeta>& index : arguments.optional_tensors("indices")) {
        if (!index) {
            kept.push_back(dim++);
            continue;
        }
        const std::size_t covered = index->dtype == DType::boolean ? index->sizes.size() : 1;
        for (std::size_t i = 0; i < covered; ++i) indexed.push_back(dim++);
        if (index->dtype != DType::boolean) indices.push_back(*index);
    }
    while (dim < self.sizes.size()) kept.push_back(dim++);
    if (indexed.empty()) return;
    const bool side_by_side = indexed.back() - indexed.front() + 1 == indexed.size();
    const std::size_t before = side_by_side ? indexed.front() : 0, own = result.sizes.size() - kept.size();
    ValueMeta seen = self;
    seen.sizes = result.sizes;
    seen.strides.assign(result.sizes.size(), 0);
    for (std::size_t i = 0; i < kept.size(); ++i) seen.strides[i < before ? i : i + own] = self.strides[kept[i]];
    std::vector<ValueMeta> operands = {seen};
    for (ValueMeta& index : indices) {
        const std::size_t behind = result.sizes.size() - before - own;
        index.sizes.resize(index.sizes.size() + behind, 1);
        index.strides.resize(index.sizes.size(), 0);
        operands.push_back(index);
    }
    result.strides = pointwise_strides(result.sizes, operands);
}

struct Family {
    LayoutFn layout;
    std::string_view ops;  ///< "abs add.Tensor": without "aten." and ".default"
};

constexpr Family kFamilies[] = {
    {of_all_operands,
     "__lshift__.Scalar __lshift__.Tensor __rshift__.Scalar __rshift__.Tensor abs acos acosh add.Scalar "
     "add.Tensor addcdiv addcmul asin asinh atan atan2 atanh binary_cross_entropy bitwise_and.Scalar "
     "bitwise_and.Tensor bitwise_left_shift.Tensor bitwise_left_shift.Tensor_Scalar bitwise_not "
     "bitwise_or.Scalar bitwise_or.Tensor bitwise_right_shift.Tensor bitwise_right_shift.Tensor_Scalar "
     "bitwise_xor.Scalar bitwise_xor.Tensor ceil celu clamp clamp.Tensor clamp_max clamp_min complex "
     "copysign.Tensor cos cosh deg2rad div.Scalar div.Scalar_mode div.Tensor div.Tensor_mode elu elu_backward "
     "eq.Scalar eq.Tensor erf erfc erfinv exp exp2 expm1 floor floor_divide floor_divide.Scalar fmax fmin fmod.Scalar "
     "fmod.Tensor frac frexp.Tensor gcd ge.Scalar ge.Tensor gelu gelu_backward gt.Scalar gt.Tensor hardshrink "
     "hardshrink_backward hardsigmoid hardsigmoid_backward hardswish hardswish_backward hardtanh "
     "hardtanh_backward heaviside hypot i0 igamma igammac isfinite isinf isnan lcm le.Scalar le.Tensor leaky_relu "
     "lerp.Scalar "
     "lerp.Tensor lgamma log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or "
     "logical_xor logit logit_backward lt.Scalar lt.Tensor max.other maximum min.other minimum mish "
     "mish_backward mul.Scalar mul.Tensor nan_to_num ne.Scalar ne.Tensor neg nextafter polar pow.Tensor_Scalar "
     "pow.Tensor_Tensor rad2deg reciprocal relu relu6 remainder.Scalar remainder.Tensor round round.decimals "
     "rsqrt rsub.Scalar selu sgn sigmoid sigmoid_backward sign silu silu_backward sin sinc sinh "
     "soft_margin_loss special_airy_ai special_bessel_j0 special_bessel_j1 special_bessel_y0 special_bessel_y1 "
     "special_chebyshev_polynomial_t special_chebyshev_polynomial_u special_chebyshev_polynomial_v "
     "special_chebyshev_polynomial_w special_hermite_polynomial_h special_hermite_polynomial_he "
     "special_laguerre_polynomial_l special_legendre_polynomial_p special_shifted_chebyshev_polynomial_t "
     "special_shifted_chebyshev_polynomial_u special_shifted_chebyshev_polynomial_v "
     "special_shifted_chebyshev_polynomial_w "
     "special_erfcx special_i0e special_i1 special_i1e special_log_ndtr special_modified_bessel_i0 "
     "special_modified_bessel_i1 special_modified_bessel_k0 special_modified_bessel_k1 special_ndtri "
     "special_scaled_modified_bessel_k0 special_scaled_modified_bessel_k1 special_spherical_bessel_j0 special_zeta "
     "softplus softplus_backward softshrink softshrink_backward sqrt square sub.Scalar "
     "sub.Tensor tan tanh tanh_backward threshold trunc where.Scalar where.ScalarOther where.ScalarSelf "
     "where.self xlogy.Scalar_Other xlogy.Tensor"},
    {of_format,
     "_to_copy clone contiguous empty_like full_like ones_like rand_like randint_like "
     "randint_like.low_dtype randn_like zeros_like"},
    {of_conversion, "to.dtype"},
    {of_operand<0>,
     "_conj addr copy diagonal_scatter fill.Scalar fill.Tensor flip index_fill.int_Scalar "
     "index_fill.int_Tensor index_put lift_fresh_copy linalg_matrix_exp native_dropout put sort sort.stable zero"},
    {of_operand<1>, "_weight_norm_interface_backward binary_cross_entropy_backward gru_cell"},
    {of_operand<1, 0>, "hinge_embedding_loss leaky_relu_backward rsub.Tensor threshold_backward"},
    {of_angle, "angle"},
    {of_conjugate, "conj conj_physical"},
    {of_rotation, "rot90"},
    {of_positions, "nonzero argwhere"},
    {of_rows,
     "_ctc_loss_backward _log_softmax_backward_data _softmax_backward_data _weight_norm_interface addbmm "
     "grid_sampler_2d_backward grid_sampler_3d_backward huber_loss_backward instance_norm kthvalue log_sigmoid "
     "log_sigmoid_forward masked_scatter max_pool1d mse_loss_backward mvlgamma native_group_norm_backward "
     "native_layer_norm_backward normal.Tensor_Tensor normal.Tensor_float normal.float_Tensor pow.Scalar renorm "
     "smooth_l1_loss_backward"},
    {of_convolution,
     "_convolution _convolution.deprecated conv1d conv2d conv3d conv_transpose1d conv_transpose2d.input "
     "conv_transpose3d.input convolution convolution_backward"},
    {of_line, "adaptive_avg_pool1d adaptive_max_pool1d avg_pool1d max_pool1d_with_indices"},
    {of_joined, "cat"},
    {of_index, "index.Tensor"},
    {of_sequences, "_pack_padded_sequence_backward gru.input lstm.input rnn_relu.input rnn_tanh.input"},
    {of_columns<0>,
     "geqrf linalg_cholesky_ex linalg_householder_product linalg_inv_ex linalg_ldl_factor_ex linalg_ldl_solve "
     "linalg_lu_factor_ex linalg_solve_triangular "
     "lu_solve ormqr"},
    {of_columns<0, 1>, "linalg_qr triangular_solve"},
    {of_columns<0, 2>, "_linalg_svd"},
    {of_solution, "_linalg_solve_ex"},
    {of_equations, "linalg_lu_solve"},
    {of_least_squares, "linalg_lstsq"},
    {of_columns<1>, "_linalg_det _linalg_eigh linalg_eig"},
    {of_columns<2>, "_linalg_slogdet"},
    {of_image,
     "_adaptive_avg_pool2d _adaptive_avg_pool2d_backward _native_batch_norm_legit.no_stats "
     "_native_batch_norm_legit_no_training _upsample_bilinear2d_aa _upsample_bilinear2d_aa.vec "
     "_upsample_bilinear2d_aa_backward _upsample_bilinear2d_aa_backward.vec _upsample_nearest_exact2d "
     "_upsample_nearest_exact2d.vec _upsample_nearest_exact2d_backward _upsample_nearest_exact2d_backward.vec "
     "_upsample_nearest_exact3d _upsample_nearest_exact3d.vec adaptive_max_pool2d adaptive_max_pool2d_backward "
     "avg_pool2d avg_pool2d_backward batch_norm bernoulli channel_shuffle constant_pad_nd "
     "max_pool2d_with_indices max_pool2d_with_indices_backward max_unpool2d native_batch_norm "
     "native_batch_norm_backward native_group_norm pixel_shuffle pixel_unshuffle prelu prelu_backward "
     "upsample_bilinear2d upsample_bilinear2d.vec upsample_bilinear2d_backward "
     "upsample_bilinear2d_backward.vec upsample_nearest2d upsample_nearest2d.vec upsample_nearest2d_backward "
     "upsample_nearest2d_backward.vec upsample_nearest3d upsample_nearest3d.vec upsample_trilinear3d "
     "upsample_trilinear3d.vec upsample_trilinear3d_backward upsample_trilinear3d_backward.vec"},
};

}  // namespace

std::vector<std::pair<std::string, LayoutFn>> op_layouts() {
    std::vector<std::pair<std::string, LayoutFn>> layouts;
    for (const Family& family : kFamilies) {
        std::istringstream ops{std::string(family.ops)};
        for (std::string op; ops >> op;) layouts.emplace_back(target_of("aten", op), family.layout);
    }
    return layouts;
}

}  // namespace whittle

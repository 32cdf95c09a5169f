// Names that PyTorch has for one op, see ops/core/other_names.h:
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/native_functions.yaml
#include "ops/core/other_names.h"

namespace whittle {

std::span<const OtherName> other_names() {
    static constexpr OtherName kNames[] = {
        // As NumPy calls them.
        {"absolute", "abs"},
        {"arccos", "acos"},
        {"arccosh", "acosh"},
        {"arcsin", "asin"},
        {"arcsinh", "asinh"},
        {"arctan", "atan"},
        {"arctan2", "atan2"},
        {"arctanh", "atanh"},
        {"clip", "clamp"},
        {"concat(Tensor[] tensors, int dim=0) -> Tensor", "cat"},
        {"concatenate(Tensor[] tensors, int dim=0) -> Tensor", "cat"},
        {"divide", "div"},
        {"fix", "trunc"},
        {"ger", "outer"},
        {"greater", "gt"},
        {"greater_equal", "ge"},
        {"less", "lt"},
        {"less_equal", "le"},
        {"moveaxis", "movedim"},
        {"multiply", "mul"},
        {"negative", "neg"},
        {"not_equal", "ne"},
        {"row_stack", "vstack"},
        {"subtract", "sub"},
        {"swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", "transpose.int"},
        {"swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "transpose.int"},
        {"true_divide.Tensor(Tensor self, Tensor other) -> Tensor", "div.Tensor"},
        {"true_divide.Scalar(Tensor self, Scalar other) -> Tensor", "div.Scalar"},

        // Python's operators.
        {"__and__", "bitwise_and"},
        {"__or__", "bitwise_or"},
        {"__xor__", "bitwise_xor"},

        // torch.special.
        {"special_erf", "erf"},
        {"special_erfc", "erfc"},
        {"special_exp2", "exp2"},
        {"special_expit", "sigmoid"},
        {"special_expm1", "expm1"},
        {"special_gammaln", "lgamma"},
        {"special_log1p", "log1p"},
        {"special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "log_softmax.int"},
        {"special_logit", "logit"},
        {"special_logsumexp", "logsumexp"},
        {"special_round(Tensor self, *, int decimals=0) -> Tensor", "round.decimals"},
        {"special_sinc", "sinc"},
        {"special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", "softmax.int"},
        {"special_xlogy(Tensor self, Tensor other) -> Tensor", "xlogy.Tensor"},
        {"special_xlogy.other_scalar(Tensor self, Scalar other) -> Tensor", "xlogy.Scalar_Other"},
        {"special_xlogy.self_scalar(Scalar self, Tensor other) -> Tensor", "xlogy.Tensor"},

        // torch.linalg, and what it was called before.
        {"det(Tensor self) -> Tensor", "_linalg_det"},
        {"inverse(Tensor self) -> Tensor", "linalg_inv_ex"},
        {"linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", "linalg_cholesky_ex"},
        {"linalg_det(Tensor A) -> Tensor", "_linalg_det"},
        {"linalg_eigh(Tensor self, str UPLO=\"L\") -> (Tensor eigenvalues, Tensor eigenvectors)", "_linalg_eigh"},
        {"linalg_inv(Tensor A) -> Tensor", "linalg_inv_ex"},
        {"linalg_matmul(Tensor self, Tensor other) -> Tensor", "matmul"},
        {"linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", "_linalg_slogdet"},
        {"linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", "_linalg_solve_ex"},
        {"slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", "_linalg_slogdet"},

        // A number in the place of a tensor, or the other way round.
        {"bitwise_and.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "bitwise_and.Tensor"},
        {"bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "bitwise_left_shift.Tensor"},
        {"bitwise_or.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "bitwise_or.Tensor"},
        {"bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "bitwise_right_shift.Tensor"},
        {"bitwise_xor.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "bitwise_xor.Tensor"},
        {"clamp_max.Tensor(Tensor self, Tensor max) -> Tensor", "minimum"},
        {"clamp_min.Tensor(Tensor self, Tensor min) -> Tensor", "maximum"},
        {"copysign.Scalar(Tensor self, Scalar other) -> Tensor", "copysign.Tensor"},
        {"remainder.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", "remainder.Tensor"},
        {"xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor", "xlogy.Tensor"},

        // Copies of views.
        {"alias_copy", "alias"},
        {"as_strided_copy", "as_strided"},
        {"detach_copy", "detach"},
        {"diagonal_copy", "diagonal"},
        {"expand_copy", "expand"},
        {"permute_copy", "permute"},
        {"select_copy", "select"},
        {"slice_copy", "slice"},
        {"split_copy", "split"},
        {"split_with_sizes_copy", "split_with_sizes"},
        {"squeeze_copy", "squeeze"},
        {"t_copy", "t"},
        {"transpose_copy", "transpose"},
        {"unbind_copy", "unbind"},
        {"unfold_copy", "unfold"},
        {"unsqueeze_copy", "unsqueeze"},
        {"view_as_complex_copy", "view_as_complex"},
        {"view_as_real_copy", "view_as_real"},
        {"view_copy", "view"},

        // What some backends, or callers, call something else.
        {"_is_all_true(Tensor self) -> Tensor", "all"},
        {"_is_any_true(Tensor self) -> Tensor", "any"},
        {"_stack(Tensor[] tensors, int dim=0) -> Tensor", "stack"},
        {"_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)", "as_strided"},
        {"_unsafe_index", "index"},
        {"_unsafe_index_put", "index_put"},
        {"broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", "expand"},
        {"lift_fresh(Tensor(a) self) -> Tensor(a)", "alias"},
        {"native_channel_shuffle", "channel_shuffle"},
        {"nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> "
         "Tensor",
         "nll_loss2d_forward"},
        {"pdist(Tensor self, float p=2) -> Tensor", "_pdist_forward"},
        {"pin_memory(Tensor(a) self) -> Tensor(a)", "alias"},
        {"split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]", "split_with_sizes"},

        // In-place views, see RegisteredOp::replaces_operand().
        {"as_strided_", "as_strided"},
        {"detach_", "detach"},
        {"squeeze_", "squeeze"},
        {"swapaxes_(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", "transpose.int"},
        {"swapdims_(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "transpose.int"},
        {"t_", "t"},
        {"transpose_(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "transpose.int"},
        {"unsqueeze_", "unsqueeze"},

        // In-place forms whose overloads are called otherwise than those of what they compute.
        {"__iand__.Scalar", "bitwise_and_.Scalar"},
        {"__iand__.Tensor", "bitwise_and_.Tensor"},
        {"__ilshift__.Scalar", "__lshift___.Scalar"},
        {"__ilshift__.Tensor", "__lshift___.Tensor"},
        {"__ior__.Scalar", "bitwise_or_.Scalar"},
        {"__ior__.Tensor", "bitwise_or_.Tensor"},
        {"__irshift__.Scalar", "__rshift___.Scalar"},
        {"__irshift__.Tensor", "__rshift___.Tensor"},
        {"__ixor__.Scalar", "bitwise_xor_.Scalar"},
        {"__ixor__.Tensor", "bitwise_xor_.Tensor"},
        {"bernoulli_.float", "bernoulli_.p"},
        {"floor_divide_.Tensor", "floor_divide_.default"},
        {"pow_.Scalar", "pow_.Tensor_Scalar"},
        {"pow_.Tensor", "pow_.Tensor_Tensor"},
    };
    return kNames;
}

}  // namespace whittle

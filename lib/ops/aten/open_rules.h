// When results of ATen's ops are open: the rules for OpDef::open that several families have, each after the
// documentation that the op's `doc` names. Which element PyTorch takes of several that are equal (topk, sort, kthvalue)
// is not among them.
#pragma once

#include "ops/core/op.h"
#include "ops/core/open_rules.h"

namespace whittle::aten_open {

using Operands = Arguments<Tensor>;

/// `index` along `dim` of `self`: of gather, and of those that write or add slices.
inline Reason index_along_dim(std::string_view op, const Operands& a) {
    return bad_index(op, a.tensor("index"), extent(a.tensor("self"), a.integer("dim")), false);
}
/// Of take, among all elements; and of put.
inline Reason index_anywhere(std::string_view op, const Operands& a) {
    return bad_index(op, a.tensor("index"), a.tensor("self").numel(), true);
}
/// Rows of `weight`, or of `num_weights`.
inline Reason table_rows(std::string_view op, const Operands& a) {
    return bad_index(op, a.tensor("indices"), extent(a.tensor("weight"), 0), false);
}
inline Reason counted_rows(std::string_view op, const Operands& a) {
    return bad_index(op, a.tensor("indices"), a.integer("num_weights"), false);
}
/// Of losses: `target` is a class of `self`, or `ignore_index`.
inline Reason target_class(std::string_view op, const Operands& a) {
    const Tensor self = a.tensor("self"), target = a.tensor("target");
    if (!is_integer(target.dtype())) return std::nullopt;  // cross_entropy_loss takes probabilities, too
    const std::int64_t classes = extent(self, self.rank() < 2 ? 0 : 1);
    return out_of_range(op, "target", target, 0, classes - 1, a.integer("ignore_index"));
}
/// "If the truncated value cannot fit into the target type (e.g., casting torch.inf to torch.long), the behavior is
/// undefined": https://pytorch.org/docs/stable/generated/torch.Tensor.to.html. Of `self` to the call's dtype.
inline Reason converted(std::string_view op, const Operands& a) {
    const std::optional<DType> dtype = a.dtype("dtype");
    return dtype ? bad_conversion(op, a.tensor("self"), *dtype) : std::nullopt;
}
/// The same of `self` as the dtype of `other`.
inline Reason converted_as(std::string_view op, const Operands& a) {
    return bad_conversion(op, a.tensor("self"), a.tensor("other").dtype());
}
/// Of fake_quantize.
inline Reason quantized_scale(std::string_view op, const Operands& a) {
    return zero_scale(op, Tensor::of(Scalar(a.number("scale")), DType::f64));
}
inline Reason quantized_scales(std::string_view op, const Operands& a) { return zero_scale(op, a.tensor("scale")); }

}  // namespace whittle::aten_open

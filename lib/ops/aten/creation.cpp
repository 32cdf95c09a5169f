// Tensors filled with one number: full, zeros, ones, empty and their likes of another tensor.
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/tensor_options.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;

// --- full and what is made of it -------------------------------------------------------------------------------------

/// What fills the tensor, and which sizes and dtype it has unless the call says so.
Scalar fill_of(const AnyArguments auto& a) {
    const std::string& op = a.schema().name;
    if (a.schema().param("fill_value")) return a.scalar("fill_value");
    if (a.schema().param("s")) return a.scalar("s");
    if (a.schema().param("value")) return a.scalar("value");
    return op.find("ones") != std::string::npos ? Scalar(1.0) : Scalar(0.0);
}

OperandInfo filled_info(const AnyArguments auto& a) {
    check_options(a);
    OperandInfo info{DType::f32, {}};
    if (a.schema().param("self")) info = operand_info(a, "self");
    if (a.schema().param("size")) info.sizes = a.integers("size");
    // full takes the dtype of its number; scalar_tensor, oddly, torch's default dtype.
    if (!a.schema().param("self") && a.schema().param("fill_value")) info.dtype = fill_of(a).dtype();
    if (a.schema().param("dtype")) info.dtype = a.dtype("dtype").value_or(info.dtype);
    element_count(info.sizes);
    return info;
}

std::vector<ValueMeta> infer_filled(const Arguments<ValueMeta>& a) { return {result_meta(filled_info(a))}; }

std::vector<Tensor> eval_filled(const Arguments<Tensor>& a) {
    const OperandInfo info = filled_info(a);
    const Tensor number = checked_number(fill_of(a), info.dtype, a.schema().name);
    return {number.as_strided(info.sizes, Strides(info.sizes.size(), 0), 0).clone()};
}

std::vector<expr::Value> lower_filled(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const OperandInfo info = filled_info(a);
    const Tensor number =
        checked_number(fill_of(a), info.dtype, a.schema().name);  // rounds and wraps as the kernel does
    const Expr element = expr::constant(info.dtype, number.item());
    return {expr::Value(info.dtype, info.sizes, [element](const expr::Index&) { return element; })};
}

/// A number that is an operand: what x[0] = 2 writes in Python.
CallResults decompose_fill(const Call& c) {
    const V self = c.tensor("self");
    const auto value = c.operand("value");
    if (const auto* number = std::get_if<Scalar>(&value)) return fill(self, *number);
    const V& tensor = std::get<V>(value);
    if (!tensor.sizes().empty())
        throw Error("fill: found a value of sizes " + to_string(tensor.sizes()) + ", expected a 0-d tensor");
    return copy(self, tensor);
}

/// Of memory that is not initialized.
constexpr Bound kUnbounded = {};

constexpr OpDef filled_op(std::string_view schema, std::string_view doc, GradientRule grad,
                          const Bound& bound = with_exact(rounds_by(1), Bound::Exact::always)) {
    return primitive(schema, doc, kAnyDType | kComplex, {infer_filled, eval_filled, lower_filled}, grad, bound);
}

}  // namespace

std::span<const OpDef> creation_ops() {
    static const OpDef ops[] = {
        filled_op("full(SymInt[] size, Scalar fill_value, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
                  "one number everywhere", no_gradient),
        filled_op("zeros(SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor", "zeros", no_gradient),
        filled_op("ones(SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor", "ones", no_gradient),
        filled_op("empty.memory_format(SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS
                  ", MemoryFormat? memory_format=None) -> Tensor",
                  "zeros; ATen leaves the memory uninitialized", no_gradient, kUnbounded),
        filled_op("full_like(Tensor self, Scalar fill_value, *, " WHITTLE_TENSOR_OPTIONS
                  ", MemoryFormat? memory_format=None) -> Tensor",
                  "one number in the shape of a tensor", no_gradient),
        filled_op("fill.Scalar(Tensor self, Scalar value) -> Tensor",
                  "one number in the shape of a tensor, as fill_ writes it: "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.fill_.html",
                  zero_gradient),
        composite(
            "fill.Tensor(Tensor self, Tensor value) -> Tensor",
            "an element in the shape of a tensor: https://pytorch.org/docs/stable/generated/torch.Tensor.fill_.html",
            kAnyDType, decompose_fill),
        filled_op("zero(Tensor self) -> Tensor",
                  "zeros in the shape of a tensor, as zero_ writes them: "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.zero_.html",
                  zero_gradient),
        filled_op("zeros_like(Tensor self, *, " WHITTLE_TENSOR_OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
                  "zeros in the shape of a tensor", no_gradient),
        filled_op("ones_like(Tensor self, *, " WHITTLE_TENSOR_OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
                  "ones in the shape of a tensor", no_gradient),
        filled_op("empty_like(Tensor self, *, " WHITTLE_TENSOR_OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
                  "zeros in the shape of a tensor; ATen leaves the memory uninitialized", no_gradient, kUnbounded),
        filled_op(
            "new_full(Tensor self, SymInt[] size, Scalar fill_value, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
            "one number in the dtype of a tensor: https://pytorch.org/docs/stable/generated/torch.Tensor.new_full.html",
            no_gradient),
        filled_op(
            "new_zeros(Tensor self, SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
            "zeros in the dtype of a tensor: https://pytorch.org/docs/stable/generated/torch.Tensor.new_zeros.html",
            no_gradient),
        filled_op("new_ones(Tensor self, SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
                  "ones in the dtype of a tensor: https://pytorch.org/docs/stable/generated/torch.Tensor.new_ones.html",
                  no_gradient),
        filled_op("scalar_tensor(Scalar s, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor", "a number as a 0-d tensor",
                  no_gradient),
    };
    return ops;
}

}  // namespace whittle

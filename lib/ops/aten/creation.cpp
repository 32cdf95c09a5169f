// Tensors filled with one number: full, zeros, ones, empty and their likes of another tensor.
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/tensor_options.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/pointwise.h"

namespace whittle {

namespace {

using namespace aten;

// --- full and what is made of it -------------------------------------------------------------------------------------

/// What fills the tensor, and which sizes and dtype it has unless the call says so.
template <class T>
Scalar fill_of(const Arguments<T>& a) {
    const std::string& op = a.schema().name;
    if (a.schema().param("fill_value")) return a.scalar("fill_value");
    if (a.schema().param("s")) return a.scalar("s");
    if (a.schema().param("value")) return a.scalar("value");
    return op.find("ones") != std::string::npos ? Scalar(1.0) : Scalar(0.0);
}

template <class T>
OperandInfo filled_info(const Arguments<T>& a) {
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

std::vector<ValueMeta> infer_filled(const Arguments<ValueMeta>& a) {
    const OperandInfo info = filled_info(a);
    return {ValueMeta::contiguous(info.dtype, info.sizes)};
}

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

constexpr OpDef filled_op(OpDef def) {
    def.dtypes |= kComplex;
    def.infer = infer_filled;
    def.eval = eval_filled;
    def.lower = lower_filled;
    def.bound = with_exact(rounds_by(1), Bound::Exact::always);
    return def;
}

/// What memory holds: nothing bounds it.
constexpr OpDef uninitialized_op(OpDef def) {
    def = filled_op(def);
    def.bound = {};
    return def;
}

}  // namespace

std::span<const OpDef> creation_ops() {
    static const OpDef ops[] = {
        filled_op({
            .doc = "one number everywhere",
            .schema = "full(SymInt[] size, Scalar fill_value, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
            .grad = no_gradient,
        }),
        filled_op({
            .doc = "zeros",
            .schema = "zeros(SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
            .grad = no_gradient,
        }),
        filled_op({
            .doc = "ones",
            .schema = "ones(SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
            .grad = no_gradient,
        }),
        uninitialized_op({
            .doc = "zeros; ATen leaves the memory uninitialized",
            .schema = "empty.memory_format(SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS
                      ", MemoryFormat? memory_format=None) -> Tensor",
            .grad = no_gradient,
        }),
        filled_op({
            .doc = "one number in the shape of a tensor",
            .schema = "full_like(Tensor self, Scalar fill_value, *, " WHITTLE_TENSOR_OPTIONS
                      ", MemoryFormat? memory_format=None) -> Tensor",
            .grad = no_gradient,
        }),
        filled_op({
            .doc = "one number in the shape of a tensor, what fill_ writes: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.fill_.html",
            .schema = "fill.Scalar(Tensor self, Scalar value) -> Tensor",
            .grad = zero_gradient,
        }),
        {
            .doc = "an element in the shape of a tensor: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.fill_.html",
            .schema = "fill.Tensor(Tensor self, Tensor value) -> Tensor",
            .decompose = decompose_fill,
        },
        filled_op({
            .doc = "zeros in the shape of a tensor, what zero_ writes: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.zero_.html",
            .schema = "zero(Tensor self) -> Tensor",
            .grad = zero_gradient,
        }),
        filled_op({
            .doc = "zeros in the shape of a tensor",
            .schema =
                "zeros_like(Tensor self, *, " WHITTLE_TENSOR_OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
            .grad = no_gradient,
        }),
        filled_op({
            .doc = "ones in the shape of a tensor",
            .schema =
                "ones_like(Tensor self, *, " WHITTLE_TENSOR_OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
            .grad = no_gradient,
        }),
        uninitialized_op({
            .doc = "zeros in the shape of a tensor; ATen leaves the memory uninitialized",
            .schema =
                "empty_like(Tensor self, *, " WHITTLE_TENSOR_OPTIONS ", MemoryFormat? memory_format=None) -> Tensor",
            .grad = no_gradient,
        }),
        filled_op({
            .doc = "one number in the dtype of a tensor: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.new_full.html",
            .schema =
                "new_full(Tensor self, SymInt[] size, Scalar fill_value, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
            .grad = no_gradient,
        }),
        filled_op({
            .doc = "zeros in the dtype of a tensor: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.new_zeros.html",
            .schema = "new_zeros(Tensor self, SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
            .grad = no_gradient,
        }),
        filled_op({
            .doc = "ones in the dtype of a tensor: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.new_ones.html",
            .schema = "new_ones(Tensor self, SymInt[] size, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
            .grad = no_gradient,
        }),
        filled_op({
            .doc = "a number as a 0-d tensor",
            .schema = "scalar_tensor(Scalar s, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
            .grad = no_gradient,
        }),
    };
    return ops;
}

}  // namespace whittle

// Conversions between dtypes, elements seen as those of another dtype, copies and aliases. Casts are ATen's (see
// tensor/convert.h): floats truncate towards zero, integers wrap, anything to bool is != 0.
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/open_rules.h"
#include "ops/core/pointwise.h"
#include "tensor/reach.h"

namespace whittle {
namespace {

using namespace aten;

/// The dtype asked for, else the operand's.
DType target_dtype(const AnyArguments auto& arguments) {
    const DType self = operand_info(arguments.tensor("self")).dtype;
    return arguments.schema().param("dtype") ? arguments.dtype("dtype").value_or(self) : self;
}

// --- Copies ---

std::vector<ValueMeta> infer_copy(const Arguments<ValueMeta>& arguments) {
    return {ValueMeta::contiguous(target_dtype(arguments), arguments.tensor("self").sizes)};
}
std::vector<Tensor> eval_copy(const Arguments<Tensor>& arguments) {
    const Tensor self = arguments.tensor("self");
    const DType dtype = target_dtype(arguments);
    return {self.dtype() == dtype ? self.clone() : self.to(dtype).contiguous()};
}
std::vector<expr::Value> lower_copy(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    return {convert(target_dtype(arguments), arguments.tensor("self"))};
}

// --- The operand itself where nothing changes ---

bool unchanged(const AnyArguments auto& arguments) {
    const bool copy = arguments.schema().param("copy") && arguments.boolean("copy");
    return !copy && target_dtype(arguments) == operand_info(arguments.tensor("self")).dtype;
}
std::vector<ValueMeta> infer_to(const Arguments<ValueMeta>& arguments) {
    if (unchanged(arguments)) return {arguments.tensor("self")};
    return infer_copy(arguments);
}
std::vector<Tensor> eval_to(const Arguments<Tensor>& arguments) {
    if (unchanged(arguments)) return {arguments.tensor("self")};
    return eval_copy(arguments);
}

std::vector<ValueMeta> infer_contiguous(const Arguments<ValueMeta>& arguments) {
    const ValueMeta self = arguments.tensor("self");
    if (is_contiguous(self.sizes, self.strides)) return {self};
    return {ValueMeta::contiguous(self.dtype, self.sizes)};
}
std::vector<Tensor> eval_contiguous(const Arguments<Tensor>& arguments) {
    return {arguments.tensor("self").contiguous()};
}

CallResults decompose_type_as(const Call& c) {
    const V self = c.tensor("self"), other = c.tensor("other");
    return to(self, other.dtype());
}

/// copy: src broadcast and converted to self's sizes and dtype.
std::vector<ValueMeta> infer_fill_copy(const Arguments<ValueMeta>& arguments) {
    const ValueMeta self = arguments.tensor("self"), source = arguments.tensor("src");
    if (broadcast_sizes(self.sizes, source.sizes) != self.sizes)
        throw Error("copy: found a src of sizes " + to_string(source.sizes) + ", expected sizes that broadcast to " +
                    to_string(self.sizes));
    return {ValueMeta::contiguous(self.dtype, self.sizes)};
}
std::vector<Tensor> eval_fill_copy(const Arguments<Tensor>& arguments) {
    const Tensor self = arguments.tensor("self"), source = arguments.tensor("src").to(self.dtype());
    const Strides strides = broadcast_strides(source.sizes(), source.strides(), self.sizes());
    return {source.as_strided(self.sizes(), strides, source.offset()).clone()};
}
std::vector<expr::Value> lower_fill_copy(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    const expr::Value self = arguments.tensor("self");
    return {convert(self.dtype(), broadcast(arguments.tensor("src"), self.sizes()))};
}

// --- The same bytes as elements of another dtype ---

/// Their sizes and strides. Throws Error where ATen has no such view: of elements of another width the last dimension
/// becomes longer or shorter, and must lie side by side.
ValueMeta seen_as(const ValueMeta& self, DType dtype) {
    if (dtype == DType::boolean && self.dtype != dtype)
        throw Error("view: found elements of dtype " + std::string(name(self.dtype)) +
                        " to view as bool, expected bool: bytes other than 0 and 1 are not bools",
                    "convert the tensor to bool with to()");
    ValueMeta seen{dtype, self.sizes, self.strides, false};
    const auto had = static_cast<std::int64_t>(size_of(self.dtype)), has = static_cast<std::int64_t>(size_of(dtype));
    if (had == has) return seen;
    if (self.sizes.empty() || self.strides.back() != 1)
        throw Error("view: found sizes " + to_string(self.sizes) + " with strides " + to_string(self.strides) +
                    ", expected a last dimension of stride 1 to view the tensor as " + std::string(name(dtype)));
    const auto scaled = [&](std::int64_t number, const char* what) {
        if (number * had % has != 0)
            throw Error(std::string("view: found a ") + what + " of " + std::to_string(number) +
                        ", expected a multiple of " + std::to_string(has / had) + " to view the tensor as " +
                        std::string(name(dtype)));
        return number * had / has;
    };
    seen.sizes.back() = scaled(self.sizes.back(), "last size");
    for (std::size_t d = 0; d + 1 < seen.strides.size(); ++d) seen.strides[d] = scaled(self.strides[d], "stride");
    return seen;
}
std::vector<ValueMeta> infer_bytes(const Arguments<ValueMeta>& arguments) {
    return {seen_as(arguments.tensor("self"), *arguments.dtype("dtype"))};
}
std::vector<Tensor> eval_bytes(const Arguments<Tensor>& arguments) {
    Tensor self = arguments.tensor("self");
    const ValueMeta seen = seen_as(ValueMeta::of(self), *arguments.dtype("dtype"));
    const auto had = static_cast<std::int64_t>(size_of(self.dtype())),
               has = static_cast<std::int64_t>(size_of(seen.dtype));
    if (self.offset() * had % has != 0) self = laid_out(self, self.strides());  // it lay well in the program
    return {Tensor(self.storage(), seen.dtype, seen.sizes, seen.strides, self.offset() * had / has)};
}

constexpr OpDef alias_op(std::string_view schema, std::string_view doc, GradientRule grad) {
    return primitive(schema, doc, kStored, {infer_to, eval_to, lower_copy}, grad, kBoundExact);
}

void copy_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("self")) c.set("self", zeros_like(c.grad()));
    c.set("src", c.grad());
}

Reason open_copied(std::string_view op, const Arguments<Tensor>& a) {
    return bad_conversion(op, a.tensor("src"), a.tensor("self").dtype());
}

constexpr OpDef kCast[] = {
    primitive("_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? "
              "pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
              "a copy with another dtype", kStored, {infer_copy, eval_copy, lower_copy}, aten::pass_gradient,
              kBoundExact, {.ask = aten_open::converted, .integers_only = true}),
    primitive("to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? "
              "memory_format=None) -> Tensor(a)",
              "converted to dtype; self if self has this dtype already and copy is false", kStored,
              {infer_to, eval_to, lower_copy}, aten::pass_gradient, kBoundExact,
              {.ask = aten_open::converted, .integers_only = true}),
    primitive(
        "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)",
        "the same bytes as elements of dtype, a view: https://pytorch.org/docs/stable/generated/torch.Tensor.view.html",
        kMoved, {infer_bytes, eval_bytes}, no_gradient),
    composite("type_as(Tensor self, Tensor other) -> Tensor", "converted to the dtype of other", kStored,
              decompose_type_as, {.ask = aten_open::converted_as, .integers_only = true}),
    primitive("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", "a contiguous copy", kStored,
              {infer_copy, eval_copy, lower_copy}, aten::pass_gradient, kBoundExact),
    primitive("contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)",
              "self if self is contiguous, else a contiguous copy", kStored,
              {infer_contiguous, eval_contiguous, lower_copy}, aten::pass_gradient, kBoundExact),
    primitive("copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor",
              "src, broadcast and converted to the sizes and dtype of self", kStored,
              {infer_fill_copy, eval_fill_copy, lower_fill_copy}, copy_grad, kBoundExact,
              {.ask = open_copied, .integers_only = true}),
    primitive("lift_fresh_copy(Tensor self) -> Tensor", "a copy of a constant", kStored,
              {infer_copy, eval_copy, lower_copy}, aten::pass_gradient, kBoundExact),
    alias_op("alias(Tensor(a) self) -> Tensor(a)", "self, sharing its memory", aten::pass_gradient),
    alias_op("detach(Tensor(a) self) -> Tensor(a)", "self, without gradient", no_gradient),
};

}  // namespace

std::span<const OpDef> cast_ops() { return kCast; }

}  // namespace whittle

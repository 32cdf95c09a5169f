// Choosing between elements: where and masked_fill.
// Definitions: https://pytorch.org/docs/stable/generated/torch.where.html
#include <algorithm>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/open_rules.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;

// --- where ---

Promotion where_types(const AnyArguments auto& arguments) {
    const OperandInfo condition = operand_info(arguments.tensor("condition"));
    if (condition.dtype != DType::boolean && condition.dtype != DType::u8)
        throw Error("where: found a condition of dtype " + std::string(name(condition.dtype)) + ", expected bool");
    const OperandInfo self = operand_info(arguments, "self"), other = operand_info(arguments, "other");
    return {broadcast_all({condition, self, other}), result_type({self, other})};
}

std::vector<ValueMeta> infer_where(const Arguments<ValueMeta>& arguments) {
    return {result_meta(where_types(arguments))};
}

std::vector<Tensor> eval_where(const Arguments<Tensor>& arguments) {
    const Promotion types = where_types(arguments);
    const std::vector<bool> condition = load_broadcast<bool>(arguments.tensor("condition"), types.sizes);
    return {visit_arithmetic(types.dtype, [&]<class T>(T) {
        const std::vector<T> self = read<T>(arguments.operand("self"), types.sizes, types.dtype),
                             other = read<T>(arguments.operand("other"), types.sizes, types.dtype);
        std::vector<T> out(self.size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = condition[i] ? self[i] : other[i];
        return store(out, types.dtype, types.sizes);
    })};
}

using LoweredOperand = std::variant<expr::Value, Scalar>;
/// condition ? self : other, element by element.
std::vector<expr::Value> lower_choice(const Promotion& types, const expr::Value& condition, const LoweredOperand& self,
                                      const LoweredOperand& other) {
    return {pointwise({read(condition, types.sizes, DType::boolean), read(self, types.sizes, types.dtype),
                       read(other, types.sizes, types.dtype)},
                      types.sizes, types.dtype,
                      [](const std::vector<Expr>& x) { return expr::select(x[0], x[1], x[2]); })};
}
std::vector<expr::Value> lower_where(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    return lower_choice(where_types(arguments), arguments.tensor("condition"), arguments.operand("self"),
                        arguments.operand("other"));
}

// --- masked_fill ---

Promotion fill_types(const AnyArguments auto& arguments) {
    const OperandInfo self = operand_info(arguments.tensor("self")), mask = operand_info(arguments.tensor("mask"));
    const OperandInfo value = operand_info(arguments, "value");
    const std::string op = "aten." + arguments.schema().name;
    if (mask.dtype != DType::boolean)
        throw Error(op + ": found a mask of dtype " + std::string(name(mask.dtype)) + ", expected bool");
    if (!value.sizes.empty())
        throw Error(op + ": found a value of sizes " + to_string(value.sizes) + ", expected a 0-d tensor");
    return {broadcast_all({self, mask}), self.dtype};
}

std::vector<ValueMeta> infer_fill(const Arguments<ValueMeta>& arguments) {
    return {result_meta(fill_types(arguments))};
}

/// where(mask, value as self's dtype, self).
std::vector<Tensor> eval_fill(const Arguments<Tensor>& arguments) {
    const Promotion types = fill_types(arguments);
    const std::vector<bool> mask = load_broadcast<bool>(arguments.tensor("mask"), types.sizes);
    return {visit_arithmetic(types.dtype, [&]<class T>(T) {
        std::vector<T> out = read<T>(arguments.tensor("self"), types.sizes, types.dtype);
        const std::vector<T> value = read<T>(arguments.operand("value"), {}, types.dtype);
        for (std::size_t i = 0; i < out.size(); ++i)
            if (mask[i]) out[i] = value[0];
        return store(out, types.dtype, types.sizes);
    })};
}

std::vector<expr::Value> lower_fill(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    return lower_choice(fill_types(arguments), arguments.tensor("mask"), arguments.operand("value"),
                        arguments.tensor("self"));
}

// --- masked_scatter ---

/// The k-th element that the mask chooses is the k-th of the source: its number is how many are chosen up to there.
CallResults decompose_masked_scatter(const Call& c) {
    const V self = c.tensor("self"), mask = c.tensor("mask"), source = c.tensor("source");
    if (mask.dtype() != DType::boolean)
        throw Error("masked_scatter: found a mask of dtype " + std::string(name(mask.dtype())) + ", expected bool");
    if (source.dtype() != self.dtype())
        throw Error("masked_scatter: found a source of dtype " + std::string(name(source.dtype())) +
                    " for a tensor of dtype " + std::string(name(self.dtype())) + ", expected equal dtypes");
    const Sizes sizes = broadcast_sizes(self.sizes(), mask.sizes());
    const V chosen = expand(mask, sizes);
    const V old = expand(self, sizes);
    const std::int64_t count = element_count(sizes);
    if (count == 0)  // nothing to choose
        return clone(old, "contiguous_format");
    const V flat = aten::reshape(chosen, {count});
    const V numbers = cumsum(flat, 0, DType::i64) - 1;
    // Of no elements one stands at the place of what is not chosen; what is, is behind it and refused.
    const bool empty = source.numel() == 0;
    const V from = empty ? zeros(c.builder(), Ints{1}, source.dtype()) : source;
    const V behind = empty ? numbers + 1 : numbers;
    const V places = where(flat, behind, 0);
    const V taken = take(from, places);
    return where(chosen, aten::reshape(taken, sizes), old);
}

constexpr OpDef where_op(std::string_view schema, DTypeSet dtypes, GradientRule grad) {
    return primitive(schema, "self where the condition is true, else other", dtypes,
                     {infer_where, eval_where, lower_where}, grad, rounds_by(0));
}
void where_grad(Gradients& c) {
    c.takes_complex();
    const V condition = c.tensor("condition");
    if (c.needed("self")) c.set("self", keep(condition, c.grad()));
    if (c.needed("other")) c.set("other", where(condition, Scalar(0), c.grad()));
}
void masked_fill_grad(Gradients& c) {
    c.takes_complex();
    const V mask = c.tensor("mask");
    if (c.needed("self")) c.set("self", drop(mask, c.grad()));
    if (c.needed("value")) c.set("value", keep(mask, c.grad()));
}

constexpr OpDef fill_op(std::string_view schema) {
    return primitive(schema, "value in the dtype of self where the mask is true, else self", kMoved,
                     {infer_fill, eval_fill, lower_fill}, masked_fill_grad,
                     with_exact(rounds_by(1), Bound::Exact::always));
}

/// Of masked_scatter: the source has as many elements as the mask has ones.
Reason open_masked_source(std::string_view op, const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self"), source = a.tensor("source");
    const std::vector<bool> mask =
        load_broadcast<bool>(a.tensor("mask"), broadcast_sizes(self.sizes(), a.tensor("mask").sizes()));
    const std::int64_t taken = std::ranges::count(mask, true);
    if (taken <= source.numel()) return std::nullopt;
    return std::string(op) + " takes " + std::to_string(taken) + " elements of a source of " +
           std::to_string(source.numel());
}

constexpr OpDef kSelect[] = {
    where_op("where.{self|ScalarOther}(Tensor condition, Tensor self, {Tensor|Scalar} other) -> Tensor", kMoved,
             where_grad),
    where_op("where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", kBool | set_of(DType::u8),
             where_grad),
    where_op("where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", kBool | set_of(DType::u8),
             no_gradient),
    fill_op("masked_fill.{Scalar|Tensor}(Tensor self, Tensor mask, {Scalar|Tensor} value) -> Tensor"),
    composite("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
              "the elements of source, in order, where the mask is true, else self: "
              "https://pytorch.org/docs/stable/generated/torch.Tensor.masked_scatter_.html",
              kMoved, decompose_masked_scatter, {.ask = open_masked_source}),
};

}  // namespace

std::span<const OpDef> select_ops() { return kSelect; }

}  // namespace whittle

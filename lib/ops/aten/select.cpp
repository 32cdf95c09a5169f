// Choosing between elements: where and masked_fill.
// Definitions: https://pytorch.org/docs/stable/generated/torch.where.html

#include "ops/aten/families.h"
#include "ops/aten/open_rules.h"
#include "ops/aten/pointwise_grad.h"
#include "ops/core/pointwise.h"

namespace whittle {

namespace {

// --- where ---

template <class T>
Promotion where_types(const Arguments<T>& arguments) {
    const OperandInfo condition = operand_info(arguments.tensor("condition"));
    if (condition.dtype != DType::boolean && condition.dtype != DType::u8)
        throw Error("where: found a condition of dtype " + std::string(name(condition.dtype)) + ", expected bool");
    const OperandInfo self = operand_info(arguments, "self"), other = operand_info(arguments, "other");
    return {broadcast_all({condition, self, other}), result_type({self, other})};
}

std::vector<ValueMeta> infer_where(const Arguments<ValueMeta>& arguments) {
    const Promotion types = where_types(arguments);
    return {ValueMeta::contiguous(types.dtype, types.sizes)};
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

std::vector<expr::Value> lower_where(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    const Promotion types = where_types(arguments);
    return {pointwise({read(arguments.tensor("condition"), types.sizes, DType::boolean),
                       read(arguments.operand("self"), types.sizes, types.dtype),
                       read(arguments.operand("other"), types.sizes, types.dtype)},
                      types.sizes, types.dtype,
                      [](const std::vector<Expr>& x) { return expr::select(x[0], x[1], x[2]); })};
}

// --- masked_fill ---

template <class T>
Promotion fill_types(const Arguments<T>& arguments) {
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
    const Promotion types = fill_types(arguments);
    return {ValueMeta::contiguous(types.dtype, types.sizes)};
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
    const Promotion types = fill_types(arguments);
    return {pointwise({read(arguments.tensor("mask"), types.sizes, DType::boolean),
                       read(arguments.operand("value"), types.sizes, types.dtype),
                       read(arguments.tensor("self"), types.sizes, types.dtype)},
                      types.sizes, types.dtype,
                      [](const std::vector<Expr>& x) { return expr::select(x[0], x[1], x[2]); })};
}

// --- masked_scatter ---

/// The k-th element that the mask chooses is the k-th of the source: its number is how many are chosen up to there.
std::vector<NodeRef> decompose_masked_scatter(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue self = a.tensor("self"), mask = a.tensor("mask"), source = a.tensor("source");
    if (mask.meta.dtype != DType::boolean)
        throw Error("masked_scatter: found a mask of dtype " + std::string(name(mask.meta.dtype)) + ", expected bool");
    if (source.meta.dtype != self.meta.dtype)
        throw Error("masked_scatter: found a source of dtype " + std::string(name(source.meta.dtype)) +
                    " for a tensor of dtype " + std::string(name(self.meta.dtype)) + ", expected equal dtypes");
    const Sizes sizes = broadcast_sizes(self.meta.sizes, mask.meta.sizes);
    const auto reshape = [&](const NodeValue& x, const Sizes& to) {
        return b.call("aten.reshape.default", {arg(x), Arg::ints(to)});
    };
    const NodeValue chosen = b.call("aten.expand.default", {arg(mask), Arg::ints(sizes)});
    const NodeValue old = b.call("aten.expand.default", {arg(self), Arg::ints(sizes)});
    const std::int64_t count = element_count(sizes);
    if (count == 0)  // nothing to choose
        return {b.call("aten.clone.default", {arg(old)}, {{"memory_format", "contiguous_format"}}).ref};
    const NodeValue flat = reshape(chosen, {count});
    const NodeValue numbers =
        b.call("aten.sub.Scalar", {arg(b.call("aten.cumsum.default", {arg(flat), 0}, {{"dtype", DType::i64}})), 1});
    // Of no elements one stands at the place of what is not chosen; what is, is behind it and refused.
    const bool empty = source.meta.numel() == 0;
    const NodeValue from =
        empty ? b.call("aten.zeros.default", {Arg::ints({1})}, {{"dtype", source.meta.dtype}}) : source;
    const NodeValue behind = empty ? b.call("aten.add.Scalar", {arg(numbers), 1}) : numbers;
    const NodeValue places = b.call("aten.where.ScalarOther", {arg(flat), arg(behind), 0});
    const NodeValue taken = b.call("aten.take.default", {arg(from), arg(places)});
    return {b.call("aten.where.self", {arg(chosen), arg(reshape(taken, sizes)), arg(old)}).ref};
}

// --- Records ---

constexpr OpDef where_op(std::string_view name, std::string_view schema, DTypeSet dtypes) {
    return {.name = name,
            .doc = "self where condition holds, else other",
            .schema = schema,
            .dtypes = dtypes,
            .infer = infer_where,
            .eval = eval_where,
            .lower = lower_where,
            .bound = rounds_by(0)};
}
constexpr OpDef fill_op(std::string_view name, std::string_view schema) {
    return {.name = name,
            .doc = "value, as self's dtype, where mask holds, else self",
            .schema = schema,
            .dtypes = kMoved,
            .infer = infer_fill,
            .eval = eval_fill,
            .lower = lower_fill,
            .bound = rounds_by(1)};
}

constexpr OpDef kSelect[] = {
    with_gradient(
        where_op("aten.where.self", "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", kMoved),
        where_grad),
    with_gradient(where_op("aten.where.ScalarOther",
                           "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", kMoved),
                  where_grad),
    with_gradient(
        where_op("aten.where.ScalarSelf", "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
                 kBool | set_of(DType::u8)),
        where_grad),
    with_gradient(where_op("aten.where.Scalar", "where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
                           kBool | set_of(DType::u8)),
                  no_gradient),
    with_gradient(
        fill_op("aten.masked_fill.Scalar", "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor"),
        masked_fill_grad),
    with_gradient(
        fill_op("aten.masked_fill.Tensor", "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor"),
        masked_fill_grad),
    {.name = "aten.masked_scatter.default",
     .doc = "the elements of source, in order, where mask holds, else self: "
            "https://pytorch.org/docs/stable/generated/torch.Tensor.masked_scatter_.html",
     .schema = "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
     .dtypes = kMoved,
     .decompose = decompose_masked_scatter,
     .open = {.ask = aten_open::masked_source}},
};

}  // namespace

std::span<const OpDef> select_ops() { return kSelect; }

}  // namespace whittle

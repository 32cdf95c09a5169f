// Choosing between elements: where and masked_fill.
// Definitions: https://pytorch.org/docs/stable/generated/torch.where.html
#include <limits>

#include "ops/aten/families.h"
#include "ops/aten/pointwise_grad.h"
#include "ops/core/pointwise.h"
#include "ops/core/samples.h"

namespace whittle {

namespace {

using samples::t;

// --- where ---

template <class T>
Promotion where_types(const Arguments<T>& arguments) {
    const OperandInfo condition = operand_info(arguments.tensor("condition"));
    if (condition.dtype != DType::boolean && condition.dtype != DType::u8)
        throw Error("aten.where: the condition must be bool, found " + std::string(name(condition.dtype)));
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

/// The same pairs as for a binary op, under conditions of several shapes.
std::vector<Sample> where_samples(DType dtype) {
    std::vector<Sample> result = samples::binary(dtype, kAnyDType | kComplex);
    for (Sample& sample : result) {
        const Sizes sizes = broadcast_sizes(sample.tensors[0].sizes(), sample.tensors[1].sizes());
        const Tensor condition = samples::random(DType::boolean, sizes);
        sample.tensors.insert(sample.tensors.begin(), sizes.size() > 1 ? samples::transposed(condition) : condition);
        sample.args = {t(0), t(1), t(2)};
    }
    const Tensor column = samples::ramp(DType::boolean, {2, 1});
    result.push_back({"condition broadcast",
                      {column, samples::ramp(dtype, {3}), samples::random(dtype, {2, 3})},
                      {t(0), t(1), t(2)}});
    result.push_back(
        {"condition widens", {column, samples::scalar(dtype, 1), samples::scalar(dtype, 2)}, {t(0), t(1), t(2)}});
    return result;
}
std::vector<Sample> where_other_samples(DType dtype) {
    const Tensor condition = samples::random(DType::boolean, {2, 3}), x = samples::ramp(dtype, {2, 3});
    const double inf = std::numeric_limits<double>::infinity();
    return {
        {"integer", {condition, x}, {t(0), t(1), Arg(7)}},
        {"floating", {condition, x}, {t(0), t(1), Arg(0.1)}},
        {"-inf", {condition, x}, {t(0), t(1), Arg(-inf)}},
        {"empty", {condition.as_strided({0, 3}, {3, 1}, 0), x.as_strided({0, 3}, {3, 1}, 0)}, {t(0), t(1), Arg(7)}}};
}
/// The condition is the main operand: the tensors of every dtype come with it.
std::vector<Sample> where_self_samples(DType condition) {
    std::vector<Sample> result;
    for (const DType dtype : kAllDTypes) {
        if (!is_computed(dtype)) continue;
        for (Sample& sample : where_other_samples(dtype)) {
            sample.label += ' ' + std::string(name(dtype));
            sample.tensors[0] = sample.tensors[0].to(condition);
            std::swap(sample.args[1], sample.args[2]);
            result.push_back(std::move(sample));
        }
    }
    return result;
}
std::vector<Sample> where_scalar_samples(DType dtype) {
    const Tensor condition = samples::ramp(dtype, {2, 3});
    return {{"integers", {condition}, {t(0), Arg(1), Arg(0)}},
            {"mixed", {condition}, {t(0), Arg(1), Arg(0.5)}},
            {"bools", {condition}, {t(0), Arg(true), Arg(false)}}};
}

// --- masked_fill ---

template <class T>
Promotion fill_types(const Arguments<T>& arguments) {
    const OperandInfo self = operand_info(arguments.tensor("self")), mask = operand_info(arguments.tensor("mask"));
    const OperandInfo value = operand_info(arguments, "value");
    const std::string op = "aten." + arguments.schema().name;
    if (mask.dtype != DType::boolean)
        throw Error(op + ": the mask must be bool, found " + std::string(name(mask.dtype)));
    if (!value.sizes.empty()) throw Error(op + ": the value must be 0-d, found sizes " + to_string(value.sizes));
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

std::vector<Sample> masked_fill_samples(DType dtype) {
    std::vector<Sample> result;
    for (auto& [label, tensor] : samples::inputs(dtype))
        result.push_back({label, {tensor, samples::random(DType::boolean, tensor.sizes())}, {t(0), t(1), Arg(1)}});
    const Tensor x = samples::ramp(dtype, {2, 3});
    const double inf = std::numeric_limits<double>::infinity();
    result.push_back({"mask broadcast", {x, samples::ramp(DType::boolean, {3})}, {t(0), t(1), Arg(2)}});
    result.push_back(
        {"self broadcast", {samples::ramp(dtype, {3}), samples::ramp(DType::boolean, {2, 1})}, {t(0), t(1), Arg(2)}});
    if (is_floating(dtype)) {
        result.push_back({"-inf", {x, samples::ramp(DType::boolean, {2, 3})}, {t(0), t(1), Arg(-inf)}});
        result.push_back({"0.1", {x, samples::ramp(DType::boolean, {2, 3})}, {t(0), t(1), Arg(0.1)}});
    }
    return result;
}
std::vector<Sample> fill_tensor_samples(DType dtype) {
    std::vector<Sample> result = masked_fill_samples(dtype);
    for (Sample& sample : result) {
        const auto* number = std::get_if<double>(&sample.args[2].value);
        sample.tensors.push_back(number ? samples::scalar(DType::f64, *number) : samples::scalar(DType::i64, 2));
        sample.args[2] = t(2);
    }
    return result;
}

// --- masked_scatter ---

/// The k-th element that the mask chooses is the k-th of the source: its number is how many are chosen up to there.
std::vector<NodeRef> decompose_masked_scatter(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue self = a.tensor("self"), mask = a.tensor("mask"), source = a.tensor("source");
    if (mask.meta.dtype != DType::boolean)
        throw Error("masked_scatter: found a mask of " + std::string(name(mask.meta.dtype)) + ", expected bool");
    if (source.meta.dtype != self.meta.dtype)
        throw Error("masked_scatter: found a source of " + std::string(name(source.meta.dtype)) + " for a tensor of " +
                    std::string(name(self.meta.dtype)) + ", expected equal dtypes");
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

std::vector<Sample> masked_scatter_samples(DType dtype) {
    const Tensor x = samples::ramp(dtype, {2, 3}), source = samples::random(dtype, {4, 2}, 3);
    const auto mask = [](const std::vector<double>& values, Sizes sizes) {
        return samples::values(DType::boolean, values, std::move(sizes));
    };
    const auto call = [](const std::string& label, const Tensor& self, const Tensor& mask, const Tensor& source) {
        return Sample{label, {self, mask, source}, {t(0), t(1), t(2)}};
    };
    return {call("some", x, mask({0, 1, 1, 0, 0, 1}, {2, 3}), source),
            call("all that there are", x, mask({0, 1, 1, 0, 0, 1}, {2, 3}), samples::random(dtype, {3}, 3)),
            call("mask broadcast", x, mask({1, 0, 1}, {3}), source),
            call("self broadcast", samples::ramp(dtype, {3}), mask({1, 0}, {2, 1}), source),
            call("transposed", samples::transposed(x), mask({1, 0, 1, 1, 0, 1}, {2, 3}), samples::transposed(source)),
            call("special", samples::special(dtype), mask({1}, {1}), samples::negative(samples::random(dtype, {40}))),
            call("none", x, mask({0}, {}), samples::random(dtype, {0})),
            call("0-d", samples::ramp(dtype, {}), mask({1}, {}), samples::random(dtype, {1})),
            call("empty", samples::ramp(dtype, {0, 3}), mask({1, 0, 1}, {3}), source)};
}

// --- Records ---

constexpr OpDef where_op(std::string_view name, std::string_view schema, DTypeSet dtypes, SamplesFn samples) {
    return {.name = name,
            .doc = "self where condition holds, else other",
            .schema = schema,
            .dtypes = dtypes,
            .infer = infer_where,
            .eval = eval_where,
            .lower = lower_where,
            .samples = samples};
}
constexpr OpDef fill_op(std::string_view name, std::string_view schema, SamplesFn samples) {
    return {.name = name,
            .doc = "value, as self's dtype, where mask holds, else self",
            .schema = schema,
            .dtypes = kMoved,
            .infer = infer_fill,
            .eval = eval_fill,
            .lower = lower_fill,
            .samples = samples};
}

constexpr OpDef kSelect[] = {
    with_gradient(where_op("aten.where.self", "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor",
                           kMoved, where_samples),
                  where_grad),
    with_gradient(
        where_op("aten.where.ScalarOther", "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
                 kMoved, where_other_samples),
        where_grad),
    with_gradient(
        where_op("aten.where.ScalarSelf", "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
                 kBool | set_of(DType::u8), where_self_samples),
        where_grad),
    with_gradient(where_op("aten.where.Scalar", "where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor",
                           kBool | set_of(DType::u8), where_scalar_samples),
                  no_gradient),
    with_gradient(fill_op("aten.masked_fill.Scalar",
                          "masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", masked_fill_samples),
                  masked_fill_grad),
    with_gradient(fill_op("aten.masked_fill.Tensor",
                          "masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", fill_tensor_samples),
                  masked_fill_grad),
    {.name = "aten.masked_scatter.default",
     .doc = "the elements of source, in order, where mask holds, else self: "
            "https://pytorch.org/docs/stable/generated/torch.Tensor.masked_scatter_.html",
     .schema = "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
     .dtypes = kMoved,
     .decompose = decompose_masked_scatter,
     .samples = masked_scatter_samples},
};

}  // namespace

std::span<const OpDef> select_ops() { return kSelect; }

}  // namespace whittle

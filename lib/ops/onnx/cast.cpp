// ONNX's conversions and copies: Cast, CastLike, Identity, Dropout.
#include <cmath>

#include "ops/onnx/open_rules.h"
#include "ops/onnx/rewrite.h"
#include "tensor/limits.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// How float8e8m0 is rounded to, since opset 24: a type that Whittle does not have, so that it says nothing.
void check_round_mode(const Rewrite& op) {
    const std::string mode = op.arguments().text("round_mode");
    if (mode != "up" && mode != "down" && mode != "nearest")
        throw Error("found round_mode '" + mode + "', expected up, down or nearest");
}

/// f64 as a float of 16 bits or fewer, rounded once, as NumPy does it; ATen's cast goes through f32 and rounds twice.
/// That is the nearest value or the next one, on the other side of the f32: whichever is nearer.
NodeValue rounded_once(const Rewrite& op, const NodeValue& x, DType dtype) {
    const auto twice = [&](const NodeValue& value) { return op.cast(op.cast(value, dtype), DType::f64); };
    const auto distance = [&](const NodeValue& value) {
        return op("aten.abs.default", op("aten.sub.Tensor", x, value));
    };
    const NodeValue middle = op.cast(op.cast(x, DType::f32), DType::f64), given = twice(x);
    const NodeValue other = twice(op("aten.sub.Tensor", op("aten.mul.Tensor", middle, 2.0), given));
    NodeValue nearest = op("aten.where.self", op("aten.lt.Tensor", distance(other), distance(given)), other, given);
    // The largest value and what comes behind it, an infinity or NaN, meet half a step above it.
    const double largest = float_limits(dtype).largest;
    const double end = largest + float_limits(dtype).epsilon / 2 * std::exp2(std::ilogb(largest));
    const NodeValue size = op("aten.abs.default", x);
    if (std::isfinite(greatest(dtype).to_double())) {
        nearest = op("aten.where.ScalarSelf", op("aten.gt.Scalar", size, end), std::nan(""), nearest);
    } else {
        const NodeValue finite = op("aten.clamp.default", nearest, -largest, largest);
        nearest = op("aten.where.self", op("aten.lt.Scalar", size, end), finite, nearest);
    }
    return op.cast(nearest, dtype);
}

/// To a float of 8 bits, infinities and values beyond the range become the largest, unless `saturate` is 0.
NodeValue saturating_cast(const Rewrite& op, DType dtype) {
    check_round_mode(op);
    NodeValue value = op.tensor("input");
    const bool saturates = is_floating(dtype) && size_of(dtype) == 1 && op.integer("saturate") != 0;
    if (saturates && value.meta.dtype != dtype && value.meta.dtype != DType::boolean) {
        const double largest = float_limits(dtype).largest;
        value = op("aten.clamp.default", op.cast(value, promote(value.meta.dtype, DType::f32)), -largest, largest);
    }
    return value.meta.dtype == DType::f64 && is_reduced(dtype) ? rounded_once(op, value, dtype) : op.cast(value, dtype);
}

Results cast(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {saturating_cast(op, dtype_of_code(op.integer("to"))).ref};
}

Results cast_like(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {saturating_cast(op, op.tensor("target_type").meta.dtype).ref};
}

Results identity(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    return {Rewrite(builder, arguments).tensor("input").ref};
}

/// The ratio and whether it is training. Both are constants, or a guard of the model: what is dropped is drawn.
double dropped(const Rewrite& op) {
    op.no_attribute("ratio", 12);
    if (!op.has("training_mode") || !op.known("training_mode").item().to_bool()) return 0;
    return op.has("ratio_value") ? op.known("ratio_value").item().to_double() : 0.5;
}

/// Nothing is dropped at inference. The mask, all ones, was of the data's type until opset 10 made it bool.
Results dropout(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue data = op.tensor("data");
    const bool masked = op.integer("num_outputs") > 1;
    if (const double ratio = dropped(op); ratio != 0) {
        const std::vector<NodeValue> kept = builder.call_multi("aten.native_dropout.default", {arg(data), ratio, true});
        return masked ? Results{kept[0].ref, kept[1].ref} : Results{kept[0].ref};
    }
    Results results = {data.ref};
    if (masked) {
        const DType mask = op.opset() < 10 ? data.meta.dtype : DType::boolean;
        results.push_back(op.full(data.meta.sizes, mask == DType::boolean ? Scalar(true) : Scalar(1.0), mask).ref);
    }
    return results;
}

constexpr OpDef kCastOps[] = {
    {.name = "onnx.Cast",
     .doc = "Converts elements, floats to integers towards zero. onnx Operators.md#Cast",
     .schema = "Cast(Tensor input, *, DataType to, int saturate=1, str round_mode=\"up\") -> Tensor",
     .dtypes = kStored & ~kComplex,
     .decompose = cast,
     .open = {.ask = onnx_open::converted, .integers_only = true}},
    {.name = "onnx.CastLike",
     .doc = "Converts elements to the type of another tensor. onnx Operators.md#CastLike",
     .schema = "CastLike(Tensor input, Tensor target_type, *, int saturate=1, str round_mode=\"up\") -> Tensor",
     .dtypes = kStored & ~kComplex,
     .decompose = cast_like,
     .open = {.ask = onnx_open::converted_like, .integers_only = true}},
    {.name = "onnx.Identity",
     .doc = "The input. onnx Operators.md#Identity",
     .schema = "Identity(Tensor input) -> Tensor",
     .dtypes = kStored,
     .decompose = identity},
    {.name = "onnx.Dropout",
     .doc = "The data; in training elements are zeroed and the rest scaled. onnx Operators.md#Dropout",
     .schema = "Dropout(Tensor data, Tensor? ratio_value=None, Tensor? training_mode=None, *, float? ratio=None, "
               "int seed=0, int num_outputs=1) -> Tensor[]",
     .dtypes = kFloating,
     .decompose = dropout},
};

}  // namespace

std::span<const OpDef> onnx_cast_ops() { return kCastOps; }

}  // namespace whittle

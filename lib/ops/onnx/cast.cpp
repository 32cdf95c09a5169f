// ONNX's conversions and copies: Cast, CastLike, Identity, Dropout.
#include <cmath>

#include "ops/core/open_rules.h"
#include "ops/onnx/rewrite.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// How float8e8m0 is rounded to, since opset 24: a type that Whittle does not have, so that it says nothing.
void check_round_mode(const Call& c) {
    const std::string mode = c.text("round_mode");
    if (mode != "up" && mode != "down" && mode != "nearest")
        throw Error("found round_mode '" + mode + "', expected 'up', 'down' or 'nearest'");
}

/// f64 as a float of 16 bits or fewer, rounded once, as NumPy does it; ATen's cast goes through f32 and rounds twice.
/// That is the nearest value or the next one, on the other side of the f32: whichever is nearer.
V rounded_once(const V& x, DType dtype) {
    const auto twice = [&](const V& value) { return cast(cast(value, dtype), DType::f64); };
    const auto distance = [&](const V& value) { return abs(x - value); };
    const V middle = cast(cast(x, DType::f32), DType::f64), given = twice(x);
    const V other = twice(middle * 2.0 - given);
    V nearest = where(lt(distance(other), distance(given)), other, given);
    // The largest value and what comes behind it, an infinity or NaN, meet half a step above it.
    const double largest = float_limits(dtype).largest;
    const double end = largest + float_limits(dtype).epsilon / 2 * std::exp2(std::ilogb(largest));
    const V size = abs(x);
    if (std::isfinite(greatest(dtype).to_double())) {
        nearest = where(gt(size, end), std::nan(""), nearest);
    } else {
        const V finite = clamp(nearest, -largest, largest);
        nearest = where(lt(size, end), finite, nearest);
    }
    return cast(nearest, dtype);
}

/// To a float of 8 bits, infinities and values beyond the range become the largest, unless `saturate` is 0.
V saturating_cast(const Call& c, DType dtype) {
    check_round_mode(c);
    V value = c.tensor("input");
    const bool saturates = is_floating(dtype) && size_of(dtype) == 1 && c.integer("saturate") != 0;
    if (saturates && value.dtype() != dtype && value.dtype() != DType::boolean) {
        const double largest = float_limits(dtype).largest;
        value = clamp(cast(value, promote(value.dtype(), DType::f32)), -largest, largest);
    }
    return value.dtype() == DType::f64 && is_reduced(dtype) ? rounded_once(value, dtype) : cast(value, dtype);
}

CallResults cast_to(const Call& c) { return saturating_cast(c, dtype_of_code(c.integer("to"))); }

CallResults cast_like(const Call& c) { return saturating_cast(c, c.tensor("target_type").dtype()); }

CallResults identity(const Call& c) { return c.tensor("input"); }

/// The ratio and whether it is training. Both are constants, or a guard of the model: what is dropped is drawn.
double dropped(const Call& c) {
    no_attribute(c, "ratio", 12);
    if (!c.has("training_mode") || !known_operand(c, "training_mode").item().to_bool()) return 0;
    return c.has("ratio_value") ? known_operand(c, "ratio_value").item().to_double() : 0.5;
}

/// Nothing is dropped at inference. The mask, all ones, was of the data's type until opset 10 made it bool.
CallResults onnx_dropout(const Call& c) {
    const V data = c.tensor("data");
    const bool masked = c.integer("num_outputs") > 1;
    if (const double ratio = dropped(c); ratio != 0) {
        const auto [kept, mask] = native_dropout(data, ratio, true);
        return masked ? CallResults{kept, mask} : CallResults(kept);
    }
    if (!masked) return data;
    const DType mask = opset(c) < 10 ? data.dtype() : DType::boolean;
    return {data, full(c.builder(), data.sizes(), mask == DType::boolean ? Scalar(true) : Scalar(1.0), mask)};
}

/// Of floats to integers: "undefined if OOR", https://onnx.ai/onnx/operators/onnx__Cast.html.
Reason open_converted(std::string_view op, const Arguments<Tensor>& a) {
    return bad_conversion(op, a.tensor("input"), onnx_dialect::dtype_of_code(a.integer("to")));
}

Reason open_converted_like(std::string_view op, const Arguments<Tensor>& a) {
    return bad_conversion(op, a.tensor("input"), a.tensor("target_type").dtype());
}

constexpr OpDef kCastOps[] = {
    composite("Cast(Tensor input, *, DataType to, int saturate=1, str round_mode=\"up\") -> Tensor",
              "Converts elements, floats to integers towards zero", kStored & ~kComplex, cast_to,
              {.ask = open_converted, .integers_only = true}),
    composite("CastLike(Tensor input, Tensor target_type, *, int saturate=1, str round_mode=\"up\") -> Tensor",
              "Converts elements to the type of another tensor", kStored & ~kComplex, cast_like,
              {.ask = open_converted_like, .integers_only = true}),
    composite("Identity(Tensor input) -> Tensor", "The input", kStored, identity),
    composite("Dropout(Tensor data, Tensor? ratio_value=None, Tensor? training_mode=None, *, float? ratio=None, int "
              "seed=0, int num_outputs=1) -> Tensor[]",
              "The data; in training elements are zeroed and the rest scaled", kFloating, onnx_dropout),
};

}  // namespace

std::span<const OpDef> onnx_cast_ops() { return kCastOps; }

}  // namespace whittle

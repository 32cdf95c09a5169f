// Numbers as integers of a scale and a zero point, and back: what PT2E quantization writes into exported programs. All
// are composites. https://github.com/pytorch/pytorch/blob/main/torch/ao/quantization/fx/_decomposed.py
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/open_rules.h"

namespace whittle {
namespace {

using namespace aten;

/// `inverse`, of the scale, and `zero` are numbers, or tensors that broadcast.
CallResults quantized(const Call& c, const V& x, const Arg& inverse, const Arg& zero) {
    const V level = round(x * inverse) + zero;
    return as(clamp(level, c.integer("quant_min"), c.integer("quant_max")), *c.dtype("dtype"));
}

/// Halves are quantized as floats.
V widened(const V& x) { return is_reduced(x.dtype()) ? as(x, DType::f32) : x; }

/// The one element of a scale or a zero point, without dimensions.
V number_of(const Call& c, const char* name) {
    const V tensor = c.tensor(name);
    if (element_count(tensor.sizes()) != 1)
        throw Error(c.schema().name + ": found " + name + " of sizes " + to_string(tensor.sizes()) +
                    ", expected one element");
    return reshaped(tensor, {});
}

CallResults quantize(const Call& c) {
    return quantized(c, widened(c.tensor("input")), Arg(1 / c.number("scale")), Arg(c.integer("zero_point")));
}
CallResults quantize_by_tensor(const Call& c) {
    const V inverse = reciprocal(as(number_of(c, "scale"), DType::f64));
    return quantized(c, widened(c.tensor("input")), arg(as(inverse, DType::f32)),
                     arg(as(number_of(c, "zero_point"), DType::f32)));
}

DType restored(const Call& c) { return c.dtype("out_dtype").value_or(DType::f32); }

CallResults dequantize(const Call& c) {
    return (as(c.tensor("input"), restored(c)) - Arg(c.integer("zero_point"))) * Arg(c.number("scale"));
}
CallResults dequantize_by_tensor(const Call& c) {
    const DType dtype = restored(c);
    return (as(c.tensor("input"), dtype) - as(number_of(c, "zero_point"), dtype)) * as(number_of(c, "scale"), dtype);
}

/// The sizes that let one element for each channel broadcast over `x`.
Sizes channels(const Call& c, const V& x, const V& scales) {
    const auto rank = static_cast<std::int64_t>(x.sizes().size());
    const std::int64_t axis = c.integer("axis") < 0 ? c.integer("axis") + rank : c.integer("axis");
    const Sizes expected = axis < 0 || axis >= rank ? Sizes() : Sizes{x.sizes()[static_cast<std::size_t>(axis)]};
    if (scales.sizes() != expected)
        throw Error(c.schema().name + ": found axis=" + std::to_string(c.integer("axis")) + " and scales of sizes " +
                    to_string(scales.sizes()) + " for a tensor of sizes " + to_string(x.sizes()) +
                    ", expected one scale for each index of this axis");
    Sizes line(x.sizes().size(), 1);
    line[static_cast<std::size_t>(axis)] = expected[0];
    return line;
}

CallResults quantize_channels(const Call& c) {
    const V x = widened(c.tensor("input")), scales = c.tensor("scales");
    const Sizes line = channels(c, x, scales);
    return quantized(c, x, arg(reciprocal(reshaped(scales, line))), arg(reshaped(c.tensor("zero_points"), line)));
}
CallResults dequantize_channels(const Call& c) {
    const V x = c.tensor("input"), scales = c.tensor("scales");
    const Sizes line = channels(c, x, scales);
    const OptionalV zero = c.optional_tensor("zero_points");
    const V moved = zero ? x - reshaped(*zero, line) : x;
    return as(moved * reshaped(scales, line), restored(c));
}

constexpr DTypeSet kReal = set_of(DType::f32) | set_of(DType::f16) | set_of(DType::bf16);
constexpr DTypeSet kLevels = set_of(DType::u8) | set_of(DType::i8) | set_of(DType::i16) | set_of(DType::i32);
#define WHITTLE_PT2E ": https://docs.pytorch.org/ao/stable/pt2e_quantization/index.html"

constexpr OpDef kQuantizedOps[] = {
    composite("quantize_per_tensor.default(Tensor input, float scale, int zero_point, int quant_min, int quant_max, "
              "ScalarType dtype) -> Tensor",
              "numbers quantized to integers, with one scale and zero point" WHITTLE_PT2E, kReal, quantize,
              {.ask = aten_open::quantized_scale}),
    composite("quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int quant_max, "
              "ScalarType dtype) -> Tensor",
              "the same with scale and zero point as tensors of one element" WHITTLE_PT2E, kReal, quantize_by_tensor,
              {.ask = aten_open::quantized_scales}),
    composite("dequantize_per_tensor.default(Tensor input, float scale, int zero_point, int quant_min, int quant_max, "
              "ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
              "numbers from quantized integers, with one scale and zero point" WHITTLE_PT2E, kLevels, dequantize),
    composite("dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, int quant_min, int "
              "quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
              "the same with scale and zero point as tensors of one element" WHITTLE_PT2E, kLevels,
              dequantize_by_tensor),
    composite("quantize_per_channel.default(Tensor input, Tensor scales, Tensor zero_points, int axis, int quant_min, "
              "int quant_max, ScalarType dtype) -> Tensor",
              "numbers quantized to integers, with a scale and zero point for each channel" WHITTLE_PT2E, kReal,
              quantize_channels),
    composite("dequantize_per_channel.default(Tensor input, Tensor scales, Tensor? zero_points, int axis, int "
              "quant_min, int quant_max, ScalarType dtype, *, ScalarType? out_dtype=None) -> Tensor",
              "numbers from quantized integers, with a scale and zero point for each channel" WHITTLE_PT2E, kLevels,
              dequantize_channels),
};

}  // namespace

std::span<const OpDef> quantized_decomposed_ops() { return kQuantizedOps; }

}  // namespace whittle

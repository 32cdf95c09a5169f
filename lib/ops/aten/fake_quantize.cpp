// What quantization would make of numbers, as floats: rounded to a step, limited to a range of integers, and back; with
// the mask through which a gradient passes. Scales are f32. All are composites.
// https://pytorch.org/docs/stable/generated/torch.fake_quantize_per_tensor_affine.html, …per_channel_affine.html

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/open_rules.h"

namespace whittle {
namespace {

using namespace aten;

/// x over the scale, rounded, and moved by the zero point; then limited, moved and scaled back. `scale` and `zero` are
/// numbers, or tensors in the dtype of x that broadcast. Where zero points are not `whole`, x is moved before it
/// is rounded.
CallResults quantized(const Arguments<V>& a, const V& x, const Arg& inverse, const Arg& scale, const Arg& zero,
                      bool whole = true) {
    const std::int64_t low = a.integer("quant_min"), high = a.integer("quant_max");
    if (low > high)
        throw Error(a.schema().name + ": found quant_min=" + std::to_string(low) +
                    " and quant_max=" + std::to_string(high) + ", expected a quant_min of at most quant_max");
    const V scaled = x * inverse;
    const V level = whole ? round(scaled) + zero : round(scaled + zero);
    const V limited = clamp(level, low, high);
    const V moved = limited - zero;
    const V inside = logical_and(ge(level, low), le(level, high));
    return {moved * scale, inside};
}

CallResults per_tensor(const Call& c) {
    const double given = c.number("scale");
    const float scale = static_cast<float>(given), inverse = 1.0F / scale;
    const std::int64_t zero = c.integer("zero_point");
    if (zero < c.integer("quant_min") || zero > c.integer("quant_max"))
        throw Error(c.schema().name + ": found zero_point=" + std::to_string(zero) +
                    ", expected a number from quant_min=" + std::to_string(c.integer("quant_min")) +
                    " to quant_max=" + std::to_string(c.integer("quant_max")));
    return quantized(c, c.tensor("self"), Arg(static_cast<double>(inverse)), Arg(static_cast<double>(scale)),
                     Arg(static_cast<double>(zero)));
}

CallResults per_channel(const Call& c) {
    const V x = c.tensor("self"), scale = c.tensor("scale"), zero = c.tensor("zero_point");
    const auto rank = static_cast<std::int64_t>(x.sizes().size());
    const std::int64_t axis = c.integer("axis");
    if (axis < 0 || axis >= rank)
        throw Error(c.schema().name + ": found axis=" + std::to_string(axis) + ", expected at least 0 and less than " +
                    std::to_string(rank) + ", the number of dimensions");
    Sizes line(x.sizes().size(), 1);
    line[static_cast<std::size_t>(axis)] = x.sizes()[static_cast<std::size_t>(axis)];
    const Sizes channels = {line[static_cast<std::size_t>(axis)]};
    const bool fits = scale.dtype() == DType::f32 || scale.dtype() == x.dtype();
    if (!fits || scale.sizes() != channels || zero.sizes() != channels)
        throw Error(c.schema().name + ": found a scale of " + std::string(name(scale.dtype())) +
                    to_string(scale.sizes()) + " and a zero_point of sizes " + to_string(zero.sizes()) +
                    ", expected a scale of f32" + to_string(channels) + " and a zero_point of sizes " +
                    to_string(channels) + ", one element for each channel");
    const auto broadcast = [&](const V& v) { return arg(as(reshaped(v, line), x.dtype())); };
    return quantized(c, x, broadcast(reciprocal(scale)), broadcast(scale), broadcast(zero), !is_floating(zero.dtype()));
}

CallResults mask_backward(const Call& c) {
    const V grad = c.tensor("grad"), mask = c.tensor("mask");
    if (mask.dtype() != DType::boolean || mask.sizes() != grad.sizes())
        throw Error(c.schema().name + ": found a mask of " + std::string(name(mask.dtype())) + to_string(mask.sizes()) +
                    ", expected bool" + to_string(grad.sizes()) + ", the sizes of the gradient");
    return grad * mask;
}

CallResults per_tensor_of_program(const Call& c) {
    return fake_quantize_per_tensor_affine_cachemask(c.tensor("self"), c.number("scale"), c.integer("zero_point"),
                                                     c.integer("quant_min"), c.integer("quant_max"))[0];
}
CallResults per_channel_of_program(const Call& c) {
    return fake_quantize_per_channel_affine_cachemask(c.tensor("self"), c.tensor("scale"), c.tensor("zero_point"),
                                                      c.integer("axis"), c.integer("quant_min"),
                                                      c.integer("quant_max"))[0];
}

void per_tensor_grad(Gradients& c) {
    c.set("self", fake_quantize_per_tensor_affine_cachemask_backward(c.grad(), c.result(1)));
}
void per_channel_grad(Gradients& c) {
    c.set("self", fake_quantize_per_channel_affine_cachemask_backward(c.grad(), c.result(1)));
}

constexpr DTypeSet kQuantized = set_of(DType::f64) | set_of(DType::f32);
#define WHITTLE_FAKE "https://pytorch.org/docs/stable/generated/torch.fake_quantize_per_"

constexpr OpDef kFakeQuantizeOps[] = {
    composite(
        "fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int "
        "quant_max) -> (Tensor output, Tensor mask)",
        "numbers rounded and clamped by quantization, and a mask of the numbers that are not clamped: " WHITTLE_FAKE
        "tensor_affine.html",
        kQuantized, per_tensor, per_tensor_grad, {.ask = aten_open::quantized_scale}),
    composite("fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor",
              "the gradient where the mask is true, else 0: " WHITTLE_FAKE "tensor_affine.html", kQuantized,
              mask_backward),
    composite("fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) "
              "-> Tensor",
              "numbers rounded and clamped by quantization: " WHITTLE_FAKE "tensor_affine.html", kQuantized,
              per_tensor_of_program, {.ask = aten_open::quantized_scale}),
    composite(
        "fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int "
        "quant_min, int quant_max) -> (Tensor output, Tensor mask)",
        "channels rounded and clamped by quantization, and a mask of the elements that are not clamped: " WHITTLE_FAKE
        "channel_affine.html",
        kQuantized, per_channel, per_channel_grad, {.ask = aten_open::quantized_scales}),
    composite("fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor",
              "the gradient where the mask is true, else 0: " WHITTLE_FAKE "channel_affine.html", kQuantized,
              mask_backward),
    composite("fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, "
              "int quant_max) -> Tensor",
              "channels rounded and clamped by quantization: " WHITTLE_FAKE "channel_affine.html", kQuantized,
              per_channel_of_program, {.ask = aten_open::quantized_scales}),
};

}  // namespace

std::span<const OpDef> fake_quantize_ops() { return kFakeQuantizeOps; }

}  // namespace whittle

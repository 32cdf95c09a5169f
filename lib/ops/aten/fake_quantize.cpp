// What quantization would make of numbers, as floats: rounded to a step, limited to a range of integers, and back; with
// the mask through which a gradient passes. Scales are f32. All are composites.
// https://pytorch.org/docs/stable/generated/torch.fake_quantize_per_tensor_affine.html, …per_channel_affine.html

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/aten/open_rules.h"

namespace whittle {
namespace {

/// x over the scale, rounded, and moved by the zero point; then limited, moved and scaled back. `scale` and `zero` are
/// numbers, or tensors in the dtype of x that broadcast. Where zero points are not `whole`, x is moved before it
/// is rounded.
Refs quantized(const Gradient& g, const Arguments<NodeValue>& a, const NodeValue& x, const Arg& inverse,
               const Arg& scale, const Arg& zero, bool whole = true) {
    const std::int64_t low = a.integer("quant_min"), high = a.integer("quant_max");
    if (low > high)
        throw Error(a.schema().name + ": found quant_min=" + std::to_string(low) +
                    " and quant_max=" + std::to_string(high) + ", expected a quant_min of at most quant_max");
    const NodeValue scaled = g.mul(x, inverse);
    const NodeValue level =
        whole ? g.add(g.of("aten.round.default", scaled), zero) : g.of("aten.round.default", g.add(scaled, zero));
    const NodeValue limited = g.call("aten.clamp.default", {arg(level), low, high});
    const NodeValue moved = g.call("aten.sub.Tensor", {arg(limited), zero});
    const NodeValue inside =
        g.call("aten.logical_and.default", {arg(g.when("ge", level, low)), arg(g.when("le", level, high))});
    return {g.mul(moved, scale).ref, inside.ref};
}

Refs per_tensor(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const double given = a.number("scale");
    const float scale = static_cast<float>(given), inverse = 1.0F / scale;
    const std::int64_t zero = a.integer("zero_point");
    if (zero < a.integer("quant_min") || zero > a.integer("quant_max"))
        throw Error(a.schema().name + ": found zero_point=" + std::to_string(zero) +
                    ", expected a number from quant_min=" + std::to_string(a.integer("quant_min")) +
                    " to quant_max=" + std::to_string(a.integer("quant_max")));
    return quantized(Gradient(b), a, a.tensor("self"), Arg(static_cast<double>(inverse)),
                     Arg(static_cast<double>(scale)), Arg(static_cast<double>(zero)));
}

Refs per_channel(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self"), scale = a.tensor("scale"), zero = a.tensor("zero_point");
    const auto rank = static_cast<std::int64_t>(x.meta.sizes.size());
    const std::int64_t axis = a.integer("axis");
    if (axis < 0 || axis >= rank)
        throw Error(a.schema().name + ": found axis=" + std::to_string(axis) + ", expected at least 0 and less than " +
                    std::to_string(rank) + ", the number of dimensions");
    Sizes line(x.meta.sizes.size(), 1);
    line[static_cast<std::size_t>(axis)] = x.meta.sizes[static_cast<std::size_t>(axis)];
    const Sizes channels = {line[static_cast<std::size_t>(axis)]};
    const bool fits = scale.meta.dtype == DType::f32 || scale.meta.dtype == x.meta.dtype;
    if (!fits || scale.meta.sizes != channels || zero.meta.sizes != channels)
        throw Error(a.schema().name + ": found a scale of " + std::string(name(scale.meta.dtype)) +
                    to_string(scale.meta.sizes) + " and a zero_point of sizes " + to_string(zero.meta.sizes) +
                    ", expected a scale of f32" + to_string(channels) + " and a zero_point of sizes " +
                    to_string(channels) + ", one element for each channel");
    const auto broadcast = [&](const NodeValue& v) { return arg(g.as(g.reshape(v, line), x.meta.dtype)); };
    return quantized(g, a, x, broadcast(g.of("aten.reciprocal.default", scale)), broadcast(scale), broadcast(zero),
                     !is_floating(zero.meta.dtype));
}

Refs mask_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue grad = a.tensor("grad"), mask = a.tensor("mask");
    if (mask.meta.dtype != DType::boolean || mask.meta.sizes != grad.meta.sizes)
        throw Error(a.schema().name + ": found a mask of " + std::string(name(mask.meta.dtype)) +
                    to_string(mask.meta.sizes) + ", expected bool" + to_string(grad.meta.sizes) +
                    ", the sizes of the gradient");
    return {Gradient(b).mul(grad, mask).ref};
}

Refs per_tensor_of_program(GraphBuilder& b, const Arguments<NodeValue>& a) {
    return {b.call_multi("aten.fake_quantize_per_tensor_affine_cachemask.default",
                         {arg(a.tensor("self")), a.number("scale"), a.integer("zero_point"), a.integer("quant_min"),
                          a.integer("quant_max")})[0]
                .ref};
}
Refs per_channel_of_program(GraphBuilder& b, const Arguments<NodeValue>& a) {
    return {b.call_multi("aten.fake_quantize_per_channel_affine_cachemask.default",
                         {arg(a.tensor("self")), arg(a.tensor("scale")), arg(a.tensor("zero_point")), a.integer("axis"),
                          a.integer("quant_min"), a.integer("quant_max")})[0]
                .ref};
}

void per_tensor_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    r.set("self",
          r.call("aten.fake_quantize_per_tensor_affine_cachemask_backward.default", {arg(r.grad()), arg(r.result(1))}));
}
void per_channel_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    r.set("self", r.call("aten.fake_quantize_per_channel_affine_cachemask_backward.default",
                         {arg(r.grad()), arg(r.result(1))}));
}

// --- Records ---

constexpr DTypeSet kQuantized = set_of(DType::f64) | set_of(DType::f32);
#define WHITTLE_FAKE "https://pytorch.org/docs/stable/generated/torch.fake_quantize_per_"

constexpr OpDef kFakeQuantizeOps[] = {
    {.name = "aten.fake_quantize_per_tensor_affine_cachemask.default",
     .doc = "numbers as quantization leaves them, and where it limits none: " WHITTLE_FAKE "tensor_affine.html",
     .schema = "fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int "
               "quant_max) -> (Tensor output, Tensor mask)",
     .dtypes = kQuantized,
     .decompose = per_tensor,
     .open = {.ask = aten_open::quantized_scale},
     .grad = per_tensor_grad},
    {.name = "aten.fake_quantize_per_tensor_affine_cachemask_backward.default",
     .doc = "the gradient where the mask holds: " WHITTLE_FAKE "tensor_affine.html",
     .schema = "fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor",
     .dtypes = kQuantized,
     .decompose = mask_backward},
    {.name = "aten.fake_quantize_per_tensor_affine.default",
     .doc = "numbers as quantization leaves them: " WHITTLE_FAKE "tensor_affine.html",
     .schema =
         "fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) "
         "-> Tensor",
     .dtypes = kQuantized,
     .decompose = per_tensor_of_program,
     .open = {.ask = aten_open::quantized_scale}},
    {.name = "aten.fake_quantize_per_channel_affine_cachemask.default",
     .doc = "each channel as quantization leaves it, and where it limits none: " WHITTLE_FAKE "channel_affine.html",
     .schema = "fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int "
               "quant_min, int quant_max) -> (Tensor output, Tensor mask)",
     .dtypes = kQuantized,
     .decompose = per_channel,
     .open = {.ask = aten_open::quantized_scales},
     .grad = per_channel_grad},
    {.name = "aten.fake_quantize_per_channel_affine_cachemask_backward.default",
     .doc = "the gradient where the mask holds: " WHITTLE_FAKE "channel_affine.html",
     .schema = "fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor",
     .dtypes = kQuantized,
     .decompose = mask_backward},
    {.name = "aten.fake_quantize_per_channel_affine.default",
     .doc = "each channel as quantization leaves it: " WHITTLE_FAKE "channel_affine.html",
     .schema =
         "fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, "
         "int quant_max) -> Tensor",
     .dtypes = kQuantized,
     .decompose = per_channel_of_program,
     .open = {.ask = aten_open::quantized_scales}},
};

}  // namespace

std::span<const OpDef> fake_quantize_ops() { return kFakeQuantizeOps; }

}  // namespace whittle

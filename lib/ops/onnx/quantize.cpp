// ONNX's 8-bit integers: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, and the products on them. A quantized
// value stands for (value - zero point) * scale. Sums of products are computed in f64, where they are exact.
#include <algorithm>
#include <cmath>

#include "ops/core/open_rules.h"
#include "ops/onnx/rewrite.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// One number for all of x, or one per slice of the axis, in sizes that broadcast against x.
V broadcast_along_axis(std::string_view what, const V& value, const V& x, std::int64_t axis) {
    if (value.numel() == 1) return reshaped(value, {});
    if (value.rank() != 1 || value.sizes()[0] != size_of_dim(x, wrap_dim(axis, x.rank())))
        throw Error("found " + std::string(what) + " of sizes " + to_string(value.sizes()) +
                    ", expected one number, or one number for each element along axis " + std::to_string(axis) +
                    " of an input of sizes " + to_string(x.sizes()));
    Sizes sizes(x.sizes().size(), 1);
    sizes[static_cast<std::size_t>(wrap_dim(axis, x.rank()))] = value.sizes()[0];
    return reshaped(value, sizes);
}

/// One number per block of `block` elements of the axis, for each element.
V along_blocks(const Call& c, std::string_view what, const V& value, const V& x, std::int64_t axis,
               std::int64_t block) {
    const std::int64_t dim = wrap_dim(axis, x.rank()), size = size_of_dim(x, dim);
    Sizes expected = x.sizes();
    expected[static_cast<std::size_t>(dim)] = size == 0 ? 0 : (size - 1) / block + 1;
    if (value.sizes() != expected)
        throw Error("found " + std::string(what) + " of sizes " + to_string(value.sizes()) + ", expected " +
                    to_string(expected) + ", one number for each block of " + std::to_string(block) +
                    " elements along axis " + std::to_string(axis));
    Ints blocks;
    for (std::int64_t i = 0; i < size; ++i) blocks.push_back(i / block);
    return index_select(value, dim, ints(c, blocks));
}

/// The operand `what` in sizes that broadcast against x, as the op's axis and block_size say.
V spread(const Call& c, std::string_view what, const V& x) {
    const V value = c.tensor(what);
    const std::int64_t block = c.integer("block_size");
    if (block < 0) throw Error("found block_size=" + std::to_string(block) + ", expected at least 0");
    return block > 0 ? along_blocks(c, what, value, x, c.integer("axis"), block)
                     : broadcast_along_axis(what, value, x, c.integer("axis"));
}

/// x (a float that counts steps) rounded to nearest even, moved by the zero point, and clamped to its dtype.
V saturated(const Call& c, const V& steps, const V& zero_point) {
    const DType dtype = zero_point.dtype();
    const bool wide = (dtype == DType::u16 || dtype == DType::i16) && opset(c) >= 21;
    if (dtype != DType::u8 && dtype != DType::i8 && !wide)
        throw Error("found a zero point of type " + std::string(name(dtype)) +
                    ", expected u8 or i8 or, since opset 21, u16 or i16");
    const V moved = round(steps) + cast(zero_point, steps.dtype());
    return cast(clamp(moved, lowest(dtype).to_double(), greatest(dtype).to_double()), dtype);
}

/// Steps as an 8-bit float, whose values are not evenly apart: converted, as Cast does it.
V as_small_float(const Call& c, const V& steps, DType dtype) {
    return c.builder().call("onnx.Cast", {arg(steps)},
                            {{"saturate", Arg(c.integer("saturate"))}, {"to", Arg(info_of(dtype).onnx)}});
}

/// The type in which x is divided by its scale: since opset 23 as `precision` says, or else that of the scale.
DType quotient_type(const Call& c, DType scale) {
    if (opset(c) < 23) return DType::f32;
    const std::int64_t wanted = c.integer("precision");
    return wanted == 0 ? scale : float_of_code("precision", wanted);
}

CallResults quantize(const Call& c) {
    const V x = c.tensor("x"), scale = c.tensor("y_scale");
    const bool given = c.has("y_zero_point");
    const std::int64_t wanted = c.integer("output_dtype");
    const DType dtype = given ? c.tensor("y_zero_point").dtype() : wanted != 0 ? dtype_of_code(wanted) : DType::u8;
    const DType precise = quotient_type(c, scale.dtype());
    const V quotient = cast(x, precise) / cast(spread(c, "y_scale", x), precise);
    const V steps = cast(quotient, promote(precise, DType::f32));
    if (is_floating(dtype)) return as_small_float(c, steps, dtype);  // their zero point is 0
    const V zero = given ? spread(c, "y_zero_point", x) : full(c.builder(), {}, 0, dtype);
    return saturated(c, steps, zero);
}

CallResults dequantize(const Call& c) {
    const V x = c.tensor("x");
    const bool floats = is_floating(x.dtype());  // their zero point is 0
    V steps = cast(x, floats ? DType::f32 : DType::i32);
    if (c.has("x_zero_point") && !floats) steps = steps - cast(spread(c, "x_zero_point", x), DType::i32);
    const V scale = spread(c, "x_scale", x);
    const std::int64_t wanted = c.integer("output_dtype");
    const DType dtype = wanted == 0 ? scale.dtype() : float_of_code("output_dtype", wanted);
    return cast(steps, dtype) * cast(scale, dtype);
}

/// Scale and zero point such that 0 … 255 spans x and zero. Nothing but zeros has scale 1, as in onnxruntime.
CallResults dynamic_quantize(const Call& c) {
    const V x = c.tensor("x");
    const V least = clamp(min(x), {}, 0.0);
    const V range = clamp(max(x), 0.0) - least;
    const V scale = where(eq(range, 0.0), 1.0, range / 255.0);
    const V exact = -(least / scale);
    const V zero = cast(round(clamp(exact, 0.0, 255.0)), DType::u8);
    return {saturated(c, x / scale, zero), scale, zero};
}

/// x without its zero point.
V centered(const V& x, const OptionalV& zero_point) {
    const V exact = cast(x, DType::f64);
    return zero_point ? exact - cast(*zero_point, DType::f64) : exact;
}

/// A number per row of a matrix: its column.
V per_row(const V& value, const V& matrix) {
    if (value.numel() == 1) return reshaped(value, {});
    return value.rank() == 1 && matrix.rank() > 1 ? reshaped(value, {value.sizes()[0], 1}) : value;
}
V per_column(const V& value) { return value.numel() == 1 ? reshaped(value, {}) : value; }

V matrix_product(const V& a, OptionalV a_zero, const V& b, OptionalV b_zero) {
    if (a_zero) a_zero = per_row(*a_zero, a);
    if (b_zero) b_zero = per_column(*b_zero);
    return matmul(centered(a, a_zero), centered(b, b_zero));
}

CallResults matmul_integer(const Call& c) {
    const V product = matrix_product(c.tensor("A"), c.optional_tensor("a_zero_point"), c.tensor("B"),
                                     c.optional_tensor("b_zero_point"));
    return cast(product, DType::i32);
}

/// An exact result in steps of `scale`, to those of y.
V requantized(const Call& c, const V& exact, const V& scale) {
    const V y_scale = reshaped(c.tensor("y_scale"), {});
    const V steps = cast(exact, DType::f32) * (scale / y_scale);
    return saturated(c, steps, reshaped(c.tensor("y_zero_point"), {}));
}

CallResults qlinear_matmul(const Call& c) {
    const V a = c.tensor("a"), b = c.tensor("b");
    const V product = matrix_product(a, c.tensor("a_zero_point"), b, c.tensor("b_zero_point"));
    return requantized(c, product, per_row(c.tensor("a_scale"), a) * per_column(c.tensor("b_scale")));
}

/// One number, or one per feature map: the first dimension of a weight, the second of a result.
V per_map(const V& value, const V& x, std::size_t dim) {
    if (value.numel() == 1) return reshaped(value, {});
    Sizes sizes(x.sizes().size(), 1);
    sizes[dim] = value.numel();
    return reshaped(value, sizes);
}

/// The convolution of x and w without their zero points: the padding is zero, so it stands for the zero point.
V exact_convolution(const Call& c, const V& x, OptionalV x_zero, const V& w, OptionalV w_zero) {
    if (x_zero) x_zero = reshaped(*x_zero, {});
    if (w_zero) w_zero = per_map(*w_zero, w, 0);
    GraphBuilder::Kwargs attributes = {{"auto_pad", Arg(c.text("auto_pad"))}, {"group", Arg(c.integer("group"))}};
    for (const char* name : {"dilations", "kernel_shape", "pads", "strides"})
        if (const auto values = c.optional_integers(name)) attributes.emplace_back(name, Arg::ints(*values));
    return c.builder().call("onnx.Conv", {arg(centered(x, x_zero)), arg(centered(w, w_zero))}, std::move(attributes));
}

CallResults conv_integer(const Call& c) {
    const V exact = exact_convolution(c, c.tensor("x"), c.optional_tensor("x_zero_point"), c.tensor("w"),
                                      c.optional_tensor("w_zero_point"));
    return cast(exact, DType::i32);
}

CallResults qlinear_conv(const Call& c) {
    const V w = c.tensor("w");
    V exact = exact_convolution(c, c.tensor("x"), c.tensor("x_zero_point"), w, c.tensor("w_zero_point"));
    if (const auto bias = c.optional_tensor("B"))  // in steps of x_scale * w_scale
        exact = exact + per_map(cast(*bias, DType::f64), exact, 1);
    const V scale = reshaped(c.tensor("x_scale"), {}) * per_map(c.tensor("w_scale"), exact, 1);
    return requantized(c, exact, scale);
}

constexpr DTypeSet kQuantized = set_of(DType::u8) | set_of(DType::i8);
constexpr DTypeSet kFloat8 = used_of(DTypeInfo::Category::floating, DTypeInfo::Use::stored);

/// Of QuantizeLinear: a division by 0, or a step that is NaN, which no integer is.
Reason open_quantized(std::string_view op, const Arguments<Tensor>& a) {
    const Tensor scale = a.tensor("y_scale");
    if (Reason reason = zero_scale(op, scale)) return reason;
    for (const Tensor& operand : {scale, a.tensor("x")})
        if (std::ranges::any_of(operand.values<double>(), [](double value) { return std::isnan(value); }))
            return std::string(op) + " rounds NaN to an integer";
    return std::nullopt;
}

/// Of DequantizeLinear: with a scale of 0, which no quantization has, the values say nothing.
Reason open_dequantized(std::string_view op, const Arguments<Tensor>& a) { return zero_scale(op, a.tensor("x_scale")); }

/// Of DynamicQuantizeLinear: nothing but zeros have a scale of 0, by which they are divided.
Reason open_dynamically_quantized(std::string_view op, const Arguments<Tensor>& a) {
    const Tensor x = a.tensor("x");
    if (Reason reason = not_finite(op, "data", x)) return reason;
    if (std::ranges::any_of(x.values<double>(), [](double value) { return value != 0; })) return std::nullopt;
    return std::string(op) + " has a scale of 0";
}

/// Of QLinearMatMul and QLinearConv.
Reason open_requantized(std::string_view op, const Arguments<Tensor>& a) { return zero_scale(op, a.tensor("y_scale")); }

constexpr OpDef kQuantizeOps[] = {
    composite("QuantizeLinear(Tensor x, Tensor y_scale, Tensor? y_zero_point=None, *, int axis=1, int block_size=0, "
              "int output_dtype=0, int precision=0, int saturate=1) -> Tensor",
              "Floats quantized to 8 bits", (kFloating & ~set_of(DType::f64)) | set_of(DType::i32), quantize,
              {.ask = open_quantized, .integers_only = true}),
    composite("DequantizeLinear(Tensor x, Tensor x_scale, Tensor? x_zero_point=None, *, int axis=1, int block_size=0, "
              "int output_dtype=0) -> Tensor",
              "Floats computed from quantized values",
              kQuantized | set_of(DType::i32) | set_of(DType::u16) | set_of(DType::i16) | kFloat8, dequantize,
              {.ask = open_dequantized}),
    composite("DynamicQuantizeLinear(Tensor x) -> (Tensor y, Tensor y_scale, Tensor y_zero_point)",
              "Floats quantized to 8 bits with a scale that spans the data", set_of(DType::f32), dynamic_quantize,
              {.ask = open_dynamically_quantized}),
    composite("MatMulInteger(Tensor A, Tensor B, Tensor? a_zero_point=None, Tensor? b_zero_point=None) -> Tensor",
              "The product of 8-bit matrices in 32 bits", kQuantized, matmul_integer),
    composite("QLinearMatMul(Tensor a, Tensor a_scale, Tensor a_zero_point, Tensor b, Tensor b_scale, Tensor "
              "b_zero_point, Tensor y_scale, Tensor y_zero_point) -> Tensor",
              "The product of quantized matrices, quantized", kQuantized, qlinear_matmul, {.ask = open_requantized}),
    composite("ConvInteger(Tensor x, Tensor w, Tensor? x_zero_point=None, Tensor? w_zero_point=None, *, str "
              "auto_pad=\"NOTSET\", int[]? dilations=None, int group=1, int[]? kernel_shape=None, int[]? pads=None, "
              "int[]? strides=None) -> Tensor",
              "The convolution of 8-bit integers in 32 bits", kQuantized, conv_integer),
    composite("QLinearConv(Tensor x, Tensor x_scale, Tensor x_zero_point, Tensor w, Tensor w_scale, Tensor "
              "w_zero_point, Tensor y_scale, Tensor y_zero_point, Tensor? B=None, *, str auto_pad=\"NOTSET\", int[]? "
              "dilations=None, int group=1, int[]? kernel_shape=None, int[]? pads=None, int[]? strides=None) -> Tensor",
              "The convolution of quantized images, quantized", kQuantized, qlinear_conv, {.ask = open_requantized}),
};

}  // namespace

std::span<const OpDef> onnx_quantize_ops() { return kQuantizeOps; }

}  // namespace whittle

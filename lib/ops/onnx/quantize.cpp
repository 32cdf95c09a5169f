// ONNX's 8-bit integers: QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, and the products on them. A quantized
// value stands for (value - zero point) * scale. Sums of products are computed in f64, where they are exact.
#include "ops/onnx/open_rules.h"
#include "ops/onnx/rewrite.h"
#include "tensor/limits.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

std::optional<NodeValue> optional_tensor(const Rewrite& op, std::string_view name) {
    return op.has(name) ? std::optional(op.tensor(name)) : std::nullopt;
}

/// One number for all of x, or one per slice of the axis, in sizes that broadcast against x.
NodeValue broadcast_along_axis(const Rewrite& op, const NodeValue& value, const NodeValue& x, std::int64_t axis) {
    if (value.meta.numel() == 1) return op.reshape(value, {});
    if (rank_of(value) != 1 || value.meta.sizes[0] != size_of_dim(x, wrap_dim(axis, rank_of(x))))
        throw Error("found a scale or zero point of sizes " + to_string(value.meta.sizes) +
                    ", expected one number, or one number for each element along axis " + std::to_string(axis) +
                    " of an input of sizes " + to_string(x.meta.sizes));
    Sizes sizes(x.meta.sizes.size(), 1);
    sizes[static_cast<std::size_t>(wrap_dim(axis, rank_of(x)))] = value.meta.sizes[0];
    return op.reshape(value, sizes);
}

/// One number per block of `block` elements of the axis, for each element.
NodeValue along_blocks(const Rewrite& op, const NodeValue& value, const NodeValue& x, std::int64_t axis,
                       std::int64_t block) {
    const std::int64_t dim = wrap_dim(axis, rank_of(x)), size = size_of_dim(x, dim);
    Sizes expected = x.meta.sizes;
    expected[static_cast<std::size_t>(dim)] = size == 0 ? 0 : (size - 1) / block + 1;
    if (value.meta.sizes != expected)
        throw Error("found a scale or zero point of sizes " + to_string(value.meta.sizes) + ", expected " +
                    to_string(expected) + ", one number for each block of " + std::to_string(block) +
                    " elements along axis " + std::to_string(axis));
    Ints blocks;
    for (std::int64_t i = 0; i < size; ++i) blocks.push_back(i / block);
    return op("aten.index_select.default", value, dim, op.ints(blocks));
}

/// In sizes that broadcast against x, as the op's axis and block_size say.
NodeValue spread(const Rewrite& op, const NodeValue& value, const NodeValue& x) {
    const std::int64_t block = op.integer("block_size");
    if (block < 0) throw Error("found block_size=" + std::to_string(block) + ", expected at least 0");
    return block > 0 ? along_blocks(op, value, x, op.integer("axis"), block)
                     : broadcast_along_axis(op, value, x, op.integer("axis"));
}

/// x (a float that counts steps) rounded to nearest even, moved by the zero point, and clamped to its dtype.
NodeValue saturated(const Rewrite& op, const NodeValue& steps, const NodeValue& zero_point) {
    const DType dtype = zero_point.meta.dtype;
    const bool wide = (dtype == DType::u16 || dtype == DType::i16) && op.opset() >= 21;
    if (dtype != DType::u8 && dtype != DType::i8 && !wide)
        throw Error("found a zero point of type " + std::string(name(dtype)) +
                    ", expected u8 or i8 or, since opset 21, u16 or i16");
    const NodeValue moved =
        op("aten.add.Tensor", op("aten.round.default", steps), op.cast(zero_point, steps.meta.dtype));
    return op.cast(op("aten.clamp.default", moved, lowest(dtype).to_double(), greatest(dtype).to_double()), dtype);
}

/// Steps as an 8-bit float, whose values are not evenly apart: converted, as Cast does it.
NodeValue as_small_float(const Rewrite& op, const NodeValue& steps, DType dtype) {
    return op.builder().call("onnx.Cast", {arg(steps)},
                             {{"saturate", Arg(op.integer("saturate"))}, {"to", Arg(info_of(dtype).onnx)}});
}

/// The type in which x is divided by its scale: since opset 23 as `precision` says, or else that of the scale.
DType quotient_type(const Rewrite& op, DType scale) {
    if (op.opset() < 23) return DType::f32;
    const std::int64_t wanted = op.integer("precision");
    return wanted == 0 ? scale : float_of_code("precision", wanted);
}

Results quantize(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("x"), scale = op.tensor("y_scale");
    const bool given = op.has("y_zero_point");
    const std::int64_t wanted = op.integer("output_dtype");
    const DType dtype = given ? op.tensor("y_zero_point").meta.dtype : wanted != 0 ? dtype_of_code(wanted) : DType::u8;
    const DType precise = quotient_type(op, scale.meta.dtype);
    const NodeValue quotient = op("aten.div.Tensor", op.cast(x, precise), op.cast(spread(op, scale, x), precise));
    const NodeValue steps = op.cast(quotient, promote(precise, DType::f32));
    if (is_floating(dtype)) return {as_small_float(op, steps, dtype).ref};  // their zero point is 0
    const NodeValue zero =
        given ? spread(op, op.tensor("y_zero_point"), x) : op.full({}, Scalar(std::int64_t{0}), dtype);
    return {saturated(op, steps, zero).ref};
}

Results dequantize(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("x");
    const bool floats = is_floating(x.meta.dtype);  // their zero point is 0
    NodeValue steps = op.cast(x, floats ? DType::f32 : DType::i32);
    if (const auto zero = optional_tensor(op, "x_zero_point"); zero && !floats)
        steps = op("aten.sub.Tensor", steps, op.cast(spread(op, *zero, x), DType::i32));
    const NodeValue scale = spread(op, op.tensor("x_scale"), x);
    const std::int64_t wanted = op.integer("output_dtype");
    const DType dtype = wanted == 0 ? scale.meta.dtype : float_of_code("output_dtype", wanted);
    return {op("aten.mul.Tensor", op.cast(steps, dtype), op.cast(scale, dtype)).ref};
}

/// Scale and zero point such that 0 … 255 spans x and zero. Nothing but zeros has scale 1, as in onnxruntime.
Results dynamic_quantize(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("x");
    const NodeValue least = op("aten.clamp.default", op("aten.min.default", x), Arg(), 0.0);
    const NodeValue range = op("aten.sub.Tensor", op("aten.clamp.default", op("aten.max.default", x), 0.0), least);
    const NodeValue scale =
        op("aten.where.ScalarSelf", op("aten.eq.Scalar", range, 0.0), 1.0, op("aten.div.Tensor", range, 255.0));
    const NodeValue exact = op("aten.neg.default", op("aten.div.Tensor", least, scale));
    const NodeValue zero = op.cast(op("aten.round.default", op("aten.clamp.default", exact, 0.0, 255.0)), DType::u8);
    return {saturated(op, op("aten.div.Tensor", x, scale), zero).ref, scale.ref, zero.ref};
}

/// x without its zero point.
NodeValue centered(const Rewrite& op, const NodeValue& x, const std::optional<NodeValue>& zero_point) {
    const NodeValue exact = op.cast(x, DType::f64);
    return zero_point ? op("aten.sub.Tensor", exact, op.cast(*zero_point, DType::f64)) : exact;
}

/// A number per row of a matrix: its column.
NodeValue per_row(const Rewrite& op, const NodeValue& value, const NodeValue& matrix) {
    if (value.meta.numel() == 1) return op.reshape(value, {});
    return rank_of(value) == 1 && rank_of(matrix) > 1 ? op.reshape(value, {value.meta.sizes[0], 1}) : value;
}
NodeValue per_column(const Rewrite& op, const NodeValue& value) {
    return value.meta.numel() == 1 ? op.reshape(value, {}) : value;
}

NodeValue matrix_product(const Rewrite& op, const NodeValue& a, std::optional<NodeValue> a_zero, const NodeValue& b,
                         std::optional<NodeValue> b_zero) {
    if (a_zero) a_zero = per_row(op, *a_zero, a);
    if (b_zero) b_zero = per_column(op, *b_zero);
    return op("aten.matmul.default", centered(op, a, a_zero), centered(op, b, b_zero));
}

Results matmul_integer(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue product = matrix_product(op, op.tensor("A"), optional_tensor(op, "a_zero_point"), op.tensor("B"),
                                             optional_tensor(op, "b_zero_point"));
    return {op.cast(product, DType::i32).ref};
}

/// An exact result in steps of `scale`, to those of y.
NodeValue requantized(const Rewrite& op, const NodeValue& exact, const NodeValue& scale) {
    const NodeValue y_scale = op.reshape(op.tensor("y_scale"), {});
    const NodeValue steps = op("aten.mul.Tensor", op.cast(exact, DType::f32), op("aten.div.Tensor", scale, y_scale));
    return saturated(op, steps, op.reshape(op.tensor("y_zero_point"), {}));
}

Results qlinear_matmul(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue a = op.tensor("a"), b = op.tensor("b");
    const NodeValue product = matrix_product(op, a, op.tensor("a_zero_point"), b, op.tensor("b_zero_point"));
    return {
        requantized(op, product,
                    op("aten.mul.Tensor", per_row(op, op.tensor("a_scale"), a), per_column(op, op.tensor("b_scale"))))
            .ref};
}

/// One number, or one per feature map: the first dimension of a weight, the second of a result.
NodeValue per_map(const Rewrite& op, const NodeValue& value, const NodeValue& x, std::size_t dim) {
    if (value.meta.numel() == 1) return op.reshape(value, {});
    Sizes sizes(x.meta.sizes.size(), 1);
    sizes[dim] = value.meta.numel();
    return op.reshape(value, sizes);
}

/// The convolution of x and w without their zero points: the padding is zero, so it stands for the zero point.
NodeValue exact_convolution(const Rewrite& op, const NodeValue& x, std::optional<NodeValue> x_zero, const NodeValue& w,
                            std::optional<NodeValue> w_zero) {
    if (x_zero) x_zero = op.reshape(*x_zero, {});
    if (w_zero) w_zero = per_map(op, *w_zero, w, 0);
    GraphBuilder::Kwargs attributes = {{"auto_pad", Arg(op.arguments().text("auto_pad"))},
                                       {"group", Arg(op.integer("group"))}};
    for (const char* name : {"dilations", "kernel_shape", "pads", "strides"})
        if (const auto values = op.arguments().optional_integers(name))
            attributes.emplace_back(name, Arg::ints(*values));
    return op.builder().call("onnx.Conv", {arg(centered(op, x, x_zero)), arg(centered(op, w, w_zero))},
                             std::move(attributes));
}

Results conv_integer(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue exact = exact_convolution(op, op.tensor("x"), optional_tensor(op, "x_zero_point"), op.tensor("w"),
                                              optional_tensor(op, "w_zero_point"));
    return {op.cast(exact, DType::i32).ref};
}

Results qlinear_conv(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue w = op.tensor("w");
    NodeValue exact = exact_convolution(op, op.tensor("x"), op.tensor("x_zero_point"), w, op.tensor("w_zero_point"));
    if (const auto bias = optional_tensor(op, "B"))  // in steps of x_scale * w_scale
        exact = op("aten.add.Tensor", exact, per_map(op, op.cast(*bias, DType::f64), exact, 1));
    const NodeValue scale =
        op("aten.mul.Tensor", op.reshape(op.tensor("x_scale"), {}), per_map(op, op.tensor("w_scale"), exact, 1));
    return {requantized(op, exact, scale).ref};
}

constexpr DTypeSet kQuantized = set_of(DType::u8) | set_of(DType::i8);
constexpr DTypeSet kFloat8 = used_of(DTypeInfo::Category::floating, DTypeInfo::Use::stored);

constexpr OpDef kQuantizeOps[] = {
    {.name = "onnx.QuantizeLinear",
     .doc = "Floats quantized to 8 bits. onnx Operators.md#QuantizeLinear",
     .schema = "QuantizeLinear(Tensor x, Tensor y_scale, Tensor? y_zero_point=None, *, int axis=1, int block_size=0, "
               "int output_dtype=0, int precision=0, int saturate=1) -> Tensor",
     .dtypes = (kFloating & ~set_of(DType::f64)) | set_of(DType::i32),
     .decompose = quantize,
     .open = {.ask = onnx_open::quantized, .integers_only = true}},
    {.name = "onnx.DequantizeLinear",
     .doc = "Floats from 8-bit quantized values. onnx Operators.md#DequantizeLinear",
     .schema = "DequantizeLinear(Tensor x, Tensor x_scale, Tensor? x_zero_point=None, *, int axis=1, int block_size=0, "
               "int output_dtype=0) -> Tensor",
     .dtypes = kQuantized | set_of(DType::i32) | set_of(DType::u16) | set_of(DType::i16) | kFloat8,
     .decompose = dequantize,
     .open = {.ask = onnx_open::dequantized}},
    {.name = "onnx.DynamicQuantizeLinear",
     .doc = "Floats quantized to 8 bits with a scale that spans the data. onnx Operators.md#DynamicQuantizeLinear",
     .schema = "DynamicQuantizeLinear(Tensor x) -> (Tensor y, Tensor y_scale, Tensor y_zero_point)",
     .dtypes = set_of(DType::f32),
     .decompose = dynamic_quantize,
     .open = {.ask = onnx_open::dynamically_quantized}},
    {.name = "onnx.MatMulInteger",
     .doc = "The product of 8-bit matrices in 32 bits. onnx Operators.md#MatMulInteger",
     .schema = "MatMulInteger(Tensor A, Tensor B, Tensor? a_zero_point=None, Tensor? b_zero_point=None) -> Tensor",
     .dtypes = kQuantized,
     .decompose = matmul_integer},
    {.name = "onnx.QLinearMatMul",
     .doc = "The product of quantized matrices, quantized. onnx Operators.md#QLinearMatMul",
     .schema = "QLinearMatMul(Tensor a, Tensor a_scale, Tensor a_zero_point, Tensor b, Tensor b_scale, "
               "Tensor b_zero_point, Tensor y_scale, Tensor y_zero_point) -> Tensor",
     .dtypes = kQuantized,
     .decompose = qlinear_matmul,
     .open = {.ask = onnx_open::requantized}},
    {.name = "onnx.ConvInteger",
     .doc = "The convolution of 8-bit integers in 32 bits. onnx Operators.md#ConvInteger",
     .schema = "ConvInteger(Tensor x, Tensor w, Tensor? x_zero_point=None, Tensor? w_zero_point=None, *, "
               "str auto_pad=\"NOTSET\", int[]? dilations=None, int group=1, int[]? kernel_shape=None, "
               "int[]? pads=None, int[]? strides=None) -> Tensor",
     .dtypes = kQuantized,
     .decompose = conv_integer},
    {.name = "onnx.QLinearConv",
     .doc = "The convolution of quantized images, quantized. onnx Operators.md#QLinearConv",
     .schema = "QLinearConv(Tensor x, Tensor x_scale, Tensor x_zero_point, Tensor w, Tensor w_scale, "
               "Tensor w_zero_point, Tensor y_scale, Tensor y_zero_point, Tensor? B=None, *, "
               "str auto_pad=\"NOTSET\", int[]? dilations=None, int group=1, int[]? kernel_shape=None, "
               "int[]? pads=None, int[]? strides=None) -> Tensor",
     .dtypes = kQuantized,
     .decompose = qlinear_conv,
     .open = {.ask = onnx_open::requantized}},
};

}  // namespace

std::span<const OpDef> onnx_quantize_ops() { return kQuantizeOps; }

}  // namespace whittle

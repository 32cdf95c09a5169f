// ONNX's convolutions: Conv, ConvTranspose.
#include "base/checked.h"
#include "ops/onnx/window.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// Sizes of the weight's spatial dimensions, which kernel_shape may repeat.
Ints kernel_of(const Rewrite& op, const NodeValue& weight) {
    if (rank_of(weight) < 3)
        throw Error("found a weight of sizes " + to_string(weight.meta.sizes) +
                    ", expected channels, channels and more");
    const Ints kernel(weight.meta.sizes.begin() + 2, weight.meta.sizes.end());
    const auto stated = op.arguments().optional_integers("kernel_shape");
    if (stated && *stated != kernel)
        throw Error("found kernel_shape " + to_string(*stated) + ", expected the weight's " + to_string(kernel));
    return kernel;
}

NodeValue convolution(const Rewrite& op, const NodeValue& x, const Windows& windows, const Ints& padding,
                      bool transposed, const Ints& output_padding) {
    const auto bias = op.arguments().optional_tensor("B");
    return op("aten.convolution.default", x, op.tensor("W"), bias ? arg(*bias) : Arg(), windows.strides, padding,
              windows.dilations, transposed, output_padding, op.integer("group"));
}

Results conv(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    const Windows windows = windows_of(op, x, kernel_of(op, op.tensor("W")));
    const Ints zeros(windows.rank(), 0);
    if (windows.symmetric()) return {convolution(op, x, windows, windows.before, false, zeros).ref};
    return {convolution(op, padded(op, x, windows, Scalar(0.0)), windows, zeros, false, zeros).ref};
}

/// What is cut off the full result at either end: pads, or what output_shape or auto_pad demand.
/// A result larger than the full one grows at the end.
void resolve_output(const Rewrite& op, const NodeValue& x, Ints& output_padding, Windows& windows) {
    const std::string mode = op.arguments().text("auto_pad");
    const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
    auto wanted = op.arguments().optional_integers("output_shape");
    if (wanted && wanted->size() == windows.rank() + 2) wanted->erase(wanted->begin(), wanted->begin() + 2);
    if (wanted && wanted->size() != windows.rank())
        throw Error("found output_shape of " + std::to_string(wanted->size()) + " numbers, expected " +
                    std::to_string(windows.rank()));
    if (!wanted && !same) return;
    for (std::size_t d = 0; d < windows.rank(); ++d) {
        const std::int64_t size = x.meta.sizes[d + 2];
        const Checked full = Checked(windows.strides[d]) * (size - 1) + output_padding[d] + windows.extent(d);
        const Checked result = wanted ? (*wanted)[d] : Checked(size) * windows.strides[d];
        const std::int64_t cut = std::max<std::int64_t>((full - result).value(), 0);
        output_padding[d] = std::max(output_padding[d] + (result - full), Checked(output_padding[d])).value();
        windows.before[d] = mode == "SAME_UPPER" ? cut / 2 : cut - cut / 2;
        windows.after[d] = cut - windows.before[d];
    }
}

Results conv_transpose(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    Windows windows = windows_of(op, x, kernel_of(op, op.tensor("W")));
    Ints output_padding = per_dimension(op, "output_padding", windows.rank(), 0, 0);
    resolve_output(op, x, output_padding, windows);
    if (windows.symmetric()) return {convolution(op, x, windows, windows.before, true, output_padding).ref};
    NodeValue result = convolution(op, x, windows, Ints(windows.rank(), 0), true, output_padding);
    for (std::size_t d = 0; d < windows.rank(); ++d) {
        const auto dim = static_cast<std::int64_t>(d + 2);
        const std::int64_t end = size_of_dim(result, dim) - windows.after[d];
        if (end < windows.before[d]) throw Error("found pads beyond the result's size, expected smaller ones");
        result = op.slice(result, dim, windows.before[d], end);
    }
    return {result.ref};
}

Sample conv_sample(const std::string& label, std::vector<Tensor> tensors,
                   std::vector<std::pair<std::string, Arg>> kwargs) {
    ArgList args;
    for (std::size_t i = 0; i < tensors.size(); ++i) args.push_back(t(static_cast<int>(i)));
    return at_opset(
        11, {.label = label, .tensors = std::move(tensors), .args = std::move(args), .kwargs = std::move(kwargs)});
}

std::vector<Sample> conv_samples(DType dtype) {
    const Tensor x = samples::random(dtype, {2, 4, 5, 6}), w = samples::random(dtype, {2, 4, 3, 3}, 2),
                 b = samples::random(dtype, {2}, 3);
    return {conv_sample("plain", {x, w, b}, {}),
            conv_sample("strided", {x, w}, {{"pads", Arg::ints({1, 1, 1, 1})}, {"strides", Arg::ints({2, 2})}}),
            conv_sample("uneven pads", {x, w}, {{"pads", Arg::ints({0, 1, 2, 1})}, {"dilations", Arg::ints({2, 1})}}),
            conv_sample("SAME_LOWER", {x, w}, {{"auto_pad", "SAME_LOWER"}, {"strides", Arg::ints({2, 2})}}),
            conv_sample("groups", {x, samples::random(dtype, {4, 1, 2, 2}, 2)}, {{"group", 4}}),
            conv_sample("1-d", {samples::random(dtype, {1, 2, 7}), samples::random(dtype, {3, 2, 3}, 2)}, {})};
}

std::vector<Sample> conv_transpose_samples(DType dtype) {
    const Tensor x = samples::random(dtype, {1, 2, 3, 3}), w = samples::random(dtype, {2, 2, 3, 3}, 2),
                 b = samples::random(dtype, {2}, 3);
    return {
        conv_sample("plain", {x, w, b}, {}),
        conv_sample(
            "strided", {x, w},
            {{"output_padding", Arg::ints({1, 1})}, {"pads", Arg::ints({1, 1, 1, 1})}, {"strides", Arg::ints({2, 2})}}),
        conv_sample("uneven pads", {x, w}, {{"pads", Arg::ints({0, 1, 1, 2})}}),
        conv_sample("output_shape", {x, w}, {{"output_shape", Arg::ints({6, 6})}, {"strides", Arg::ints({2, 2})}})};
}

constexpr OpDef kOps[] = {
    {.name = "onnx.Conv",
     .doc = "Convolution (cross-correlation) over any spatial rank. onnx Operators.md#Conv",
     .schema =
         "Conv(Tensor X, Tensor W, Tensor? B=None, *, str auto_pad=\"NOTSET\", int[]? dilations=None, int group=1, "
         "int[]? kernel_shape=None, int[]? pads=None, int[]? strides=None) -> Tensor",
     .dtypes = kFloating,
     .decompose = conv,
     .samples = conv_samples},
    {.name = "onnx.ConvTranspose",
     .doc = "Transposed convolution. onnx Operators.md#ConvTranspose",
     .schema = "ConvTranspose(Tensor X, Tensor W, Tensor? B=None, *, str auto_pad=\"NOTSET\", int[]? dilations=None, "
               "int group=1, int[]? kernel_shape=None, int[]? output_padding=None, int[]? output_shape=None, "
               "int[]? pads=None, int[]? strides=None) -> Tensor",
     .dtypes = kFloating,
     .decompose = conv_transpose,
     .samples = conv_transpose_samples},
};

}  // namespace

std::span<const OpDef> onnx_conv_ops() { return kOps; }

}  // namespace whittle

// The forms in which networks call convolution: by rank, unbatched, with padding by name, transposed. All decompose to
// aten.convolution.default. Definitions: https://pytorch.org/docs/stable/nn.functional.html#convolution-functions
#include <algorithm>

#include "base/checked.h"
#include "ops/aten/families.h"
#include "ops/core/window.h"

namespace whittle {
namespace {

/// What all forms share once their own parameters are read.
struct Form {
    Sizes stride = {}, padding = {}, dilation = {}, output_padding = {};
    bool transposed = false;
};

/// The convolution of a batch; an input without one gets a batch of one for the time being.
std::vector<NodeRef> convolve_batch(GraphBuilder& builder, const Arguments<NodeValue>& args, NodeValue input, int rank,
                                    const Form& form) {
    const NodeValue weight = args.tensor("weight");
    const auto dims = static_cast<std::size_t>(rank) + 2;
    if (weight.meta.sizes.size() != dims || (input.meta.sizes.size() != dims && input.meta.sizes.size() != dims - 1))
        throw Error(args.schema().name + ": found input " + to_string(input.meta.sizes) + " and weight " +
                    to_string(weight.meta.sizes) + ", expected a weight of rank " + std::to_string(dims) +
                    " and an input of the same rank, or of rank " + std::to_string(dims - 1) + " without a batch");
    const bool batched = input.meta.sizes.size() == dims;
    if (!batched) input = builder.call("aten.unsqueeze.default", {arg(input), 0});
    const auto bias = args.optional_tensor("bias");
    const NodeValue result = builder.call(
        "aten.convolution.default",
        {arg(input), arg(weight), bias ? arg(*bias) : Arg(), Arg::ints(form.stride), Arg::ints(form.padding),
         Arg::ints(form.dilation), form.transposed, Arg::ints(form.output_padding), args.integer("groups")});
    return {batched ? result.ref : builder.call("aten.squeeze.dim", {arg(result), 0}).ref};
}

template <int Rank>
std::vector<NodeRef> decompose_plain(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const Form form = {args.integers("stride"), args.integers("padding"), args.integers("dilation"), Sizes(Rank, 0)};
    return convolve_batch(builder, args, args.tensor("input"), Rank, form);
}

template <int Rank>
std::vector<NodeRef> decompose_transposed(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const Form form = {args.integers("stride"), args.integers("padding"), args.integers("dilation"),
                       args.integers("output_padding"), true};
    return convolve_batch(builder, args, args.tensor("input"), Rank, form);
}

/// "valid" pads nothing; "same" as much as keeps the sizes, on the right where it cannot be halved.
template <int Rank>
std::vector<NodeRef> decompose_padding(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const std::string& op = args.schema().name;
    const Sizes ones(Rank, 1), zeros(Rank, 0);
    const std::string mode = args.text("padding");
    Form form = {window_parameter(op, "stride", args.integers("stride"), Rank, ones, 1), zeros,
                 window_parameter(op, "dilation", args.integers("dilation"), Rank, ones, 1), zeros};
    if (mode != "valid" && mode != "same")
        throw Error(op + ": found padding='" + mode + "', expected 'valid' or 'same'");
    if (mode == "valid") return convolve_batch(builder, args, args.tensor("input"), Rank, form);
    if (form.stride != ones)
        throw Error(op + ": found stride=" + to_string(form.stride) + " with padding='same', expected strides of 1");
    const Sizes& weight = args.tensor("weight").meta.sizes;
    NodeValue input = args.tensor("input");
    Sizes extra;  // of aten.constant_pad_nd: the last dimension first, left then right
    for (std::size_t d = Rank; d-- > 0;) {
        const std::int64_t kernel = d + 2 < weight.size() ? weight[d + 2] : 1;
        const std::int64_t total = (Checked(form.dilation[d]) * (kernel - 1)).value();
        form.padding[d] = total / 2;
        extra.push_back(0);
        extra.push_back(total % 2);
    }
    if (std::ranges::count(extra, 1) > 0)
        input = builder.call("aten.constant_pad_nd.default", {arg(input), Arg::ints(extra), 0});
    return convolve_batch(builder, args, input, Rank, form);
}

/// As autograd and traced modules call it, with flags that choose kernels, not results.
std::vector<NodeRef> decompose_flagged(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const auto bias = args.optional_tensor("bias");
    const NodeValue result = builder.call(
        "aten.convolution.default",
        {arg(args.tensor("input")), arg(args.tensor("weight")), bias ? arg(*bias) : Arg(),
         Arg::ints(args.integers("stride")), Arg::ints(args.integers("padding")), Arg::ints(args.integers("dilation")),
         args.boolean("transposed"), Arg::ints(args.integers("output_padding")), args.integer("groups")});
    return {result.ref};
}

// ---- records ----

constexpr OpDef kConvFormOps[] = {
    {.name = "aten.conv1d.default",
     .doc = "Convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv1d.html",
     .schema = "conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0, "
               "SymInt[1] dilation=1, SymInt groups=1) -> Tensor",
     .dtypes = kConvolutionTypes,
     .decompose = decompose_plain<1>},
    {.name = "aten.conv2d.default",
     .doc = "Convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html",
     .schema = "conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, "
               "SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
     .dtypes = kConvolutionTypes,
     .decompose = decompose_plain<2>},
    {.name = "aten.conv3d.default",
     .doc = "Convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv3d.html",
     .schema = "conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0, "
               "SymInt[3] dilation=1, SymInt groups=1) -> Tensor",
     .dtypes = kConvolutionTypes,
     .decompose = decompose_plain<3>},
    {.name = "aten.conv1d.padding",
     .doc = "Convolution, padding by name; pytorch.org/docs/stable/generated/torch.nn.functional.conv1d.html",
     .schema = "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, "
               "str padding=\"valid\", SymInt[1] dilation=1, SymInt groups=1) -> Tensor",
     .dtypes = kConvolutionTypes,
     .decompose = decompose_padding<1>},
    {.name = "aten.conv2d.padding",
     .doc = "Convolution, padding by name; pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html",
     .schema = "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, "
               "str padding=\"valid\", SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
     .dtypes = kConvolutionTypes,
     .decompose = decompose_padding<2>},
    {.name = "aten.conv3d.padding",
     .doc = "Convolution, padding by name; pytorch.org/docs/stable/generated/torch.nn.functional.conv3d.html",
     .schema = "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, "
               "str padding=\"valid\", SymInt[3] dilation=1, SymInt groups=1) -> Tensor",
     .dtypes = kConvolutionTypes,
     .decompose = decompose_padding<3>},
    {.name = "aten.conv_transpose1d.default",
     .doc = "Transposed convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose1d.html",
     .schema = "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, "
               "SymInt[1] padding=0, SymInt[1] output_padding=0, SymInt groups=1, SymInt[1] dilation=1) -> Tensor",
     .dtypes = kConvolutionTypes,
     .decompose = decompose_transposed<1>},
    {.name = "aten.conv_transpose2d.input",
     .doc = "Transposed convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose2d.html",
     .schema = "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, "
               "SymInt[2] padding=0, SymInt[2] output_padding=0, SymInt groups=1, SymInt[2] dilation=1) -> Tensor",
     .dtypes = kConvolutionTypes,
     .decompose = decompose_transposed<2>},
    {.name = "aten.conv_transpose3d.input",
     .doc = "Transposed convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose3d.html",
     .schema = "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, "
               "SymInt[3] padding=0, SymInt[3] output_padding=0, SymInt groups=1, SymInt[3] dilation=1) -> Tensor",
     .dtypes = kConvolutionTypes,
     .decompose = decompose_transposed<3>},
    {.name = "aten._convolution.default",
     .doc = "Convolution, with flags for its kernels; pytorch.org/docs/stable/generated/torch.nn.Conv2d.html",
     .schema = "_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
               "bool transposed, int[] output_padding, int groups, bool benchmark, bool deterministic, bool "
               "cudnn_enabled, bool allow_tf32) -> Tensor",
     .dtypes = kConvolutionTypes,
     .decompose = decompose_flagged},
    {.name = "aten._convolution.deprecated",
     .doc = "Convolution, as modules traced by older releases call it; "
            "pytorch.org/docs/stable/generated/torch.nn.Conv2d.html",
     .schema = "_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] "
               "dilation, bool transposed, int[] output_padding, int groups, bool benchmark, bool deterministic, bool "
               "cudnn_enabled) -> Tensor",
     .dtypes = kConvolutionTypes,
     .decompose = decompose_flagged},
};

}  // namespace

std::span<const OpDef> conv_form_ops() { return kConvFormOps; }

}  // namespace whittle

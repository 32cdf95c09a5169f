// The forms in which networks call convolution: by rank, unbatched, with padding by name, transposed. All decompose to
// aten.convolution.default. Definitions: https://pytorch.org/docs/stable/nn.functional.html#convolution-functions
#include <algorithm>

#include "base/checked.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/window.h"

namespace whittle {
namespace {

using namespace aten;

/// What all forms share once their own parameters are read.
struct Form {
    Sizes stride = {}, padding = {}, dilation = {}, output_padding = {};
    bool transposed = false;
};

/// The convolution of a batch; an input without one gets a batch of one for the time being.
V convolve_batch(const Call& args, V input, int rank, const Form& form) {
    const V weight = args.tensor("weight");
    const auto dims = static_cast<std::size_t>(rank) + 2;
    if (weight.sizes().size() != dims || (input.sizes().size() != dims && input.sizes().size() != dims - 1))
        throw Error(args.schema().name + ": found input " + to_string(input.sizes()) + " and weight " +
                    to_string(weight.sizes()) + ", expected a weight of rank " + std::to_string(dims) +
                    " and an input of the same rank, or of rank " + std::to_string(dims - 1) + " without a batch");
    const bool batched = input.sizes().size() == dims;
    if (!batched) input = unsqueeze(input, 0);
    const V result = convolution(input, weight, args.optional_tensor("bias"), form.stride, form.padding, form.dilation,
                                 form.transposed, form.output_padding, args.integer("groups"));
    return batched ? result : squeeze(result, 0);
}

template <int Rank>
CallResults decompose_plain(const Call& c) {
    const Form form = {c.integers("stride"), c.integers("padding"), c.integers("dilation"), Sizes(Rank, 0)};
    return convolve_batch(c, c.tensor("input"), Rank, form);
}

template <int Rank>
CallResults decompose_transposed(const Call& c) {
    const Form form = {c.integers("stride"), c.integers("padding"), c.integers("dilation"),
                       c.integers("output_padding"), true};
    return convolve_batch(c, c.tensor("input"), Rank, form);
}

/// "valid" pads nothing; "same" as much as keeps the sizes, on the right where it cannot be halved.
template <int Rank>
CallResults decompose_padding(const Call& c) {
    const std::string& op = c.schema().name;
    const Sizes once(Rank, 1), none(Rank, 0);
    const std::string mode = c.text("padding");
    Form form = {window_parameter(op, "stride", c.integers("stride"), Rank, once, 1), none,
                 window_parameter(op, "dilation", c.integers("dilation"), Rank, once, 1), none};
    if (mode != "valid" && mode != "same")
        throw Error(op + ": found padding='" + mode + "', expected 'valid' or 'same'");
    if (mode == "valid") return convolve_batch(c, c.tensor("input"), Rank, form);
    if (form.stride != once)
        throw Error(op + ": found stride=" + to_string(form.stride) + " with padding='same', expected strides of 1");
    const Sizes& weight = c.tensor("weight").sizes();
    V input = c.tensor("input");
    Sizes extra;  // of aten.constant_pad_nd: the last dimension first, left then right
    for (std::size_t d = Rank; d-- > 0;) {
        const std::int64_t kernel = d + 2 < weight.size() ? weight[d + 2] : 1;
        const std::int64_t total = (Checked(form.dilation[d]) * (kernel - 1)).value();
        form.padding[d] = total / 2;
        extra.push_back(0);
        extra.push_back(total % 2);
    }
    if (std::ranges::count(extra, 1) > 0) input = constant_pad_nd(input, extra);
    return convolve_batch(c, input, Rank, form);
}

/// As autograd and traced modules call it, with flags that choose kernels, not results.
CallResults decompose_flagged(const Call& c) {
    return convolution(c.tensor("input"), c.tensor("weight"), c.optional_tensor("bias"), c.integers("stride"),
                       c.integers("padding"), c.integers("dilation"), c.boolean("transposed"),
                       c.integers("output_padding"), c.integer("groups"));
}

constexpr OpDef kConvFormOps[] = {
    composite("conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0, "
              "SymInt[1] dilation=1, SymInt groups=1) -> Tensor",
              "Convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv1d.html", kConvolutionTypes,
              decompose_plain<1>),
    composite("conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, "
              "SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
              "Convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html", kConvolutionTypes,
              decompose_plain<2>),
    composite("conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] padding=0, "
              "SymInt[3] dilation=1, SymInt groups=1) -> Tensor",
              "Convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv3d.html", kConvolutionTypes,
              decompose_plain<3>),
    composite("conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, str "
              "padding=\"valid\", SymInt[1] dilation=1, SymInt groups=1) -> Tensor",
              "Convolution, padding by name; pytorch.org/docs/stable/generated/torch.nn.functional.conv1d.html",
              kConvolutionTypes, decompose_padding<1>),
    composite("conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, str "
              "padding=\"valid\", SymInt[2] dilation=1, SymInt groups=1) -> Tensor",
              "Convolution, padding by name; pytorch.org/docs/stable/generated/torch.nn.functional.conv2d.html",
              kConvolutionTypes, decompose_padding<2>),
    composite("conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, str "
              "padding=\"valid\", SymInt[3] dilation=1, SymInt groups=1) -> Tensor",
              "Convolution, padding by name; pytorch.org/docs/stable/generated/torch.nn.functional.conv3d.html",
              kConvolutionTypes, decompose_padding<3>),
    composite("conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] "
              "padding=0, SymInt[1] output_padding=0, SymInt groups=1, SymInt[1] dilation=1) -> Tensor",
              "Transposed convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose1d.html",
              kConvolutionTypes, decompose_transposed<1>),
    composite("conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] "
              "padding=0, SymInt[2] output_padding=0, SymInt groups=1, SymInt[2] dilation=1) -> Tensor",
              "Transposed convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose2d.html",
              kConvolutionTypes, decompose_transposed<2>),
    composite("conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=1, SymInt[3] "
              "padding=0, SymInt[3] output_padding=0, SymInt groups=1, SymInt[3] dilation=1) -> Tensor",
              "Transposed convolution; pytorch.org/docs/stable/generated/torch.nn.functional.conv_transpose3d.html",
              kConvolutionTypes, decompose_transposed<3>),
    composite("_convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "
              "bool transposed, int[] output_padding, int groups, bool benchmark, bool deterministic, bool "
              "cudnn_enabled, bool allow_tf32) -> Tensor",
              "Convolution, with flags for its kernels; pytorch.org/docs/stable/generated/torch.nn.Conv2d.html",
              kConvolutionTypes, decompose_flagged),
    composite("_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] "
              "dilation, bool transposed, int[] output_padding, int groups, bool benchmark, bool deterministic, bool "
              "cudnn_enabled) -> Tensor",
              "Convolution, as modules traced by older releases call it; "
              "pytorch.org/docs/stable/generated/torch.nn.Conv2d.html",
              kConvolutionTypes, decompose_flagged),
};

}  // namespace

std::span<const OpDef> conv_form_ops() { return kConvFormOps; }

}  // namespace whittle

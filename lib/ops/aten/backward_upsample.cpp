// Gradients of resizing images, as LibTorch's autograd calls them: what each result read gets its share of the
// gradient. https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
#include "ops/aten/families.h"
#include "ops/aten/resize.h"

namespace whittle {
namespace {

using namespace aten;

template <Interpolation How, int Rank>
CallResults decompose_gradient(const Call& c) {
    const Resize resize = resize_of(c, Rank);
    return apply_all(c.tensor("grad_output"), resize_gradient_maps(resize, How));
}

template <Interpolation How, int Rank>
constexpr OpDef resize_gradient_op(std::string_view schema) {
    OpDef def{.schema = schema};
    def.doc =
        "the gradient of the resized operand: "
        "https://pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html";
    def.dtypes = kFloating;
    def.infer = [](const Arguments<ValueMeta>& args) -> std::vector<ValueMeta> {
        return {ValueMeta::contiguous(args.tensor("grad_output").dtype, resize_of(args, Rank).operand_sizes())};
    };
    def.decompose = decompose_gradient<How, Rank>;
    return def;
}

constexpr OpDef kUpsampleBackwardOps[] = {
    resize_gradient_op<Interpolation::nearest, 1>(WHITTLE_RESIZE_BACKWARD("upsample_nearest1d", 1, 3, "")),
    resize_gradient_op<Interpolation::nearest, 2>(WHITTLE_RESIZE_BACKWARD("upsample_nearest2d", 2, 4, "")),
    resize_gradient_op<Interpolation::nearest, 3>(WHITTLE_RESIZE_BACKWARD("upsample_nearest3d", 3, 5, "")),
    resize_gradient_op<Interpolation::exact, 1>(WHITTLE_RESIZE_BACKWARD("_upsample_nearest_exact1d", 1, 3, "")),
    resize_gradient_op<Interpolation::exact, 2>(WHITTLE_RESIZE_BACKWARD("_upsample_nearest_exact2d", 2, 4, "")),
    resize_gradient_op<Interpolation::exact, 3>(WHITTLE_RESIZE_BACKWARD("_upsample_nearest_exact3d", 3, 5, "")),
    resize_gradient_op<Interpolation::linear, 1>(
        WHITTLE_RESIZE_BACKWARD("upsample_linear1d", 1, 3, "bool align_corners, ")),
    resize_gradient_op<Interpolation::linear, 2>(
        WHITTLE_RESIZE_BACKWARD("upsample_bilinear2d", 2, 4, "bool align_corners, ")),
    resize_gradient_op<Interpolation::linear, 3>(
        WHITTLE_RESIZE_BACKWARD("upsample_trilinear3d", 3, 5, "bool align_corners, ")),
    resize_gradient_op<Interpolation::cubic, 2>(
        WHITTLE_RESIZE_BACKWARD("upsample_bicubic2d", 2, 4, "bool align_corners, ")),
    resize_gradient_op<Interpolation::linear_antialiased, 2>(
        WHITTLE_RESIZE_BACKWARD("_upsample_bilinear2d_aa", 2, 4, "bool align_corners, ")),
    resize_gradient_op<Interpolation::cubic_antialiased, 2>(
        WHITTLE_RESIZE_BACKWARD("_upsample_bicubic2d_aa", 2, 4, "bool align_corners, ")),
};

}  // namespace

std::span<const OpDef> upsample_backward_ops() { return kUpsampleBackwardOps; }

}  // namespace whittle

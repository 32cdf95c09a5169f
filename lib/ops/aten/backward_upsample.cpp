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
#define WHITTLE_RESIZED(how, rank, image, aligned, name) \
    resize_gradient_op<Interpolation::how, rank>(WHITTLE_RESIZE_BACKWARD(name, rank, image, aligned)),
#include "ops/aten/resize.def"
#undef WHITTLE_RESIZED
};

}  // namespace

std::span<const OpDef> upsample_backward_ops() { return kUpsampleBackwardOps; }

}  // namespace whittle

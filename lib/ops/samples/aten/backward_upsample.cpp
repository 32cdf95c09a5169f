// Samples of lib/ops/aten/backward_upsample.cpp.
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

template <std::size_t kRank, bool kVec, bool kAlignCorners>
Samples resize_gradient(DType dtype) {
    return resize_samples(dtype, kRank, {.vec = kVec, .align_corners = kAlignCorners, .gradient = true});
}

}  // namespace

Table upsample_backward_table() {
    return {{{"aten.upsample_nearest1d_backward.vec", "aten._upsample_nearest_exact1d_backward.vec"},
             resize_gradient<1, true, false>},
            {{"aten.upsample_nearest1d_backward.default", "aten._upsample_nearest_exact1d_backward.default"},
             resize_gradient<1, false, false>},
            {{"aten.upsample_nearest2d_backward.vec", "aten._upsample_nearest_exact2d_backward.vec"},
             resize_gradient<2, true, false>},
            {{"aten.upsample_nearest2d_backward.default", "aten._upsample_nearest_exact2d_backward.default"},
             resize_gradient<2, false, false>},
            {{"aten.upsample_nearest3d_backward.vec", "aten._upsample_nearest_exact3d_backward.vec"},
             resize_gradient<3, true, false>},
            {{"aten.upsample_nearest3d_backward.default", "aten._upsample_nearest_exact3d_backward.default"},
             resize_gradient<3, false, false>},
            {{"aten.upsample_linear1d_backward.vec"}, resize_gradient<1, true, true>},
            {{"aten.upsample_linear1d_backward.default"}, resize_gradient<1, false, true>},
            {{"aten.upsample_bilinear2d_backward.vec", "aten.upsample_bicubic2d_backward.vec",
              "aten._upsample_bilinear2d_aa_backward.vec", "aten._upsample_bicubic2d_aa_backward.vec"},
             resize_gradient<2, true, true>},
            {{"aten.upsample_bilinear2d_backward.default", "aten.upsample_bicubic2d_backward.default",
              "aten._upsample_bilinear2d_aa_backward.default", "aten._upsample_bicubic2d_aa_backward.default"},
             resize_gradient<2, false, true>},
            {{"aten.upsample_trilinear3d_backward.vec"}, resize_gradient<3, true, true>},
            {{"aten.upsample_trilinear3d_backward.default"}, resize_gradient<3, false, true>}};
}

}  // namespace whittle::samples

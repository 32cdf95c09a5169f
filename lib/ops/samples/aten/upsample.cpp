// Samples of lib/ops/aten/upsample.cpp.
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

template <std::size_t kRank, bool kVec, bool kAlignCorners>
Samples resized(DType dtype) {
    return resize_samples(dtype, kRank, {.vec = kVec, .align_corners = kAlignCorners, .tiny_factor = !kAlignCorners});
}

}  // namespace

Table upsample_table() {
    return {{{"aten.upsample_nearest1d.vec", "aten._upsample_nearest_exact1d.vec"}, resized<1, true, false>},
            {{"aten.upsample_nearest1d.default", "aten._upsample_nearest_exact1d.default"}, resized<1, false, false>},
            {{"aten.upsample_nearest2d.vec", "aten._upsample_nearest_exact2d.vec"}, resized<2, true, false>},
            {{"aten.upsample_nearest2d.default", "aten._upsample_nearest_exact2d.default"}, resized<2, false, false>},
            {{"aten.upsample_nearest3d.vec", "aten._upsample_nearest_exact3d.vec"}, resized<3, true, false>},
            {{"aten.upsample_nearest3d.default", "aten._upsample_nearest_exact3d.default"}, resized<3, false, false>},
            {{"aten.upsample_linear1d.vec"}, resized<1, true, true>},
            {{"aten.upsample_linear1d.default"}, resized<1, false, true>},
            {{"aten.upsample_bilinear2d.vec", "aten.upsample_bicubic2d.vec", "aten._upsample_bilinear2d_aa.vec",
              "aten._upsample_bicubic2d_aa.vec"},
             resized<2, true, true>},
            {{"aten.upsample_bilinear2d.default", "aten.upsample_bicubic2d.default",
              "aten._upsample_bilinear2d_aa.default", "aten._upsample_bicubic2d_aa.default"},
             resized<2, false, true>},
            {{"aten.upsample_trilinear3d.vec"}, resized<3, true, true>},
            {{"aten.upsample_trilinear3d.default"}, resized<3, false, true>}};
}

}  // namespace whittle::samples

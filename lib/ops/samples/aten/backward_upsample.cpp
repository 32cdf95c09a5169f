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
    return {
#define WHITTLE_RESIZED(how, rank, image, aligned, name)                    \
    {{"aten." name "_backward.vec"}, resize_gradient<rank, true, aligned>}, \
        {{"aten." name "_backward.default"}, resize_gradient<rank, false, aligned>},
#include "ops/aten/resize.def"
#undef WHITTLE_RESIZED
    };
}

}  // namespace whittle::samples

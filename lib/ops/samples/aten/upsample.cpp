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
    return {
#define WHITTLE_RESIZED(how, rank, image, aligned, name) \
    {{"aten." name ".vec"}, resized<rank, true, aligned>}, {{"aten." name ".default"}, resized<rank, false, aligned>},
#include "ops/aten/resize.def"
#undef WHITTLE_RESIZED
    };
}

}  // namespace whittle::samples

// Padded images: a constant, over which the image is written.
#pragma once

#include "backends/halide/rules/draft.h"

namespace whittle::halide {

/// A stage that is select(0 <= v - c && v - c < n && …, image at max(min(v - c, n - 1), 0) …, fill) becomes the fill,
/// and an update that copies the image, without the clamps, which keep vectors from being loaded whole. False, and the
/// stage as it is, where it has another form.
bool split_border(expr::Stage& stage);

}  // namespace whittle::halide

// What grid_sampler_2d and _3d and their gradients share: what a call reads.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html
#pragma once

#include <algorithm>
#include <string>

#include "base/error.h"
#include "ops/core/dense.h"

namespace whittle {

/// input [N, C, H, W], grid [N, h, w, 2] of (x, y) in [-1, 1] -> [N, C, h, w]; of volumes [N, C, D, H, W], (x, y, z).
struct GridSample {
    enum class Padding { zeros, border, reflection };
    enum class Mode { bilinear, nearest, bicubic };

    Mode mode = Mode::bilinear;
    Padding padding = Padding::zeros;
    bool align_corners = false;
    std::int64_t batch = 0, channels = 0;
    Sizes image = {};  ///< without batch and channels
    Sizes sizes = {};

    std::size_t rank() const { return image.size(); }
};

/// Of a call of the op, or of its gradient. Throws Error where its operands do not fit.
GridSample grid_sample_of(const AnyArguments auto& args) {
    const std::string& op = args.schema().name;
    const bool volume = op.starts_with("grid_sampler_3d");
    WHITTLE_CHECK(volume || op.starts_with("grid_sampler_2d"), op + " is not a grid sampler");
    const std::size_t rank = volume ? 3 : 2;
    const ValueMeta input = meta_of(args.tensor("input")), grid = meta_of(args.tensor("grid"));
    check_same_dtype(op, input.dtype, "grid", grid.dtype);
    if (input.sizes.size() != rank + 2 || grid.sizes.size() != rank + 2 || grid.sizes[0] != input.sizes[0] ||
        grid.sizes.back() != static_cast<std::int64_t>(rank) ||
        std::any_of(input.sizes.begin() + 2, input.sizes.end(), [](std::int64_t size) { return size < 1; }))
        throw Error(op + ": found input of sizes " + to_string(input.sizes) + " and grid of sizes " +
                    to_string(grid.sizes) + ", expected input " +
                    (volume ? "[N, C, D, H, W] with D, H and W" : "[N, C, H, W] with H and W") +
                    " of at least 1, and grid " + (volume ? "[N, d, h, w, 3]" : "[N, h, w, 2]"));
    const std::int64_t modes = volume ? 1 : 2;  // bicubic is of two dimensions
    const std::int64_t mode = args.integer("interpolation_mode"), padding = args.integer("padding_mode");
    if (mode < 0 || mode > modes || padding < 0 || padding > 2)
        throw Error(op + ": found interpolation_mode=" + std::to_string(mode) +
                    " and padding_mode=" + std::to_string(padding) + ", expected interpolation_mode from 0 to " +
                    std::to_string(modes) + " and padding_mode from 0 to 2");
    GridSample g{static_cast<GridSample::Mode>(mode), static_cast<GridSample::Padding>(padding),
                 args.boolean("align_corners"), input.sizes[0], input.sizes[1]};
    g.image.assign(input.sizes.begin() + 2, input.sizes.end());
    g.sizes = {g.batch, g.channels};
    g.sizes.insert(g.sizes.end(), grid.sizes.begin() + 1, grid.sizes.end() - 1);
    return g;
}

/// The gradient rule of both ops.
void grid_sample_grad(Gradients& c);

}  // namespace whittle

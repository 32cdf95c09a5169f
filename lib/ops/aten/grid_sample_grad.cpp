// The gradients of grid_sampler_2d and _3d, of the image and of the positions, as LibTorch's autograd calls them.
#include <array>
#include <vector>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/grid_sample.h"

namespace whittle {
namespace {

using namespace aten;

/// A position in pixels along one dimension, and how it changes with the grid's number.
struct Position {
    V at, slope;
};

class GridBackward {
  public:
    explicit GridBackward(const Call& args)
        : b(args.builder()),
          dtype_(args.tensor("input").dtype()),
          grad_(wide(args.tensor("grad_output"))),
          image_(wide(args.tensor("input"))),
          grid_(wide(args.tensor("grid"))),
          mode_(args.integer("interpolation_mode")),
          padding_(args.integer("padding_mode")),
          aligned_(args.boolean("align_corners")) {}

    /// Of the image and of the grid.
    Vs both() {
        std::vector<Position> positions;  // the last dimension comes first in the grid
        for (std::size_t d = 0; d < rank(); d++)
            positions.push_back(position(static_cast<std::int64_t>(rank() - 1 - d), extent(d)));
        pixels_ = flat(zeros(b, image_.sizes(), grad_.dtype()));
        const V grid = mode_ == kNearest   ? nearest(positions)
                       : mode_ == kBicubic ? cubic(positions)
                                           : linear(positions);
        return {as(reshape(pixels_, image_.sizes()), dtype_), as(grid, dtype_)};
    }

  private:
    static constexpr std::int64_t kZeros = 0, kReflection = 2;  // padding_mode
    static constexpr std::int64_t kNearest = 1, kBicubic = 2;   // interpolation_mode

    std::size_t rank() const { return image_.sizes().size() - 2; }
    std::int64_t extent(std::size_t d) const { return image_.sizes()[d + 2]; }
    /// What positions are counted in; bf16 has not all pixels of an image of 300.
    V wide(const V& x) const { return as(x, compute_dtype(x.dtype())); }
    /// [N, C, H, W] as [N, C, H * W].
    V flat(const V& v) const {
        const Sizes& sizes = v.sizes();
        return reshape(v, {sizes[0], sizes[1], element_count(Sizes(sizes.begin() + 2, sizes.end()))});
    }

    Position position(std::int64_t which, std::int64_t extent) const {
        const V x = select(grid_, -1, which) + 1;
        const auto pixels = static_cast<double>(extent), last = pixels - 1;
        const double scale = (aligned_ ? last : pixels) / 2;
        const Position p{aligned_ ? x / 2 * last : (x * pixels + -1) / 2, full_like(x, scale)};
        return mode_ == kBicubic ? p : padded(p, pixels);
    }

    /// As the padding demands. Bicubic interpolation pads the pixels that it reads, not the position.
    Position padded(Position p, double pixels) const {
        if (padding_ == kReflection) p = reflected(p, pixels);
        if (padding_ == kZeros) return p;
        const double last = pixels - 1;
        p.slope = drop(logical_or(le(p.at, 0), ge(p.at, last)), p.slope);
        p.at = clamp(p.at, 0.0, last);
        return p;
    }

    /// Folded between the centres of the outermost pixels, or between their edges. Each fold turns the slope.
    Position reflected(const Position& p, double pixels) const {
        const double low = aligned_ ? 0 : -0.5, span = aligned_ ? pixels - 1 : pixels;
        if (span == 0) return {zeros_like(p.at), zeros_like(p.at)};
        const V shifted = p.at + -low, distance = abs(shifted);
        const V extra = fmod(distance, span);
        const V flips = floor(distance / span);
        const V odd = ne(remainder(flips, 2), 0);
        const V folded = where(odd, -extra + span, extra);
        const V turned = logical_xor(lt(shifted, 0), odd);
        return {folded + low, where(turned, -p.slope, p.slope)};
    }

    /// One pixel that is read with the product of these weights (none: 1): adds its gradient, and gives sum over C of
    /// pixel * gradient, 0 outside the image.
    V corner(const Vs& place, const Vs& weights) {
        OptionalV inside, at;
        for (std::size_t d = 0; d < rank(); d++) {
            const V here = logical_and(ge(place[d], 0), lt(place[d], extent(d)));
            inside = inside ? logical_and(*inside, here) : here;
            const V along = b.convert(keep(here, place[d]), DType::i64);  // as the offset of a large image
            at = at ? *at * extent(d) + along : along;
        }
        const Sizes& places = at->meta.sizes;
        const V line = reshape(*at, {places[0], 1, element_count(Sizes(places.begin() + 1, places.end()))});
        const V each = expand(line, Ints{places[0], image_.sizes()[1], -1});
        const V shows = unsqueeze(*inside, 1), shown = keep(shows, grad_);
        V weighted = grad_;
        for (const V& weight : weights) weighted = weighted * unsqueeze(weight, 1);
        pixels_ = scatter_add(pixels_, 2, each, flat(keep(shows, weighted)));
        const V read = gather(flat(image_), 2, each);
        return summed(reshape(read, shown.sizes()) * shown, Ints{1});
    }

    /// The corners around each place are numbered in binary, the first dimension's bit the highest.
    V linear(const std::vector<Position>& positions) {
        std::vector<std::array<V, 2>> pixels, weights;  // before and behind
        for (const Position& p : positions) {
            const V first = floor(p.at), behind = p.at - first;
            pixels.push_back({first, first + 1});
            weights.push_back({complement(behind), behind});
        }
        const auto side = [&](std::size_t corner, std::size_t d) { return corner >> (rank() - 1 - d) & 1; };
        Vs read;
        for (std::size_t i = 0; i < std::size_t{1} << rank(); i++) {
            Vs place, weight;
            for (std::size_t d = 0; d < rank(); d++) {
                place.push_back(pixels[d][side(i, d)]);
                weight.push_back(weights[d][side(i, d)]);
            }
            read.push_back(corner(place, weight));
        }
        Vs slopes;
        for (std::size_t d = rank(); d-- > 0;) {
            OptionalV along;
            for (std::size_t i = 0; i < read.size(); i++) {
                if (side(i, d)) continue;
                V part = read[i | std::size_t{1} << (rank() - 1 - d)] - read[i];
                for (std::size_t other = 0; other < rank(); other++)
                    if (other != d) part = part * weights[other][side(i, other)];
                along = along ? *along + part : part;
            }
            slopes.push_back(*along * positions[d].slope);
        }
        return stack(slopes, -1);
    }

    /// Keys' cubic convolution with a = -0.75, as a function of a distance up to 1 and beyond, and its slope.
    V polynomial(const V& x, const std::vector<double>& factors) const {
        V y = x * factors[0];
        for (std::size_t i = 1; i + 1 < factors.size(); ++i) y = (y + factors[i]) * x;
        return y + factors.back();
    }
    struct Taps {
        std::array<V, 4> at, weights, slopes;
    };
    Taps taps(const Position& p, double pixels) const {
        const V first = floor(p.at), t = p.at - first;
        const std::array<V, 4> distances = {t + 1, t, complement(t), -t + 2};
        Taps taps;
        for (std::size_t k = 0; k < 4; ++k) {
            const V& d = distances[k];
            const bool near = k == 1 || k == 2;
            taps.at[k] = padded({first + (static_cast<double>(k) - 1), first}, pixels).at;
            taps.weights[k] = near ? polynomial(d, {1.25, -2.25, 0, 1}) : polynomial(d, {-0.75, 3.75, -6, 3});
            const V slope = near ? polynomial(d, {3.75, -4.5, 0}) : polynomial(d, {-2.25, 7.5, -6});
            taps.slopes[k] = (k < 2 ? slope : -slope) * p.slope;
        }
        return taps;
    }

    V cubic(const std::vector<Position>& positions) {
        const Taps rows = taps(positions[0], static_cast<double>(extent(0))),
                   columns = taps(positions[1], static_cast<double>(extent(1)));
        OptionalV down, across;
        const auto sum_up = [&](OptionalV& sum, const V& part) { sum = sum ? *sum + part : part; };
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t k = 0; k < 4; ++k) {
                const V read = corner({rows.at[i], columns.at[k]}, {rows.weights[i], columns.weights[k]});
                sum_up(down, read * rows.slopes[i] * columns.weights[k]);
                sum_up(across, read * rows.weights[i] * columns.slopes[k]);
            }
        return stack(Vs{*across, *down}, -1);
    }

    V nearest(const std::vector<Position>& positions) {
        Vs rounded;
        for (const Position& p : positions) rounded.push_back(round(p.at));
        corner(rounded, {});
        return zeros_like(grid_);
    }

    GraphBuilder& b;
    const DType dtype_;
    const V grad_, image_, grid_;
    const std::int64_t mode_, padding_;
    const bool aligned_;
    V pixels_;  ///< the image's gradient so far
};

CallResults decompose_backward(const Call& c) {
    const std::string& op = c.schema().name;
    const GridSample g = grid_sample_of(c);
    const V grad = c.tensor("grad_output");
    const std::vector<bool> mask = c.booleans("output_mask");
    if (grad.sizes() != g.sizes || mask.size() != 2)
        throw Error(op + ": found a gradient of sizes " + to_string(grad.sizes()) + " and an output_mask of " +
                    std::to_string(mask.size()) + " elements, expected a gradient of sizes " + to_string(g.sizes) +
                    " and an output_mask of 2 elements");
    const Vs gradients = GridBackward(c).both();
    // That of the grid is computed in any case, as in LibTorch.
    return {mask[0] ? gradients[0] : none(c.builder(), grad.dtype()), gradients[1]};
}

constexpr OpDef kGridBackwardOps[] = {
    composite("grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int "
              "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
              "the gradients of grid_sampler_2d: "
              "https://pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html",
              kFloating, decompose_backward),
    composite("grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int "
              "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
              "the gradients of grid_sampler_3d: "
              "https://pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html",
              kFloating, decompose_backward),
};

}  // namespace

void grid_sample_grad(Gradients& c) {
    const Vs gradients = c.builder().call_multi(  // of grid_sampler_2d or _3d
        "aten." + c.schema().name + "_backward.default",
        {c.grad(), c.tensor("input"), c.tensor("grid"), c.integer("interpolation_mode"), c.integer("padding_mode"),
         c.boolean("align_corners"), ArgList{c.needed("input"), c.needed("grid")}});
    if (c.needed("input")) c.set("input", gradients[0]);
    if (c.needed("grid")) c.set("grid", gradients[1]);
}

std::span<const OpDef> grid_backward_ops() { return kGridBackwardOps; }

}  // namespace whittle

// The gradients of grid_sampler_2d and _3d, of the image and of the positions, as LibTorch's autograd calls them.
#include <array>
#include <optional>
#include <vector>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/grid_sample.h"
#include "ops/aten/layer_grad.h"

namespace whittle {

namespace {

/// A position in pixels along one dimension, and how it changes with the grid's number.
struct Position {
    NodeValue at, slope;
};

class GridBackward : public Gradient {
  public:
    GridBackward(GraphBuilder& builder, const Arguments<NodeValue>& args)
        : Gradient(builder),
          b(builder),
          dtype_(args.tensor("input").meta.dtype),
          grad_(wide(args.tensor("grad_output"))),
          image_(wide(args.tensor("input"))),
          grid_(wide(args.tensor("grid"))),
          mode_(args.integer("interpolation_mode")),
          padding_(args.integer("padding_mode")),
          aligned_(args.boolean("align_corners")) {}

    /// Of the image and of the grid.
    std::vector<NodeValue> both() {
        std::vector<Position> positions;  // the last dimension comes first in the grid
        for (std::size_t d = 0; d < rank(); d++)
            positions.push_back(position(static_cast<std::int64_t>(rank() - 1 - d), extent(d)));
        pixels_ = flat(zeros(image_.meta.sizes, grad_.meta.dtype));
        const NodeValue grid = mode_ == kNearest   ? nearest(positions)
                               : mode_ == kBicubic ? cubic(positions)
                                                   : linear(positions);
        return {as(reshape(pixels_, image_.meta.sizes), dtype_), as(grid, dtype_)};
    }

  private:
    static constexpr std::int64_t kZeros = 0, kReflection = 2;  // padding_mode
    static constexpr std::int64_t kNearest = 1, kBicubic = 2;   // interpolation_mode

    std::size_t rank() const { return image_.meta.sizes.size() - 2; }
    std::int64_t extent(std::size_t d) const { return image_.meta.sizes[d + 2]; }
    /// What positions are counted in; bf16 has not all pixels of an image of 300.
    NodeValue wide(const NodeValue& x) const { return as(x, compute_dtype(x.meta.dtype)); }
    NodeValue both(const char* how, const NodeValue& x, const NodeValue& y) const {
        return call("aten.logical_" + std::string(how) + ".default", {arg(x), arg(y)});
    }
    /// [N, C, H, W] as [N, C, H * W].
    NodeValue flat(const NodeValue& v) const {
        const Sizes& sizes = v.meta.sizes;
        return reshape(v, {sizes[0], sizes[1], element_count(Sizes(sizes.begin() + 2, sizes.end()))});
    }

    Position position(std::int64_t which, std::int64_t extent) const {
        const NodeValue x = add(call("aten.select.int", {arg(grid_), -1, which}), 1);
        const auto pixels = static_cast<double>(extent), last = pixels - 1;
        const double scale = (aligned_ ? last : pixels) / 2;
        const Position p{aligned_ ? mul(div(x, Arg(2)), Arg(last)) : div(add(mul(x, Arg(pixels)), -1), Arg(2)),
                         call("aten.full_like.default", {arg(x), Arg(scale)})};
        return mode_ == kBicubic ? p : padded(p, pixels);
    }

    /// As the padding demands. Bicubic interpolation pads the pixels that it reads, not the position.
    Position padded(Position p, double pixels) const {
        if (padding_ == kReflection) p = reflected(p, pixels);
        if (padding_ == kZeros) return p;
        const double last = pixels - 1;
        p.slope = drop(both("or", when("le", p.at, 0), when("ge", p.at, Arg(last))), p.slope);
        p.at = call("aten.clamp.default", {arg(p.at), Arg(0.0), Arg(last)});
        return p;
    }

    /// Folded between the centres of the outermost pixels, or between their edges. Each fold turns the slope.
    Position reflected(const Position& p, double pixels) const {
        const double low = aligned_ ? 0 : -0.5, span = aligned_ ? pixels - 1 : pixels;
        if (span == 0) return {of("aten.zeros_like.default", p.at), of("aten.zeros_like.default", p.at)};
        const NodeValue shifted = add(p.at, Arg(-low)), distance = of("aten.abs.default", shifted);
        const NodeValue extra = call("aten.fmod.Scalar", {arg(distance), Arg(span)});
        const NodeValue flips = of("aten.floor.default", div(distance, Arg(span)));
        const NodeValue odd = when("ne", call("aten.remainder.Scalar", {arg(flips), 2}), 0);
        const NodeValue folded = either(odd, add(neg(extra), Arg(span)), extra);
        const NodeValue turned = both("xor", when("lt", shifted, 0), odd);
        return {add(folded, Arg(low)), either(turned, neg(p.slope), p.slope)};
    }

    /// One pixel that is read with the product of these weights (none: 1): adds its gradient, and gives sum over C of
    /// pixel * gradient, 0 outside the image.
    NodeValue corner(const std::vector<NodeValue>& place, const std::vector<NodeValue>& weights) {
        std::optional<NodeValue> inside, at;
        for (std::size_t d = 0; d < rank(); d++) {
            const NodeValue here = both("and", when("ge", place[d], 0), when("lt", place[d], Arg(extent(d))));
            inside = inside ? both("and", *inside, here) : here;
            const NodeValue along = b.convert(keep(here, place[d]), DType::i64);  // as the offset of a large image
            at = at ? add(mul(*at, Arg(extent(d))), along) : along;
        }
        const Sizes& places = at->meta.sizes;
        const NodeValue line = reshape(*at, {places[0], 1, element_count(Sizes(places.begin() + 1, places.end()))});
        const NodeValue each =
            call("aten.expand.default", {arg(line), Arg::ints({places[0], image_.meta.sizes[1], -1})});
        const NodeValue shows = call("aten.unsqueeze.default", {arg(*inside), 1}), shown = keep(shows, grad_);
        NodeValue weighted = grad_;
        for (const NodeValue& weight : weights)
            weighted = mul(weighted, call("aten.unsqueeze.default", {arg(weight), 1}));
        pixels_ = call("aten.scatter_add.default", {arg(pixels_), 2, arg(each), arg(flat(keep(shows, weighted)))});
        const NodeValue read = call("aten.gather.default", {arg(flat(image_)), 2, arg(each)});
        return sum(mul(reshape(read, shown.meta.sizes), shown), {1});
    }

    /// The corners around each place are numbered in binary, the first dimension's bit the highest.
    NodeValue linear(const std::vector<Position>& positions) {
        std::vector<std::array<NodeValue, 2>> pixels, weights;  // before and behind
        for (const Position& p : positions) {
            const NodeValue first = of("aten.floor.default", p.at), behind = sub(p.at, first);
            pixels.push_back({first, add(first, 1)});
            weights.push_back({complement(behind), behind});
        }
        const auto side = [&](std::size_t corner, std::size_t d) { return corner >> (rank() - 1 - d) & 1; };
        std::vector<NodeValue> read;
        for (std::size_t i = 0; i < std::size_t{1} << rank(); i++) {
            std::vector<NodeValue> place, weight;
            for (std::size_t d = 0; d < rank(); d++) {
                place.push_back(pixels[d][side(i, d)]);
                weight.push_back(weights[d][side(i, d)]);
            }
            read.push_back(corner(place, weight));
        }
        std::vector<NodeValue> slopes;
        for (std::size_t d = rank(); d-- > 0;) {
            std::optional<NodeValue> along;
            for (std::size_t i = 0; i < read.size(); i++) {
                if (side(i, d)) continue;
                NodeValue part = sub(read[i | std::size_t{1} << (rank() - 1 - d)], read[i]);
                for (std::size_t other = 0; other < rank(); other++)
                    if (other != d) part = mul(part, weights[other][side(i, other)]);
                along = along ? add(*along, part) : part;
            }
            slopes.push_back(mul(*along, positions[d].slope));
        }
        return call("aten.stack.default", {args_list(slopes), -1});
    }

    /// Keys' cubic convolution with a = -0.75, as a function of a distance up to 1 and beyond, and its slope.
    NodeValue polynomial(const NodeValue& x, const std::vector<double>& factors) const {
        NodeValue y = mul(x, Arg(factors[0]));
        for (std::size_t i = 1; i + 1 < factors.size(); ++i) y = mul(add(y, Arg(factors[i])), x);
        return add(y, Arg(factors.back()));
    }
    struct Taps {
        std::array<NodeValue, 4> at, weights, slopes;
    };
    Taps taps(const Position& p, double pixels) const {
        const NodeValue first = of("aten.floor.default", p.at), t = sub(p.at, first);
        const std::array<NodeValue, 4> distances = {add(t, 1), t, complement(t), add(neg(t), 2)};
        Taps taps;
        for (std::size_t k = 0; k < 4; ++k) {
            const NodeValue& d = distances[k];
            const bool near = k == 1 || k == 2;
            taps.at[k] = padded({add(first, Arg(static_cast<double>(k) - 1)), first}, pixels).at;
            taps.weights[k] = near ? polynomial(d, {1.25, -2.25, 0, 1}) : polynomial(d, {-0.75, 3.75, -6, 3});
            const NodeValue slope = near ? polynomial(d, {3.75, -4.5, 0}) : polynomial(d, {-2.25, 7.5, -6});
            taps.slopes[k] = mul(k < 2 ? slope : neg(slope), p.slope);
        }
        return taps;
    }

    NodeValue cubic(const std::vector<Position>& positions) {
        const Taps rows = taps(positions[0], static_cast<double>(extent(0))),
                   columns = taps(positions[1], static_cast<double>(extent(1)));
        std::optional<NodeValue> down, across;
        const auto sum_up = [&](std::optional<NodeValue>& sum, const NodeValue& part) {
            sum = sum ? add(*sum, part) : part;
        };
        for (std::size_t i = 0; i < 4; ++i)
            for (std::size_t k = 0; k < 4; ++k) {
                const NodeValue read = corner({rows.at[i], columns.at[k]}, {rows.weights[i], columns.weights[k]});
                sum_up(down, mul(mul(read, rows.slopes[i]), columns.weights[k]));
                sum_up(across, mul(mul(read, rows.weights[i]), columns.slopes[k]));
            }
        return call("aten.stack.default", {args_list({*across, *down}), -1});
    }

    NodeValue nearest(const std::vector<Position>& positions) {
        std::vector<NodeValue> rounded;
        for (const Position& p : positions) rounded.push_back(of("aten.round.default", p.at));
        corner(rounded, {});
        return of("aten.zeros_like.default", grid_);
    }

    GraphBuilder& b;
    const DType dtype_;
    const NodeValue grad_, image_, grid_;
    const std::int64_t mode_, padding_;
    const bool aligned_;
    NodeValue pixels_;  ///< the image's gradient so far
};

std::vector<NodeRef> decompose_backward(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const std::string& op = args.schema().name;
    const GridSample g = grid_sample_of(args);
    const NodeValue grad = args.tensor("grad_output");
    const std::vector<bool> mask = args.booleans("output_mask");
    if (grad.meta.sizes != g.sizes || mask.size() != 2)
        throw Error(op + ": found a gradient of sizes " + to_string(grad.meta.sizes) + " and an output_mask of " +
                    std::to_string(mask.size()) + " elements, expected a gradient of sizes " + to_string(g.sizes) +
                    " and an output_mask of 2 elements");
    const std::vector<NodeValue> gradients = GridBackward(builder, args).both();
    // That of the grid is computed in any case, as in LibTorch.
    return {mask[0] ? gradients[0].ref : Gradient(builder).none(grad.meta.dtype), gradients[1].ref};
}

constexpr OpDef kGridBackwardOps[] = {
    {.name = "aten.grid_sampler_2d_backward.default",
     .doc = "the gradients of grid_sampler_2d: "
            "https://pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html",
     .schema = "grid_sampler_2d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int "
               "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
     .dtypes = kFloating,
     .decompose = decompose_backward},
    {.name = "aten.grid_sampler_3d_backward.default",
     .doc = "the gradients of grid_sampler_3d: "
            "https://pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html",
     .schema = "grid_sampler_3d_backward(Tensor grad_output, Tensor input, Tensor grid, int interpolation_mode, int "
               "padding_mode, bool align_corners, bool[2] output_mask) -> (Tensor, Tensor)",
     .dtypes = kFloating,
     .decompose = decompose_backward},
};

}  // namespace

void grid_sample_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const Arguments<NodeValue>& a = c.args();
    const std::vector<NodeValue> gradients =
        b.call_multi("aten." + a.schema().name + "_backward.default",
                     {arg(r.grad()), arg(r.tensor("input")), arg(r.tensor("grid")), a.integer("interpolation_mode"),
                      a.integer("padding_mode"), a.boolean("align_corners"),
                      Arg(ArgList{Arg(r.needed("input")), Arg(r.needed("grid"))})});
    if (r.needed("input")) r.set("input", gradients[0]);
    if (r.needed("grid")) r.set("grid", gradients[1]);
}

std::span<const OpDef> grid_backward_ops() { return kGridBackwardOps; }

}  // namespace whittle

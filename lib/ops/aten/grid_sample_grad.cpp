// The gradient of grid_sampler_2d and _3d, of the image and of the positions.
#include <array>
#include <optional>
#include <vector>

#include "base/error.h"
#include "ops/aten/layer_grad.h"

namespace whittle {

namespace {

using B = GraphBuilder;
using C = CallGradients;

/// A position in pixels along one dimension, and how it changes with the grid's number.
struct Position {
    NodeValue at, slope;
};

class GridRule : public Rule {
  public:
    GridRule(B& builder, C& call)
        : Rule(builder, call),
          image_(tensor("input")),
          grid_(tensor("grid")),
          nearest_(c.args().integer("interpolation_mode") == 1),
          padding_(c.args().integer("padding_mode")),
          aligned_(c.args().boolean("align_corners")) {
        if (c.args().integer("interpolation_mode") > 1)
            throw Error(
                "grid_sampler_2d has no gradient rule for bicubic interpolation, only for bilinear and nearest");
    }

    void set_both() {
        std::vector<Position> positions;  // the last dimension comes first in the grid
        for (std::size_t d = 0; d < rank(); d++)
            positions.push_back(position(static_cast<std::int64_t>(rank() - 1 - d), extent(d)));
        pixels_ = flat(zeros(image_.meta.sizes, grad().meta.dtype));
        if (nearest_) {
            std::vector<NodeValue> rounded;
            for (const Position& p : positions) rounded.push_back(of("aten.round.default", p.at));
            corner(rounded, {});
            if (needed("grid")) set("grid", zeros_like(grid_));
        } else {
            linear(positions);
        }
        if (needed("input")) set("input", reshape(pixels_, image_.meta.sizes));
    }

  private:
    static constexpr std::int64_t kZeros = 0, kReflection = 2;

    std::size_t rank() const { return image_.meta.sizes.size() - 2; }
    std::int64_t extent(std::size_t d) const { return image_.meta.sizes[d + 2]; }
    NodeValue when(const char* comparison, const NodeValue& x, double bound) const {
        return call("aten." + std::string(comparison) + ".Scalar", {arg(x), Arg(bound)});
    }
    NodeValue both(const char* how, const NodeValue& x, const NodeValue& y) const {
        return call("aten.logical_" + std::string(how) + ".default", {arg(x), arg(y)});
    }
    NodeValue either(const NodeValue& condition, const NodeValue& yes, const NodeValue& no) const {
        return call("aten.where.self", {arg(condition), arg(yes), arg(no)});
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
        Position p{aligned_ ? mul(div(x, Arg(2)), Arg(last)) : div(add(mul(x, Arg(pixels)), -1), Arg(2)),
                   call("aten.full_like.default", {arg(x), Arg(scale)})};
        if (padding_ == kReflection) p = reflected(p, pixels);
        if (padding_ == kZeros) return p;
        p.slope = drop(both("or", when("le", p.at, 0), when("ge", p.at, last)), p.slope);
        p.at = call("aten.clamp.default", {arg(p.at), Arg(0.0), Arg(last)});
        return p;
    }

    /// Folded between the centres of the outermost pixels, or between their edges. Each fold turns the slope.
    Position reflected(const Position& p, double pixels) const {
        const double low = aligned_ ? 0 : -0.5, span = aligned_ ? pixels - 1 : pixels;
        if (span == 0) return {zeros_like(p.at), zeros_like(p.at)};
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
        std::optional<NodeValue> inside, offset;
        for (std::size_t d = 0; d < rank(); d++) {
            const auto pixels = static_cast<double>(extent(d));
            const NodeValue here = both("and", when("ge", place[d], 0), when("le", place[d], pixels - 1));
            inside = inside ? both("and", *inside, here) : here;
            offset = offset ? add(mul(*offset, Arg(pixels)), place[d]) : place[d];
        }
        const NodeValue at = b.convert(keep(*inside, *offset), DType::i64);
        const Sizes& places = at.meta.sizes;
        const NodeValue line = reshape(at, {places[0], 1, element_count(Sizes(places.begin() + 1, places.end()))});
        const NodeValue wide =
            call("aten.expand.default", {arg(line), Arg::ints({places[0], image_.meta.sizes[1], -1})});
        const NodeValue shows = call("aten.unsqueeze.default", {arg(*inside), 1}), shown = keep(shows, grad());
        NodeValue weighted = grad();
        for (const NodeValue& weight : weights)
            weighted = mul(weighted, call("aten.unsqueeze.default", {arg(weight), 1}));
        pixels_ = call("aten.scatter_add.default", {arg(pixels_), 2, arg(wide), arg(flat(keep(shows, weighted)))});
        const NodeValue read = call("aten.gather.default", {arg(flat(image_)), 2, arg(wide)});
        return sum(mul(reshape(read, shown.meta.sizes), shown), {1});
    }

    /// The corners around each place are numbered in binary, the first dimension's bit the highest.
    void linear(const std::vector<Position>& positions) {
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
        if (!needed("grid")) return;
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
        set("grid", call("aten.stack.default", {args_list(slopes), -1}));
    }

    const NodeValue image_, grid_;
    const bool nearest_;
    const std::int64_t padding_;
    const bool aligned_;
    NodeValue pixels_;  ///< the image's gradient so far
};

}  // namespace

void grid_sample_grad(B& b, C& c) { GridRule(b, c).set_both(); }

}  // namespace whittle

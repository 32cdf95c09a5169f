// The gradient of grid_sampler_2d, of the image and of the positions.
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
        const Position x = position(0, size(3)), y = position(1, size(2));
        pixels_ = flat(zeros(image_.meta.sizes, grad().meta.dtype));
        if (nearest_) {
            corner(of("aten.round.default", y.at), of("aten.round.default", x.at), std::nullopt, std::nullopt);
            if (needed("grid")) set("grid", zeros_like(grid_));
        } else {
            bilinear(x, y);
        }
        if (needed("input")) set("input", reshape(pixels_, image_.meta.sizes));
    }

  private:
    static constexpr std::int64_t kZeros = 0, kReflection = 2;

    std::int64_t size(std::size_t dim) const { return image_.meta.sizes[dim]; }
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
        return reshape(v, {sizes[0], sizes[1], sizes[2] * sizes[3]});
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

    /// One pixel that is read with a weight (nothing: 1): adds its gradient, and gives sum over C of pixel * gradient,
    /// 0 outside the image.
    NodeValue corner(const NodeValue& y, const NodeValue& x, const std::optional<NodeValue>& weight_y,
                     const std::optional<NodeValue>& weight_x) {
        const auto width = static_cast<double>(size(3)), height = static_cast<double>(size(2));
        const NodeValue inside = both("and", both("and", when("ge", x, 0), when("le", x, width - 1)),
                                      both("and", when("ge", y, 0), when("le", y, height - 1)));
        const NodeValue at = b.convert(keep(inside, add(mul(y, Arg(width)), x)), DType::i64);
        const Sizes& places = at.meta.sizes;
        const NodeValue line = reshape(at, {places[0], 1, places[1] * places[2]});
        const NodeValue wide = call("aten.expand.default", {arg(line), Arg::ints({places[0], size(1), -1})});
        const NodeValue shows = call("aten.unsqueeze.default", {arg(inside), 1}), shown = keep(shows, grad());
        NodeValue weighted = grad();
        for (const std::optional<NodeValue>& weight : {weight_y, weight_x})
            if (weight) weighted = mul(weighted, call("aten.unsqueeze.default", {arg(*weight), 1}));
        pixels_ = call("aten.scatter_add.default", {arg(pixels_), 2, arg(wide), arg(flat(keep(shows, weighted)))});
        const NodeValue read = call("aten.gather.default", {arg(flat(image_)), 2, arg(wide)});
        return sum(mul(reshape(read, shown.meta.sizes), shown), {1});
    }

    void bilinear(const Position& x, const Position& y) {
        const NodeValue left = of("aten.floor.default", x.at), top = of("aten.floor.default", y.at);
        const NodeValue right = sub(x.at, left), below = sub(y.at, top);
        const NodeValue rest_right = complement(right), rest_below = complement(below);
        const NodeValue a = corner(top, left, rest_below, rest_right), d = corner(top, add(left, 1), rest_below, right);
        const NodeValue e = corner(add(top, 1), left, below, rest_right);
        const NodeValue f = corner(add(top, 1), add(left, 1), below, right);
        if (!needed("grid")) return;
        const NodeValue along_x = add(mul(sub(d, a), rest_below), mul(sub(f, e), below));
        const NodeValue along_y = add(mul(sub(e, a), rest_right), mul(sub(f, d), right));
        set("grid", call("aten.stack.default", {args_list({mul(along_x, x.slope), mul(along_y, y.slope)}), -1}));
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

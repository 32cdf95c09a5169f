// Reading an image at positions given by another tensor.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html
#include <algorithm>
#include <cmath>

#include "ops/aten/families.h"
#include "ops/aten/layer_grad.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"
#include "ops/core/samples.h"

namespace whittle {
namespace {

using expr::Index;

enum class Padding { zeros, border, reflection };

/// input [N, C, H, W], grid [N, h, w, 2] of (x, y) in [-1, 1] -> [N, C, h, w].
struct GridSample {
    bool nearest = false;
    Padding padding = Padding::zeros;
    bool align_corners = false;
    std::int64_t batch = 0, channels = 0, height = 0, width = 0;
    Sizes sizes = {};
};

template <class T>
GridSample grid_sample_of(const Arguments<T>& args) {
    const std::string& op = args.schema().name;
    const ValueMeta input = meta_of(args.tensor("input")), grid = meta_of(args.tensor("grid"));
    check_same_dtype(op, input.dtype, "grid", grid.dtype);
    if (input.sizes.size() != 4 || grid.sizes.size() != 4 || grid.sizes[0] != input.sizes[0] || grid.sizes[3] != 2 ||
        input.sizes[2] < 1 || input.sizes[3] < 1)
        throw Error(op + ": found input " + to_string(input.sizes) + " and grid " + to_string(grid.sizes) +
                    ", expected [N, C, H, W], not empty beside N and C, and [N, h, w, 2]");
    const std::int64_t mode = args.integer("interpolation_mode"), padding = args.integer("padding_mode");
    if (mode < 0 || mode > 1 || padding < 0 || padding > 2)
        throw Error(op + ": found interpolation_mode=" + std::to_string(mode) +
                        " and padding_mode=" + std::to_string(padding) + ", expected 0 or 1, and 0 to 2",
                    "bicubic interpolation is not supported");
    return {mode == 1,
            static_cast<Padding>(padding),
            args.boolean("align_corners"),
            input.sizes[0],
            input.sizes[1],
            input.sizes[2],
            input.sizes[3],
            {input.sizes[0], input.sizes[1], grid.sizes[1], grid.sizes[2]}};
}

std::vector<ValueMeta> infer_grid_sample(const Arguments<ValueMeta>& args) {
    return {ValueMeta::contiguous(args.tensor("input").dtype, grid_sample_of(args).sizes)};
}

/// Where reflection folds a coordinate: between the centres of the outermost pixels, or between their outer edges.
struct Fold {
    double low = 0, span = 0;
};

Fold fold_of(const GridSample& g, std::int64_t size) {
    return g.align_corners ? Fold{0, static_cast<double>(size - 1)} : Fold{-0.5, static_cast<double>(size)};
}

// ---- eval ----

/// From [-1, 1] to pixels, then into the image as the padding demands. NaN and infinities become -1, as ATen has it
/// where coordinates are clamped; with zeros they stay far outside.
template <class T>
T source(const GridSample& g, T x, std::int64_t size) {
    T at = g.align_corners ? (x + 1) / 2 * static_cast<T>(size - 1) : ((x + 1) * static_cast<T>(size) - 1) / 2;
    if (g.padding == Padding::reflection) {
        const Fold fold = fold_of(g, size);
        const T low = static_cast<T>(fold.low), span = static_cast<T>(fold.span);
        if (span == 0) {
            at = 0;
        } else {
            const T distance = std::fabs(at - low), turns = std::floor(distance / span);
            const T extra = distance - turns * span;
            at = std::fmod(turns, T{2}) == 0 ? extra + low : span - extra + low;
        }
    }
    if (g.padding != Padding::zeros) at = at < T(size - 1) ? (at > 0 ? at : T{0}) : at == at ? T(size - 1) : T{0};
    // Far outside is as good as infinitely far, and fits an integer.
    return at > -2 ? (at < static_cast<T>(size + 1) ? at : static_cast<T>(size + 1)) : T{-2};
}

template <class T>
struct Plane {
    const T* elements;
    std::int64_t height, width;

    T operator()(std::int64_t y, std::int64_t x) const {
        return y < 0 || x < 0 || y >= height || x >= width ? T{0} : elements[y * width + x];
    }
};

template <class T>
T sample(const GridSample& g, const Plane<T>& plane, T x, T y) {
    if (g.nearest)
        return plane(static_cast<std::int64_t>(std::nearbyint(y)), static_cast<std::int64_t>(std::nearbyint(x)));
    const T left = std::floor(x), top = std::floor(y);
    const auto x0 = static_cast<std::int64_t>(left), y0 = static_cast<std::int64_t>(top);
    const T right = x - left, bottom = y - top;
    return plane(y0, x0) * ((1 - right) * (1 - bottom)) + plane(y0, x0 + 1) * (right * (1 - bottom)) +
           plane(y0 + 1, x0) * ((1 - right) * bottom) + plane(y0 + 1, x0 + 1) * (right * bottom);
}

template <class T>
Tensor sample_all(const GridSample& g, const Tensor& input, const Tensor& grid) {
    const auto image = Elements<T>::contiguous(input), positions = Elements<T>::contiguous(grid);
    const std::int64_t places = g.sizes[2] * g.sizes[3], plane = g.height * g.width;
    std::vector<T> result;
    for (std::int64_t i = 0; i < g.batch * g.channels; i++)
        for (std::int64_t place = 0; place < places; place++) {
            const T* at = positions.data() + (i / g.channels * places + place) * 2;
            result.push_back(sample(g, Plane<T>{image.data() + i * plane, g.height, g.width}, source(g, at[0], g.width),
                                    source(g, at[1], g.height)));
        }
    return store(result, input.dtype(), g.sizes);
}

std::vector<Tensor> eval_grid_sample(const Arguments<Tensor>& args) {
    const GridSample g = grid_sample_of(args);
    const Tensor input = args.tensor("input"), grid = args.tensor("grid");
    return {input.dtype() == DType::f64 ? sample_all<double>(g, input, grid) : sample_all<float>(g, input, grid)};
}

// ---- lower ----

Expr floor(const Expr& x) { return expr::unary(expr::Op::floor, x); }

/// source() as an expression.
Expr lower_source(const GridSample& g, const Expr& x, std::int64_t size) {
    const auto c = [&](double value) { return constant(x, value); };
    const double pixels = static_cast<double>(size);
    Expr at = g.align_corners ? (x + c(1)) / c(2) * c(pixels - 1) : ((x + c(1)) * c(pixels) - c(1)) / c(2);
    if (g.padding == Padding::reflection) {
        const Fold fold = fold_of(g, size);
        if (fold.span == 0) {
            at = c(0);
        } else {
            const Expr distance = expr::unary(expr::Op::abs, at - c(fold.low)), turns = floor(distance / c(fold.span));
            const Expr extra = distance - turns * c(fold.span);
            const Expr even = expr::equal(expr::binary(expr::Op::mod, turns, c(2)), c(0));
            at = expr::select(even, extra + c(fold.low), c(fold.span) - extra + c(fold.low));
        }
    }
    if (g.padding != Padding::zeros)
        at = expr::select(at < c(pixels - 1), expr::select(at > c(0), at, c(0)),
                          expr::select(is_nan(at), c(0), c(pixels - 1)));
    return expr::select(at > c(-2), expr::select(at < c(pixels + 1), at, c(pixels + 1)), c(-2));
}

std::vector<expr::Value> lower_grid_sample(expr::GroupBuilder& builder, const Arguments<expr::Value>& args) {
    const GridSample g = grid_sample_of(args);
    const expr::Value input = loadable(builder, args.tensor("input")), grid = loadable(builder, args.tensor("grid"));
    const DType dtype = compute_dtype(input.dtype());
    const expr::Value result(dtype, g.sizes, [=](const Index& i) {
        const auto coordinate = [&](std::int64_t which, std::int64_t size) {
            return lower_source(g, convert(dtype, grid({i[0], i[2], i[3], expr::index(which)})), size);
        };
        const Expr x = coordinate(0, g.width), y = coordinate(1, g.height);
        const auto integer = [](const Expr& value) { return expr::cast(DType::i32, value); };
        const auto pixel = [&](const Expr& at_y, const Expr& at_x) {
            const Expr last_y = expr::index(g.height - 1), last_x = expr::index(g.width - 1), zero = expr::index(0);
            const Expr inside = zero <= at_y && at_y <= last_y && zero <= at_x && at_x <= last_x;
            const Expr value =
                input({i[0], i[1], expr::max(zero, expr::min(at_y, last_y)), expr::max(zero, expr::min(at_x, last_x))});
            return expr::select(inside, convert(dtype, value), constant(x, 0));
        };
        if (g.nearest)
            return pixel(integer(expr::unary(expr::Op::round_even, y)), integer(expr::unary(expr::Op::round_even, x)));
        const Expr left = floor(x), top = floor(y), one = constant(x, 1);
        const Expr x0 = integer(left), y0 = integer(top), x1 = x0 + expr::index(1), y1 = y0 + expr::index(1);
        const Expr right = x - left, bottom = y - top;
        return pixel(y0, x0) * ((one - right) * (one - bottom)) + pixel(y0, x1) * (right * (one - bottom)) +
               pixel(y1, x0) * ((one - right) * bottom) + pixel(y1, x1) * (right * bottom);
    });
    return {convert(input.dtype(), result)};
}

// ---- samples ----

std::vector<Sample> sample_grid_sample(DType dtype) {
    using samples::t;
    std::vector<Sample> result;
    const auto add = [&](const std::string& label, const Tensor& input, const Tensor& grid, int mode, int padding,
                         bool align) {
        result.push_back({label, {input, grid}, {t(0), t(1), mode, padding, align}});
    };
    const Tensor input = samples::random(dtype, {2, 2, 3, 4});
    const Tensor grid = samples::uniform(dtype, {2, 3, 5, 2}, -1.9, 1.9, 7);
    for (const int mode : {0, 1})
        for (const int padding : {0, 1, 2})
            for (const bool align : {false, true})
                add(std::to_string(mode) + ", padding " + std::to_string(padding) + (align ? ", corners aligned" : ""),
                    input, grid, mode, padding, align);
    const Tensor corners = samples::values(dtype, {-1, -1, 1, 1, 1, -1, 0, 0}, {1, 2, 2, 2});
    add("corners", samples::random(dtype, {1, 1, 3, 3}), corners, 0, 0, true);
    add("one pixel, reflected", samples::random(dtype, {1, 1, 1, 1}), corners, 0, 2, true);
    const Tensor odd = samples::values(dtype, {NAN, 0, INFINITY, 0, 0, -INFINITY, 30, -30}, {1, 2, 2, 2});
    add("special, zeros", samples::random(dtype, {1, 1, 3, 3}), odd, 0, 0, false);
    add("special, border", samples::random(dtype, {1, 1, 3, 3}), odd, 0, 1, false);
    add("transposed", samples::transposed(input), samples::transposed(grid), 0, 0, false);
    add("empty batch", samples::random(dtype, {0, 2, 3, 3}), samples::random(dtype, {0, 2, 2, 2}), 0, 0, false);
    return result;
}

constexpr OpDef kOps[] = {
    {.name = "aten.grid_sampler_2d.default",
     .doc = "An image read at given positions; pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html",
     .schema = "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, "
               "bool align_corners) -> Tensor",
     .dtypes = kFloating,
     .infer = infer_grid_sample,
     .eval = eval_grid_sample,
     .lower = lower_grid_sample,
     .grad = grid_sample_grad,
     .samples = sample_grid_sample},
};

}  // namespace

std::span<const OpDef> grid_ops() { return kOps; }

}  // namespace whittle

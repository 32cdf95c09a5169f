// Reading an image at positions given by another tensor.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

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
    enum class Mode { bilinear, nearest, bicubic };

    Mode mode = Mode::bilinear;
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
    if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
        throw Error(op + ": found interpolation_mode=" + std::to_string(mode) +
                    " and padding_mode=" + std::to_string(padding) + ", expected 0 to 2");
    return {static_cast<GridSample::Mode>(mode),
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

/// Of the four pixels around a place, of which the second is `t` behind it: Keys' cubic convolution with a = -0.75.
/// V is a number or an expression; `c` makes one of a constant.
template <class V, class Constant>
std::array<V, 4> cubic_weights(const V& t, const Constant& c) {
    const auto near = [&](const V& d) { return (c(1.25) * d - c(2.25)) * d * d + c(1); };
    const auto far = [&](const V& d) { return ((c(-0.75) * d + c(3.75)) * d - c(6)) * d + c(3); };
    return {far(t + c(1)), near(t), near(c(1) - t), far(c(2) - t)};
}

// ---- eval ----

/// From [-1, 1] to pixels.
template <class T>
T pixels(const GridSample& g, T x, std::int64_t size) {
    return g.align_corners ? (x + 1) / 2 * static_cast<T>(size - 1) : ((x + 1) * static_cast<T>(size) - 1) / 2;
}

/// Into the image as the padding demands. NaN and infinities become -1, as ATen has it where coordinates are clamped;
/// with zeros they stay far outside.
template <class T>
T padded(const GridSample& g, T at, std::int64_t size) {
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

/// The pixels around a place, each as the padding demands.
template <class T>
T sample_cubic(const GridSample& g, const Plane<T>& plane, T x, T y) {
    const auto number = [](double value) { return static_cast<T>(value); };
    const T left = std::floor(x), top = std::floor(y);
    const auto across = cubic_weights(x - left, number), down = cubic_weights(y - top, number);
    T result = 0;
    for (int i = 0; i < 4; i++) {
        T row = 0;
        for (int k = 0; k < 4; k++)
            row += plane(static_cast<std::int64_t>(padded(g, top + static_cast<T>(i - 1), g.height)),
                         static_cast<std::int64_t>(padded(g, left + static_cast<T>(k - 1), g.width))) *
                   across[static_cast<std::size_t>(k)];
        result += row * down[static_cast<std::size_t>(i)];
    }
    return result;
}

template <class T>
T sample(const GridSample& g, const Plane<T>& plane, T x, T y) {
    if (g.mode == GridSample::Mode::bicubic) return sample_cubic(g, plane, x, y);
    x = padded(g, x, g.width);
    y = padded(g, y, g.height);
    if (g.mode == GridSample::Mode::nearest)
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
            result.push_back(sample(g, Plane<T>{image.data() + i * plane, g.height, g.width}, pixels(g, at[0], g.width),
                                    pixels(g, at[1], g.height)));
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

/// pixels() as an expression.
Expr lower_pixels(const GridSample& g, const Expr& x, std::int64_t size) {
    const auto c = [&](double value) { return constant(x, value); };
    const double pixels = static_cast<double>(size);
    return g.align_corners ? (x + c(1)) / c(2) * c(pixels - 1) : ((x + c(1)) * c(pixels) - c(1)) / c(2);
}

/// padded() as an expression.
Expr lower_padded(const GridSample& g, Expr at, std::int64_t size) {
    const Expr like = at;
    const auto c = [&](double value) { return constant(like, value); };
    const double pixels = static_cast<double>(size);
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

/// sample_cubic() as an expression.
Expr lower_cubic(const GridSample& g, const Expr& x, const Expr& y,
                 const std::function<Expr(const Expr&, const Expr&)>& pixel) {
    const auto c = [&](double value) { return constant(x, value); };
    const Expr left = floor(x), top = floor(y);
    const auto across = cubic_weights(x - left, c), down = cubic_weights(y - top, c);
    const auto place = [&](const Expr& first, std::size_t tap, std::int64_t size) {
        return expr::cast(DType::i32, lower_padded(g, first + c(static_cast<double>(tap) - 1), size));
    };
    Expr result = c(0);
    for (std::size_t i = 0; i < 4; i++) {
        Expr row = c(0);
        for (std::size_t k = 0; k < 4; k++)
            row = row + pixel(place(top, i, g.height), place(left, k, g.width)) * across[k];
        result = result + row * down[i];
    }
    return result;
}

std::vector<expr::Value> lower_grid_sample(expr::GroupBuilder& builder, const Arguments<expr::Value>& args) {
    const GridSample g = grid_sample_of(args);
    const expr::Value input = loadable(builder, args.tensor("input")), grid = loadable(builder, args.tensor("grid"));
    const DType dtype = compute_dtype(input.dtype());
    const expr::Value result(dtype, g.sizes, [=](const Index& i) {
        const auto coordinate = [&](std::int64_t which, std::int64_t size) {
            return lower_pixels(g, convert(dtype, grid({i[0], i[2], i[3], expr::index(which)})), size);
        };
        Expr x = coordinate(0, g.width), y = coordinate(1, g.height);
        const auto integer = [](const Expr& value) { return expr::cast(DType::i32, value); };
        const auto pixel = [&](const Expr& at_y, const Expr& at_x) {
            const Expr last_y = expr::index(g.height - 1), last_x = expr::index(g.width - 1), zero = expr::index(0);
            const Expr inside = zero <= at_y && at_y <= last_y && zero <= at_x && at_x <= last_x;
            const Expr value =
                input({i[0], i[1], expr::max(zero, expr::min(at_y, last_y)), expr::max(zero, expr::min(at_x, last_x))});
            return expr::select(inside, convert(dtype, value), constant(x, 0));
        };
        if (g.mode == GridSample::Mode::bicubic) return lower_cubic(g, x, y, pixel);
        x = lower_padded(g, x, g.width);
        y = lower_padded(g, y, g.height);
        if (g.mode == GridSample::Mode::nearest)
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
    for (const int mode : {0, 1, 2})
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

// Reading an image, of two dimensions or three, at positions given by another tensor; and those of an affine map.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html
#include <array>
#include <cmath>
#include <functional>
#include <optional>

#include "ops/aten/cubic.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/grid_sample.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

using namespace aten;

using expr::Index;

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

/// From [-1, 1] to pixels.
template <class T>
T pixels(const GridSample& g, T x, std::int64_t size) {
    return g.align_corners ? (x + 1) / 2 * static_cast<T>(size - 1) : ((x + 1) * static_cast<T>(size) - 1) / 2;
}

/// Into the image as the padding demands. NaN and infinities become -1, as ATen has it where coordinates are clamped;
/// with zeros they stay far outside.
template <class T>
T moved_inside(const GridSample& g, T at, std::int64_t size) {
    if (g.padding == GridSample::Padding::reflection) {
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
    if (g.padding != GridSample::Padding::zeros)
        at = at < T(size - 1) ? (at > 0 ? at : T{0}) : at == at ? T(size - 1) : T{0};
    // Far outside is as good as infinitely far, and fits an integer.
    return at > -2 ? (at < static_cast<T>(size + 1) ? at : static_cast<T>(size + 1)) : T{-2};
}

template <class T>
struct Image {
    const T* elements;
    const Sizes& sizes;

    T operator()(const std::array<std::int64_t, 3>& at) const {
        std::int64_t position = 0;
        for (std::size_t d = 0; d < sizes.size(); d++) {
            if (at[d] < 0 || at[d] >= sizes[d]) return T{0};
            position = position * sizes[d] + at[d];
        }
        return elements[position];
    }
};

template <class T>
using Place = std::array<T, 3>;  ///< of which an image of two dimensions has two

/// The pixels around a place, each as the padding demands.
template <class T>
T sample_cubic(const GridSample& g, const Image<T>& image, T y, T x) {
    const auto number = [](double value) { return static_cast<T>(value); };
    const T left = std::floor(x), top = std::floor(y);
    const auto across = cubic_weights(x - left, number), down = cubic_weights(y - top, number);
    T result = 0;
    for (int i = 0; i < 4; i++) {
        T row = 0;
        for (int k = 0; k < 4; k++)
            row += image({static_cast<std::int64_t>(moved_inside(g, top + static_cast<T>(i - 1), g.image[0])),
                          static_cast<std::int64_t>(moved_inside(g, left + static_cast<T>(k - 1), g.image[1])), 0}) *
                   across[static_cast<std::size_t>(k)];
        result += row * down[static_cast<std::size_t>(i)];
    }
    return result;
}

template <class T>
T sample(const GridSample& g, const Image<T>& image, Place<T> at) {
    if (g.mode == GridSample::Mode::bicubic) return sample_cubic(g, image, at[0], at[1]);
    std::array<std::int64_t, 3> first{};
    Place<T> behind{};  // the first pixel
    for (std::size_t d = 0; d < g.rank(); d++) {
        at[d] = moved_inside(g, at[d], g.image[d]);
        const T whole = g.mode == GridSample::Mode::nearest ? std::nearbyint(at[d]) : std::floor(at[d]);
        first[d] = static_cast<std::int64_t>(whole);
        behind[d] = at[d] - whole;
    }
    if (g.mode == GridSample::Mode::nearest) return image(first);
    T result = 0;
    for (std::size_t corner = 0; corner < std::size_t{1} << g.rank(); corner++) {
        std::array<std::int64_t, 3> pixel = first;
        T weight = 1;
        for (std::size_t d = g.rank(); d-- > 0;) {
            const bool next = corner >> (g.rank() - 1 - d) & 1;
            pixel[d] += next;
            weight *= next ? behind[d] : 1 - behind[d];
        }
        result += image(pixel) * weight;
    }
    return result;
}

template <class T>
Tensor sample_all(const GridSample& g, const Tensor& input, const Tensor& grid) {
    const auto image = Elements<T>::contiguous(input), positions = Elements<T>::contiguous(grid);
    const auto rank = static_cast<std::int64_t>(g.rank());
    const std::int64_t pixels_of = element_count(g.image),
                       places = element_count(Sizes(g.sizes.begin() + 2, g.sizes.end()));
    std::vector<T> result;
    for (std::int64_t i = 0; i < g.batch * g.channels; i++)
        for (std::int64_t place = 0; place < places; place++) {
            const T* given = positions.data() + (i / g.channels * places + place) * rank;
            Place<T> at{};  // the last dimension comes first in the grid
            for (std::size_t d = 0; d < g.rank(); d++) at[d] = pixels(g, given[g.rank() - 1 - d], g.image[d]);
            result.push_back(sample(g, Image<T>{image.data() + i * pixels_of, g.image}, at));
        }
    return store(result, input.dtype(), g.sizes);
}

std::vector<Tensor> eval_grid_sample(const Arguments<Tensor>& args) {
    const GridSample g = grid_sample_of(args);
    const Tensor input = args.tensor("input"), grid = args.tensor("grid");
    return {input.dtype() == DType::f64 ? sample_all<double>(g, input, grid) : sample_all<float>(g, input, grid)};
}

// ---- lower ----

Expr floor_of(const Expr& x) { return expr::unary(expr::Op::floor, x); }

/// pixels() as an expression.
Expr lower_pixels(const GridSample& g, const Expr& x, std::int64_t size) {
    const auto c = [&](double value) { return constant(x, value); };
    const double pixels = static_cast<double>(size);
    return g.align_corners ? (x + c(1)) / c(2) * c(pixels - 1) : ((x + c(1)) * c(pixels) - c(1)) / c(2);
}

/// moved_inside() as an expression.
Expr lower_moved_inside(const GridSample& g, Expr at, std::int64_t size) {
    const Expr like = at;
    const auto c = [&](double value) { return constant(like, value); };
    const double pixels = static_cast<double>(size);
    if (g.padding == GridSample::Padding::reflection) {
        const Fold fold = fold_of(g, size);
        if (fold.span == 0) {
            at = c(0);
        } else {
            const Expr distance = expr::unary(expr::Op::abs, at - c(fold.low)),
                       turns = floor_of(distance / c(fold.span));
            const Expr extra = distance - turns * c(fold.span);
            const Expr even = expr::equal(expr::binary(expr::Op::mod, turns, c(2)), c(0));
            at = expr::select(even, extra + c(fold.low), c(fold.span) - extra + c(fold.low));
        }
    }
    if (g.padding != GridSample::Padding::zeros)
        at = expr::select(at < c(pixels - 1), expr::select(at > c(0), at, c(0)),
                          expr::select(is_nan(at), c(0), c(pixels - 1)));
    return expr::select(at > c(-2), expr::select(at < c(pixels + 1), at, c(pixels + 1)), c(-2));
}

/// A pixel of an image, 0 outside.
using Pixel = std::function<Expr(const std::vector<Expr>& at)>;

/// sample_cubic() as an expression.
Expr lower_cubic(const GridSample& g, const Expr& y, const Expr& x, const Pixel& pixel) {
    const auto c = [&](double value) { return constant(x, value); };
    const Expr left = floor_of(x), top = floor_of(y);
    const auto across = cubic_weights(x - left, c), down = cubic_weights(y - top, c);
    const auto place = [&](const Expr& first, std::size_t tap, std::int64_t size) {
        return expr::cast(DType::i32, lower_moved_inside(g, first + c(static_cast<double>(tap) - 1), size));
    };
    Expr result = c(0);
    for (std::size_t i = 0; i < 4; i++) {
        Expr row = c(0);
        for (std::size_t k = 0; k < 4; k++)
            row = row + pixel({place(top, i, g.image[0]), place(left, k, g.image[1])}) * across[k];
        result = result + row * down[i];
    }
    return result;
}

/// sample() as an expression.
Expr lower_sample(const GridSample& g, const std::vector<Expr>& places, const Pixel& pixel) {
    if (g.mode == GridSample::Mode::bicubic) return lower_cubic(g, places[0], places[1], pixel);
    const bool nearest = g.mode == GridSample::Mode::nearest;
    std::vector<Expr> first, behind;
    for (std::size_t d = 0; d < g.rank(); d++) {
        const Expr at = lower_moved_inside(g, places[d], g.image[d]);
        const Expr whole = nearest ? expr::unary(expr::Op::round_even, at) : floor_of(at);
        first.push_back(expr::cast(DType::i32, whole));
        behind.push_back(at - whole);
    }
    if (nearest) return pixel(first);
    const Expr one = constant(places[0], 1);
    std::optional<Expr> result;
    for (std::size_t corner = 0; corner < std::size_t{1} << g.rank(); corner++) {
        std::vector<Expr> at = first;
        std::optional<Expr> weight;
        for (std::size_t d = g.rank(); d-- > 0;) {
            const bool next = corner >> (g.rank() - 1 - d) & 1;
            if (next) at[d] = at[d] + expr::index(1);
            const Expr own = next ? behind[d] : one - behind[d];
            weight = weight ? *weight * own : own;
        }
        const Expr part = pixel(at) * *weight;
        result = result ? *result + part : part;
    }
    return *result;
}

std::vector<expr::Value> lower_grid_sample(expr::GroupBuilder& builder, const Arguments<expr::Value>& args) {
    const GridSample g = grid_sample_of(args);
    const expr::Value input = loadable(builder, args.tensor("input")), grid = loadable(builder, args.tensor("grid"));
    const DType dtype = compute_dtype(input.dtype());
    const expr::Value result(dtype, g.sizes, [=](const Index& i) {
        std::vector<Expr> places;
        for (std::size_t d = 0; d < g.rank(); d++) {
            Index of_grid = {i[0]};
            of_grid.insert(of_grid.end(), i.begin() + 2, i.end());
            of_grid.push_back(expr::index(static_cast<std::int64_t>(g.rank() - 1 - d)));
            places.push_back(lower_pixels(g, convert(dtype, grid(of_grid)), g.image[d]));
        }
        const Pixel pixel = [&](const std::vector<Expr>& at) {
            Index inner = {i[0], i[1]};
            std::optional<Expr> inside;
            const Expr zero = expr::index(0);
            for (std::size_t d = 0; d < g.rank(); d++) {
                const Expr last = expr::index(g.image[d] - 1), here = zero <= at[d] && at[d] <= last;
                inside = inside ? *inside && here : here;
                inner.push_back(expr::max(zero, expr::min(at[d], last)));
            }
            return expr::select(*inside, convert(dtype, input(inner)), constant(places[0], 0));
        };
        return lower_sample(g, places, pixel);
    });
    return {convert(input.dtype(), result)};
}

// ---- where an affine map looks ----

/// The corners of the outermost pixels, or their centres, at -1 and 1; in f32 as LibTorch's linspace.
V centres(GraphBuilder& builder, std::int64_t count, DType dtype, bool align_corners) {
    const DType wide = compute_dtype(dtype);
    if (count <= 1) return zeros(builder, Ints{count}, dtype);
    const V line = linspace(builder, -1, 1, count, wide);
    const auto n = static_cast<double>(count);
    return as(align_corners ? line : line * ((n - 1) / n), dtype);
}

/// theta [N, d, d + 1] by the homogeneous positions of the pixels, x first: [N, ..., d].
CallResults decompose_affine_grid(const Call& c) {
    const V theta = c.tensor("theta");
    const std::vector<std::int64_t> size = c.integers("size");
    const std::size_t rank = size.size() < 2 ? 0 : size.size() - 2;
    const auto d = static_cast<std::int64_t>(rank);
    if ((rank != 2 && rank != 3) || theta.sizes() != Sizes{size[0], d, d + 1})
        throw Error(
            "affine_grid_generator: found theta of sizes " + to_string(theta.sizes()) + " and size=" + to_string(size) +
            ", expected theta of sizes [N, 2, 3] with size=[N, C, H, W], or [N, 3, 4] with size=[N, C, D, H, W]");
    const Sizes image(size.begin() + 2, size.end());
    Vs parts;
    for (std::size_t k = 0; k < rank; ++k) {
        Sizes along(rank, 1);
        along[rank - 1 - k] = image[rank - 1 - k];
        const V line = centres(c.builder(), image[rank - 1 - k], theta.dtype(), c.boolean("align_corners"));
        parts.push_back(expand(reshaped(line, along), image));
    }
    parts.push_back(ones(c.builder(), image, theta.dtype()));
    const V base = reshaped(stack(parts, -1), Ints{1, element_count(image), d + 1});
    const V many = expand(base, Ints{size[0], element_count(image), d + 1});
    const V grid = bmm(many, transpose(theta, 1, 2));
    Sizes sizes = {size[0]};
    sizes.insert(sizes.end(), image.begin(), image.end());
    sizes.push_back(d);
    return reshaped(grid, sizes);
}

constexpr OpDef kGridOps[] = {
    primitive(
        "grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> "
        "Tensor",
        "An image sampled at given positions; pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html",
        kFloating, {infer_grid_sample, eval_grid_sample, lower_grid_sample}, grid_sample_grad),
    primitive(
        "grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> "
        "Tensor",
        "A volume sampled at given positions; pytorch.org/docs/stable/generated/torch.nn.functional.grid_sample.html",
        kFloating, {infer_grid_sample, eval_grid_sample, lower_grid_sample}, grid_sample_grad),
    composite(
        "affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor",
        "Sampling positions of an affine map; pytorch.org/docs/stable/generated/torch.nn.functional.affine_grid.html",
        kFloating, decompose_affine_grid),
};

}  // namespace

std::span<const OpDef> grid_ops() { return kGridOps; }

}  // namespace whittle

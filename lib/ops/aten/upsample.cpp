// Resizing of images: nearest neighbour and linear interpolation, in one to three and one to two dimensions.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
#include <algorithm>
#include <cmath>

#include "ops/aten/families.h"
#include "ops/aten/layer_grad.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"
#include "ops/core/samples.h"
#include "ops/core/window.h"

namespace whittle {
namespace {

using expr::Index;

/// Spatial sizes before and after; the leading dimensions (batch, channels) stay.
struct Resize {
    Sizes in = {}, out = {};
    std::vector<std::optional<double>> factors = {};  ///< as the caller gave them, one per dimension
    DType dtype = DType::f32;
    std::int64_t planes = 1;
    Sizes sizes = {};  ///< of the result
};

template <class T>
Resize resize_of(const Arguments<T>& args, std::size_t rank) {
    const std::string& op = args.schema().name;
    const ValueMeta input = meta_of(args.tensor("input"));
    if (input.sizes.size() != rank + 2)
        throw Error(op + ": found an input of sizes " + to_string(input.sizes) + ", expected rank " +
                    std::to_string(rank + 2));
    const auto wanted = args.optional_integers("output_size");
    const std::vector<double> factors = args.numbers("scale_factors");
    if (wanted.has_value() == args.has("scale_factors"))
        throw Error(op + ": found both or neither of output_size and scale_factors, expected one of them");
    if ((wanted ? wanted->size() : factors.size()) != rank)
        throw Error(op + ": found another number of sizes or factors than " + std::to_string(rank));
    Resize r;
    r.dtype = input.dtype;
    r.in = Sizes(input.sizes.begin() + 2, input.sizes.end());
    r.sizes = {input.sizes[0], input.sizes[1]};
    r.planes = element_count(r.sizes);
    for (std::size_t d = 0; d < rank; d++) {
        r.factors.push_back(wanted ? std::nullopt : std::optional(factors[d]));
        const double grown = wanted ? 0 : static_cast<double>(r.in[d]) * factors[d];
        if (!(std::abs(grown) < 0x1p63))
            throw Error(op + ": found input " + to_string(input.sizes) + " and factor " + std::to_string(factors[d]) +
                        ", expected a result of fewer than 2^63 elements");
        r.out.push_back(wanted ? (*wanted)[d] : static_cast<std::int64_t>(grown));
        if (r.in[d] < 1 || r.out[d] < 1)
            throw Error(op + ": found input " + to_string(input.sizes) + " and result " + to_string(r.out) +
                        ", expected sizes of at least 1");
    }
    r.sizes.insert(r.sizes.end(), r.out.begin(), r.out.end());
    return r;
}

template <int Rank>
std::vector<ValueMeta> infer_resize(const Arguments<ValueMeta>& args) {
    return {ValueMeta::contiguous(args.tensor("input").dtype, resize_of(args, Rank).sizes)};
}

/// Input positions per output position: the inverse of the given factor, else the ratio of the sizes.
template <class T>
T inverse_factor(const Resize& r, std::size_t d) {
    if (r.factors[d] && *r.factors[d] > 0) return static_cast<T>(1 / *r.factors[d]);
    return static_cast<T>(r.in[d]) / static_cast<T>(r.out[d]);
}

// ---- nearest: floor(place * ratio), in f32, of a product in f64 for f64 ----

/// LibTorch's kernel for channels that lie next to each other, which takes every image of one channel, looks at the
/// sizes before it looks at a factor.
bool looks_at_sizes(const Resize& r) { return r.in.size() > 1 && r.sizes[1] == 1; }

std::int64_t nearest(const Resize& r, std::size_t d, std::int64_t place) {
    if (looks_at_sizes(r) && r.in[d] == r.out[d]) return place;
    if (looks_at_sizes(r) && r.out[d] == 2 * r.in[d]) return place / 2;
    const float position = r.dtype == DType::f64
                               ? static_cast<float>(static_cast<double>(place) * inverse_factor<double>(r, d))
                               : static_cast<float>(place) * inverse_factor<float>(r, d);
    return std::min(static_cast<std::int64_t>(std::floor(position)), r.in[d] - 1);
}

/// The same as an expression; a quotient of integers wherever that gives the same positions.
Expr nearest(const Resize& r, std::size_t d, const Expr& place) {
    bool quotient = true;
    for (std::int64_t p = 0; p < r.out[d]; p++) quotient = quotient && nearest(r, d, p) == p * r.in[d] / r.out[d];
    if (quotient && r.in[d] == r.out[d]) return place;
    if (quotient && r.out[d] % r.in[d] == 0) return place / expr::index(r.out[d] / r.in[d]);
    if (quotient) return place * expr::index(r.in[d]) / expr::index(r.out[d]);
    const auto product = [&](DType dtype, double ratio) {
        return expr::cast(DType::f32, expr::cast(dtype, place) * expr::constant(dtype, Scalar(ratio)));
    };
    const Expr position = r.dtype == DType::f64 ? product(DType::f64, inverse_factor<double>(r, d))
                                                : product(DType::f32, double{inverse_factor<float>(r, d)});
    return expr::min(expr::cast(DType::i32, expr::unary(expr::Op::floor, position)), expr::index(r.in[d] - 1));
}

template <int Rank>
std::vector<Tensor> eval_nearest(const Arguments<Tensor>& args) {
    const Resize r = resize_of(args, Rank);
    const Tensor input = args.tensor("input").contiguous();
    const Strides strides = contiguous_strides(r.in);
    std::vector<std::int64_t> offsets;
    for (std::int64_t place = 0; place < element_count(r.out); place++) {
        const Sizes p = coordinates(place, r.out);
        offsets.push_back(0);
        for (std::size_t d = 0; d < p.size(); d++) offsets.back() += nearest(r, d, p[d]) * strides[d];
    }
    Tensor result(input.dtype(), r.sizes);
    visit_dtype(input.dtype(), [&](auto zero) {
        using T = decltype(zero);
        const T* from = input.data<T>();
        T* to = result.mutable_data<T>();
        for (std::int64_t plane = 0; plane < r.planes; plane++, from += element_count(r.in))
            for (const std::int64_t offset : offsets) *to++ = from[offset];
    });
    return {result};
}

template <int Rank>
std::vector<expr::Value> lower_nearest(expr::GroupBuilder&, const Arguments<expr::Value>& args) {
    const Resize r = resize_of(args, Rank);
    const expr::Value input = args.tensor("input");
    return {expr::Value(input.dtype(), r.sizes, [=](const Index& i) {
        Index at = {i[0], i[1]};
        for (std::size_t d = 0; d < r.in.size(); d++) at.push_back(nearest(r, d, i[d + 2]));
        return input(at);
    })};
}

// ---- linear: between the two neighbours in each dimension ----

/// Position = place * scale + shift, clamped to the image from below. Corner pixels are at the corners of both images
/// (align_corners), or pixels are areas and centres are at half steps.
struct Map {
    double scale = 0, shift = 0;
};

template <class T>
Map linear_map(const Resize& r, std::size_t d, bool align_corners) {
    if (!align_corners) return {inverse_factor<T>(r, d), 0.5};
    return {r.out[d] > 1 ? static_cast<T>(r.in[d] - 1) / static_cast<T>(r.out[d] - 1) : T{0}, 0};
}

template <class T>
struct Neighbours {
    std::int64_t first = 0, second = 0;
    T weight = 0;  ///< of the second
};

template <class T>
Neighbours<T> neighbours(const Resize& r, std::size_t d, bool align_corners, std::int64_t place) {
    if (r.in[d] == r.out[d]) return {place, place, T{0}};  // as LibTorch, whatever the factor
    const Map map = linear_map<T>(r, d, align_corners);
    const T shift = static_cast<T>(map.shift);
    const T position = std::max(static_cast<T>(map.scale) * (static_cast<T>(place) + shift) - shift, T{0});
    Neighbours<T> n;
    n.first = std::min(static_cast<std::int64_t>(position), r.in[d] - 1);
    n.second = std::min(n.first + 1, r.in[d] - 1);
    n.weight = std::min(position - static_cast<T>(n.first), T{1});
    return n;
}

template <class T>
Tensor interpolate(const Tensor& input, const Resize& r, bool align_corners) {
    const std::size_t rank = r.in.size();
    const auto elements = Elements<T>::contiguous(input);
    const Strides strides = contiguous_strides(r.in);
    std::vector<T> result;
    result.reserve(static_cast<std::size_t>(element_count(r.sizes)));
    for (std::int64_t i = 0; i < r.planes * element_count(r.out); i++) {
        const Sizes place = coordinates(i % element_count(r.out), r.out);
        const T* plane = elements.data() + i / element_count(r.out) * element_count(r.in);
        std::vector<std::int64_t> offsets = {0};
        std::vector<T> weights;
        for (std::size_t d = 0; d < rank; d++) {  // all corners, the last dimension varying fastest
            const Neighbours<T> n = neighbours<T>(r, d, align_corners, place[d]);
            std::vector<std::int64_t> next;
            for (const std::int64_t offset : offsets)
                next.insert(next.end(), {offset + n.first * strides[d], offset + n.second * strides[d]});
            offsets = std::move(next);
            weights.push_back(n.weight);
        }
        std::vector<T> corners;
        for (const std::int64_t offset : offsets) corners.push_back(plane[offset]);
        for (std::size_t d = rank; d-- > 0;) {  // the last dimension first
            for (std::size_t c = 0; c < corners.size() / 2; c++)
                corners[c] = (1 - weights[d]) * corners[2 * c] + weights[d] * corners[2 * c + 1];
            corners.resize(corners.size() / 2);
        }
        result.push_back(corners[0]);
    }
    return store(result, input.dtype(), r.sizes);
}

template <int Rank>
std::vector<Tensor> eval_linear(const Arguments<Tensor>& args) {
    const Resize r = resize_of(args, Rank);
    const Tensor input = args.tensor("input");
    const bool align = args.boolean("align_corners");
    return {input.dtype() == DType::f64 ? interpolate<double>(input, r, align) : interpolate<float>(input, r, align)};
}

/// The interpolated element, dimension by dimension; `at` holds the indices found so far.
Expr interpolate(const expr::Value& input, const Resize& r, DType dtype, bool align_corners, const Index& i, Index at) {
    const std::size_t d = at.size() - 2;
    if (d == r.in.size()) return convert(dtype, input(at));
    const auto along = [&](const Expr& index) {
        Index next = at;
        next.push_back(index);
        return interpolate(input, r, dtype, align_corners, i, next);
    };
    if (r.in[d] == r.out[d]) return along(i[d + 2]);
    const Map map =
        dtype == DType::f64 ? linear_map<double>(r, d, align_corners) : linear_map<float>(r, d, align_corners);
    const auto constant = [&](double value) { return expr::constant(dtype, Scalar(value)); };
    Expr position = expr::cast(dtype, i[d + 2]);
    position = constant(map.scale) * (map.shift == 0 ? position : position + constant(map.shift));
    if (map.shift != 0) position = position - constant(map.shift);
    position = expr::select(position < constant(0), constant(0), position);
    const Expr last = expr::index(r.in[d] - 1);
    const Expr first = expr::min(expr::cast(DType::i32, position), last);
    const Expr second = expr::min(first + expr::index(1), last);
    const Expr beyond = position - expr::cast(dtype, first);
    const Expr weight = expr::select(constant(1) < beyond, constant(1), beyond);
    return (constant(1) - weight) * along(first) + weight * along(second);
}

template <int Rank>
std::vector<expr::Value> lower_linear(expr::GroupBuilder& builder, const Arguments<expr::Value>& args) {
    const Resize r = resize_of(args, Rank);
    const bool align = args.boolean("align_corners");
    const expr::Value input = loadable(builder, args.tensor("input"));
    const DType dtype = compute_dtype(input.dtype());
    const expr::Value result(dtype, r.sizes, [=](const Index& i) {
        return interpolate(input, r, dtype, align, i, {i[0], i[1]});
    });
    return {convert(input.dtype(), result)};
}

// ---- samples ----

using samples::t;

/// op(input, sizes or factors …); `linear` puts align_corners between the two.
std::vector<Sample> sample_resize(DType dtype, std::size_t rank, bool linear) {
    std::vector<Sample> result;
    const auto add = [&](const std::string& label, const Tensor& input, std::optional<std::int64_t> size,
                         std::optional<double> factor, bool align = false) {
        Sample sample{label, {input}, {t(0)}};
        sample.args.push_back(size ? Arg::ints(Sizes(rank, *size)) : Arg());
        if (linear) sample.args.push_back(align);
        sample.args.push_back(factor ? Arg(ArgList(rank, Arg(*factor))) : Arg());
        result.push_back(std::move(sample));
    };
    Sizes sizes = {2, 2};
    for (std::size_t d = 0; d < rank; d++) sizes.push_back(3 + static_cast<std::int64_t>(d));
    const Tensor input = samples::random(dtype, sizes);
    for (const bool align : {false, true}) {
        if (align && !linear) break;
        const std::string suffix = align ? ", corners aligned" : "";
        add("factor 2" + suffix, input, {}, 2.0, align);
        add("factor 1.7" + suffix, input, {}, 1.7, align);
        add("factor 1.2" + suffix, input, {}, 1.2, align);  // sizes stay, or nearly
        add("factor 1.01" + suffix, input, {}, 1.01, align);
        add("factor 2.1" + suffix, input, {}, 2.1, align);  // small sizes double
        add("factor 0.5" + suffix, input, {}, 0.5, align);
        add("size 5" + suffix, input, 5, {}, align);
        add("size 1" + suffix, input, 1, {}, align);
        add("size 3" + suffix, input, 3, {}, align);
    }
    Sizes channel = sizes;
    channel[1] = 1;
    for (const double factor : {1.2, 2.1, 1.7})
        add("one channel, factor " + std::to_string(factor), samples::random(dtype, channel), {}, factor);
    Sizes pixel = {1, 2};
    pixel.resize(rank + 2, 1);
    add("from one pixel", samples::random(dtype, pixel), 3, {});
    Sizes none = sizes;
    none[0] = 0;
    add("empty batch", samples::random(dtype, none), 4, {});
    for (const auto& [label, tensor] : samples::layouts(input)) add(label, tensor, 4, {});
    return result;
}

template <int Rank, bool Linear>
std::vector<Sample> sample_rank(DType dtype) {
    return sample_resize(dtype, Rank, Linear);
}

constexpr DTypeSet kNearest = kFloating | set_of(DType::u8);  // as ATen's CPU kernels

constexpr OpDef kOps[] = {
    {.name = "aten.upsample_nearest1d.vec",
     .doc = "The nearest element; pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html",
     .schema = "upsample_nearest1d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
     .dtypes = kNearest,
     .infer = infer_resize<1>,
     .eval = eval_nearest<1>,
     .lower = lower_nearest<1>,
     .grad = upsample_grad,
     .samples = sample_rank<1, false>},
    {.name = "aten.upsample_nearest2d.vec",
     .doc = "The nearest element; pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html",
     .schema = "upsample_nearest2d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
     .dtypes = kNearest,
     .infer = infer_resize<2>,
     .eval = eval_nearest<2>,
     .lower = lower_nearest<2>,
     .grad = upsample_grad,
     .samples = sample_rank<2, false>},
    {.name = "aten.upsample_nearest3d.vec",
     .doc = "The nearest element; pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html",
     .schema = "upsample_nearest3d.vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor",
     .dtypes = kNearest,
     .infer = infer_resize<3>,
     .eval = eval_nearest<3>,
     .lower = lower_nearest<3>,
     .grad = upsample_grad,
     .samples = sample_rank<3, false>},
    {.name = "aten.upsample_linear1d.vec",
     .doc = "Between two neighbours; pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html",
     .schema = "upsample_linear1d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
               "float[]? scale_factors) -> Tensor",
     .dtypes = kFloating,
     .infer = infer_resize<1>,
     .eval = eval_linear<1>,
     .lower = lower_linear<1>,
     .grad = upsample_grad,
     .samples = sample_rank<1, true>},
    {.name = "aten.upsample_bilinear2d.vec",
     .doc = "Between four neighbours; pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html",
     .schema = "upsample_bilinear2d.vec(Tensor input, SymInt[]? output_size, bool align_corners, "
               "float[]? scale_factors) -> Tensor",
     .dtypes = kFloating,
     .infer = infer_resize<2>,
     .eval = eval_linear<2>,
     .lower = lower_linear<2>,
     .grad = upsample_grad,
     .samples = sample_rank<2, true>},
};

}  // namespace

std::span<const OpDef> upsample_ops() { return kOps; }

}  // namespace whittle

// Resizing of images: nearest neighbour and linear interpolation, in one to three dimensions.
// Definition: https://pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html
#include <algorithm>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/resize.h"
#include "ops/core/gemm.h"
#include "ops/core/window.h"

namespace whittle {
namespace {

using namespace aten;

using expr::Index;

/// What is resized: "input" of the overload vec, "self" of the other one.
template <class T>
T operand(const Arguments<T>& args) {
    return args.tensor(args.schema().params[0].name);
}

template <int Rank>
std::vector<ValueMeta> infer_resize(const Arguments<ValueMeta>& args) {
    return {ValueMeta::contiguous(operand(args).dtype, resize_of(args, Rank).sizes)};
}

// ---- nearest, exact ----

/// The floor of a position as one of n elements, which it may lie far behind, beyond what an index holds.
Expr index_below(const Expr& position, std::int64_t n) {
    const Expr end = expr::constant(position->dtype, Scalar(static_cast<double>(n)));
    const Expr within = expr::select(position < end, position, end);
    return expr::min(expr::cast(DType::i32, within), expr::index(n - 1));
}

/// nearest() as an expression; a quotient of integers wherever that gives the same positions.
Expr lower_nearest(const Resize& r, Interpolation how, std::size_t d, const Expr& place) {
    const bool is_exact = how == Interpolation::exact;
    const std::int64_t half = is_exact ? 1 : 0, twice = is_exact ? 2 : 1;
    bool quotient = true;
    for (std::int64_t p = 0; p < r.out[d]; p++)
        quotient = quotient && nearest(r, how, d, p) == (twice * p + half) * r.in[d] / (twice * r.out[d]);
    if (quotient && r.in[d] == r.out[d]) return place;
    if (quotient && r.out[d] % r.in[d] == 0) return place / expr::index(r.out[d] / r.in[d]);
    if (quotient)
        return (place * expr::index(twice) + expr::index(half)) * expr::index(r.in[d]) / expr::index(twice * r.out[d]);
    const auto product = [&](DType dtype, double ratio) {
        Expr at = expr::cast(dtype, place);
        if (is_exact) at = at + expr::constant(dtype, Scalar(0.5));
        return expr::cast(DType::f32, at * expr::constant(dtype, Scalar(ratio)));
    };
    const bool wide = is_exact || r.dtype == DType::f64;
    const Expr position = product(wide ? DType::f64 : DType::f32, r.dtype == DType::f64 && !is_exact
                                                                      ? inverse_factor<double>(r, d)
                                                                      : double{inverse_factor<float>(r, d)});
    return index_below(expr::unary(expr::Op::floor, position), r.in[d]);
}

template <Interpolation How, int Rank>
std::vector<Tensor> eval_nearest(const Arguments<Tensor>& args) {
    const Resize r = resize_of(args, Rank);
    const Tensor input = operand(args).contiguous();
    const Strides strides = contiguous_strides(r.in);
    Tensor result(input.dtype(), r.sizes);  // before the offsets, which are refused with it
    if (result.numel() == 0) return {result};
    std::vector<std::int64_t> offsets;
    for (std::int64_t place = 0; place < element_count(r.out); place++) {
        const Sizes p = coordinates(place, r.out);
        offsets.push_back(0);
        for (std::size_t d = 0; d < p.size(); d++) offsets.back() += nearest(r, How, d, p[d]) * strides[d];
    }
    visit_dtype(input.dtype(), [&](auto zero) {
        using T = decltype(zero);
        const T* from = input.data<T>();
        T* to = result.mutable_data<T>();
        for (std::int64_t plane = 0; plane < r.planes; plane++, from += element_count(r.in))
            for (const std::int64_t offset : offsets) *to++ = from[offset];
    });
    return {result};
}

template <Interpolation How, int Rank>
std::vector<expr::Value> lower_nearest(expr::GroupBuilder&, const Arguments<expr::Value>& args) {
    const Resize r = resize_of(args, Rank);
    const expr::Value input = operand(args);
    return {expr::Value(input.dtype(), r.sizes, [=](const Index& i) {
        Index at = {i[0], i[1]};
        for (std::size_t d = 0; d < r.in.size(); d++) at.push_back(lower_nearest(r, How, d, i[d + 2]));
        return input(at);
    })};
}

// ---- linear: between the two neighbours in each dimension ----

template <class T>
Tensor interpolate(const Tensor& input, const Resize& r) {
    const std::size_t rank = r.in.size();
    const auto elements = Elements<T>::contiguous(input);
    const Strides strides = contiguous_strides(r.in);
    Tensor(input.dtype(), r.sizes);  // throws Error where that is no size of memory
    std::vector<T> result;
    result.reserve(static_cast<std::size_t>(element_count(r.sizes)));
    for (std::int64_t i = 0; i < r.planes * element_count(r.out); i++) {
        const Sizes place = coordinates(i % element_count(r.out), r.out);
        const T* plane = elements.data() + i / element_count(r.out) * element_count(r.in);
        std::vector<std::int64_t> offsets = {0};
        std::vector<T> weights;
        for (std::size_t d = 0; d < rank; d++) {  // all corners, the last dimension varying fastest
            const Neighbours<T> n = neighbours<T>(r, d, place[d]);
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
std::vector<Tensor> eval_upsample_linear(const Arguments<Tensor>& args) {
    const Resize r = resize_of(args, Rank);
    const Tensor input = operand(args);
    return {input.dtype() == DType::f64 ? interpolate<double>(input, r) : interpolate<float>(input, r)};
}

/// The interpolated element, dimension by dimension; `at` holds the indices found so far.
Expr interpolate(const expr::Value& input, const Resize& r, DType dtype, const Index& i, Index at) {
    const std::size_t d = at.size() - 2;
    if (d == r.in.size()) return convert(dtype, input(at));
    const auto along = [&](const Expr& index) {
        Index next = at;
        next.push_back(index);
        return interpolate(input, r, dtype, i, next);
    };
    if (r.in[d] == r.out[d]) return along(i[d + 2]);
    const PositionMap map = dtype == DType::f64 ? position_map<double>(r, d) : position_map<float>(r, d);
    const auto constant = [&](double value) { return expr::constant(dtype, Scalar(value)); };
    Expr position = expr::cast(dtype, i[d + 2]);
    position = constant(map.scale) * (map.shift == 0 ? position : position + constant(map.shift));
    if (map.shift != 0) position = position - constant(map.shift);
    position = expr::select(position < constant(0), constant(0), position);
    const Expr last = expr::index(r.in[d] - 1);
    const Expr first = index_below(position, r.in[d]);
    const Expr second = expr::min(first + expr::index(1), last);
    const Expr beyond = position - expr::cast(dtype, first);
    const Expr weight = expr::select(constant(1) < beyond, constant(1), beyond);
    return (constant(1) - weight) * along(first) + weight * along(second);
}

template <int Rank>
std::vector<expr::Value> lower_linear(expr::GroupBuilder& builder, const Arguments<expr::Value>& args) {
    const Resize r = resize_of(args, Rank);
    const expr::Value input = loadable(builder, operand(args));
    const DType dtype = compute_dtype(input.dtype());
    const expr::Value result(dtype, r.sizes, [=](const Index& i) {
        return interpolate(input, r, dtype, i, {i[0], i[1]});
    });
    return {convert(input.dtype(), result)};
}

// ---- cubic, antialiased ----

template <Interpolation How, int Rank>
CallResults decompose_resize(const Call& c) {
    return apply_all(operand(c), resize_maps(resize_of(c, Rank), How));
}

/// For the bound: coordinates round, by as much as the image has elements along a dimension, and with them all weights.
template <Interpolation How, int Rank>
CallResults resize_parts(const Call& c) {
    const V given = operand(c), x = is_reduced(given.dtype()) ? as(given, DType::f32) : given;
    const Resize r = resize_of(c, Rank);
    const std::vector<LinearMap> maps = resize_maps(r, How);
    std::vector<LinearMap> reads = maps;
    for (LinearMap& map : reads) std::ranges::fill(map.weights, 1);
    const double places = static_cast<double>(*std::ranges::max_element(r.in));
    const V sum = apply_all(abs(x), reads);
    const V spread = clamp_max(sum, 1e30) * places;  // no infinity
    // 0, give or take what each of both rounds by: as two values, for one that is subtracted from itself is 0.
    const V rounding = spread - spread * 1.0;
    return as(apply_all(x, maps) + rounding, given.dtype());
}

// ---- the ops ----

constexpr DTypeSet kNearest = kFloating | set_of(DType::u8);  // as ATen's CPU kernels

constexpr std::string_view doc_of(Interpolation how) {
    switch (how) {
        case Interpolation::nearest:
            return "The nearest element; pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html";
        case Interpolation::exact:
            return "The element whose area holds the center; "
                   "pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html";
        case Interpolation::linear:
            return "Interpolated between two neighbors along each dimension; "
                   "pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html";
        case Interpolation::cubic:
            return "Interpolated between four neighbors along each dimension; "
                   "pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html";
        case Interpolation::linear_antialiased:
        case Interpolation::cubic_antialiased:
            return "Interpolated with antialiasing over all neighbors; "
                   "pytorch.org/docs/stable/generated/torch.nn.functional.interpolate.html";
    }
    __builtin_unreachable();
}

// --- Gradients ---

/// op_backward(grad, output_size, input_size, …) of the same overload.
void upsample_grad(Gradients& c) {
    const Schema& schema = c.schema();
    const ArgList& given = c.bound();
    const std::string& operand = schema.params[0].name;
    const std::size_t dot = schema.name.find('.');
    ArgList args = {c.grad(), given[1], Arg::ints(c.tensor(operand).sizes())};
    args.insert(args.end(), given.begin() + 2, given.end());
    c.set(operand, c.builder().call("aten." + schema.name.substr(0, dot) + "_backward" +
                                        (dot == std::string::npos ? ".default" : schema.name.substr(dot)),
                                    std::move(args)));
}
/// By the backward op, or where that looks at the sizes before it looks at a factor and the op itself did not, by the
/// op's own maps, the other way round.
void resized_grad(Gradients& c, Interpolation how) {
    const std::string& operand = c.schema().params[0].name;
    const Resize resize = resize_of(c, c.tensor(operand).sizes().size() - 2);
    std::vector<LinearMap> maps = resize_maps(resize, how);
    for (LinearMap& map : maps) map = map.transposed();
    if (maps == resize_gradient_maps(resize, how)) return upsample_grad(c);
    c.set(operand, apply_all(c.grad(), maps));
}
void upsample_nearest_grad(Gradients& c) { resized_grad(c, Interpolation::nearest); }
void upsample_cubic_grad(Gradients& c) { resized_grad(c, Interpolation::cubic); }

template <Interpolation How, int Rank>
constexpr OpDef resize_op(std::string_view schema) {
    constexpr bool kOneElement = How == Interpolation::nearest || How == Interpolation::exact;
    OpDef def{.doc = doc_of(How), .schema = schema};
    def.dtypes = kOneElement ? kNearest : kFloating;
    def.infer = infer_resize<Rank>;
    if constexpr (kOneElement) {
        def.bound = kBoundExact;
        def.eval = eval_nearest<How, Rank>;
        def.lower = lower_nearest<How, Rank>;
        def.grad = How == Interpolation::nearest ? upsample_nearest_grad : upsample_grad;
    } else if constexpr (How == Interpolation::linear) {
        def.bound = rounds_by(64, Bound::Rule::sums);  // coordinates round, and with them the weights
        def.eval = eval_upsample_linear<Rank>;
        def.lower = lower_linear<Rank>;
        def.grad = upsample_grad;
    } else {
        def.decompose = decompose_resize<How, Rank>;
        def.bound.parts = resize_parts<How, Rank>;
        def.grad = How == Interpolation::cubic ? upsample_cubic_grad : upsample_grad;
    }
    return def;
}

constexpr OpDef kUpsampleOps[] = {
#define WHITTLE_RESIZED(how, rank, image, aligned, name) \
    resize_op<Interpolation::how, rank>(WHITTLE_RESIZE(name, rank, aligned)),
#include "ops/aten/resize.def"
#undef WHITTLE_RESIZED
};

}  // namespace

std::span<const OpDef> upsample_ops() { return kUpsampleOps; }

}  // namespace whittle

// Composites of ATen that programs call now and then: parts of floating-point numbers, medians beside NaN, differences,
// limits on norms, statistics of variables, products in another dtype.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/open_rules.h"
#include "ops/core/pointwise.h"
#include "tensor/compute.h"
#include "tensor/shape.h"

namespace whittle::other_forms {
namespace {

using namespace aten;

// --- Floating-point numbers ---

std::vector<ValueMeta> infer_frexp(const Arguments<ValueMeta>& a) {
    const ValueMeta x = a.tensor("self");
    return {ValueMeta::contiguous(x.dtype, x.sizes), ValueMeta::contiguous(DType::i32, x.sizes)};
}
std::vector<Tensor> eval_frexp(const Arguments<Tensor>& a) {
    const Tensor x = a.tensor("self");
    std::vector<double> mantissas;
    std::vector<std::int64_t> exponents;
    for (const double value : x.values<double>()) {
        int exponent = 0;
        mantissas.push_back(std::frexp(value, &exponent));
        exponents.push_back(std::isfinite(value) ? exponent : 0);
    }
    return {Tensor::of(mantissas, x.sizes()).to(x.dtype()), Tensor::of(exponents, x.sizes()).to(DType::i32)};
}
void frexp_grad(Gradients& c) {
    if (c.needed("self")) c.set("self", c.grad() / exp2(as(c.result(1), c.grad().dtype())));
}

CallResults decompose_signbit(const Call& c) {
    const V x = c.tensor("self");
    if (!is_floating(x.dtype())) return x.dtype() == DType::boolean ? zeros_like(x) : lt(x, 0);
    return lt(copysign(ones_like(x), x), 0);
}

// --- Order ---

/// The lower median of what is no NaN, which sort puts last; NaN where there is nothing else.
CallResults nanmedian_along(const V& x, std::int64_t dim, bool keep) {
    if (x.rank() == 0) return {own_copy(x), zeros(*x.builder, {}, DType::i64)};
    const std::array<V, 2> sorted = sort(x, dim);
    const V count = sum(logical_not(isnan(x)), Ints{dim}, true);
    const V middle = floor_divide(clamp_min(count - 1, 0), full(*x.builder, {}, 2, DType::i64));
    const auto pick = [&](const V& from) {
        const V picked = gather(from, dim, middle);
        return keep ? picked : squeeze(picked, dim);
    };
    return {pick(sorted[0]), pick(sorted[1])};
}
CallResults decompose_nanmedian(const Call& c) {
    const V x = c.tensor("self");
    return nanmedian_along(reshape(x, Ints{-1}), 0, false)[0];
}
CallResults decompose_nanmedian_along(const Call& c) {
    return nanmedian_along(c.tensor("self"), c.integer("dim"), c.boolean("keepdim"));
}

/// Throws Error where the positions of all combinations are too many to be a constant.
void check_count(std::int64_t n, std::int64_t r, bool repeated) {
    constexpr double kMost = 1 << 24;  // elements
    double elements = static_cast<double>(r);
    const double from = static_cast<double>(n) + (repeated ? static_cast<double>(r) - 1 : 0);
    const double factors = std::min(static_cast<double>(r), from - static_cast<double>(r));
    for (double i = 0; i < factors && elements <= kMost; ++i) elements *= (from - i) / (i + 1);
    if (elements > kMost)
        throw Error("combinations: found r=" + std::to_string(r) + " for a tensor of " + std::to_string(n) +
                    " elements, expected a result of at most 2^24 elements");
}

/// Elements by r at a time, in order, with or without repetition.
CallResults decompose_combinations(const Call& c) {
    const V x = c.tensor("self");
    const std::int64_t r = c.integer("r"), n = x.rank() == 1 ? x.size(0) : -1;
    const bool repeated = c.boolean("with_replacement");
    if (n < 0 || r < 0)
        throw Error("combinations: found sizes " + to_string(x.sizes()) + " and r=" + std::to_string(r) +
                    ", expected one dimension, and r of at least 0");
    if (r == 0) return zeros(c.builder(), Ints{0}, x.dtype());
    check_count(n, r, repeated);
    std::vector<std::int64_t> positions, at(static_cast<std::size_t>(r));
    const std::int64_t step = repeated ? 0 : 1;
    for (std::int64_t i = 0; i < r; ++i) at[static_cast<std::size_t>(i)] = i * step;
    while (n > 0 && at.back() < n) {
        positions.insert(positions.end(), at.begin(), at.end());
        std::int64_t i = r - 1;  // the last position that can still move
        while (i > 0 && at[static_cast<std::size_t>(i)] + 1 + (r - 1 - i) * step >= n) --i;
        ++at[static_cast<std::size_t>(i)];
        for (std::int64_t k = i + 1; k < r; ++k)
            at[static_cast<std::size_t>(k)] = at[static_cast<std::size_t>(k - 1)] + step;
    }
    const auto count = static_cast<std::int64_t>(positions.size());
    const V index = c.builder().constant(Tensor::of(positions, {count}), "positions");
    return reshape(index_select(x, 0, index), Ints{count / r, r});
}

// --- Differences ---

/// Of the neighbors on both sides; at the ends of the first order, or of the second one.
V gradient_along(const Call& c, const V& x, std::int64_t dim, double spacing) {
    const std::int64_t n = x.size(dim), order = c.integer("edge_order");
    if (order < 1 || order > 2 || n <= order)
        throw Error("gradient: found " + std::to_string(n) + " elements and edge_order=" + std::to_string(order) +
                    ", expected edge_order 1 or 2, and more than edge_order elements");
    const auto at = [&](std::int64_t from, std::int64_t to) { return slice(x, dim, from, to); };
    const auto one = [&](std::int64_t i) { return at(i, i + 1); };
    const bool first_order = order == 1;
    const V begin = first_order ? one(1) - one(0) : one(0) * -1.5 + one(1) * 2 - one(2) * 0.5;
    const V end = first_order ? one(n - 1) - one(n - 2) : one(n - 3) * 0.5 - one(n - 2) * 2 + one(n - 1) * 1.5;
    Vs parts = {begin / spacing};
    if (n > 2) parts.push_back((at(2, n) - at(0, n - 2)) / spacing / 2);
    parts.push_back(end / spacing);
    return cat(parts, dim);
}
CallResults decompose_gradient(const Call& c) {
    const V given = c.tensor("self"), x = c.builder().convert(given, floating_result(given.dtype()));
    Ints dims = c.schema().param("dim")->type == ParamType::int_list ? c.integers("dim") : Ints();
    if (c.schema().param("dim")->type != ParamType::int_list) {
        if (const auto dim = c.optional_integer("dim"))
            dims = {*dim};
        else
            for (std::int64_t d = 0; d < x.rank(); ++d) dims.push_back(d);
    }
    const double spacing = c.schema().param("spacing") && c.has("spacing") ? c.scalar("spacing").to_double() : 1;
    Vs results;
    for (const std::int64_t dim : dims) results.push_back(gradient_along(c, x, wrap_dim(dim, x.rank()), spacing));
    return results;
}

// --- Norms ---

/// x whose slices have a norm of at most maxnorm.
V renormalized(const V& x, const Scalar& p, const Ints& dims, double most) {
    const V norms = linalg_vector_norm(x, p, dims, true);
    return x * where(gt(norms, most), reciprocal(norms + 1e-7) * most, ones_like(norms));
}
CallResults decompose_renorm(const Call& c) {
    const V x = c.tensor("self");
    const std::int64_t dim = wrap_dim(c.integer("dim"), x.rank());
    Ints others;
    for (std::int64_t d = 0; d < x.rank(); ++d)
        if (d != dim) others.push_back(d);
    if (others.empty()) throw Error("renorm: found a tensor of 1 dimension, expected 2 or more");
    return renormalized(x, c.scalar("p"), others, c.scalar("maxnorm").to_double());
}

/// Of rows, those that are listed.
CallResults decompose_embedding_renorm(const Call& c) {
    const V x = c.tensor("self"), rows = reshape(c.tensor("indices"), Ints{-1});
    if (x.rank() != 2) throw Error("embedding_renorm: found sizes " + to_string(x.sizes()) + ", expected 2 dimensions");
    const V listed = index_fill(zeros(c.builder(), Ints{x.size(0), 1}, DType::boolean), 0, rows, true);
    return where(listed, renormalized(x, c.number("norm_type"), Ints{1}, c.number("max_norm")), x);
}

Reason listed_rows(std::string_view op, const Arguments<Tensor>& a) {
    return bad_index(op, a.tensor("indices"), extent(a.tensor("self"), 0), false);
}

// --- Products in another dtype ---

DType out_dtype(const Call& c) { return *c.dtype("out_dtype"); }
CallResults decompose_mm(const Call& c) {
    return mm(as(c.tensor("self"), out_dtype(c)), as(c.tensor("mat2"), out_dtype(c)));
}
CallResults decompose_bmm(const Call& c) {
    return bmm(as(c.tensor("self"), out_dtype(c)), as(c.tensor("mat2"), out_dtype(c)));
}
CallResults decompose_addmm(const Call& c) {
    return addmm(as(c.tensor("self"), out_dtype(c)), as(c.tensor("mat1"), out_dtype(c)),
                 as(c.tensor("mat2"), out_dtype(c)), c.scalar("beta"), c.scalar("alpha"));
}
CallResults decompose_baddbmm(const Call& c) {
    return baddbmm(as(c.tensor("self"), out_dtype(c)), as(c.tensor("batch1"), out_dtype(c)),
                   as(c.tensor("batch2"), out_dtype(c)), c.scalar("beta"), c.scalar("alpha"));
}

// --- Statistics ---

/// Rows are variables, columns observations, of which some count more: fweights say how often they are there, aweights
/// how much each counts.
CallResults decompose_cov(const Call& c) {
    const V given = c.tensor("self");
    if (given.rank() > 2)
        throw Error("cov: found sizes " + to_string(given.sizes()) + ", expected at most 2 dimensions");
    const V whole = given.rank() < 2 ? reshape(given, Ints{1, -1}) : given;
    const V x = c.builder().convert(whole, floating_result(whole.dtype()));
    const double correction = static_cast<double>(c.integer("correction"));
    const OptionalV times = c.optional_tensor("fweights"), weights = c.optional_tensor("aweights");
    if (!times && !weights) {
        const V rest = x - mean(x, Ints{1}, true);
        const double count = std::max(static_cast<double>(x.size(1)) - correction, 0.0);
        return squeeze(mm(rest, conjugate(t(rest))) / count);
    }
    const auto floating = [&](const V& value) { return as(value, real_of(x.dtype())); };
    const V w = times && weights ? floating(*times) * floating(*weights) : floating(times ? *times : *weights);
    const V all = sum(w), rest = x - unsqueeze(sum(x * w, Ints{1}) / all, 1);
    V count = all - correction;
    if (weights && correction != 0) count = all - sum(w * floating(*weights)) / all * correction;
    return squeeze(mm(rest, conjugate(t(rest * w))) / clamp_min(count, 0));
}
CallResults decompose_corrcoef(const Call& c) {
    const V all = cov(c.tensor("self"));
    if (all.rank() == 0) return all / all;
    const V deviations = sqrt(diagonal(all));
    return clamp(all / unsqueeze(deviations, 1) / unsqueeze(deviations, 0), -1, 1);
}

// --- Places ---

/// Matrices along a diagonal; vectors and numbers are rows.
CallResults decompose_block_diag(const Call& c) {
    Vs blocks, rows;
    std::int64_t width = 0, at = 0;
    for (const V& given : c.tensors("tensors")) {
        if (given.rank() > 2)
            throw Error("block_diag: found sizes " + to_string(given.sizes()) + ", expected at most 2 dimensions");
        blocks.push_back(given.rank() < 2 ? reshape(given, Ints{1, given.numel()}) : given);
        width += blocks.back().size(1);
    }
    if (blocks.empty()) return zeros(c.builder(), Ints{1, 0}, DType::f32);
    for (const V& block : blocks) {
        const std::int64_t end = at + block.size(1);
        rows.push_back(constant_pad_nd(block, Ints{at, width - end}));
        at = end;
    }
    return cat(rows, 0);
}

/// The gradient of what took one element along a dimension.
CallResults decompose_selecting_backward(const Call& c) {
    const Ints sizes = c.integers("sizes");
    const std::int64_t dim = c.integer("dim");
    V grad = c.tensor("grad"), at = c.tensor("indices");
    if (!c.boolean("keepdim") && !sizes.empty()) grad = unsqueeze(grad, dim), at = unsqueeze(at, dim);
    return scatter(zeros(c.builder(), sizes, grad.dtype()), dim, at, grad);
}

Reason selected_index(std::string_view op, const Arguments<Tensor>& a) {
    const Ints sizes = a.integers("sizes");
    if (sizes.empty()) return bad_index(op, a.tensor("indices"), 1, false);
    const std::int64_t dim = wrap_dim(a.integer("dim"), sizes);
    return bad_index(op, a.tensor("indices"), sizes[static_cast<std::size_t>(dim)], false);
}

CallResults decompose_isreal(const Call& c) {
    const V x = c.tensor("self");
    return is_complex(x.dtype()) ? eq(imag(x), 0) : ones_like(x, DType::boolean);
}

// --- Records ---

constexpr OpDef form(std::string_view schema, std::string_view doc, DecomposeFn decompose, DTypeSet dtypes = kFloating,
                     GradientRule grad = nullptr, OpenRule open = {}) {
    return composite(schema, doc, dtypes, decompose, grad, open);
}

constexpr DTypeSet kLinear = set_of(DType::f64) | set_of(DType::f32) | kComplex;

constexpr OpDef kForms[] = {
    {.doc = "numbers as mantissas and powers of 2",
     .schema = "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
     .dtypes = kFloating,
     .infer = infer_frexp,
     .eval = eval_frexp,
     .grad = frexp_grad},
    form("signbit(Tensor self) -> Tensor", "is negative, or -0", decompose_signbit, kAnyDType, no_gradient),
    form("nanmedian(Tensor self) -> Tensor", "the median of what is no NaN", decompose_nanmedian, kNumbers),
    form("nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
         "medians of what is no NaN", decompose_nanmedian_along, kNumbers),
    form("combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor", "elements by r at a time",
         decompose_combinations, kAnyDType),
    form("gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]",
         "differences of neighbors", decompose_gradient),
    form("gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]",
         "differences of neighbors", decompose_gradient),
    form("gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]", "differences of neighbors",
         decompose_gradient),
    form("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", "slices with a limited norm",
         decompose_renorm),
    form("embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor",
         "listed rows with a limited norm", decompose_embedding_renorm, set_of(DType::f64) | set_of(DType::f32),
         nullptr, {.ask = listed_rows}),
    form("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
         "how variables vary together", decompose_cov, kLinear),
    form("corrcoef(Tensor self) -> Tensor", "how variables vary together, from -1 to 1", decompose_corrcoef,
         set_of(DType::f64) | set_of(DType::f32)),
    form("block_diag(Tensor[] tensors) -> Tensor", "matrices along a diagonal", decompose_block_diag, kAnyDType),
    form("value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, SymInt[] sizes, bool keepdim) -> "
         "Tensor",
         "the gradient of a selection along a dimension", decompose_selecting_backward, kFloating, nullptr,
         {.ask = selected_index}),
    form("isreal(Tensor self) -> Tensor", "has no imaginary part", decompose_isreal, kAnyDType | kComplex, no_gradient),
    form("mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", "the product of matrices, in a dtype",
         decompose_mm),
    form("bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", "products of matrices, in a dtype",
         decompose_bmm),
    form("addmm.dtype(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1) "
         "-> Tensor",
         "beta self + alpha mat1 mat2, in a dtype", decompose_addmm),
    form("baddbmm.dtype(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar "
         "alpha=1) -> Tensor",
         "beta self + alpha batch1 batch2, in a dtype", decompose_baddbmm),
};

}  // namespace
}  // namespace whittle::other_forms

namespace whittle {

std::span<const OpDef> other_form_ops() { return other_forms::kForms; }

}  // namespace whittle

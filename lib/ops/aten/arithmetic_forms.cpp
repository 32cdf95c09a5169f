// Composites, element by element or along dimensions, that are written in arithmetic, comparisons, reductions and other
// ops of networks. Definitions: https://pytorch.org/docs/stable/torch.html and
// https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native for corners.
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/open_rules.h"
#include "ops/core/pointwise.h"
#include "tensor/shape.h"

namespace whittle::arithmetic_forms {
namespace {

using namespace aten;

constexpr DTypeSet kReal = set_of(DType::f64) | set_of(DType::f32);
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// --- Element by element ---

/// Equal, or near: |x - y| <= atol + |rtol y|, both finite.
CallResults decompose_isclose(const Call& c) {
    const V x = c.tensor("self"), y = c.tensor("other");
    const double rtol = c.number("rtol"), atol = c.number("atol");
    if (x.dtype() != y.dtype())
        throw Error("isclose: found operands of dtypes " + std::string(name(x.dtype())) + " and " +
                    std::string(name(y.dtype())) + ", expected one dtype");
    V close = eq(x, y);
    if (c.boolean("equal_nan") && is_floating(x.dtype())) close = logical_or(close, logical_and(isnan(x), isnan(y)));
    if (rtol == 0 && atol == 0) return close;
    const V as_float = is_floating(x.dtype()) ? x : as(x, DType::f32), other = as(y, as_float.dtype());
    const V allowed = abs(other * rtol) + atol, actual = abs(as_float - other);
    return logical_or(close, logical_and(isfinite(actual), le(actual, allowed)));
}
CallResults decompose_isposinf(const Call& c) {
    const V x = c.tensor("self");
    return is_floating(x.dtype()) ? eq(x, kInfinity) : full_like(x, false, DType::boolean);
}
CallResults decompose_isneginf(const Call& c) {
    const V x = c.tensor("self");
    return is_floating(x.dtype()) ? eq(x, -kInfinity) : full_like(x, false, DType::boolean);
}

V widened(const V& x) { return as(x, DType::f64); }
CallResults decompose_float_power(const Call& c) {
    return pow(widened(c.tensor("self")), widened(c.tensor("exponent")));
}
CallResults decompose_float_power_scalar(const Call& c) {
    return pow(widened(c.tensor("self")), Scalar(c.scalar("exponent").to_double()));
}
CallResults decompose_scalar_float_power(const Call& c) {
    return pow(Scalar(c.scalar("self").to_double()), widened(c.tensor("exponent")));
}
CallResults decompose_ldexp(const Call& c) { return c.tensor("self") * pow(Scalar(2.0), c.tensor("other")); }
/// The normal distribution.
CallResults decompose_ndtr(const Call& c) { return (erf(c.tensor("self") * (1 / std::numbers::sqrt2)) + 1) * 0.5; }
/// x log1p(y), where y is no NaN 0 for x = 0.
CallResults decompose_xlog1py(const Call& c) {
    const V x = c.tensor("self"), y = c.tensor("other");
    const V product = x * log1p(y);
    return where(isnan(y), y, where(eq(x, 0), 0.0, product));
}
/// -x log x; 0 at 0 and -inf below.
CallResults decompose_entropy(const Call& c) {
    const V x = c.tensor("self");
    const V some = where(eq(x, 0), 0.0, where(lt(x, 0), -kInfinity, -x * log(x)));
    return where(isnan(x), x, some);
}

/// In evaluation leaky_relu with the mean slope.
CallResults decompose_rrelu(const Call& c) {
    if (c.boolean("training"))
        throw Error("rrelu: found training=true, expected training=false: in training, the slopes are random",
                    "export the model in evaluation mode");
    return leaky_relu(c.tensor("self"), (c.number("lower") + c.number("upper")) / 2);
}
CallResults decompose_dropout_backward(const Call& c) {
    return c.tensor("grad_output") * (as(c.tensor("mask"), c.tensor("grad_output").dtype()) * c.number("scale"));
}

// --- Along dimensions ---

CallResults decompose_nanmean(const Call& c) {
    const V x = c.tensor("self");
    const auto dims = c.optional_integers("dim");
    const bool keep = c.boolean("keepdim");
    const V count = sum(logical_not(isnan(x)), dims, keep);
    return nansum(x, dims, keep, c.dtype("dtype")) / count;
}
CallResults decompose_msort(const Call& c) { return sort(c.tensor("self"), 0)[0]; }

/// The means of neighbors along a dimension, each by the distance between them.
V areas(const Call& c) {
    const V y = c.tensor("y");
    if (y.rank() == 0) throw Error(c.schema().name + ": found a 0-d tensor, expected at least 1 dimension");
    const std::int64_t dim = wrap_dim(c.integer("dim"), y.rank()), size = y.size(dim);
    const V sums = slice(y, dim, 0, size - 1) + slice(y, dim, 1, size);
    if (!c.schema().param("x")) return sums * (c.number("dx") / 2);
    V x = c.tensor("x");
    if (x.rank() == 1) {
        Ints sizes(static_cast<std::size_t>(y.rank()), 1);
        sizes[static_cast<std::size_t>(dim)] = x.size(0);
        x = reshaped(x, sizes);
    }
    return (slice(x, dim, 1, size) - slice(x, dim, 0, size - 1)) * sums / 2;
}
CallResults decompose_trapezoid(const Call& c) { return sum(areas(c), Ints{c.integer("dim")}); }
CallResults decompose_cumulative_trapezoid(const Call& c) { return cumsum(areas(c), c.integer("dim")); }

/// Between which sorted elements of a row each quantile lies.
CallResults decompose_quantile(const Call& c) {
    const V self = c.tensor("self");
    const auto dim = c.optional_integer("dim");
    const bool keep = c.boolean("keepdim"), ignores = c.schema().name.starts_with("nan");
    const bool number = c.schema().param("q")->type == ParamType::number;
    if (number && !(c.number("q") >= 0 && c.number("q") <= 1))
        throw Error(c.schema().name + ": found q=" + std::to_string(c.number("q")) + ", expected 0 to 1");
    if (!number && c.tensor("q").rank() > 1)
        throw Error(c.schema().name + ": found a tensor q of " + std::to_string(c.tensor("q").rank()) +
                    " dimensions, expected at most 1");
    const V q = number ? c.constant(Tensor::of(Scalar(c.number("q")), self.dtype()), "q") : c.tensor("q");
    const V rows = sort(dim ? movedim(self, *dim, -1) : reshape(self, Ints{-1}))[0], nan = isnan(rows);
    const std::int64_t last = rows.size(-1) - 1;
    const V ranks = reshaped(q, Ints{q.numel()});
    const V at = ignores ? ranks * clamp_min(as(sum(logical_not(nan), Ints{-1}, true), self.dtype()) + -1, 0)
                         : where(any(nan, -1, true), Scalar(static_cast<double>(last)), ranks * last);
    const auto taken = [&](const V& positions) { return gather(rows, -1, as(positions, DType::i64)); };
    const std::string how = c.text("interpolation");
    V result;
    if (how == "lower" || how == "higher" || how == "nearest") {
        result = taken(how == "lower" ? floor(at) : how == "higher" ? ceil(at) : round(at));
    } else if (how == "linear" || how == "midpoint") {
        const V below = floor(at);
        result = how == "linear" ? lerp(taken(below), taken(ceil(at)), at - below)
                                 : lerp(taken(below), taken(ceil(at)), Scalar(0.5));
    } else {
        throw Error(c.schema().name + ": found interpolation='" + how +
                    "', expected linear, lower, higher, midpoint or nearest");
    }
    const bool one = q.rank() == 0;
    result = one ? squeeze(result, -1) : movedim(result, -1, 0);
    if (!keep) return result;
    if (dim) return unsqueeze(result, wrap_dim(*dim, self.rank()) + !one);
    Ints sizes(static_cast<std::size_t>(self.rank() + !one), 1);
    if (!one) sizes[0] = q.numel();
    return reshape(result, sizes);
}

/// Whether each element is among others; one of both may be a number.
CallResults decompose_isin(const Call& c) {
    const bool invert = c.boolean("invert");
    if (c.schema().param("test_element")) {
        const V x = c.tensor("elements");
        return invert ? ne(x, c.scalar("test_element")) : eq(x, c.scalar("test_element"));
    }
    const V others = reshape(c.tensor("test_elements"), Ints{-1});
    const V found = c.schema().param("element") ? any(eq(others, c.scalar("element")), 0)
                                                : any(eq(unsqueeze(c.tensor("elements"), -1), others), -1);
    return invert ? logical_not(found) : found;
}

/// softmax; of a row of -inf 0.
CallResults decompose_safe_softmax(const Call& c) {
    const V x = c.tensor("self");
    const std::int64_t dim = c.integer("dim");
    const V blocked = all(eq(x, -kInfinity), dim, true);
    return drop(blocked, softmax(x, dim, c.dtype("dtype")));
}

CallResults decompose_scatter_by(const Call& c) {
    const V x = c.tensor("self"), index = c.tensor("index");
    const std::int64_t dim = c.integer("dim");
    const std::string reduce = c.text("reduce");
    if (reduce != "add" && reduce != "multiply")
        throw Error("scatter: found reduce='" + reduce + "', expected 'add' or 'multiply'");
    const V src = c.schema().param("src") ? c.tensor("src") : full_like(index, c.scalar("value"), x.dtype());
    return reduce == "add" ? scatter_add(x, dim, index, src) : scatter_reduce(x, dim, index, src, "prod");
}

/// index of positions, a number where the mask does not hold: positions there may be anything.
CallResults decompose_masked_index(const Call& c) {
    const V x = c.tensor("self");
    std::vector<OptionalV> indices = c.optional_tensors("indices");
    if (static_cast<std::int64_t>(indices.size()) > x.rank())
        throw Error("_unsafe_masked_index: found " + std::to_string(indices.size()) + " indices into a tensor of " +
                    std::to_string(x.rank()) + " dimensions, expected at most one index for each dimension");
    for (std::size_t d = 0; d < indices.size(); ++d)
        if (indices[d]) indices[d] = clamp(*indices[d], Scalar(0), Scalar(x.sizes().at(d) - 1));
    return masked_fill(index(x, indices), logical_not(c.tensor("mask")), c.scalar("fill"));
}

// --- What networks call ---

CallResults decompose_grid_sampler(const Call& c) {
    const V x = c.tensor("input"), grid = c.tensor("grid");
    const std::int64_t mode = c.integer("interpolation_mode"), padding = c.integer("padding_mode");
    if (x.rank() != 4 && x.rank() != 5)
        throw Error("grid_sampler: found an input of sizes " + to_string(x.sizes()) + ", expected 4 or 5 dimensions");
    return x.rank() == 4 ? grid_sampler_2d(x, grid, mode, padding, c.boolean("align_corners"))
                         : grid_sampler_3d(x, grid, mode, padding, c.boolean("align_corners"));
}

CallResults decompose_convolution_by_padding(const Call& c) {
    const V x = c.tensor("input"), weight = c.tensor("weight");
    const OptionalV bias = c.optional_tensor("bias");
    const Ints stride = c.integers("stride"), dilation = c.integers("dilation");
    const std::string padding = c.text("padding");
    const std::int64_t groups = c.integer("groups");
    if (weight.rank() == 3) return conv1d(x, weight, bias, stride, padding, dilation, groups);
    if (weight.rank() == 4) return conv2d(x, weight, bias, stride, padding, dilation, groups);
    return conv3d(x, weight, bias, stride, padding, dilation, groups);
}
CallResults decompose_plain_conv(const Call& c) {
    const V x = c.tensor("self"), weight = c.tensor("weight");
    const OptionalV bias = c.optional_tensor("bias");
    const Ints stride = c.integers("stride"), padding = c.integers("padding");
    return weight.rank() == 4 ? conv2d(x, weight, bias, stride, padding) : conv3d(x, weight, bias, stride, padding);
}

/// Attention, and the logarithm of the sum that each row's softmax divides by.
std::array<V, 2> attention_with_sums(const Call& c, const OptionalV& mask) {
    const V query = c.tensor("query"), key = c.tensor("key"), value = c.tensor("value");
    const bool causal = c.boolean("is_causal");
    const std::optional<double> scale = c.optional_number("scale");
    const V attended = scaled_dot_product_attention(query, key, value, mask, c.number("dropout_p"), causal, scale);
    const DType compute = compute_dtype(query.dtype());
    V scores = matmul(as(query, compute) * scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1)))),
                      transpose(as(key, compute), -2, -1));
    if (mask) scores = scores + as(*mask, compute);
    if (causal) {
        const V seen = tril(full(c.builder(), Ints{query.size(-2), key.size(-2)}, true, DType::boolean));
        scores = masked_fill(scores, logical_not(seen), -kInfinity);
    }
    return {attended, logsumexp(scores, Ints{-1})};
}
CallResults decompose_flash_attention(const Call& c) { return attention_with_sums(c, c.optional_tensor("attn_mask")); }
/// Heads lie inside of targets. The logarithms fill up blocks of 32 targets; the seeds are of dropout, which there is
/// not.
CallResults decompose_efficient_attention(const Call& c) {
    if (c.tensor("query").rank() != 4)
        throw Error("_scaled_dot_product_efficient_attention: found a query of sizes " +
                    to_string(c.tensor("query").sizes()) + ", expected 4 dimensions");
    const std::array<V, 2> all = attention_with_sums(c, c.optional_tensor("attn_bias"));
    const V sums = as(all[1], DType::f32), seed = zeros(c.builder(), {}, DType::i64);
    const std::int64_t targets = sums.size(-1), missing = (32 - targets % 32) % 32;
    return {transpose(own_copy(transpose(all[0], 1, 2)), 1, 2),
            c.boolean("compute_log_sumexp") ? constant_pad_nd(sums, Ints{0, missing}, kInfinity)
                                            : zeros(c.builder(), Ints{sums.size(0), sums.size(1), 0}, DType::f32),
            seed, zeros(c.builder(), {}, DType::i64)};
}

CallResults decompose_pad_by_number(const Call& c) {
    constexpr const char* kModes[] = {"reflect", "replicate", "circular", "constant"};
    const std::int64_t mode = c.integer("mode");
    if (mode < 0 || mode > 3) throw Error("_pad_enum: found mode=" + std::to_string(mode) + ", expected 0 to 3");
    return pad(c.tensor("self"), c.integers("pad"), kModes[mode], c.optional_number("value"));
}
CallResults decompose_pad_circular(const Call& c) { return pad(c.tensor("self"), c.integers("pad"), "circular"); }

/// By the rank: classes last, or second before the dimensions of an image, which may be missing or more.
CallResults decompose_nll_loss_nd(const Call& c) {
    V x = c.tensor("self"), target = c.tensor("target");
    const OptionalV weight = c.optional_tensor("weight");
    const std::int64_t reduction = c.integer("reduction"), ignored = c.integer("ignore_index");
    if (x.rank() <= 2) return nll_loss(x, target, weight, reduction, ignored);
    const Sizes sizes = target.sizes();
    if (target.rank() != x.rank() - 1)
        throw Error("nll_loss_nd: found targets of " + std::to_string(target.rank()) + " dimensions for scores of " +
                    std::to_string(x.rank()) + " dimensions, expected targets of " + std::to_string(x.rank() - 1) +
                    " dimensions");
    if (x.rank() != 4) {
        x = reshape(x, Ints{x.size(0), x.size(1), 1, -1});
        target = reshape(target, Ints{target.size(0), 1, -1});
    }
    const V loss = nll_loss2d_forward(x, target, weight, reduction, ignored)[0];
    return reduction == 0 ? reshaped(loss, sizes) : loss;
}

CallResults decompose_embedding_backward(const Call& c) {
    if (c.boolean("sparse")) throw Error("embedding_backward: found sparse=true, expected sparse=false");
    return embedding_dense_backward(c.tensor("grad"), c.tensor("indices"), c.integer("num_weights"),
                                    c.integer("padding_idx"), c.boolean("scale_grad_by_freq"));
}

constexpr OpDef kArithmeticForms[] = {
    composite("isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
              "whether the difference is within the tolerances", kAnyDType, decompose_isclose),
    composite("isposinf(Tensor self) -> Tensor", "self == inf", kAnyDType, decompose_isposinf),
    composite("isneginf(Tensor self) -> Tensor", "self == -inf", kAnyDType, decompose_isneginf),
    composite("float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", "powers in f64", kAnyDType,
              decompose_float_power),
    composite("float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", "powers in f64", kAnyDType,
              decompose_float_power_scalar),
    composite("float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", "powers in f64", kAnyDType,
              decompose_scalar_float_power),
    composite("ldexp.Tensor(Tensor self, Tensor other) -> Tensor", "self * 2^other", kFloating, decompose_ldexp),
    composite("special_ndtr(Tensor self) -> Tensor", "the cumulative distribution function of the normal distribution",
              kFloating, decompose_ndtr),
    composite("special_xlog1py(Tensor self, Tensor other) -> Tensor", "self * log(1 + other); 0 if self is 0",
              kFloating, decompose_xlog1py),
    composite("special_entr(Tensor self) -> Tensor", "-self * log(self); 0 if self is 0", kFloating, decompose_entropy),
    composite("rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? "
              "generator=None) -> Tensor",
              "self, but a multiple of self below 0; only for training=False", kFloating, decompose_rrelu),
    composite("native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
              "the gradient of native_dropout", kFloating, decompose_dropout_backward),
    composite("nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
              "means of the elements that are not NaN", kFloating, decompose_nanmean),
    composite("msort(Tensor self) -> Tensor", "sorted along the first dimension", kAnyDType, decompose_msort),
    composite("{trapezoid|trapz}.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", "the area below points", kFloating,
              decompose_trapezoid),
    composite("{trapezoid|trapz}.dx(Tensor y, *, {Scalar|float} dx=1, int dim=-1) -> Tensor",
              "the area below points at equal distances", kFloating, decompose_trapezoid),
    composite("cumulative_trapezoid.{x|dx}(Tensor y, {Tensor x, *|*, Scalar dx=1}, int dim=-1) -> Tensor",
              "the areas up to each point", kFloating, decompose_cumulative_trapezoid),
    composite(
        "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor",
        "quantiles", kReal, decompose_quantile),
    composite("quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') "
              "-> Tensor",
              "a quantile", kReal, decompose_quantile),
    composite("nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> "
              "Tensor",
              "quantiles of the elements that are not NaN", kReal, decompose_quantile),
    composite("nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str "
              "interpolation='linear') -> Tensor",
              "a quantile of the elements that are not NaN", kReal, decompose_quantile),
    composite("isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool "
              "invert=False) -> Tensor",
              "whether each element is among the test elements", kNumbers, decompose_isin),
    composite("isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool "
              "invert=False) -> Tensor",
              "whether each element equals a number", kNumbers, decompose_isin),
    composite("isin.Scalar_Tensor(Scalar element, Tensor test_elements, *, bool assume_unique=False, bool "
              "invert=False) -> Tensor",
              "whether a number is among the test elements", kNumbers, decompose_isin),
    composite("_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
              "softmax; 0 for a row in which all elements are -inf", kFloating, decompose_safe_softmax),
    composite("scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor",
              "self with values added or multiplied at given positions", kFloating, decompose_scatter_by,
              {.ask = aten_open::index_along_dim}),
    composite("scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
              "self with a number added or multiplied at given positions", kFloating, decompose_scatter_by,
              {.ask = aten_open::index_along_dim}),
    composite("_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
              "the elements at the indices where the mask is true, else a number", kFloating, decompose_masked_index),
    composite("grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) "
              "-> Tensor",
              "an image or a volume sampled at given positions", kFloating, decompose_grid_sampler),
    composite("_convolution_mode(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, str padding, SymInt[] "
              "dilation, SymInt groups) -> Tensor",
              "convolution with 'same' or 'valid' padding", kFloating, decompose_convolution_by_padding),
    composite("{slow_conv3d|thnn_conv2d}(Tensor self, Tensor weight, SymInt[{3|2}] kernel_size, Tensor? bias=None, "
              "SymInt[{3|2}] stride=1, SymInt[{3|2}] padding=0) -> Tensor",
              "convolution", kFloating, decompose_plain_conv),
    composite(
        "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool "
        "is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
        "scaled_dot_product_attention, and the logarithm of the sum of each row", kFloating, decompose_flash_attention),
    composite("_scaled_dot_product_efficient_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_bias, bool "
              "compute_log_sumexp, float dropout_p=0.0, bool is_causal=False, *, float? scale=None) -> (Tensor output, "
              "Tensor log_sumexp, Tensor philox_seed, Tensor philox_offset)",
              "scaled_dot_product_attention, and the logarithm of the sum of each row", kFloating,
              decompose_efficient_attention),
    composite("_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor",
              "pad, with the mode as a number", kFloating, decompose_pad_by_number),
    composite("_pad_circular(Tensor self, SymInt[] pad) -> Tensor", "padded with the elements at the opposite border",
              kFloating, decompose_pad_circular),
    composite("nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) "
              "-> Tensor",
              "the negative log likelihood", kFloating, decompose_nll_loss_nd, {.ask = aten_open::target_class}),
    composite("embedding_backward(Tensor grad, Tensor indices, SymInt num_weights, SymInt padding_idx, bool "
              "scale_grad_by_freq, bool sparse) -> Tensor",
              "the gradient of embedding", kFloating, decompose_embedding_backward, {.ask = aten_open::counted_rows}),
};

}  // namespace
}  // namespace whittle::arithmetic_forms

namespace whittle {

std::span<const OpDef> arithmetic_form_ops() { return arithmetic_forms::kArithmeticForms; }

}  // namespace whittle

// Variance, standard deviation and logsumexp over dimensions. Definitions:
// https://pytorch.org/docs/stable/generated/torch.var.html: sum (x - mean)^2 / max(0, n - correction).
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/core/reduce.h"

namespace whittle {
namespace {

using namespace aten;

using expr::Op;

/// n - correction, where correction is 1 unless the parameter "correction" or "unbiased" says otherwise.
double divisor(const AnyArguments auto& arguments, const Reduction& reduction) {
    double correction = 1;
    if (arguments.schema().param("unbiased"))
        correction = arguments.boolean("unbiased") ? 1 : 0;
    else if (arguments.has("correction"))
        correction = arguments.number("correction");
    return std::max(0.0, static_cast<double>(reduction.count()) - correction);
}

/// kMean: the mean is a second result.
template <bool kMean>
std::vector<ValueMeta> infer_variance(const Arguments<ValueMeta>& arguments) {
    const ValueMeta result = ValueMeta::contiguous(arguments.tensor("self").dtype, reduction_of(arguments).result());
    return kMean ? std::vector{result, result} : std::vector{result};
}

template <class Row>
double mean_of(std::int64_t length, const Row& row) {
    double sum = 0;
    for (std::int64_t j = 0; j < length; ++j) sum += row(j);
    return sum / static_cast<double>(length);
}

/// In two passes: the mean, then the squared deviations from it. kRoot: the standard deviation.
template <bool kRoot, bool kMean>
std::vector<Tensor> eval_variance(const Arguments<Tensor>& arguments) {
    const Reduction reduction = reduction_of(arguments);
    const Tensor self = arguments.tensor("self");
    const double n = divisor(arguments, reduction);
    const Rows<double> in = rows<double>(self, reduction, self.dtype());
    const auto variance = [&](const auto& row) {
        const double mean = mean_of(in.length, row);
        double squares = 0;
        for (std::int64_t j = 0; j < in.length; ++j) squares += (row(j) - mean) * (row(j) - mean);
        return kRoot ? std::sqrt(squares / n) : squares / n;
    };
    std::vector<Tensor> results = {store(in.each<double>(variance), self.dtype(), reduction.result())};
    if (kMean) {
        const std::vector<double> means = in.each<double>([&](const auto& row) { return mean_of(in.length, row); });
        results.push_back(store(means, self.dtype(), reduction.result()));
    }
    return results;
}

template <bool kRoot, bool kMean>
std::vector<expr::Value> lower_variance(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const Reduction reduction = reduction_of(arguments);
    const expr::Value self = arguments.tensor("self");
    const Variance variance =
        lower_variance(builder, read(self, self.sizes(), self.dtype()), reduction, divisor(arguments, reduction));
    expr::Value spread = variance.variance;
    if (kRoot)
        spread = pointwise({spread}, spread.sizes(), spread.dtype(),
                           [](const std::vector<Expr>& x) { return expr::unary(Op::sqrt, x[0]); });
    std::vector<expr::Value> results = {convert(self.dtype(), spread)};
    if (kMean) results.push_back(convert(self.dtype(), variance.mean));
    return results;
}

template <bool kRoot, bool kMean>
CallResults variance_parts(const Call& c) {
    const V x = c.tensor("self");
    const Reduction reduction = reduction_of(c);
    const Sizes result = reduction.result();
    Ints dims = c.schema().param("dim") ? c.integers("dim") : Ints();
    if (dims.empty())
        for (std::int64_t d = 0; d < x.rank(); ++d) dims.push_back(d);
    const V mean = aten::mean(x, dims, true), off = x - mean;
    V spread = div(sum(off * off, dims, true), divisor(c, reduction));
    if (kRoot) spread = sqrt(spread);
    if (!kMean) return reshape(spread, result);
    return {reshape(spread, result), reshape(mean, result)};
}

// --- logsumexp ---

/// log(sum(exp(x - m))) + m, where m is the largest x, or 0 where that is infinite.
CallResults decompose_logsumexp(const Call& c) {
    V self = c.tensor("self");
    if (!is_floating(self.dtype())) self = to(self, DType::f32);
    const Ints dims = c.integers("dim");
    const bool keepdim = c.boolean("keepdim");
    if (reduction_of(c).count() == 0) return log(sum(exp(self), dims, keepdim));  // nothing is the largest: log(0)
    const auto finite = [&](const V& largest) { return masked_fill(largest, isinf(largest), 0); };
    const V kept = finite(amax(self, dims, true));
    const V logarithm = log(sum(exp(self - kept), dims, keepdim));
    return logarithm + finite(amax(self, dims, keepdim));
}

std::vector<Tensor> eval_logsumexp(const Arguments<Tensor>& arguments) {
    const Reduction reduction = reduction_of(arguments);
    const Tensor self = arguments.tensor("self");
    const DType dtype = floating_result(self.dtype());
    const Rows<double> in = rows<double>(self, reduction, dtype);
    const std::vector<double> out = in.each<double>([&](const auto& row) {
        double largest = -std::numeric_limits<double>::infinity(), sum = 0;
        for (std::int64_t j = 0; j < in.length; ++j) largest = std::max(largest, row(j));
        if (std::isinf(largest)) largest = 0;
        for (std::int64_t j = 0; j < in.length; ++j) sum += std::exp(row(j) - largest);
        return std::log(sum) + largest;
    });
    return {store(out, dtype, reduction.result())};
}

std::vector<ValueMeta> infer_logsumexp(const Arguments<ValueMeta>& arguments) {
    return {ValueMeta::contiguous(floating_result(arguments.tensor("self").dtype), reduction_of(arguments).result())};
}

// --- Gradients ---

/// 2 (x - mean) / (n - correction), of the gradient of a variance.
V of_variance(const OfReduction& r, const V& grad) {
    double correction = 1;
    if (r.call.schema().param("unbiased"))
        correction = r.call.boolean("unbiased") ? 1 : 0;
    else if (r.call.has("correction"))
        correction = r.call.number("correction");
    // LibTorch's answer to a variance of everything that divides by nothing.
    const bool whole = r.x.sizes().empty() || !r.call.schema().param("dim") || !r.call.has("dim");
    if (whole && r.count() == correction) return r.expanded(grad * std::numeric_limits<double>::infinity());
    const V mean = aten::mean(r.x, r.dims, true);
    return r.kept(grad) * (2 / (r.count() - correction)) * (r.x - mean);
}
/// Of result 0, and of result 1, the mean.
V with_mean(const OfReduction& r, V gradient) {
    if (r.call.result_count() < 2 || !r.call.grad_if_any(1)) return gradient;
    const V mean = r.expanded(*r.call.grad_if_any(1)) / r.count();
    return gradient + mean;
}
void variance_grad(Gradients& c) {
    const OfReduction r(c);
    c.set("self", with_mean(r, of_variance(r, r.g)));
}
/// No slope where all elements are equal.
void deviation_grad(Gradients& c) {
    const OfReduction r(c);
    const V slope = drop(eq(r.y, 0), r.g / (r.y * 2));
    c.set("self", with_mean(r, of_variance(r, slope)));
}
void logsumexp_grad(Gradients& c) {
    const OfReduction r(c);
    const V shares = exp(r.x - r.kept(r.y));
    c.set("self", r.kept(r.g) * shares);
}

template <bool kRoot, bool kMean = false>
constexpr OpDef variance_op(std::string_view schema) {
    return primitive(schema,
                     kRoot ? (kMean ? "standard deviation and mean" : "standard deviation")
                           : (kMean ? "variance and mean" : "variance"),
                     kFloating, {infer_variance<kMean>, eval_variance<kRoot, kMean>, lower_variance<kRoot, kMean>},
                     kRoot ? deviation_grad : variance_grad, {.parts = variance_parts<kRoot, kMean>});
}

// The overloads that each has.
#define WHITTLE_VARIANCE                                                                                            \
    "{|.dim|.correction}(Tensor self{, bool unbiased=True|, int[1]? dim, bool unbiased=True, bool keepdim=False|, " \
    "int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False}) -> "

constexpr OpDef kStatistic[] = {
    variance_op<false>("var" WHITTLE_VARIANCE "Tensor"),
    variance_op<true>("std" WHITTLE_VARIANCE "Tensor"),
    variance_op<false, true>("var_mean" WHITTLE_VARIANCE "(Tensor, Tensor)"),
    variance_op<true, true>("std_mean" WHITTLE_VARIANCE "(Tensor, Tensor)"),
    composite("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
              "log(sum(exp(x))), shifted by the largest x", kAnyDType, decompose_logsumexp,
              {.infer = infer_logsumexp, .eval = eval_logsumexp}, logsumexp_grad),
};

}  // namespace

std::span<const OpDef> statistic_ops() { return kStatistic; }

}  // namespace whittle

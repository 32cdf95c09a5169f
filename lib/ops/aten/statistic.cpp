// Variance, standard deviation and logsumexp over dimensions. Definitions:
// https://pytorch.org/docs/stable/generated/torch.var.html: sum (x - mean)^2 / max(0, n - correction).
#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/aten/families.h"
#include "ops/aten/reduction_grad.h"
#include "ops/core/reduce.h"

namespace whittle {

namespace {

using expr::Op;

/// n - correction, where correction is 1 unless the parameter "correction" or "unbiased" says otherwise.
template <class T>
double divisor(const Arguments<T>& arguments, const Reduction& reduction) {
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
std::vector<NodeRef> variance_parts(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const NodeValue self = arguments.tensor("self");
    const Reduction reduction = reduction_of(arguments);
    const Sizes result = reduction.result();
    std::vector<std::int64_t> all;
    for (std::int64_t d = 0; d < rank_of(self); ++d) all.push_back(d);
    std::vector<std::int64_t> given =
        arguments.schema().param("dim") ? arguments.integers("dim") : std::vector<std::int64_t>();
    const Arg dims = Arg::ints(given.empty() ? all : given);
    const auto call = [&](std::string_view target, ArgList args) { return builder.call(target, std::move(args)); };
    const NodeValue mean = call("aten.mean.dim", {self.ref, dims, true});
    const NodeValue off = call("aten.sub.Tensor", {self.ref, mean.ref});
    const NodeValue squares =
        call("aten.sum.dim_IntList", {call("aten.mul.Tensor", {off.ref, off.ref}).ref, dims, true});
    NodeValue spread = call("aten.div.Scalar", {squares.ref, Arg(divisor(arguments, reduction))});
    if (kRoot) spread = call("aten.sqrt.default", {spread.ref});
    std::vector<NodeRef> results = {call("aten.reshape.default", {spread.ref, Arg::ints(result)}).ref};
    if (kMean) results.push_back(call("aten.reshape.default", {mean.ref, Arg::ints(result)}).ref);
    return results;
}

// --- logsumexp ---

/// log(sum(exp(x - m))) + m, where m is the largest x, or 0 where that is infinite.
std::vector<NodeRef> decompose_logsumexp(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    NodeValue self = arguments.tensor("self");
    if (!is_floating(self.meta.dtype)) self = builder.call("aten.to.dtype", {self.ref, Arg(DType::f32)});
    const Arg dims = Arg::ints(arguments.integers("dim")), keepdim = Arg(arguments.boolean("keepdim"));
    if (reduction_of(arguments).count() == 0) {  // nothing to be the largest: log(0)
        const NodeValue exps = builder.call("aten.exp.default", {self.ref});
        return {builder.call("aten.log.default", {builder.call("aten.sum.dim_IntList", {exps.ref, dims, keepdim}).ref})
                    .ref};
    }
    const auto finite = [&](const NodeValue& largest) {
        const NodeValue infinite = builder.call("aten.isinf.default", {largest.ref});
        return builder.call("aten.masked_fill.Scalar", {largest.ref, infinite.ref, Arg(0)});
    };
    const NodeValue kept = finite(builder.call("aten.amax.default", {self.ref, dims, Arg(true)}));
    const NodeValue shifted = builder.call("aten.sub.Tensor", {self.ref, kept.ref});
    const NodeValue exps = builder.call("aten.exp.default", {shifted.ref});
    const NodeValue sum = builder.call("aten.sum.dim_IntList", {exps.ref, dims, keepdim});
    const NodeValue log = builder.call("aten.log.default", {sum.ref});
    const NodeValue largest = finite(builder.call("aten.amax.default", {self.ref, dims, keepdim}));
    return {builder.call("aten.add.Tensor", {log.ref, largest.ref}).ref};
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

// --- Records ---

template <bool kRoot, bool kMean = false>
constexpr OpDef variance_op(std::string_view name, std::string_view schema) {
    return {.name = name,
            .doc = kRoot ? (kMean ? "standard deviation and mean" : "standard deviation")
                         : (kMean ? "variance and mean" : "variance"),
            .schema = schema,
            .dtypes = kFloating,
            .infer = infer_variance<kMean>,
            .eval = eval_variance<kRoot, kMean>,
            .lower = lower_variance<kRoot, kMean>,
            .bound = {.parts = variance_parts<kRoot, kMean>}};
}

constexpr OpDef kStatistic[] = {
    with_gradient(
        variance_op<false>(
            "aten.var.correction",
            "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor"),
        variance_grad),
    with_gradient(
        variance_op<false>("aten.var.dim",
                           "var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor"),
        variance_grad),
    with_gradient(variance_op<false>("aten.var.default", "var(Tensor self, bool unbiased=True) -> Tensor"),
                  variance_grad),
    with_gradient(
        variance_op<true>(
            "aten.std.correction",
            "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor"),
        deviation_grad),
    with_gradient(
        variance_op<true>("aten.std.dim",
                          "std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor"),
        deviation_grad),
    with_gradient(variance_op<true>("aten.std.default", "std(Tensor self, bool unbiased=True) -> Tensor"),
                  deviation_grad),
    with_gradient(
        variance_op<false, true>("aten.var_mean.correction",
                                 "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
                                 "keepdim=False) -> (Tensor, Tensor)"),
        variance_grad),
    with_gradient(
        variance_op<true, true>("aten.std_mean.correction",
                                "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool "
                                "keepdim=False) -> (Tensor, Tensor)"),
        deviation_grad),
    {.name = "aten.logsumexp.default",
     .doc = "log(sum(exp(x))), shifted by the largest x",
     .schema = "logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor",
     .infer = infer_logsumexp,
     .eval = eval_logsumexp,
     .decompose = decompose_logsumexp,
     .grad = logsumexp_grad},
};

}  // namespace

std::span<const OpDef> statistic_ops() { return kStatistic; }

}  // namespace whittle

// Tensors of random numbers of other distributions than random.cpp's, from which they are made: what torch.Tensor's
// exponential_() and its like write. https://pytorch.org/docs/stable/torch.html#in-place-random-sampling
#include <cmath>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"

namespace whittle::distributions {
namespace {

using namespace aten;

/// In (0, 1], so that a logarithm is finite.
V chances_like(const V& x) { return complement(rand_like(x)); }

void require(const Call& c, bool fits, const std::string& found, const char* expected) {
    if (!fits) throw Error(c.schema().name + ": found " + found + ", expected " + expected);
}

CallResults decompose_uniform(const Call& c) {
    const double from = c.number("from"), to = c.number("to");
    require(c, from <= to, "from=" + std::to_string(from) + " and to=" + std::to_string(to), "'from' of at most 'to'");
    return rand_like(c.tensor("self")) * (to - from) + from;
}

V normal_like(const Call& c, const V& x) {
    const double deviation = c.number("std");
    require(c, deviation >= 0, "std=" + std::to_string(deviation), "0 or more");
    return randn_like(x) * deviation + c.number("mean");
}
CallResults decompose_normal(const Call& c) { return normal_like(c, c.tensor("self")); }
CallResults decompose_log_normal(const Call& c) { return exp(normal_like(c, c.tensor("self"))); }

CallResults decompose_exponential(const Call& c) {
    const double rate = c.number("lambd");
    require(c, rate > 0, "lambd=" + std::to_string(rate), "more than 0");
    return log(chances_like(c.tensor("self"))) * (-1 / rate);
}

/// The number of trials up to the first success.
CallResults decompose_geometric(const Call& c) {
    const double p = c.number("p");
    require(c, p > 0 && p < 1, "p=" + std::to_string(p), "a number between 0 and 1");
    return clamp_min(ceil(log(chances_like(c.tensor("self"))) * (1 / std::log1p(-p))), 1);
}

CallResults decompose_cauchy(const Call& c) {
    const double sigma = c.number("sigma");
    require(c, sigma > 0, "sigma=" + std::to_string(sigma), "more than 0");
    return tan((rand_like(c.tensor("self")) - 0.5) * M_PI) * sigma + c.number("median");
}

/// Of means, of deviations, or of both, which broadcast.
CallResults decompose_normal_of_means(const Call& c) {
    const V mean = c.tensor("mean");
    return randn_like(mean) * c.number("std") + mean;
}
CallResults decompose_normal_of_deviations(const Call& c) {
    const V deviation = c.tensor("std");
    return randn_like(deviation) * deviation + c.number("mean");
}
CallResults decompose_normal_of_both(const Call& c) {
    const V mean = c.tensor("mean"), deviation = c.tensor("std");
    return randn_like(mean + deviation) * deviation + mean;
}

constexpr OpDef drawn(std::string_view schema, std::string_view doc, DecomposeFn decompose,
                      GradientRule grad = zero_gradient) {
    return {.doc = doc, .schema = schema, .dtypes = kFloating, .decompose = decompose, .grad = grad, .random = true};
}

constexpr OpDef kDistributions[] = {
    drawn("uniform(Tensor self, float from=0, float to=1, *, Generator? generator=None) -> Tensor",
          "uniform in [from, to)", decompose_uniform),
    drawn("normal_functional(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor", "normal",
          decompose_normal),
    drawn("log_normal(Tensor self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor",
          "exp of normal numbers", decompose_log_normal),
    drawn("exponential(Tensor self, float lambd=1, *, Generator? generator=None) -> Tensor",
          "of density lambd exp(-lambd x)", decompose_exponential),
    drawn("geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor", "trials up to the first success",
          decompose_geometric),
    drawn("cauchy(Tensor self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor",
          "of density sigma / (pi (sigma^2 + (x - median)^2))", decompose_cauchy),
    drawn("normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor", "normal, by means",
          decompose_normal_of_means, nullptr),
    drawn("normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor",
          "normal, by deviations", decompose_normal_of_deviations, nullptr),
    drawn("normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
          "normal, by means and deviations", decompose_normal_of_both, nullptr),
};

}  // namespace
}  // namespace whittle::distributions

namespace whittle {

std::span<const OpDef> distribution_ops() { return distributions::kDistributions; }

}  // namespace whittle

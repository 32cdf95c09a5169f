// Functions of torch.special that other ops express: derivatives of digamma, and orthogonal polynomials of a degree
// that is a number. https://pytorch.org/docs/stable/special.html
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/pointwise.h"

namespace whittle::special_forms {
namespace {

using namespace aten;

V floating(const Call& c, const V& x) { return c.builder().convert(x, floating_result(x.dtype())); }

/// (-1)^(n+1) n! zeta(n + 1, x)
CallResults decompose_polygamma(const Call& c) {
    const std::int64_t n = c.integer("n");
    if (n < 0) throw Error("polygamma: found n=" + std::to_string(n) + ", expected 0 or more");
    const V x = floating(c, c.tensor("self"));
    if (n == 0) return digamma(x);
    const double order = static_cast<double>(n) + 1, factorial = std::tgamma(order);
    return special_zeta(full(c.builder(), {}, order, x.dtype()), x) * (n % 2 ? factorial : -factorial);
}
void polygamma_grad(Gradients& c) { c.set("self", c.grad() * polygamma(c.integer("n") + 1, c.tensor("self"))); }

constexpr std::int64_t kMostTerms = 64;  ///< of a sum or recurrence that is written out

/// The logarithm of the multivariate gamma function of p dimensions.
CallResults decompose_mvlgamma(const Call& c) {
    const std::int64_t p = c.integer("p");
    if (p < 1 || p > kMostTerms)
        throw Error("mvlgamma: found p=" + std::to_string(p) + ", expected 1 to " + std::to_string(kMostTerms));
    const V x = floating(c, c.tensor("self"));
    V logs = lgamma(x);
    for (std::int64_t i = 1; i < p; ++i) logs = logs + lgamma(x - static_cast<double>(i) / 2);
    return logs + static_cast<double>(p * (p - 1)) / 4 * std::log(std::numbers::pi);
}

/// The polynomial of degree n by the ones of the two degrees below: next(x, k, P(k), P(k-1)) is P(k+1).
using Next = V (*)(const V& x, double k, const V& last, const V& before);

template <Next kNext>
V of_degree(const Call& c, const V& x, const V& first) {
    const std::int64_t n = c.scalar("n").to_integer();
    if (n > kMostTerms)
        throw Error(c.schema().name + ": found n=" + std::to_string(n) + ", expected at most " +
                    std::to_string(kMostTerms));
    if (n < 0) return zeros_like(x);
    V before = ones_like(x), last = first;
    if (n == 0) return before;
    for (std::int64_t k = 1; k < n; ++k) {
        const V next = kNext(x, static_cast<double>(k), last, before);
        before = last, last = next;
    }
    return last;
}

V next_chebyshev(const V& x, double, const V& last, const V& before) { return x * 2 * last - before; }
V next_hermite(const V& x, double k, const V& last, const V& before) { return x * 2 * last - before * (2 * k); }
V next_hermite_e(const V& x, double k, const V& last, const V& before) { return x * last - before * k; }
V next_laguerre(const V& x, double k, const V& last, const V& before) {
    return (rsub(x, 2 * k + 1) * last - before * k) / (k + 1);
}
V next_legendre(const V& x, double k, const V& last, const V& before) {
    return (x * (2 * k + 1) * last - before * k) / (k + 1);
}

/// P(1) is kSlope x + kOffset; shifted ones are polynomials of 2x - 1.
template <Next kNext, int kSlope, int kOffset, bool kShifted = false>
CallResults decompose_polynomial(const Call& c) {
    V x = floating(c, c.tensor("x"));
    if (kShifted) x = x * 2 - 1;
    const V slope = x * kSlope;  // not x itself, which is no result
    return of_degree<kNext>(c, x, kOffset == 0 ? slope : slope + kOffset);
}

constexpr OpDef form(std::string_view schema, std::string_view doc, DecomposeFn decompose, GradientRule grad = nullptr,
                     DTypeSet dtypes = kAnyDType) {
    return {.doc = doc, .schema = schema, .dtypes = dtypes, .decompose = decompose, .grad = grad};
}
/// LibTorch has no gradients of polynomials.
template <Next kNext, int kSlope, int kOffset, bool kShifted = false>
constexpr OpDef polynomial(std::string_view schema, std::string_view doc) {
    return form(schema, doc, decompose_polynomial<kNext, kSlope, kOffset, kShifted>, no_gradient);
}

constexpr OpDef kForms[] = {
    form("polygamma(int n, Tensor self) -> Tensor", "the nth derivative of digamma", decompose_polygamma,
         polygamma_grad),
    form("mvlgamma(Tensor self, int p) -> Tensor", "the logarithm of the multivariate gamma function",
         decompose_mvlgamma, nullptr, kNumbers),
    polynomial<next_chebyshev, 1, 0>("special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor",
                                     "Chebyshev's polynomial of the first kind"),
    polynomial<next_chebyshev, 2, 0>("special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor",
                                     "Chebyshev's polynomial of the second kind"),
    polynomial<next_chebyshev, 2, -1>("special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor",
                                      "Chebyshev's polynomial of the third kind"),
    polynomial<next_chebyshev, 2, 1>("special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor",
                                     "Chebyshev's polynomial of the fourth kind"),
    polynomial<next_chebyshev, 1, 0, true>(
        "special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor",
        "Chebyshev's polynomial of the first kind, of 2x - 1"),
    polynomial<next_chebyshev, 2, 0, true>(
        "special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor",
        "Chebyshev's polynomial of the second kind, of 2x - 1"),
    polynomial<next_chebyshev, 2, -1, true>(
        "special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor",
        "Chebyshev's polynomial of the third kind, of 2x - 1"),
    polynomial<next_chebyshev, 2, 1, true>(
        "special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor",
        "Chebyshev's polynomial of the fourth kind, of 2x - 1"),
    polynomial<next_hermite, 2, 0>("special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor",
                                   "the physicists' Hermite polynomial"),
    polynomial<next_hermite_e, 1, 0>("special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor",
                                     "the probabilists' Hermite polynomial"),
    polynomial<next_laguerre, -1, 1>("special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor",
                                     "Laguerre's polynomial"),
    polynomial<next_legendre, 1, 0>("special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor",
                                    "Legendre's polynomial"),
};

}  // namespace
}  // namespace whittle::special_forms

namespace whittle {

std::span<const OpDef> special_form_ops() { return special_forms::kForms; }

}  // namespace whittle

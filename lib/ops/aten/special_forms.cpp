// Functions of torch.special that other ops express: derivatives of digamma, and orthogonal polynomials; those whose
// degrees are elements of a tensor have kernels. https://pytorch.org/docs/stable/special.html
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

/// The polynomial P(k+1) by those of the two degrees below: next(x, k, P(k), P(k-1)).
struct Chebyshev {
    static auto next(const auto& x, double, const auto& last, const auto& before) { return x * 2 * last - before; }
};
struct Hermite {
    static auto next(const auto& x, double k, const auto& last, const auto& before) {
        return x * 2 * last - before * (2 * k);
    }
};
struct HermiteE {
    static auto next(const auto& x, double k, const auto& last, const auto& before) { return x * last - before * k; }
};
struct Laguerre {
    static auto next(const auto& x, double k, const auto& last, const auto& before) {
        return ((-x + (2 * k + 1)) * last - before * k) / (k + 1);
    }
};
struct Legendre {
    static auto next(const auto& x, double k, const auto& last, const auto& before) {
        return (x * (2 * k + 1) * last - before * k) / (k + 1);
    }
};

[[noreturn]] void refuse_degree(const std::string& op, const std::string& n, std::int64_t most) {
    throw Error(op + ": found n=" + n + ", expected at most " + std::to_string(most));
}

/// P(1) is kSlope x + kOffset; shifted ones are polynomials of 2x - 1.
template <class P, int kSlope, int kOffset, bool kShifted>
struct Polynomial : FloatingFunction {
    static constexpr std::string_view left = "x", right = "n";

    /// Of one number. Degrees are integers: what lies behind the point of n does not count.
    template <Floating T>
    static T eval(T given, T n) {
        constexpr std::int64_t kMostSteps = 1 << 20;
        if (!(n > -1)) return 0;
        if (n > static_cast<T>(kMostSteps)) refuse_degree("polynomial", std::to_string(n), kMostSteps);
        const double x = kShifted ? static_cast<double>(given) * 2 - 1 : static_cast<double>(given);
        const auto degree = static_cast<std::int64_t>(n);
        double before = 1, last = x * kSlope + kOffset;
        if (degree == 0) return 1;
        for (std::int64_t k = 1; k < degree; ++k) {
            const double next = P::next(x, static_cast<double>(k), last, before);
            before = last, last = next;
        }
        return static_cast<T>(last);
    }
};

template <class P, int kSlope, int kOffset, bool kShifted>
CallResults decompose_polynomial(const Call& c) {
    V x = floating(c, c.tensor("x"));
    if (kShifted) x = x * 2 - 1;
    const std::int64_t n = c.scalar("n").to_integer();
    if (n > kMostTerms) refuse_degree(c.schema().name, std::to_string(n), kMostTerms);
    if (n < 0) return zeros_like(x);
    V before = ones_like(x);
    if (n == 0) return before;
    const V slope = x * kSlope;  // not x itself, which is no result
    V last = kOffset == 0 ? slope : slope + kOffset;
    for (std::int64_t k = 1; k < n; ++k) {
        const V next = P::next(x, static_cast<double>(k), last, before);
        before = last, last = next;
    }
    return last;
}

/// Of a degree that is a number. LibTorch has no gradients of polynomials.
template <class P, int kSlope, int kOffset, bool kShifted = false>
constexpr OpDef of_number(std::string_view schema, std::string_view doc) {
    return composite(schema, doc, kAnyDType, decompose_polynomial<P, kSlope, kOffset, kShifted>, no_gradient);
}
/// Of degrees in a tensor.
template <class P, int kSlope, int kOffset, bool kShifted = false>
constexpr OpDef of_tensor(std::string_view schema, std::string_view doc) {
    using F = Polynomial<P, kSlope, kOffset, kShifted>;
    return primitive(schema, doc, set_of(DType::f64) | set_of(DType::f32) | kIntegers | kBool,
                     {infer_binary<F>, eval_binary<F>}, no_gradient);
}

constexpr OpDef kForms[] = {
    composite("polygamma(int n, Tensor self) -> Tensor", "the nth derivative of digamma", kAnyDType,
              decompose_polygamma, polygamma_grad),
    composite("mvlgamma(Tensor self, int p) -> Tensor", "the logarithm of the multivariate gamma function", kNumbers,
              decompose_mvlgamma),
    of_number<Chebyshev, 1, 0>("special_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor",
                               "Chebyshev's polynomial of the first kind"),
    of_tensor<Chebyshev, 1, 0>("special_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor",
                               "Chebyshev's polynomial of the first kind, of degrees in a tensor"),
    of_number<Chebyshev, 2, 0>("special_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor",
                               "Chebyshev's polynomial of the second kind"),
    of_tensor<Chebyshev, 2, 0>("special_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor",
                               "Chebyshev's polynomial of the second kind, of degrees in a tensor"),
    of_number<Chebyshev, 2, -1>("special_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor",
                                "Chebyshev's polynomial of the third kind"),
    of_tensor<Chebyshev, 2, -1>("special_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor",
                                "Chebyshev's polynomial of the third kind, of degrees in a tensor"),
    of_number<Chebyshev, 2, 1>("special_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor",
                               "Chebyshev's polynomial of the fourth kind"),
    of_tensor<Chebyshev, 2, 1>("special_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor",
                               "Chebyshev's polynomial of the fourth kind, of degrees in a tensor"),
    of_number<Chebyshev, 1, 0, true>("special_shifted_chebyshev_polynomial_t.n_scalar(Tensor x, Scalar n) -> Tensor",
                                     "Chebyshev's polynomial of the first kind, of 2x - 1"),
    of_tensor<Chebyshev, 1, 0, true>("special_shifted_chebyshev_polynomial_t(Tensor x, Tensor n) -> Tensor",
                                     "Chebyshev's polynomial of the first kind, of 2x - 1, of degrees in a tensor"),
    of_number<Chebyshev, 2, 0, true>("special_shifted_chebyshev_polynomial_u.n_scalar(Tensor x, Scalar n) -> Tensor",
                                     "Chebyshev's polynomial of the second kind, of 2x - 1"),
    of_tensor<Chebyshev, 2, 0, true>("special_shifted_chebyshev_polynomial_u(Tensor x, Tensor n) -> Tensor",
                                     "Chebyshev's polynomial of the second kind, of 2x - 1, of degrees in a tensor"),
    of_number<Chebyshev, 2, -1, true>("special_shifted_chebyshev_polynomial_v.n_scalar(Tensor x, Scalar n) -> Tensor",
                                      "Chebyshev's polynomial of the third kind, of 2x - 1"),
    of_tensor<Chebyshev, 2, -1, true>("special_shifted_chebyshev_polynomial_v(Tensor x, Tensor n) -> Tensor",
                                      "Chebyshev's polynomial of the third kind, of 2x - 1, of degrees in a tensor"),
    of_number<Chebyshev, 2, 1, true>("special_shifted_chebyshev_polynomial_w.n_scalar(Tensor x, Scalar n) -> Tensor",
                                     "Chebyshev's polynomial of the fourth kind, of 2x - 1"),
    of_tensor<Chebyshev, 2, 1, true>("special_shifted_chebyshev_polynomial_w(Tensor x, Tensor n) -> Tensor",
                                     "Chebyshev's polynomial of the fourth kind, of 2x - 1, of degrees in a tensor"),
    of_number<Hermite, 2, 0>("special_hermite_polynomial_h.n_scalar(Tensor x, Scalar n) -> Tensor",
                             "the physicists' Hermite polynomial"),
    of_tensor<Hermite, 2, 0>("special_hermite_polynomial_h(Tensor x, Tensor n) -> Tensor",
                             "the physicists' Hermite polynomial, of degrees in a tensor"),
    of_number<HermiteE, 1, 0>("special_hermite_polynomial_he.n_scalar(Tensor x, Scalar n) -> Tensor",
                              "the probabilists' Hermite polynomial"),
    of_tensor<HermiteE, 1, 0>("special_hermite_polynomial_he(Tensor x, Tensor n) -> Tensor",
                              "the probabilists' Hermite polynomial, of degrees in a tensor"),
    of_number<Laguerre, -1, 1>("special_laguerre_polynomial_l.n_scalar(Tensor x, Scalar n) -> Tensor",
                               "Laguerre's polynomial"),
    of_tensor<Laguerre, -1, 1>("special_laguerre_polynomial_l(Tensor x, Tensor n) -> Tensor",
                               "Laguerre's polynomial, of degrees in a tensor"),
    of_number<Legendre, 1, 0>("special_legendre_polynomial_p.n_scalar(Tensor x, Scalar n) -> Tensor",
                              "Legendre's polynomial"),
    of_tensor<Legendre, 1, 0>("special_legendre_polynomial_p(Tensor x, Tensor n) -> Tensor",
                              "Legendre's polynomial, of degrees in a tensor"),
};

}  // namespace
}  // namespace whittle::special_forms

namespace whittle {

std::span<const OpDef> special_form_ops() { return special_forms::kForms; }

}  // namespace whittle

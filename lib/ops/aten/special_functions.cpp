// torch.special: inverse error functions, Bessel's functions, incomplete gamma functions and their like. Those that
// other ops express are composites (special_forms.cpp); kernels compute in double, as no expression has the functions.
// https://pytorch.org/docs/stable/special.html
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/pointwise.h"
#include "tensor/compute.h"

namespace whittle::special_functions {
namespace {

using std::numbers::inv_sqrtpi, std::numbers::pi, std::numbers::sqrt2;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInfinity = std::numeric_limits<double>::infinity();

// --- Inverses of the normal distribution, and tails without underflow ---

double normal_below(double x) { return 0.5 * std::erfc(-x / sqrt2); }

/// Acklam's rational approximations, https://web.archive.org/web/2015/http://home.online.no/~pjacklam/notes/invnorm,
/// with relative errors of 1e-9.
double near_quantile(double p) {
    constexpr double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                            1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00},
                     b[] = {-5.447609879822406e+01, 1.615858368580409e+02,  -1.556989798598866e+02,
                            6.680131188771972e+01,  -1.328068155288572e+01, 1},
                     c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                            -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00},
                     d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00, 3.754408661907416e+00,
                            1};
    const auto polynomial = [](const auto& terms, double x) {
        double sum = 0;
        for (const double term : terms) sum = sum * x + term;
        return sum;
    };
    constexpr double kTail = 0.02425;
    if (p < kTail) {
        const double q = std::sqrt(-2 * std::log(p));
        return polynomial(c, q) / polynomial(d, q);
    }
    if (p > 1 - kTail) return -near_quantile(1 - p);
    const double q = p - 0.5, r = q * q;
    return polynomial(a, r) * q / polynomial(b, r);
}

/// Halley's steps, until the error is that of erfc.
double ndtri(double p) {
    if (!(p >= 0 && p <= 1)) return kNaN;
    if (p == 0 || p == 1) return p == 0 ? -kInfinity : kInfinity;
    double x = near_quantile(p);
    for (int step = 0; step < 2; ++step) {
        const double error = p < 0.5 ? normal_below(x) - p : (1 - p) - normal_below(-x);
        const double u = error * std::sqrt(2 * pi) * std::exp(x * x / 2);
        x -= u / (1 + x * u / 2);
    }
    return x;
}
double erfinv(double y) {
    if (!(y >= -1 && y <= 1)) return kNaN;
    const double magnitude = std::fabs(y);
    if (magnitude == 1 || y == 0) return y == 0 ? y : std::copysign(kInfinity, y);
    double x = magnitude < 1e-8 ? magnitude / (2 * inv_sqrtpi) : near_quantile((1 + magnitude) / 2) / sqrt2;
    for (int step = 0; step < 2; ++step) {
        const double error = magnitude < 0.5 ? std::erf(x) - magnitude : (1 - magnitude) - std::erfc(x);
        const double u = error / (2 * inv_sqrtpi) * std::exp(x * x);
        x -= u / (1 + x * u);
    }
    return std::copysign(x, y);
}
/// exp(x^2) erfc(x)
double erfcx(double x) {
    constexpr double kFar = 10;
    if (!(x > kFar)) return std::exp(x * x) * std::erfc(x);
    double term = 1, sum = 1;
    for (int k = 1; k <= 12; ++k) sum += term *= -(2 * k - 1) / (2 * x * x);
    return sum * inv_sqrtpi / x;
}
double log_ndtr(double x) {
    return x < -1 ? std::log(erfcx(-x / sqrt2) / 2) - x * x / 2 : std::log1p(-std::erfc(x / sqrt2) / 2);
}

// --- Bessel's functions ---

/// sqrt(2 pi x) exp(-x) I(x) for kSign -1, sqrt(2 x / pi) exp(x) K(x) for 1: Hankel's series, for x of at least 30.
template <int kOrder, int kSign>
double hankel(double x) {
    double term = 1, sum = 1;
    for (int k = 1; k < 40; ++k) {
        const double odd = 2 * k - 1, next = term * kSign * (4 * kOrder * kOrder - odd * odd) / (8 * k * x);
        if (std::fabs(next) >= std::fabs(term)) break;
        sum += term = next;
    }
    return sum;
}
constexpr double kHankel = 30;

/// exp(-|x|) I(x)
template <int kOrder>
double scaled_i(double given) {
    const double x = std::fabs(given);
    const double sign = kOrder == 1 && given < 0 ? -1 : 1;
    if (std::isinf(x)) return 0;
    if (x >= kHankel) return sign * hankel<kOrder, -1>(x) / std::sqrt(2 * pi * x);
    double term = kOrder == 1 ? x / 2 : 1, sum = term;
    for (int k = 1; term > sum * 1e-18; ++k) sum += term *= x * x / (4.0 * k * (k + kOrder));
    return sign * sum * std::exp(-x);
}
template <int kOrder>
double modified_i(double x) {
    return std::isinf(x) ? (kOrder == 1 ? x : kInfinity) : scaled_i<kOrder>(x) * std::exp(std::fabs(x));
}
template <int kOrder>
double scaled_k(double x) {
    if (!(x > 0)) return x == 0 ? kInfinity : kNaN;
    if (x >= kHankel) return hankel<kOrder, 1>(x) * std::sqrt(pi / (2 * x));
    return std::cyl_bessel_k(kOrder, x) * std::exp(x);
}
template <int kOrder>
double modified_k(double x) {
    return x >= kHankel ? scaled_k<kOrder>(x) * std::exp(-x)
           : !(x > 0)   ? scaled_k<kOrder>(x)
                        : std::cyl_bessel_k(kOrder, x);
}
/// exp(x) would overflow behind 700, and Ai is 0 there.
double airy_ai(double x) {
    if (std::isnan(x)) return x;
    const double z = std::fabs(x), at = 2 * z * std::sqrt(z) / 3, order = 1.0 / 3;
    if (x == 0) return 0.355028053887817239;
    if (x > 0) return at > 700 ? 0 : std::sqrt(z / 3) / pi * std::cyl_bessel_k(order, at);
    if (std::isinf(x)) return kNaN;
    // J of the order -1/3, by those of 1/3.
    const double j = std::cyl_bessel_j(order, at), y = std::cyl_neumann(order, at);
    return std::sqrt(z) / 3 * (j + std::cos(pi / 3) * j - std::sin(pi / 3) * y);
}
double spherical_j0(double x) { return std::isinf(x) ? 0 : std::fabs(x) < 1e-4 ? 1 - x * x / 6 : std::sin(x) / x; }
double bessel_j0(double x) { return std::isinf(x) ? 0 : ::j0(x); }
double bessel_j1(double x) { return std::isinf(x) ? 0 : ::j1(x); }
double bessel_y0(double x) { return x > 0 ? ::y0(x) : x == 0 ? -kInfinity : kNaN; }
double bessel_y1(double x) { return x > 0 ? ::y1(x) : x == 0 ? -kInfinity : kNaN; }

// --- Gamma functions ---

/// Hurwitz's: the sum of 1 / (q + k)^x over k, by Euler and Maclaurin, as Cephes has it.
double zeta(double x, double q) {
    if (x == 1) return kInfinity;
    if (!(x > 1)) return kNaN;
    if (q <= 0) {
        if (q == std::floor(q)) return kInfinity;
        if (x != std::floor(x)) return kNaN;
    }
    double sum = std::pow(q, -x), at = q, power = sum;
    for (int i = 0; i < 9 || at <= 9; ++i) {
        at += 1;
        power = std::pow(at, -x);
        sum += power;
        if (std::fabs(power) < std::fabs(sum) * 1e-17) return sum;
    }
    sum += power * at / (x - 1) - power / 2;
    // (2k)! / B(2k)
    constexpr double kTerms[] = {12,
                                 -720,
                                 30240,
                                 -1209600,
                                 47900160,
                                 -1.8924375803183791606e9,
                                 7.47242496e10,
                                 -2.950130727918164224e12,
                                 1.1646782814350067249e14,
                                 -4.5979787224074726105e15,
                                 1.8152105401943546773e17,
                                 -7.1661652561756670113e18};
    double factor = 1;
    for (int k = 0; k < 12; ++k) {
        factor *= x + 2 * k;
        power /= at;
        const double term = factor * power / kTerms[k];
        sum += term;
        if (std::fabs(term) < std::fabs(sum) * 1e-17) break;
        factor *= x + 2 * k + 1;
        power /= at;
    }
    return sum;
}

/// The lower regularized incomplete gamma function where `kLower`, else the upper one: a series below a + 1, else
/// Lentz's continued fraction.
template <bool kLower>
double incomplete_gamma(double a, double x) {
    const double none = kLower ? 0 : 1, all = 1 - none;
    if (std::isnan(a) || std::isnan(x) || a < 0 || x < 0) return kNaN;
    if (a == 0) return x > 0 ? all : kNaN;
    if (x == 0) return none;
    if (std::isinf(a)) return std::isinf(x) ? kNaN : none;
    if (std::isinf(x)) return all;
    const double front = std::exp(a * std::log(x) - x - std::lgamma(a));
    constexpr int kMost = 100000;
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int k = 1; k < kMost && std::fabs(term) > std::fabs(sum) * 1e-17; ++k) sum += term *= x / (a + k);
        return kLower ? front * sum : 1 - front * sum;
    }
    constexpr double kTiny = 1e-300;
    double b = x + 1 - a, c = 1 / kTiny, d = 1 / b, h = d;
    for (int k = 1; k < kMost; ++k) {
        const double factor = -k * (k - a);
        b += 2;
        d = factor * d + b;
        d = 1 / (std::fabs(d) < kTiny ? kTiny : d);
        c = b + factor / c;
        if (std::fabs(c) < kTiny) c = kTiny;
        h *= d * c;
        if (std::fabs(d * c - 1) < 1e-16) break;
    }
    return kLower ? 1 - front * h : front * h;
}

// --- Ops of them ---

using namespace aten;

template <double (*F)(double)>
struct Function : FloatingFunction {
    template <Floating T>
    static T eval(T x) {
        return static_cast<T>(F(static_cast<double>(x)));
    }
};
template <double (*F)(double, double)>
struct FunctionOfTwo : FloatingFunction {
    template <Floating T>
    static T eval(T x, T y) {
        return static_cast<T>(F(static_cast<double>(x), static_cast<double>(y)));
    }
};

/// The operand is self, or x.
template <class T>
T operand_of(const Arguments<T>& arguments) {
    return arguments.tensor(arguments.schema().params.front().name);
}
std::vector<ValueMeta> infer_function(const Arguments<ValueMeta>& arguments) {
    const ValueMeta x = operand_of(arguments);
    return {ValueMeta::contiguous(floating_result(x.dtype), x.sizes)};
}
template <double (*F)(double)>
std::vector<Tensor> eval_function(const Arguments<Tensor>& arguments) {
    const Tensor x = operand_of(arguments);
    const DType dtype = floating_result(x.dtype());
    return {visit_compute(dtype, [&]<class T>(T) -> Tensor {
        if constexpr (Floating<T>) {
            return map<T, T>(x, dtype, dtype, &Function<F>::template eval<T>);
        } else {
            reject_dtype(arguments.schema(), x.dtype());
        }
    })};
}

template <double (*F)(double)>
constexpr OpDef function_op(std::string_view schema, std::string_view doc, GradientRule grad = no_gradient) {
    return {.doc = doc,
            .schema = schema,
            .dtypes = kAnyDType,
            .infer = infer_function,
            .eval = eval_function<F>,
            .grad = grad};
}
template <double (*F)(double, double)>
constexpr OpDef function_of_two(std::string_view schema, std::string_view doc, GradientRule grad = no_gradient,
                                DTypeSet dtypes = kAnyDType) {
    return {.doc = doc,
            .schema = schema,
            .dtypes = dtypes,
            .infer = infer_binary<FunctionOfTwo<F>>,
            .eval = eval_binary<FunctionOfTwo<F>>,
            .grad = grad};
}

/// The neighbor of each number in the direction of the other one, in its own dtype.
struct NextAfter : Arithmetic {
    template <Floating T>
    static T eval(T x, T y) {
        return std::nextafter(x, y);
    }
};

/// (f(x) - x' f'(x)) of the scaled functions of order 1 is 1/2 at 0.
V half_at_zero(const OfSelf& r, const V& slope) { return r.g * where(eq(r.x, 0), 0.5, slope); }

/// As ATen has none.
void refused_grad(Gradients& c) { throw Error(c.schema().name + " has no gradient rule for its operands"); }
void refuse_self(Gradients& c) {
    if (c.needed("self")) throw Error(c.schema().name + " has no gradient rule for self");
}

template <int kSign>
void incomplete_grad(Gradients& c) {
    const V a = c.tensor("self"), x = c.tensor("other");
    refuse_self(c);
    if (c.needed("other")) c.set("other", c.grad() * exp((a - 1) * log(x) - x - lgamma(a)) * kSign);
}
void zeta_grad(Gradients& c) {
    refuse_self(c);
    if (!c.needed("other")) return;
    const V q = c.tensor("other");
    const V x = c.given("self").node() ? c.tensor("self") : full(c.builder(), {}, c.number("self"), q.dtype());
    c.set("other", -c.grad() * x * special_zeta(x + 1, q));
}

constexpr OpDef kFunctions[] = {
    function_op<erfinv>("erfinv(Tensor self) -> Tensor", "the inverse of erf",
                        [](const OfSelf& r) { return r.g * exp(square(r.y)) * (std::sqrt(pi) / 2); }),
    function_op<ndtri>("special_ndtri(Tensor self) -> Tensor", "the inverse of the normal distribution",
                       [](const OfSelf& r) { return r.g * exp(square(r.y) * 0.5) * std::sqrt(2 * pi); }),
    function_op<erfcx>("special_erfcx(Tensor self) -> Tensor", "exp(x^2) erfc(x)",
                       [](const OfSelf& r) { return r.g * (r.x * r.y * 2 - 2 * inv_sqrtpi); }),
    function_op<log_ndtr>(
        "special_log_ndtr(Tensor self) -> Tensor", "the logarithm of the normal distribution",
        [](const OfSelf& r) { return r.g / special_erfcx(r.x * (-1 / sqrt2)) * (sqrt2 * inv_sqrtpi); }),
    function_op<modified_i<0>>("i0(Tensor self) -> Tensor", "Bessel's modified function of the first kind, order 0",
                               [](const OfSelf& r) { return r.g * special_i1(r.x); }),
    function_op<scaled_i<0>>("special_i0e(Tensor self) -> Tensor", "exp(-|x|) i0(x)",
                             [](const OfSelf& r) { return r.g * (special_i1e(r.x) - sgn(r.x) * r.y); }),
    function_op<modified_i<1>>("special_i1(Tensor self) -> Tensor",
                               "Bessel's modified function of the first kind, order 1",
                               [](const OfSelf& r) { return half_at_zero(r, i0(r.x) - r.y / r.x); }),
    function_op<scaled_i<1>>(
        "special_i1e(Tensor self) -> Tensor", "exp(-|x|) i1(x)",
        [](const OfSelf& r) { return half_at_zero(r, special_i0e(r.x) - r.y * (sgn(r.x) + reciprocal(r.x))); }),
    function_op<bessel_j0>("special_bessel_j0(Tensor self) -> Tensor", "Bessel's function of the first kind, order 0"),
    function_op<bessel_j1>("special_bessel_j1(Tensor self) -> Tensor", "Bessel's function of the first kind, order 1"),
    function_op<bessel_y0>("special_bessel_y0(Tensor self) -> Tensor", "Bessel's function of the second kind, order 0"),
    function_op<bessel_y1>("special_bessel_y1(Tensor self) -> Tensor", "Bessel's function of the second kind, order 1"),
    function_op<modified_i<0>>("special_modified_bessel_i0(Tensor self) -> Tensor",
                               "Bessel's modified function of the first kind, order 0"),
    function_op<modified_i<1>>("special_modified_bessel_i1(Tensor self) -> Tensor",
                               "Bessel's modified function of the first kind, order 1"),
    function_op<modified_k<0>>("special_modified_bessel_k0(Tensor self) -> Tensor",
                               "Bessel's modified function of the second kind, order 0"),
    function_op<modified_k<1>>("special_modified_bessel_k1(Tensor self) -> Tensor",
                               "Bessel's modified function of the second kind, order 1"),
    function_op<scaled_k<0>>("special_scaled_modified_bessel_k0(Tensor x) -> Tensor",
                             "exp(x) special_modified_bessel_k0(x)"),
    function_op<scaled_k<1>>("special_scaled_modified_bessel_k1(Tensor x) -> Tensor",
                             "exp(x) special_modified_bessel_k1(x)"),
    function_op<airy_ai>("special_airy_ai(Tensor x) -> Tensor", "Airy's function Ai"),
    function_op<spherical_j0>("special_spherical_bessel_j0(Tensor x) -> Tensor", "sin(x) / x"),
    function_of_two<zeta>("special_zeta(Tensor self, Tensor other) -> Tensor", "the sum of 1 / (other + k)^self",
                          zeta_grad),
    function_of_two<incomplete_gamma<true>>("igamma(Tensor self, Tensor other) -> Tensor",
                                            "the lower regularized incomplete gamma function", incomplete_grad<1>,
                                            kFloating),
    function_of_two<incomplete_gamma<false>>("igammac(Tensor self, Tensor other) -> Tensor",
                                             "the upper regularized incomplete gamma function", incomplete_grad<-1>,
                                             kFloating),
    {.doc = "the next number in a direction",
     .schema = "nextafter(Tensor self, Tensor other) -> Tensor",
     .dtypes = set_of(DType::f64) | set_of(DType::f32),
     .infer = infer_binary<NextAfter>,
     .eval = eval_binary<NextAfter>,
     .grad = refused_grad},
};

}  // namespace
}  // namespace whittle::special_functions

namespace whittle {

std::span<const OpDef> special_function_ops() { return special_functions::kFunctions; }

}  // namespace whittle

// Activation functions of networks, element by element.
// Definitions: https://pytorch.org/docs/stable/nn.functional.html#non-linear-activation-functions; formulas in the
// order ATen's CPU kernels evaluate them, so that infinities give the same NaNs.
#include <cmath>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;
using expr::Op;

Expr exp_of(const Expr& x) { return expr::unary(Op::exp, x); }
Expr max_of(const Expr& x, double low) { return expr::select(x < constant(x, low), constant(x, low), x); }
Expr min_of(const Expr& x, double high) { return expr::select(constant(x, high) < x, constant(x, high), x); }

// --- Without parameters ---

/// NaN and -0 stay.
struct Relu : Arithmetic {
    static constexpr Bound bound = kBoundExact;
    template <Number T>
    static T eval(T x) {
        return x < 0 ? T(0) : x;
    }
    static Expr lower(const Expr& x) {
        const Expr zero = expr::constant(x->dtype, Scalar(0));
        return is_unsigned(x->dtype) ? x : expr::select(x < zero, zero, x);
    }
};
struct Sigmoid : FloatingFunction {
    static constexpr Bound bound = rounds_by(4, Bound::Rule::terms);
    static auto eval(Floating auto x) { return 1 / (1 + std::exp(-x)); }
    static Expr lower(const Expr& x) { return constant(x, 1) / (constant(x, 1) + exp_of(expr::negate(x))); }
};
/// min(0, x) - log1p(exp(-|x|)): never overflows.
struct LogSigmoid : Arithmetic {
    static constexpr Bound bound = rounds_by(4, Bound::Rule::terms);
    template <Floating T>
    static T eval(T x) {
        const T low = T(0) < x ? T(0) : x;
        return low - std::log1p(std::exp(-std::fabs(x)));
    }
    static Expr lower(const Expr& x) {
        const Expr tail = exp_of(expr::negate(expr::unary(Op::abs, x)));
        return min_of(x, 0) - expr::unary(Op::log1p, tail);
    }
};
struct Silu : Arithmetic {
    static constexpr Bound bound = rounds_by(4, Bound::Rule::terms);
    static auto eval(Floating auto x) { return x / (1 + std::exp(-x)); }
    static Expr lower(const Expr& x) { return x / (constant(x, 1) + exp_of(expr::negate(x))); }
};
struct Mish : Arithmetic {
    static constexpr Bound bound = rounds_by(8, Bound::Rule::terms);
    static auto eval(Floating auto x) { return x * std::tanh(std::log1p(std::exp(x))); }
    static Expr lower(const Expr& x) { return x * expr::unary(Op::tanh, expr::unary(Op::log1p, exp_of(x))); }
};
/// min(max(x + 3, 0), 6), where NaN stays.
template <Floating T>
T ramp_to_six(T x) {
    const T low = x + 3 < 0 ? T(0) : x + 3;
    return T(6) < low ? T(6) : low;
}
Expr ramp_to_six(const Expr& x) { return min_of(max_of(x + constant(x, 3), 0), 6); }
struct Hardswish : Arithmetic {
    static constexpr Bound bound = rounds_by(4, Bound::Rule::terms);
    static auto eval(Floating auto x) { return x * ramp_to_six(x) / 6; }
    static Expr lower(const Expr& x) { return x * ramp_to_six(x) / constant(x, 6); }
};
struct Hardsigmoid : Arithmetic {
    static constexpr Bound bound = rounds_by(4, Bound::Rule::terms);
    static auto eval(Floating auto x) { return ramp_to_six(x) / 6; }
    static Expr lower(const Expr& x) { return ramp_to_six(x) / constant(x, 6); }
};

// --- With parameters: a kernel is a record of them with operator() on floats and on expressions ---

struct Gelu {
    bool tanh = false;
    static Gelu of(const AnyArguments auto& arguments) {
        const std::string approximate = arguments.text("approximate");
        if (approximate != "none" && approximate != "tanh")
            throw Error("gelu: found approximate='" + approximate + "', expected 'none' or 'tanh'");
        return {approximate == "tanh"};
    }
    template <Floating T>
    T operator()(T x) const {
        if (!tanh) return x * T(0.5) * (1 + std::erf(x * T(M_SQRT1_2)));
        const T inner = kBeta<T> * (x + kKappa<T> * x * x * x);
        return T(0.5) * x * (1 + std::tanh(inner));
    }
    Expr operator()(const Expr& x) const {
        const Expr one = constant(x, 1), half = constant(x, 0.5);
        if (!tanh) return x * half * (one + expr::unary(Op::erf, x * constant(x, M_SQRT1_2)));
        const Expr cubed = constant(x, kKappa<double>) * x * x * x;
        return half * x * (one + expr::unary(Op::tanh, constant(x, kBeta<double>) * (x + cubed)));
    }
    template <class T>
    static constexpr T kBeta = T(M_SQRT2* M_2_SQRTPI * 0.5);  // sqrt(2 / pi)
    template <class T>
    static constexpr T kKappa = T(0.044715);
};

struct Elu {
    double negative = 1, positive = 1, input = 1;
    static Elu of(const AnyArguments auto& arguments) {
        const double scale = arguments.number("scale");
        return {arguments.number("alpha") * scale, scale, arguments.number("input_scale")};
    }
    template <Floating T>
    T operator()(T x) const {
        return x <= 0 ? std::expm1(x * T(input)) * T(negative) : x * T(positive);
    }
    Expr operator()(const Expr& x) const {
        const Expr below = expr::unary(Op::expm1, x * constant(x, input)) * constant(x, negative);
        return expr::select(x <= constant(x, 0), below, x * constant(x, positive));
    }
};

struct LeakyRelu {
    double slope = 0.01;
    static LeakyRelu of(const AnyArguments auto& arguments) { return {arguments.number("negative_slope")}; }
    template <Floating T>
    T operator()(T x) const {
        return x > 0 ? x : x * T(slope);
    }
    Expr operator()(const Expr& x) const { return expr::select(constant(x, 0) < x, x, x * constant(x, slope)); }
};

struct Softplus {
    double beta = 1, threshold = 20;
    static Softplus of(const AnyArguments auto& arguments) {
        return {arguments.number("beta"), arguments.number("threshold")};
    }
    template <Floating T>
    T operator()(T x) const {
        return x * T(beta) > T(threshold) ? x : std::log1p(std::exp(x * T(beta))) / T(beta);
    }
    Expr operator()(const Expr& x) const {
        const Expr scaled = x * constant(x, beta);
        const Expr curved = expr::unary(Op::log1p, exp_of(scaled)) / constant(x, beta);
        return expr::select(constant(x, threshold) < scaled, x, curved);
    }
};

/// For the bound: LibTorch 1.13 subtracts 1 from exp(x), newer releases compute expm1(x).
CallResults elu_parts(const Call& c) {
    const Elu elu = Elu::of(c);
    const V x = c.tensor("self"), below = (exp(clamp_max(x, 0) * elu.input) + -1.0) * elu.negative;
    return where(le(x, 0), below, x * elu.positive);
}

V elu_grad(const OfSelf& r) {
    return elu_backward(r.g, r.call.scalar("alpha"), r.call.scalar("scale"), r.call.scalar("input_scale"), false, r.x);
}

std::vector<ValueMeta> infer_same(const Arguments<ValueMeta>& arguments) {
    return {result_meta(arguments.tensor("self"))};
}

template <class K>
std::vector<Tensor> eval_parametric(const Arguments<Tensor>& arguments) {
    const K kernel = K::of(arguments);
    const Tensor self = arguments.tensor("self");
    return {visit_compute(self.dtype(), [&]<class T>(T) -> Tensor {
        if constexpr (Floating<T>) {
            std::vector<T> elements = self.values<T>();
            for (T& element : elements) element = kernel(element);
            return store(elements, self.dtype(), self.sizes());
        } else {
            reject_dtype(arguments.schema(), self.dtype());
        }
    })};
}

template <class K>
std::vector<expr::Value> lower_parametric(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    const K kernel = K::of(arguments);
    const expr::Value self = arguments.tensor("self");
    return {pointwise({read(self, self.sizes(), self.dtype())}, self.sizes(), self.dtype(),
                      [kernel](const std::vector<Expr>& x) { return kernel(x[0]); })};
}

// --- Composites ---

/// Integers are clamped to integers, the bounds truncated.
CallResults decompose_hardtanh(const Call& c) {
    const V x = c.tensor("self");
    Scalar low = c.scalar("min_val"), high = c.scalar("max_val");
    if (!is_floating(x.dtype())) {
        low = low.to_integer();
        high = high.to_integer();
        if (is_unsigned(x.dtype()) && (low.to_integer() < 0 || high.to_integer() < 0))
            throw Error("hardtanh: found min_val=" + std::to_string(low.to_integer()) +
                        " and max_val=" + std::to_string(high.to_integer()) + " for a tensor of dtype " +
                        std::string(name(x.dtype())) + ", expected both to be at least 0");
    }
    return clamp(x, low, high);
}
/// scale * (max(0, x) + min(0, alpha * (exp(x) - 1))) with the constants of Klambauer et al. 2017.
CallResults decompose_selu(const Call& c) {
    return elu(c.tensor("self"), 1.6732632423543772848170429916717, 1.0507009873554804934193349852946);
}
CallResults decompose_celu(const Call& c) {
    const double alpha = c.number("alpha");
    if (alpha == 0) throw Error("celu: found alpha=0, expected a nonzero alpha");
    return elu(c.tensor("self"), alpha, 1.0, 1.0 / alpha);
}

template <class K>
constexpr OpDef parametric_op(std::string_view schema, std::string_view doc, GradientRule grad,
                              const Bound& bound = rounds_by(16, Bound::Rule::terms)) {
    return primitive(schema, doc, kFloating, {infer_same, eval_parametric<K>, lower_parametric<K>}, grad, bound);
}
constexpr OpDef kActivations[] = {
    unary_op<Relu>("relu(Tensor self) -> Tensor", "max(x, 0); NaN stays", kNumbers,
                   [](const OfSelf& r) { return threshold_backward(r.g, r.y, 0); }),
    unary_op<Sigmoid>("sigmoid(Tensor self) -> Tensor", "1 / (1 + exp(-x))", kAnyDType,
                      [](const OfSelf& r) { return sigmoid_backward(r.g, r.y); }),
    unary_op<LogSigmoid>("log_sigmoid(Tensor self) -> Tensor", "log(sigmoid(x))", kFloating,
                         [](const OfSelf& r) { return r.g * sigmoid(-r.x); }),
    unary_op<Silu>("silu(Tensor self) -> Tensor", "x * sigmoid(x)", kFloating,
                   [](const OfSelf& r) { return silu_backward(r.g, r.x); }),
    unary_op<Mish>("mish(Tensor self) -> Tensor", "x * tanh(softplus(x))", kFloating,
                   [](const OfSelf& r) { return mish_backward(r.g, r.x); }),
    unary_op<Hardswish>("hardswish(Tensor self) -> Tensor", "x * clamp(x + 3, 0, 6) / 6", kFloating,
                        [](const OfSelf& r) { return hardswish_backward(r.g, r.x); }),
    unary_op<Hardsigmoid>("hardsigmoid(Tensor self) -> Tensor", "clamp(x + 3, 0, 6) / 6", kFloating,
                          [](const OfSelf& r) { return hardsigmoid_backward(r.g, r.x); }),
    parametric_op<Gelu>("gelu(Tensor self, *, str approximate='none') -> Tensor",
                        "x * Phi(x), exactly or through tanh (Hendrycks and Gimpel 2016)",
                        [](const OfSelf& r) { return gelu_backward(r.g, r.x, r.call.text("approximate")); }),
    parametric_op<Elu>("elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
                       "scale * x above 0, else scale * alpha * expm1(input_scale * x)", elu_grad,
                       {.parts = elu_parts}),
    parametric_op<LeakyRelu>(
        "leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", "x above 0, else negative_slope * x",
        [](const OfSelf& r) { return leaky_relu_backward(r.g, r.x, r.call.scalar("negative_slope"), false); }),
    parametric_op<Softplus>(
        "softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
        "log1p(exp(beta * x)) / beta; x where beta * x is above threshold",
        [](const OfSelf& r) { return softplus_backward(r.g, r.x, r.call.scalar("beta"), r.call.scalar("threshold")); }),
    composite("hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", "clamp(x, min_val, max_val)",
              kNumbers, decompose_hardtanh, {.infer = infer_same},
              [](const OfSelf& r) {
                  return hardtanh_backward(r.g, r.x, r.call.scalar("min_val"), r.call.scalar("max_val"));
              }),
    composite("relu6(Tensor self) -> Tensor", "clamp(x, 0, 6)", kNumbers,
              [](const Call& c) -> CallResults { return hardtanh(c.tensor("self"), 0, 6); }, {.infer = infer_same}),
    composite("selu(Tensor self) -> Tensor", "elu with self-normalizing constants", kFloating, decompose_selu,
              {.infer = infer_same}),
    composite("celu(Tensor self, Scalar alpha=1.0) -> Tensor", "x above 0, else alpha * expm1(x / alpha)", kFloating,
              decompose_celu, {.infer = infer_same}),
};

}  // namespace

std::span<const OpDef> activation_ops() { return kActivations; }

}  // namespace whittle

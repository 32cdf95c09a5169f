// Three operands, element by element: clamp, lerp, addcmul, addcdiv.
// Definitions: https://pytorch.org/docs/stable/torch.html#math-operations
#include <cmath>

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/complex.h"
#include "ops/core/integer.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

// --- clamp ---

/// One bound or both, each a tensor or a number, with the promoted dtype.
Promotion clamp_types(const AnyArguments auto& arguments) {
    std::vector<OperandInfo> operands = {operand_info(arguments.tensor("self"))};
    for (const char* bound : {"min", "max"})
        if (arguments.schema().param(bound) && arguments.has(bound)) operands.push_back(operand_info(arguments, bound));
    if (operands.size() == 1)
        throw Error("aten." + arguments.schema().name + ": found neither min nor max, expected at least one");
    const DType dtype = result_type(operands);
    if (dtype == DType::boolean) reject_dtype(arguments.schema(), dtype);
    return {broadcast_all(operands), dtype};
}

bool has_bound(const AnyArguments auto& arguments, const char* bound) {
    return arguments.schema().param(bound) && arguments.has(bound);
}

std::vector<ValueMeta> infer_clamp(const Arguments<ValueMeta>& arguments) {
    return {result_meta(clamp_types(arguments))};
}

/// NaN in the value or in a bound gives NaN. When the bounds cross, max wins.
std::vector<Tensor> eval_clamp(const Arguments<Tensor>& arguments) {
    const Promotion types = clamp_types(arguments);
    return {visit_ordered(types.dtype, [&]<class T>(T) {
        std::vector<T> x = read<T>(arguments.tensor("self"), types.sizes, types.dtype);
        if (has_bound(arguments, "min")) {
            const std::vector<T> low = read<T>(arguments.operand("min"), types.sizes, types.dtype);
            for (std::size_t i = 0; i < x.size(); ++i)
                if (x[i] == x[i] && !(low[i] <= x[i])) x[i] = low[i];
        }
        if (has_bound(arguments, "max")) {
            const std::vector<T> high = read<T>(arguments.operand("max"), types.sizes, types.dtype);
            for (std::size_t i = 0; i < x.size(); ++i)
                if (x[i] == x[i] && !(x[i] <= high[i])) x[i] = high[i];
        }
        return store(x, types.dtype, types.sizes);
    })};
}

std::vector<expr::Value> lower_clamp(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    const Promotion types = clamp_types(arguments);
    const auto keeps = [](const Expr& x, const Expr& fits) { return is_floating(x->dtype) ? is_nan(x) || fits : fits; };
    std::vector<expr::Value> operands = {read(arguments.tensor("self"), types.sizes, types.dtype)};
    const bool has_min = has_bound(arguments, "min"), has_max = has_bound(arguments, "max");
    if (has_min) operands.push_back(read(arguments.operand("min"), types.sizes, types.dtype));
    if (has_max) operands.push_back(read(arguments.operand("max"), types.sizes, types.dtype));
    return {pointwise(operands, types.sizes, types.dtype, [=](const std::vector<Expr>& x) {
        Expr value = x[0];
        if (has_min) value = expr::select(keeps(value, x[1] <= value), value, x[1]);
        if (has_max) value = expr::select(keeps(value, value <= x.back()), value, x.back());
        return value;
    })};
}

// --- lerp, addcmul, addcdiv ---

template <class T>
T number_of(const Scalar& value) {
    if constexpr (is_complex_type<T>)
        return T(static_cast<typename T::value_type>(value.to_double()));
    else
        return std::is_integral_v<T> ? static_cast<T>(value.to_integer()) : static_cast<T>(value.to_double());
}

/// Of floats and of complex numbers.
template <class T>
T times(const T& a, const T& b) {
    if constexpr (is_complex_type<T>)
        return product(a, b);
    else
        return a * b;
}
template <class T>
T over(const T& a, const T& b) {
    if constexpr (is_complex_type<T>)
        return quotient(a, b);
    else
        return a / b;
}

/// Three operands of one rule: a kernel gives them and combines elements.
template <class K, class T>
Promotion ternary_types(const Arguments<T>& arguments) {
    std::vector<OperandInfo> operands;
    for (const char* operand : K::operands) operands.push_back(operand_info(arguments, operand));
    const DType dtype = result_type(operands);
    if (!(K::dtypes & set_of(dtype))) reject_dtype(arguments.schema(), dtype);
    return {broadcast_all(operands), dtype};
}

template <class K>
std::vector<ValueMeta> infer_ternary(const Arguments<ValueMeta>& arguments) {
    return {result_meta(ternary_types<K>(arguments))};
}

template <class K>
std::vector<Tensor> eval_ternary(const Arguments<Tensor>& arguments) {
    const Promotion types = ternary_types<K>(arguments);
    const Scalar value = K::value(arguments);
    return {visit_arithmetic(types.dtype, [&]<class T>(T) -> Tensor {
        if constexpr (std::is_same_v<T, bool>) {
            reject_dtype(arguments.schema(), types.dtype);
        } else {
            const T factor = number_of<T>(value);
            std::vector<T> a = read<T>(arguments.operand(K::operands[0]), types.sizes, types.dtype);
            const std::vector<T> b = read<T>(arguments.operand(K::operands[1]), types.sizes, types.dtype),
                                 c = read<T>(arguments.operand(K::operands[2]), types.sizes, types.dtype);
            for (std::size_t i = 0; i < a.size(); ++i) a[i] = K::template eval<T>(a[i], b[i], c[i], factor);
            return store(a, types.dtype, types.sizes);
        }
    })};
}

template <class K>
std::vector<expr::Value> lower_ternary(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    const Promotion types = ternary_types<K>(arguments);
    const Scalar value = K::value(arguments);
    std::vector<expr::Value> operands;
    for (const char* operand : K::operands)
        operands.push_back(read(arguments.operand(operand), types.sizes, types.dtype));
    return {pointwise(operands, types.sizes, types.dtype, [value](const std::vector<Expr>& x) {
        return K::lower(x[0], x[1], x[2], expr::constant(x[0]->dtype, value));
    })};
}

/// Taken from the nearer end, so that both ends are met exactly.
struct Lerp {
    static constexpr const char* operands[] = {"self", "end", "weight"};
    static constexpr DTypeSet dtypes = kFloating | kComplex;
    template <class T>
    static Scalar value(const Arguments<T>&) {
        return Scalar(0);
    }
    template <class T>
    static T eval(T a, T b, T weight, T) {
        if constexpr (std::is_integral_v<T>)
            return a;  // refused by ternary_types
        else
            return std::abs(weight) < 0.5 ? a + times(weight, b - a) : b - times(b - a, T(1) - weight);
    }
    static Expr lower(const Expr& a, const Expr& b, const Expr& weight, const Expr&) {
        const Expr near_start = a + weight * (b - a), near_end = b - (b - a) * (constant(a, 1) - weight);
        return expr::select(expr::unary(expr::Op::abs, weight) < constant(a, 0.5), near_start, near_end);
    }
};
/// self + value * tensor1 * tensor2.
struct Addcmul {
    static constexpr const char* operands[] = {"self", "tensor1", "tensor2"};
    static constexpr DTypeSet dtypes = kNumbers | kComplex;
    static Scalar value(const AnyArguments auto& arguments) { return arguments.scalar("value"); }
    template <class T>
    static T eval(T a, T b, T c, T value) {
        if constexpr (std::is_integral_v<T>)
            return wrapping_add(a, wrapping_mul(wrapping_mul(value, b), c));
        else
            return a + times(times(value, b), c);
    }
    static Expr lower(const Expr& a, const Expr& b, const Expr& c, const Expr& value) { return a + value * b * c; }
};
struct Addcdiv : Addcmul {
    static constexpr DTypeSet dtypes = kFloating | kComplex;
    template <class T>
    static T eval(T a, T b, T c, T value) {
        if constexpr (std::is_integral_v<T>)
            return truncated_div(b, c);  // refused by ternary_types
        else
            return a + over(times(value, b), c);
    }
    static Expr lower(const Expr& a, const Expr& b, const Expr& c, const Expr& value) { return a + value * b / c; }
};

constexpr OpDef clamp_op(std::string_view schema, std::string_view doc, GradientRule grad) {
    return primitive(schema, doc, kNumbers | kLimited, {infer_clamp, eval_clamp, lower_clamp}, grad, kBoundExact);
}
template <class K>
constexpr OpDef ternary_op(std::string_view schema, std::string_view doc, GradientRule grad) {
    return primitive(schema, doc, K::dtypes, {infer_ternary<K>, eval_ternary<K>, lower_ternary<K>}, grad,
                     rounds_by(2, Bound::Rule::terms));
}
// --- Gradients ---

using namespace aten;

/// The bounds belong to the inside.
V clamp_grad(const OfSelf& r) {
    OptionalV inside;
    if (const std::optional<Scalar> low = r.call.optional_scalar("min")) inside = ge(r.x, *low);
    if (const std::optional<Scalar> high = r.call.optional_scalar("max")) {
        const V below = le(r.x, *high);
        inside = inside ? logical_and(*inside, below) : below;
    }
    return inside ? keep(*inside, r.g) : r.g;
}
V clamp_min_grad(const OfSelf& r) { return keep(ge(r.x, r.call.scalar("min")), r.g); }
V clamp_max_grad(const OfSelf& r) { return keep(le(r.x, r.call.scalar("max")), r.g); }
/// Crossed bounds give the upper one.
void clamp_tensor_grad(Gradients& c) {
    const V x = c.tensor("self"), g = c.grad();
    const OptionalV low = c.optional_tensor("min"), high = c.optional_tensor("max");
    if (c.needed("self")) {
        V gradient = g;
        if (low) gradient = keep(ge(x, *low), gradient);
        if (high) gradient = keep(le(x, *high), gradient);
        c.set("self", gradient);
    }
    if (c.needed("min")) {
        V taken = lt(x, *low);
        if (high) taken = logical_and(lt(*low, *high), taken);
        c.set("min", keep(taken, g));
    }
    if (c.needed("max")) {
        V taken = gt(x, *high);
        if (low) taken = logical_or(lt(*high, *low), taken);
        c.set("max", keep(taken, g));
    }
}

void lerp_grad(Gradients& c) {
    c.takes_complex();
    const Arg weight = c.given("weight");
    if (c.needed("self")) {
        const Arg rest = weight.node() ? complement(conjugate(c.tensor("weight"))) : Arg(1 - c.number("weight"));
        c.set("self", c.grad() * rest);
    }
    if (c.needed("end")) c.set("end", c.grad() * c.conjugate("weight"));
    if (weight.node() && c.needed("weight")) c.set("weight", c.grad() * conjugate(c.tensor("end") - c.tensor("self")));
}
void addcmul_grad(Gradients& c) {
    c.takes_complex();
    const Scalar value = c.scalar("value");
    c.set("self", c.grad());
    if (c.needed("tensor1")) c.set("tensor1", c.grad() * scaled(conjugate(c.tensor("tensor2")), value));
    if (c.needed("tensor2")) c.set("tensor2", c.grad() * scaled(conjugate(c.tensor("tensor1")), value));
}
void addcdiv_grad(Gradients& c) {
    c.takes_complex();
    const Scalar value = c.scalar("value");
    const V over = conjugate(c.tensor("tensor1")), under = conjugate(c.tensor("tensor2"));
    c.set("self", c.grad());
    if (c.needed("tensor1")) c.set("tensor1", c.grad() * scaled(reciprocal(under), value));
    if (c.needed("tensor2")) {
        const V slope = scaled(over, value) / (under * under);
        c.set("tensor2", -c.grad() * slope);
    }
}

constexpr OpDef kTernary[] = {
    clamp_op("clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor", "min(max(self, min), max); NaN stays",
             clamp_grad),
    clamp_op("clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
             "min(max(self, min), max); NaN if an operand is NaN", clamp_tensor_grad),
    clamp_op("clamp_min(Tensor self, Scalar min) -> Tensor", "max(self, min)", clamp_min_grad),
    clamp_op("clamp_max(Tensor self, Scalar max) -> Tensor", "min(self, max)", clamp_max_grad),
    ternary_op<Lerp>("lerp.{Tensor|Scalar}(Tensor self, Tensor end, {Tensor|Scalar} weight) -> Tensor",
                     "self + weight * (end - self)", lerp_grad),
    ternary_op<Addcmul>("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                        "self + value * tensor1 * tensor2", addcmul_grad),
    ternary_op<Addcdiv>("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor",
                        "self + value * tensor1 / tensor2", addcdiv_grad),
};

}  // namespace

std::span<const OpDef> ternary_ops() { return kTernary; }

}  // namespace whittle

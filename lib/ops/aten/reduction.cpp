// Sums, products, means, norms, any and all over dimensions. Kernels add floats in double precision, so that the
// reference is closer to the true sum than what it judges. Definitions:
// https://pytorch.org/docs/stable/torch.html#reduction-ops
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/core/complex.h"
#include "ops/core/integer.h"
#include "ops/core/reduce.h"

namespace whittle {
namespace {

using namespace aten;

using expr::Op;

/// What a kernel accumulates in.
template <class T>
using Accumulator =
    std::conditional_t<is_complex_type<T>, Complex128, std::conditional_t<std::is_floating_point_v<T>, double, T>>;

template <class T>
Accumulator<T> plus(Accumulator<T> a, Accumulator<T> b) {
    if constexpr (std::is_same_v<T, bool>)
        return a || b;
    else if constexpr (std::is_integral_v<T>)
        return wrapping_add(a, b);
    else
        return a + b;
}

/// Sum of f(row(j)).
template <class T, class Row, class F>
Accumulator<T> sum_of(std::int64_t length, const Row& row, F f) {
    Accumulator<T> sum{};
    for (std::int64_t j = 0; j < length; ++j) sum = plus<T>(sum, static_cast<Accumulator<T>>(f(row(j))));
    return sum;
}

/// The dtype asked for, else i64 for integers and bool, else the operand's.
DType sum_dtype(const AnyArguments auto& arguments) {
    const DType self = operand_info(arguments.tensor("self")).dtype;
    return arguments.dtype("dtype").value_or(is_inexact(self) ? self : DType::i64);
}

// --- sum and prod ---

std::vector<ValueMeta> infer_sum(const Arguments<ValueMeta>& arguments) {
    return {ValueMeta::contiguous(sum_dtype(arguments), reduction_of(arguments).result())};
}

/// of_row(T{}, length, row) of each row, as T of the dtype that sums have.
template <class OfRow>
std::vector<Tensor> eval_rows(const Arguments<Tensor>& arguments, const OfRow& of_row) {
    const Reduction reduction = reduction_of(arguments);
    const DType dtype = sum_dtype(arguments);
    return {visit_arithmetic(dtype, [&]<class T>(T zero) {
        const Rows<T> in = rows<T>(arguments.tensor("self"), reduction, dtype);
        const std::vector<T> out =
            in.template each<T>([&](const auto& row) { return static_cast<T>(of_row(zero, in.length, row)); });
        return store(out, dtype, reduction.result());
    })};
}

std::vector<Tensor> eval_sum(const Arguments<Tensor>& arguments) {
    return eval_rows(arguments, []<class T>(T, std::int64_t length, const auto& row) {
        return sum_of<T>(length, row, [](T element) { return element; });
    });
}

std::vector<expr::Value> lower_sum(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const DType dtype = sum_dtype(arguments);
    const expr::Value self = arguments.tensor("self"), operand = read(self, self.sizes(), dtype);
    return {convert(dtype, fold_sum(builder, operand, reduction_of(arguments)))};
}

std::vector<Tensor> eval_prod(const Arguments<Tensor>& arguments) {
    return eval_rows(arguments, []<class T>(T, std::int64_t length, const auto& row) {
        Accumulator<T> product = 1;
        for (std::int64_t j = 0; j < length; ++j) {
            if constexpr (std::is_integral_v<T>)
                product = static_cast<T>(wrapping_mul(product, row(j)));
            else if constexpr (is_complex_type<T>)
                product = whittle::product(product, Complex128(row(j)));
            else
                product *= row(j);
        }
        return product;
    });
}

std::vector<expr::Value> lower_prod(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const DType dtype = sum_dtype(arguments);
    const expr::Value self = arguments.tensor("self"), operand = read(self, self.sizes(), dtype);
    const auto times = [&](const Expr& sofar, const FoldStep& step) {
        const Expr element = operand(step.operand);
        return element->dtype == DType::boolean ? sofar && element : sofar * element;
    };
    const Expr one = expr::constant(operand.dtype(), Scalar(1));
    return {convert(dtype, fold(builder, reduction_of(arguments), one, times, "product"))};
}

// --- mean ---

DType mean_dtype(const AnyArguments auto& arguments) {
    const DType self = operand_info(arguments.tensor("self")).dtype;
    const DType dtype = arguments.dtype("dtype").value_or(self);
    if (!is_inexact(dtype))
        throw Error("aten." + arguments.schema().name + ": the mean of " + std::string(name(dtype)) + " is not defined",
                    "pass a floating-point dtype");
    return dtype;
}

std::vector<ValueMeta> infer_mean(const Arguments<ValueMeta>& arguments) {
    return {ValueMeta::contiguous(mean_dtype(arguments), reduction_of(arguments).result())};
}

std::vector<Tensor> eval_mean(const Arguments<Tensor>& arguments) {
    const Reduction reduction = reduction_of(arguments);
    const DType dtype = mean_dtype(arguments);
    const auto means = [&]<class T>(T) {
        const Rows<T> in = rows<T>(arguments.tensor("self"), reduction, dtype);
        const std::vector<T> out = in.template each<T>([&](const auto& row) {
            return sum_of<T>(in.length, row, [](T x) { return x; }) / static_cast<double>(in.length);
        });
        return store(out, dtype, reduction.result());
    };
    return {is_complex(dtype) ? means(Complex128{}) : means(double{})};
}

/// DivisorFn.
std::int64_t power_of_two_count(const Arguments<Tensor>& arguments) {
    const std::int64_t count = reduction_of(arguments).count();
    return std::has_single_bit(static_cast<std::uint64_t>(count)) ? count : 0;
}

std::vector<expr::Value> lower_mean(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const DType dtype = mean_dtype(arguments);
    const Reduction reduction = reduction_of(arguments);
    const expr::Value self = arguments.tensor("self");
    const expr::Value sum = fold_sum(builder, read(self, self.sizes(), dtype), reduction);
    const auto count = static_cast<double>(reduction.count());
    return {pointwise({sum}, sum.sizes(), dtype,
                      [count](const std::vector<Expr>& x) { return x[0] / constant(x[0], count); })};
}

// --- any and all ---

/// bool, but u8 for u8.
DType logic_dtype(const AnyArguments auto& arguments) {
    return operand_info(arguments.tensor("self")).dtype == DType::u8 ? DType::u8 : DType::boolean;
}

/// As of other ops, but an empty list of dimensions, other than none, reduces nothing: so PyTorch since 2.2.
Reduction logic_reduction(const AnyArguments auto& arguments) {
    Reduction reduction = reduction_of(arguments);
    const Param* dim = arguments.schema().param("dim");
    if (dim && dim->type == ParamType::int_list && arguments.has("dim") && arguments.integers("dim").empty())
        reduction.reduced.assign(reduction.sizes.size(), false);
    return reduction;
}

std::vector<ValueMeta> infer_logic(const Arguments<ValueMeta>& arguments) {
    return {ValueMeta::contiguous(logic_dtype(arguments), logic_reduction(arguments).result())};
}

/// Which elements are != 0. (A complex number that becomes bool is its real part.)
Tensor truth_of(const Tensor& self) {
    if (!is_complex(self.dtype())) return self;
    std::vector<bool> truth;
    for (const Complex128& element : self.values<Complex128>()) truth.push_back(element != Complex128());
    return store(truth, DType::boolean, self.sizes());
}

/// kAny: some element is != 0; else: all are.
template <bool kAny>
std::vector<Tensor> eval_logic(const Arguments<Tensor>& arguments) {
    const Reduction reduction = logic_reduction(arguments);
    const Rows<bool> in = rows<bool>(truth_of(arguments.tensor("self")), reduction, DType::boolean);
    const std::vector<bool> out = in.each<bool>([&](const auto& row) {
        for (std::int64_t j = 0; j < in.length; ++j)
            if (row(j) == kAny) return kAny;
        return !kAny;
    });
    return {store(out, logic_dtype(arguments), reduction.result())};
}

template <bool kAny>
std::vector<expr::Value> lower_logic(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const expr::Value operand = convert(DType::boolean, arguments.tensor("self"));
    return {convert(logic_dtype(arguments), fold_extremum(builder, operand, logic_reduction(arguments), kAny))};
}

// --- Norms ---

/// (sum |x|^p)^(1/p) with its limits: p = 0 counts what is not zero, infinities take the largest or smallest magnitude.
struct Norm {
    double p;
    DType dtype;

    static Norm of(const AnyArguments auto& arguments) {
        const DType self = operand_info(arguments.tensor("self")).dtype;
        const DType dtype = arguments.dtype("dtype").value_or(self);
        if (!is_floating(dtype)) reject_dtype(arguments.schema(), dtype);
        const Norm norm{arguments.number("ord"), dtype};
        if (std::isinf(norm.p) || norm.p < 0) require_elements(arguments.schema(), reduction_of(arguments));
        return norm;
    }

    double element(double x) const {
        if (p == 0) return x != 0;
        if (p == 1) return std::fabs(x);
        if (p == 2) return x * x;
        return std::pow(std::fabs(x), p);
    }
    double finish(double sum) const {
        if (p == 0 || p == 1) return sum;
        return p == 2 ? std::sqrt(sum) : std::pow(sum, 1 / p);
    }
    Expr element(const Expr& x) const {
        if (p == 0) return expr::select(expr::not_equal(x, constant(x, 0)), constant(x, 1), constant(x, 0));
        if (p == 2) return x * x;
        const Expr magnitude = expr::unary(Op::abs, x);
        return p == 1 ? magnitude : expr::binary(Op::pow, magnitude, constant(x, p));
    }
    Expr finish(const Expr& sum) const {
        if (p == 0 || p == 1) return sum;
        return p == 2 ? expr::unary(Op::sqrt, sum) : expr::binary(Op::pow, sum, constant(sum, 1 / p));
    }
};

std::vector<ValueMeta> infer_norm(const Arguments<ValueMeta>& arguments) {
    return {ValueMeta::contiguous(Norm::of(arguments).dtype, reduction_of(arguments).result())};
}

std::vector<Tensor> eval_norm(const Arguments<Tensor>& arguments) {
    const Norm norm = Norm::of(arguments);
    const Reduction reduction = reduction_of(arguments);
    const Rows<double> in = rows<double>(arguments.tensor("self"), reduction, norm.dtype);
    const std::vector<double> out = in.each<double>([&](const auto& row) {
        if (!std::isinf(norm.p))
            return norm.finish(sum_of<double>(in.length, row, [&](double x) { return norm.element(x); }));
        double extreme = norm.p > 0 ? 0 : std::numeric_limits<double>::infinity();
        for (std::int64_t j = 0; j < in.length; ++j) {
            const double magnitude = std::fabs(row(j));
            if (std::isnan(extreme) || std::isnan(magnitude))
                extreme = std::numeric_limits<double>::quiet_NaN();
            else
                extreme = norm.p > 0 ? std::max(extreme, magnitude) : std::min(extreme, magnitude);
        }
        return extreme;
    });
    return {store(out, norm.dtype, reduction.result())};
}

std::vector<expr::Value> lower_norm(expr::GroupBuilder& builder, const Arguments<expr::Value>& arguments) {
    const Norm norm = Norm::of(arguments);
    const Reduction reduction = reduction_of(arguments);
    const expr::Value self = arguments.tensor("self"), operand = read(self, self.sizes(), norm.dtype);
    const bool extreme = std::isinf(norm.p);
    const expr::Value elements = pointwise({operand}, self.sizes(), operand.dtype(), [=](const std::vector<Expr>& x) {
        return extreme ? expr::unary(Op::abs, x[0]) : norm.element(x[0]);
    });
    const expr::Value folded =
        extreme ? fold_extremum(builder, elements, reduction, norm.p > 0) : fold_sum(builder, elements, reduction);
    return {pointwise({folded}, folded.sizes(), norm.dtype,
                      [=](const std::vector<Expr>& x) { return extreme ? x[0] : norm.finish(x[0]); })};
}

/// norm: the older spelling of linalg_vector_norm.
CallResults decompose_norm(const Call& c) {
    const V x = c.tensor("self");
    const Scalar p = c.optional_scalar("p").value_or(Scalar(2));
    if (!c.schema().param("dim")) return linalg_vector_norm(x, p);
    return linalg_vector_norm(x, p, c.integers("dim"), c.boolean("keepdim"));
}

/// Elements that are not zero, counted over a dimension, a list of them, or all.
CallResults decompose_count(const Call& c) {
    const V counted = ne(c.tensor("self"), 0);
    if (!c.has("dim")) return sum(counted);
    const bool list = c.schema().param("dim")->type == ParamType::int_list;
    return sum(counted, list ? c.integers("dim") : Ints{c.integer("dim")});
}

/// The sum with NaN as 0.
CallResults decompose_nansum(const Call& c) {
    V x = c.tensor("self");
    if (is_floating(x.dtype())) x = masked_fill(x, isnan(x), 0);
    return sum(x, c.has("dim") ? c.integers("dim") : Ints(), c.boolean("keepdim"), c.dtype("dtype"));
}

// --- Gradients ---

/// Slopes x |x|^(p - 2) / norm^(p - 1), with nothing where they are not defined.
V of_power_norm(const OfReduction& r, double p, const V& grad, const V& norm) {
    if (p < 1) {
        const V power = drop(eq(r.x, 0), pow(abs(r.x), p - 1));
        return sign(r.x) * power * grad * pow(norm, 1 - p);
    }
    const V scale = drop(eq(norm, 0), grad / pow(norm, p - 1));
    const V scaled = p < 2 ? sign(r.x) * pow(abs(r.x), p - 1) : r.x * pow(abs(r.x), p - 2);
    return scaled * scale;
}

V sum_grad(const OfSelf& of) {
    const OfReduction r(of);
    return r.expanded(r.g);
}
V mean_grad(const OfSelf& of) {
    const OfReduction r(of);
    return r.expanded(r.g) / r.count();
}
/// The product of the other elements, from both ends: right where elements are zero, too.
V prod_grad(const OfSelf& of) {
    const OfReduction r(of);
    const bool whole = !r.call.schema().param("dim");
    // What "dtype" takes of complex numbers, their real parts, is multiplied.
    const bool parts = is_complex(r.x.dtype()) && !is_complex(r.y.dtype());
    const V factors = parts ? r.call.builder().convert(r.x, r.y.dtype()) : r.x;
    const V x = whole ? reshaped(factors, Ints{r.x.numel()}) : factors;
    const V grad = whole ? r.g : r.kept(r.g);
    if (x.sizes().empty() || x.numel() == 0) return r.expanded(r.g);
    const std::int64_t dim = whole ? 0 : r.dims.at(0), size = x.sizes()[static_cast<std::size_t>(dim)];
    Sizes edge = x.sizes();
    edge[static_cast<std::size_t>(dim)] = 1;
    const V one = ones(r.call.builder(), edge, x.dtype());
    const auto reversed = [&](const V& v) { return flip(v, Ints{dim}); };
    const auto before = [&](const V& v) {
        const V shifted = cat(Vs{one, sliced(v, dim, 0, size - 1)}, dim);
        return cumprod(shifted, dim);
    };
    const V others = before(x) * reversed(before(reversed(x)));
    return reshaped(grad * conjugate(others), r.x.sizes());
}
void vector_norm_grad(Gradients& c) {
    const OfReduction r(c);
    const double p = c.scalar("ord").to_double();
    const V grad = r.kept(r.g), norm = r.kept(r.y);
    if (p == 0) return c.set("self", zeros_like(r.x));
    if (p == 1) return c.set("self", sign(r.x) * grad);
    if (p == 2) return c.set("self", grad * drop(eq(norm, 0), r.x / norm));
    if (!std::isinf(p)) return c.set("self", of_power_norm(r, p, grad, norm));
    const V extreme = eq(abs(r.x), norm);
    c.set("self", sign(r.x) * r.shared(r.or_nan(extreme)));
}

constexpr OpDef sum_op(std::string_view schema) {
    return primitive(schema, "sum; unless dtype is given, in i64 with wraparound for integers and bool",
                     kOrdered | kComplex, {infer_sum, eval_sum, lower_sum}, sum_grad, kBoundSums);
}
constexpr OpDef prod_op(std::string_view schema) {
    return primitive(schema, "product; unless dtype is given, in i64 with wraparound for integers and bool",
                     kOrdered | kComplex, {infer_sum, eval_prod, lower_prod}, prod_grad,
                     with_exact(kBoundSums, Bound::Exact::never));
}
constexpr OpDef mean_op(std::string_view schema) {
    return primitive(schema, "sum / count in a floating-point dtype; NaN if there are no elements",
                     kAnyDType | kComplex, {infer_mean, eval_mean, lower_mean}, mean_grad,
                     means_by(power_of_two_count));
}
template <bool kAny>
constexpr OpDef logic_op(std::string_view schema) {
    return primitive(schema,
                     kAny ? "whether an element is != 0; for u8, the result is u8"
                          : "whether all elements are != 0; for u8, the result is u8",
                     kAnyDType | kComplex, {infer_logic, eval_logic<kAny>, lower_logic<kAny>}, no_gradient, kBoundStep);
}

constexpr OpDef kReduction[] = {
    sum_op("sum{|.dim_IntList}(Tensor self{|, int[1]? dim, bool keepdim=False}, *, ScalarType? dtype=None) -> Tensor"),
    prod_op("prod{|.dim_int}(Tensor self{|, int dim, bool keepdim=False}, *, ScalarType? dtype=None) -> Tensor"),
    mean_op("mean{|.dim}(Tensor self{|, int[1]? dim, bool keepdim=False}, *, ScalarType? dtype=None) -> Tensor"),
    logic_op<true>("any{|.dim|.dims}(Tensor self{|, int dim|, int[]? dim=None}{|, bool keepdim=False|, bool "
                   "keepdim=False}) -> Tensor"),
    logic_op<false>("all{|.dim|.dims}(Tensor self{|, int dim|, int[]? dim=None}{|, bool keepdim=False|, bool "
                    "keepdim=False}) -> Tensor"),
    primitive(
        "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? "
        "dtype=None) -> Tensor",
        "(sum |x|^ord)^(1/ord); ord=0: the number of nonzero elements; infinite ord: the largest or smallest magnitude",
        kFloating, {infer_norm, eval_norm, lower_norm}, vector_norm_grad, with_exact(kBoundSums, Bound::Exact::never)),
    composite("norm.Scalar(Tensor self, Scalar p=2) -> Tensor", "linalg_vector_norm over all dimensions", kFloating,
              decompose_norm),
    composite("norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
              "linalg_vector_norm over dimensions; p is 2 if not given", kFloating, decompose_norm),
    composite("count_nonzero{.dim_IntList|}(Tensor self, int{[]|?} dim{|=None}) -> Tensor",
              "how many elements are != 0", kAnyDType | kComplex, decompose_count, no_gradient),
    composite("nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
              "the sum of the elements that are not NaN", kAnyDType, decompose_nansum),
};

}  // namespace

std::span<const OpDef> reduction_ops() { return kReduction; }

}  // namespace whittle

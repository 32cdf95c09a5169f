// Running sums, products, extremes and log-sums along a dimension. Like ATen's CPU kernels they accumulate f32 in f64,
// half types in f32, complex numbers in c128 and integers in i64.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/core/combine.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;

/// at::acc_type on CPU.
DType accumulator(DType dtype) {
    if (dtype == DType::f32) return DType::f64;
    if (is_complex(dtype)) return DType::c128;
    return is_floating(dtype) ? compute_dtype(dtype) : DType::i64;
}

/// Calls f(offsets of a line's elements) for every line of a contiguous tensor along `dim`.
template <class F>
void for_each_line(const Sizes& sizes, std::size_t dim, F&& f) {
    const Strides strides = contiguous_strides(sizes);
    Sizes starts = sizes;
    starts[dim] = 1;
    std::vector<std::size_t> line(static_cast<std::size_t>(sizes[dim]));
    for_each_index(starts, [&](const std::vector<std::int64_t>& i) {
        const std::int64_t start = element_offset(i, strides);
        for (std::size_t k = 0; k < line.size(); ++k)
            line[k] = static_cast<std::size_t>(start + static_cast<std::int64_t>(k) * strides[dim]);
        f(line);
    });
}

/// A stage of `init`'s elements in which those from the second on along `dim` are then replaced, in order, by
/// next(previous element of the stage, own element of the stage, own index).
expr::Value scan_stage(expr::GroupBuilder& g, const expr::Value& init, std::size_t dim,
                       const std::function<Expr(const Expr& before, const Expr& own, const expr::Index& at)>& next,
                       const std::string& hint) {
    const std::int64_t extent = init.sizes()[dim];
    if (extent < 2) return init;
    return g.stage(
        init.dtype(), init.sizes(), [&](const expr::Index& i) { return init(i); },
        [&](const expr::Index& i, const std::function<Expr(const expr::Index&)>& self) {
            const expr::LoopVar r = g.domain_variable(extent - 1);
            expr::Index before = i, own = i;
            before[dim] = expr::variable(r.name);
            own[dim] = expr::variable(r.name) + expr::index(1);
            return std::vector<expr::Update>{
                {.domain = {r}, .where = own, .value = next(self(before), self(own), own)}};
        },
        hint);
}

std::size_t scan_dim(const AnyArguments auto& a, const Sizes& sizes) {
    return static_cast<std::size_t>(wrap_dim(a.integer("dim"), sizes));
}

// --- cumsum, cumprod, logcumsumexp -----------------------------------------------------------------------------------

struct RunningSum {
    static constexpr bool widens = true;  ///< integers give i64
    template <class T>
    static T next(T before, T own) {
        return combine<T>(Combine::sum, before, own);
    }
    static Expr next(const Expr& before, const Expr& own) { return before + own; }
};

struct RunningProduct {
    static constexpr bool widens = true;
    template <class T>
    static T next(T before, T own) {
        return combine<T>(Combine::prod, before, own);
    }
    static Expr next(const Expr& before, const Expr& own) { return before * own; }
};

/// log(exp(a) + exp(b)) without overflow. Equal infinities give themselves, where the formula would give NaN.
struct RunningLogSumExp {
    static constexpr bool widens = false;
    template <class T>
    static T next(T a, T b) {
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(b)) return b;
            const T low = b < a ? b : a, high = a < b ? b : a;
            return low == high && std::isinf(low) ? a : std::log1p(std::exp(low - high)) + high;
        } else {
            return a;
        }
    }
    static Expr next(const Expr& a, const Expr& b) {
        const Expr low = expr::select(b < a, b, a), high = expr::select(a < b, b, a);
        const Expr infinity = constant(a, std::numeric_limits<double>::infinity());
        const Expr infinite = equal(low, high) && equal(expr::unary(expr::Op::abs, low), infinity);
        const Expr exponential = expr::unary(expr::Op::exp, low - high);
        const Expr sum = expr::unary(expr::Op::log1p, exponential) + high;
        return expr::select(expr::unary(expr::Op::is_nan, b), b, expr::select(infinite, a, sum));
    }
};

template <class Rule, class T>
DType scan_dtype(const Arguments<T>& a) {
    const DType self = operand_info(a, "self").dtype;
    if constexpr (Rule::widens) {
        if (const std::optional<DType> given = a.dtype("dtype")) {
            if (*given == DType::boolean)
                throw Error(a.schema().name + ": found dtype bool, expected an integer or floating-point dtype");
            return *given;
        }
        if (!is_inexact(self)) return DType::i64;
    }
    return self;
}

template <class Rule>
constexpr OpDef scan_op(std::string_view schema, std::string_view doc, DTypeSet dtypes, GradientRule grad,
                        const Bound& bound = {}) {
    OpDef def{.doc = doc, .schema = schema, .dtypes = dtypes, .grad = grad, .bound = bound};
    def.infer = [](const Arguments<ValueMeta>& a) -> std::vector<ValueMeta> {
        const ValueMeta self = a.tensor("self");
        scan_dim(a, self.sizes);
        return {ValueMeta::contiguous(scan_dtype<Rule>(a), self.sizes)};
    };
    def.eval = [](const Arguments<Tensor>& a) -> std::vector<Tensor> {
        const Tensor self = a.tensor("self");
        const DType dtype = scan_dtype<Rule>(a);
        const std::size_t dim = scan_dim(a, self.sizes());
        return {visit_arithmetic(accumulator(dtype), [&]<class T>(T) {
            std::vector<T> values = self.to(dtype).values<T>();
            for_each_line(at_least_1d(self.sizes()), dim, [&](const std::vector<std::size_t>& line) {
                for (std::size_t k = 1; k < line.size(); ++k)
                    values[line[k]] = Rule::template next<T>(values[line[k - 1]], values[line[k]]);
            });
            return store<T>(values, dtype, self.sizes());
        })};
    };
    def.lower = [](expr::GroupBuilder& g, const Arguments<expr::Value>& a) -> std::vector<expr::Value> {
        const expr::Value self = a.tensor("self");
        const DType dtype = scan_dtype<Rule>(a);
        const std::size_t dim = scan_dim(a, self.sizes());
        const expr::Value init = convert(accumulator(dtype), convert(dtype, at_least_1d(self)));
        const expr::Value result = scan_stage(
            g, init, dim,
            [](const Expr& before, const Expr& own, const expr::Index&) { return Rule::next(before, own); }, "scan");
        return {reshape_value(convert(dtype, result), self.sizes())};
    };
    return def;
}

// --- cummax, cummin --------------------------------------------------------------------------------------------------

/// A later element wins when it is as large (as small); the first NaN wins for good, and later ones again.
template <bool Largest>
struct Extreme {
    template <class T>
    static bool wins(T own, T before) {
        if (own != own) return true;
        if (before != before) return false;
        return Largest ? own >= before : own <= before;
    }
    static Expr wins(const Expr& own, const Expr& before) {
        const Expr ordered = Largest ? own >= before : own <= before;
        return is_floating(own->dtype) ? expr::unary(expr::Op::is_nan, own) || ordered : ordered;
    }
};

template <class Rule>
std::vector<Tensor> eval_running_extreme(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self");
    const std::size_t dim = scan_dim(a, self.sizes());
    std::vector<std::int64_t> best(static_cast<std::size_t>(self.numel()), 0);
    Tensor values = visit_compute(self.dtype(), [&]<class T>(T) {
        std::vector<T> elements = self.values<T>();
        for_each_line(at_least_1d(self.sizes()), dim, [&](const std::vector<std::size_t>& line) {
            for (std::size_t k = 1; k < line.size(); ++k) {
                const bool wins = Rule::template wins<T>(elements[line[k]], elements[line[k - 1]]);
                best[line[k]] = wins ? static_cast<std::int64_t>(k) : best[line[k - 1]];
                if (!wins) elements[line[k]] = elements[line[k - 1]];
            }
        });
        return store<T>(elements, self.dtype(), self.sizes());
    });
    return {values, Tensor::of(best, self.sizes())};
}

template <class Rule>
std::vector<expr::Value> lower_running_extreme(expr::GroupBuilder& g, const Arguments<expr::Value>& a) {
    const expr::Value self = a.tensor("self");
    const std::size_t dim = scan_dim(a, self.sizes());
    const expr::Value flat = g.materialize(at_least_1d(self));
    const std::int64_t extent = flat.sizes()[dim];
    const auto element = [=](const Expr& position, const expr::Index& at) {
        expr::Index from = at;
        from[dim] = clamp_index(position, extent);
        return flat(from);
    };
    const expr::Value first(DType::i32, flat.sizes(), [](const expr::Index&) { return expr::index(0); });
    const expr::Value best = scan_stage(
        g, first, dim,
        [&](const Expr& before, const Expr&, const expr::Index& at) {
            return expr::select(Rule::wins(comparable(flat(at)), comparable(element(before, at))), at[dim], before);
        },
        "best");
    const expr::Value values(flat.dtype(), flat.sizes(),
                             [element, best](const expr::Index& i) { return element(best(i), i); });
    return {reshape_value(values, self.sizes()), reshape_value(convert(DType::i64, best), self.sizes())};
}

// --- Gradients ---

/// Of running values and indices.
V scan_picked_grad(const OfSelf& of) {
    const AlongDim r(of);
    return scatter_add(r.zeros_like_self(), r.dim, r.call.result(1), r.g);
}

V cumsum_grad(const OfSelf& of) {
    const AlongDim r(of);
    return r.reversed(cumsum(r.reversed(r.g), r.dim));
}
/// Product j depends on element k <= j by the product of the others up to j. All of them are computed, so that zeros
/// are right: n elements for each of the n of a line.
V cumprod_grad(const OfSelf& of) {
    const AlongDim r(of);
    if (r.x.rank() == 0 || r.x.numel() == 0) return r.g;
    const auto d = static_cast<std::size_t>(r.dim);
    const std::int64_t n = r.x.sizes()[d];
    Sizes square = r.x.sizes(), eye(static_cast<std::size_t>(r.x.rank() + 1), 1);  // k, then j
    square.insert(square.begin() + r.dim, n);
    eye[d] = eye[d + 1] = n;
    const V ones = aten::ones(r.call.builder(), Ints{n, n}, DType::boolean);
    const V upper = triu(ones), beyond = triu(ones, 1);
    const V same = logical_xor(upper, beyond);
    const V x = r.call.builder().convert(r.x, r.g.dtype());
    const V lines = expand(unsqueeze(x, r.dim), square);
    const V others = masked_fill(lines, reshaped(same, eye), 1);
    const V products = cumprod(others, r.dim + 1);
    const V slopes = keep(reshaped(upper, eye), products);
    const V grad = unsqueeze(r.g, r.dim);
    return summed(conjugate(slopes) * grad, Ints{r.dim + 1});
}
/// exp(x - y) times the gradient, summed from the end, positive and negative gradients apart in logarithms.
void logcumsumexp_grad(Gradients& c) {
    const AlongDim r(of_self(c));
    const V logs = log(abs(r.g));
    const auto part = [&](const V& has) {
        const V size = where(has, logs, std::numeric_limits<double>::lowest());
        return exp(r.reversed(logcumsumexp(r.reversed(size - r.y), r.dim)) + r.x);
    };
    const V positive = part(gt(r.g, 0));
    c.set("self", positive - part(lt(r.g, 0)));
}

template <class Rule>
constexpr OpDef running_extreme_op(std::string_view schema, std::string_view doc) {
    return {.doc = doc,
            .schema = schema,
            .infer = [](const Arguments<ValueMeta>& a) -> std::vector<ValueMeta> {
                const ValueMeta self = a.tensor("self");
                scan_dim(a, self.sizes);
                return {ValueMeta::contiguous(self.dtype, self.sizes), ValueMeta::contiguous(DType::i64, self.sizes)};
            },
            .eval = &eval_running_extreme<Rule>,
            .lower = &lower_running_extreme<Rule>,
            .grad = scan_picked_grad,
            .bound = kBoundChoice};
}

// --- diff ------------------------------------------------------------------------------------------------------------

CallResults decompose_diff(const Call& c) {
    V self = c.tensor("self");
    if (self.sizes().empty()) throw Error("diff: found a 0-d tensor, expected at least 1 dimension");
    const std::int64_t dim = wrap_dim(c.integer("dim"), self.sizes());
    if (c.integer("n") < 0) throw Error("diff: found n=" + std::to_string(c.integer("n")) + ", expected 0 or more");
    Vs parts = {self};
    if (const auto prepend = c.optional_tensor("prepend")) parts.insert(parts.begin(), *prepend);
    if (const auto append = c.optional_tensor("append")) parts.push_back(*append);
    if (parts.size() > 1) self = cat(parts, dim);
    const std::int64_t times = std::min(c.integer("n"), self.sizes()[static_cast<std::size_t>(dim)]);
    if (times == 0 && parts.size() == 1) return own_copy(self);
    if (times > 64) throw Error("diff: found n=" + std::to_string(times) + ", expected at most 64");
    for (std::int64_t k = 0; k < times; ++k) {
        const std::int64_t size = self.sizes()[static_cast<std::size_t>(dim)];
        const V later = slice(self, dim, 1, size);
        const V earlier = slice(self, dim, 0, size - 1);
        const bool logical = self.dtype() == DType::boolean;
        self = logical ? logical_xor(later, earlier) : later - earlier;
    }
    return self;
}

}  // namespace

std::span<const OpDef> scan_ops() {
    static const OpDef ops[] = {
        scan_op<RunningSum>("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", "running sums",
                            kOrdered | kComplex, cumsum_grad, kBoundSums),
        scan_op<RunningProduct>("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                                "running products", kAnyDType | kComplex, cumprod_grad,
                                with_exact(kBoundSums, Bound::Exact::never)),
        scan_op<RunningLogSumExp>("logcumsumexp(Tensor self, int dim) -> Tensor",
                                  "logarithms of running sums of exponentials", kFloating, logcumsumexp_grad),
        running_extreme_op<Extreme<true>>("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)",
                                          "running maxima and their positions"),
        running_extreme_op<Extreme<false>>("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)",
                                           "running minima and their positions"),
        composite("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor",
                  "differences of neighbors, n times", kAnyDType, decompose_diff),
    };
    return ops;
}

}  // namespace whittle

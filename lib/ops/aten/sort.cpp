// Order along a dimension: sort, argsort, topk, kthvalue, median. NaN counts as greater than every number, and equal
// elements keep their order (ATen promises that of stable sorts only; any order of ties is one it may give).
//
// Compiled, an element's rank is the number of elements that precede it, and a scatter by rank inverts that: n^2 simple
// operations, without code of its own for the backends to call. Dimensions beyond kMostCompiled are refused.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/gradient.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;

constexpr std::int64_t kMostCompiled = 4096;

// --- The order -------------------------------------------------------------------------------------------------------

template <class T>
bool precedes(T a, T b, bool descending) {
    if (descending) std::swap(a, b);
    if constexpr (std::is_floating_point_v<T>) {
        if (std::isnan(a)) return false;
        if (std::isnan(b)) return true;
    }
    return a < b;
}

Expr precedes(Expr a, Expr b, bool descending) {
    if (descending) std::swap(a, b);
    if (!is_floating(a->dtype)) return a < b;
    const Expr a_nan = expr::unary(expr::Op::is_nan, a), b_nan = expr::unary(expr::Op::is_nan, b);
    return a < b || (b_nan && logical_not(a_nan));
}

/// Positions along `dim` (of at_least_1d(self)) in order, the first `count` of each line; i64.
Tensor sorted_positions(const Tensor& self, std::size_t dim, bool descending, std::int64_t count) {
    const Tensor line_of = at_least_1d(self);
    Sizes starts = line_of.sizes(), sizes = starts;
    starts[dim] = 1;
    sizes[dim] = count;
    Tensor result(DType::i64, sizes);
    const Strides strides = contiguous_strides(line_of.sizes());
    std::vector<std::int64_t> order(static_cast<std::size_t>(line_of.sizes()[dim]));
    visit_ordered(self.dtype(), [&]<class T>(T) {
        const std::vector<T> values = line_of.values<T>();
        for_each_index(starts, [&](const std::vector<std::int64_t>& i) {
            const std::int64_t first = element_offset(i, strides);
            const auto value = [&](std::int64_t position) {
                return static_cast<T>(values[static_cast<std::size_t>(first + position * strides[dim])]);
            };
            std::iota(order.begin(), order.end(), 0);
            std::ranges::stable_sort(
                order, [&](std::int64_t a, std::int64_t b) { return precedes<T>(value(a), value(b), descending); });
            const std::int64_t to = element_offset(i, result.strides());
            for (std::int64_t k = 0; k < count; ++k)
                result.mutable_data<std::int64_t>()[to + k * result.strides()[dim]] =
                    order[static_cast<std::size_t>(k)];
        });
    });
    return result;
}

/// As above in expressions: a stage of i32. `self` is stored and has dimensions.
expr::Value sorted_positions(expr::GroupBuilder& g, const expr::Value& self, std::size_t dim, bool descending,
                             std::int64_t count, const std::string& op) {
    const std::int64_t extent = self.sizes()[dim];
    if (extent > kMostCompiled)
        throw Error(op + ": found a dimension of size " + std::to_string(extent) + ", expected at most " +
                        std::to_string(kMostCompiled) + " in compiled code",
                    "sort a smaller dimension: compiled sorting takes time quadratic in the size");
    Sizes sizes = self.sizes();
    sizes[dim] = count;
    if (element_count(sizes) == 0) return empty_value(DType::i32, sizes);
    const expr::Value rank = g.reduce(
        DType::i32, self.sizes(), {extent}, [](const expr::Index&) { return expr::index(0); },
        [&](const expr::Index& i, const expr::Index& r, const Expr& before) {
            expr::Index other = i;
            other[dim] = r[0];
            const Expr own = comparable(self(i)), its = comparable(self(other));
            const Expr first = expr::select(r[0] < i[dim], logical_not(precedes(own, its, descending)),
                                            precedes(its, own, descending));
            return before + expr::cast(DType::i32, first);
        },
        "rank");
    return g.stage(
        DType::i32, sizes, [](const expr::Index&) { return expr::index(0); },
        [&](const expr::Index& i, const std::function<Expr(const expr::Index&)>&) {
            const expr::LoopVar r = g.domain_variable(extent);
            expr::Index from = i, to = i;
            from[dim] = expr::variable(r.name);
            const Expr at = rank(from);
            to[dim] = clamp_index(at, count);
            expr::Update update{.domain = {r}, .where = to, .value = from[dim]};
            if (count < extent) update.condition = at < expr::index(count);
            return std::vector<expr::Update>{update};
        },
        "order");
}

/// self's elements at positions along dim.
expr::Value at_positions(const expr::Value& self, const expr::Value& positions, std::size_t dim) {
    return expr::Value(self.dtype(), positions.sizes(), [=](const expr::Index& i) {
        expr::Index from = i;
        from[dim] = clamp_index(positions(i), self.sizes()[dim]);
        return self(from);
    });
}

Tensor at_positions(const Tensor& given, const Tensor& positions, std::size_t dim) {
    const Tensor self = at_least_1d(given);
    const std::int64_t* next = positions.data<std::int64_t>();
    return pick(self, positions.sizes(), [&](std::vector<std::int64_t> i) {
        i[dim] = *next++;
        return element_offset(i, self.strides());
    });
}

// --- sort and topk ---------------------------------------------------------------------------------------------------

struct Selection {
    std::size_t dim = 0;
    bool descending = false;
    std::int64_t count = 0;  ///< elements kept of each line
    Sizes sizes = {};        ///< of both results
};

Selection selection_of(const AnyArguments auto& a) {
    const Sizes sizes = operand_info(a, "self").sizes;
    Selection s{.dim = static_cast<std::size_t>(wrap_dim(a.integer("dim"), sizes)), .sizes = sizes};
    const std::int64_t extent = at_least_1d(sizes)[s.dim];
    s.count = extent;
    if (!a.schema().param("k")) {
        s.descending = a.boolean("descending");
        return s;
    }
    s.descending = a.boolean("largest");
    s.count = a.integer("k");
    if (s.count < 0 || s.count > extent)
        throw Error("topk: found k=" + std::to_string(s.count) + " for a dimension of size " + std::to_string(extent) +
                    ", expected k from 0 to the size");
    if (!sizes.empty()) s.sizes[s.dim] = s.count;
    return s;
}

/// A number has one position whatever k is.
std::int64_t kept(const Selection& s) { return s.sizes.empty() ? 1 : s.count; }

std::vector<ValueMeta> infer_selection(const Arguments<ValueMeta>& a) {
    const Selection s = selection_of(a);
    return {ValueMeta::contiguous(a.tensor("self").dtype, s.sizes), ValueMeta::contiguous(DType::i64, s.sizes)};
}

std::vector<Tensor> eval_selection(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self");
    const Selection s = selection_of(a);
    const Tensor positions = sorted_positions(self, s.dim, s.descending, kept(s));
    return {reshape_tensor(at_positions(self, positions, s.dim), s.sizes), reshape_tensor(positions, s.sizes)};
}

std::vector<expr::Value> lower_selection(expr::GroupBuilder& g, const Arguments<expr::Value>& a) {
    const Selection s = selection_of(a);
    const expr::Value self = g.materialize(at_least_1d(a.tensor("self")));
    const expr::Value order = sorted_positions(g, self, s.dim, s.descending, kept(s), a.schema().name);
    if (element_count(s.sizes) == 0) return {empty_value(self.dtype(), s.sizes), empty_value(DType::i64, s.sizes)};
    return {reshape_value(at_positions(self, order, s.dim), s.sizes),
            reshape_value(convert(DType::i64, order), s.sizes)};
}

constexpr OpDef selection_op(std::string_view schema, std::string_view doc, DTypeSet dtypes, GradientRule grad) {
    return primitive(schema, doc, dtypes, {infer_selection, eval_selection, lower_selection}, grad, kBoundAnyOfEqual);
}

CallResults decompose_argsort(const Call& c) {
    return sort(c.tensor("self"), c.integer("dim"), c.boolean("descending"))[1];
}

// --- kthvalue and median ---------------------------------------------------------------------------------------------

CallResults decompose_kthvalue(const Call& c) {
    const V self = c.tensor("self");
    const Sizes& sizes = self.sizes();
    const std::int64_t dim = wrap_dim(c.integer("dim"), sizes), k = c.integer("k");
    const std::int64_t extent = at_least_1d(sizes)[static_cast<std::size_t>(dim)];
    if (k < 1 || k > extent)
        throw Error("kthvalue: found k=" + std::to_string(k) + " for a dimension of size " + std::to_string(extent) +
                    ", expected k from 1 to the size");
    Vs results;
    for (const V& sorted : topk(self, k, dim, false)) {
        if (sizes.empty())
            results.push_back(sorted);
        else if (c.boolean("keepdim"))
            results.push_back(slice(sorted, dim, k - 1, k));
        else
            results.push_back(select(sorted, dim, k - 1));
    }
    return results;
}

struct MedianPlan {
    std::size_t dim = 0;
    std::int64_t extent = 0;
    Sizes kept = {};   ///< at_least_1d, the dimension as 1
    Sizes sizes = {};  ///< of both results
};

MedianPlan plan_median(const AnyArguments auto& a) {
    const Sizes sizes = operand_info(a, "self").sizes;
    MedianPlan plan{
        .dim = static_cast<std::size_t>(wrap_dim(a.integer("dim"), sizes)), .kept = at_least_1d(sizes), .sizes = sizes};
    plan.extent = std::exchange(plan.kept[plan.dim], 1);
    if (plan.extent == 0) throw Error(a.schema().name + ": found a dimension of size 0, expected at least one element");
    if (sizes.empty()) return plan;
    plan.sizes[plan.dim] = 1;
    if (!a.boolean("keepdim")) plan.sizes.erase(plan.sizes.begin() + static_cast<std::ptrdiff_t>(plan.dim));
    return plan;
}

std::vector<ValueMeta> infer_median(const Arguments<ValueMeta>& a) {
    const MedianPlan plan = plan_median(a);
    return {ValueMeta::contiguous(a.tensor("self").dtype, plan.sizes), ValueMeta::contiguous(DType::i64, plan.sizes)};
}

/// The element of each line that `place` chooses among those in order, of which `at(k)` is the k-th.
template <class Place>
std::vector<Tensor> eval_place(const Arguments<Tensor>& a, const Place& place) {
    const Tensor self = a.tensor("self");
    const MedianPlan plan = plan_median(a);
    const Tensor order = sorted_positions(self, plan.dim, false, plan.extent);
    const Tensor sorted = at_positions(self, order, plan.dim);
    const std::int64_t stride = sorted.strides()[plan.dim];
    const Tensor positions = visit_compute(self.dtype(), [&]<class T>(T) {
        const std::vector<T> values = sorted.values<T>();
        return pick(order, plan.kept, [&](const std::vector<std::int64_t>& i) {
            const std::int64_t first = element_offset(i, sorted.strides());
            const auto at = [&](std::int64_t k) { return values[static_cast<std::size_t>(first + k * stride)]; };
            return first + place(at, plan.extent) * stride;
        });
    });
    return {reshape_tensor(at_positions(self, positions, plan.dim), plan.sizes), reshape_tensor(positions, plan.sizes)};
}

/// The lower of two middle elements; the first NaN where there is any.
std::vector<Tensor> eval_median(const Arguments<Tensor>& a) {
    return eval_place(a, [](const auto& at, std::int64_t extent) {
        std::int64_t middle = (extent - 1) / 2;
        for (std::int64_t k = extent - 1; k >= 0; --k)
            if (const auto value = at(k); value != value) middle = k;
        return middle;
    });
}

std::vector<expr::Value> lower_median(expr::GroupBuilder& g, const Arguments<expr::Value>& a) {
    const MedianPlan plan = plan_median(a);
    const expr::Value self = g.materialize(at_least_1d(a.tensor("self")));
    const std::size_t dim = plan.dim;
    const expr::Value order = sorted_positions(g, self, dim, false, plan.extent, "median");
    if (element_count(plan.sizes) == 0)
        return {empty_value(self.dtype(), plan.sizes), empty_value(DType::i64, plan.sizes)};
    // Sorted last, NaNs begin where the numbers end.
    expr::Value numbers(DType::i32, plan.kept, [=](const expr::Index&) { return expr::index(plan.extent); });
    if (is_floating(self.dtype()))
        numbers = g.reduce(
            DType::i32, plan.kept, {plan.extent}, [](const expr::Index&) { return expr::index(0); },
            [&](const expr::Index& i, const expr::Index& r, const Expr& before) {
                expr::Index from = i;
                from[dim] = r[0];
                const Expr is_number = logical_not(expr::unary(expr::Op::is_nan, comparable(self(from))));
                return before + expr::cast(DType::i32, is_number);
            },
            "numbers");
    const expr::Value positions(DType::i32, plan.kept, [=](const expr::Index& i) {
        const Expr count = numbers(i);
        expr::Index from = i;
        from[dim] = clamp_index(
            expr::select(count < expr::index(plan.extent), count, expr::index((plan.extent - 1) / 2)), plan.extent);
        return order(from);
    });
    return {reshape_value(at_positions(self, positions, dim), plan.sizes),
            reshape_value(convert(DType::i64, positions), plan.sizes)};
}

/// The least of the most frequent elements, at its last place.
std::vector<Tensor> eval_most_frequent(const Arguments<Tensor>& a) {
    return eval_place(a, [](const auto& at, std::int64_t extent) {
        std::int64_t best = 0, longest = 0, length = 0;
        for (std::int64_t k = 0; k < extent; ++k) {
            length = k > 0 && at(k) == at(k - 1) ? length + 1 : 1;
            if (length > longest) longest = length, best = k;
        }
        return best;
    });
}

CallResults decompose_median(const Call& c) {
    const V self = c.tensor("self");
    if (self.numel() == 0) {
        if (!is_floating(self.dtype())) throw Error("median: found an empty tensor, expected at least one element");
        return full(c.builder(), {}, std::nan(""), self.dtype());
    }
    const V flat = reshape(self, Ints{self.numel()});
    return median(flat, 0)[0];
}

/// Equal elements share it, and those that are NaN, if any is.
V median_grad(const OfSelf& r) {
    const V mask = logical_or(eq(r.x, r.y), isnan(r.x));
    return r.g / sum(mask) * mask;
}

}  // namespace

std::span<const OpDef> sort_ops() {
    static const OpDef ops[] = {
        selection_op("sort{|.stable}(Tensor self{|, *, bool? stable}, int dim=-1, bool descending=False) -> (Tensor "
                     "values, Tensor indices)",
                     "the elements in order, and their positions; stable: equal elements keep their order", kOrdered,
                     picked_grad),
        composite("argsort{|.stable}(Tensor self{|, *, bool stable}, int dim=-1, bool descending=False) -> Tensor",
                  "the positions of the elements in sorted order", kOrdered, decompose_argsort, no_gradient),
        selection_op("topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, "
                     "Tensor indices)",
                     "the k largest or smallest elements in order, even with sorted=False, and their positions",
                     kNumbers | kLimited, picked_grad),
        composite("kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
                  "the k-th smallest element and its position", kNumbers, decompose_kthvalue, picked_grad),
        primitive("median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
                  "the lower of the two middle elements, and its position", kNumbers,
                  {infer_median, eval_median, lower_median}, picked_grad, kBoundAnyOfEqual),
        primitive("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)",
                  "the least of the most frequent elements, and its position", kNumbers,
                  {infer_median, eval_most_frequent}, picked_grad),
        composite("median(Tensor self) -> Tensor", "the lower of the two middle elements of all", kNumbers,
                  decompose_median, median_grad),
    };
    return ops;
}

}  // namespace whittle

// Where values belong in sorted sequences: searchsorted and bucketize, by the same binary search in all readers, so
// that they agree on unsorted sequences and NaN too.
#include <algorithm>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/open_rules.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;

struct SearchPlan {
    bool right = false;  ///< behind equal elements
    DType result = DType::i64;
    std::int64_t length = 0;  ///< of a sequence
};

SearchPlan plan_search(const AnyArguments auto& a) {
    const OperandInfo sequence = operand_info(a, "sorted_sequence"), values = operand_info(a, "self");
    if (sequence.dtype != values.dtype)
        throw Error("searchsorted: found values of dtype " + std::string(name(values.dtype)) +
                    " for a sequence of dtype " + std::string(name(sequence.dtype)) + ", expected equal dtypes");
    const Sizes &s = sequence.sizes, &v = values.sizes;
    const bool fits =
        s.size() == 1 || (!s.empty() && s.size() == v.size() && std::equal(s.begin(), s.end() - 1, v.begin()));
    if (!fits)
        throw Error("searchsorted: found values of sizes " + to_string(v) + " for a sorted_sequence of sizes " +
                    to_string(s) +
                    ", expected a sorted_sequence with 1 dimension, or equal sizes except in the last dimension");
    if (a.has("sorter"))
        throw Error("searchsorted: found a sorter, expected a call without a sorter",
                    "sort the sequence first: call gather() with the sorter as the index");
    SearchPlan plan{a.boolean("right"), a.boolean("out_int32") ? DType::i32 : DType::i64, s.back()};
    if (!a.has("side")) return plan;
    const std::string side = a.text("side");
    if ((side != "left" && side != "right") || (plan.right && side == "left"))
        throw Error("searchsorted: found side='" + side +
                    "', expected 'left' or 'right', and only 'right' with right=true");
    plan.right = side == "right";
    return plan;
}

/// Steps until a range of `length` has no element left.
int search_steps(std::int64_t length) {
    int steps = 0;
    for (; length > 0; length /= 2) ++steps;
    return steps;
}

std::vector<ValueMeta> infer_searchsorted(const Arguments<ValueMeta>& a) {
    return {ValueMeta::contiguous(plan_search(a).result, a.tensor("self").sizes)};
}

std::vector<Tensor> eval_search(const Arguments<Tensor>& a) {
    const Tensor sequence = a.tensor("sorted_sequence"), self = a.tensor("self");
    const SearchPlan plan = plan_search(a);
    const bool one = sequence.rank() == 1;
    const std::int64_t per_line = one || self.rank() == 0 ? self.numel() : self.sizes().back();
    return {visit_compute(self.dtype(), [&]<class T>(T) {
        const std::vector<T> elements = sequence.values<T>(), values = self.values<T>();
        std::vector<std::int64_t> result(values.size());
        for (std::size_t k = 0; k < values.size(); ++k) {
            const std::int64_t line = one ? 0 : static_cast<std::int64_t>(k) / per_line;
            std::int64_t low = 0, high = plan.length;
            while (low < high) {
                const std::int64_t middle = low + (high - low) / 2;
                const T element = elements[static_cast<std::size_t>(line * plan.length + middle)];
                const bool behind = plan.right ? !(element > values[k]) : !(element >= values[k]);
                (behind ? low : high) = behind ? middle + 1 : middle;
            }
            result[k] = low;
        }
        return store<std::int64_t>(result, plan.result, self.sizes());
    })};
}

std::vector<expr::Value> lower_search(expr::GroupBuilder& g, const Arguments<expr::Value>& a) {
    const SearchPlan plan = plan_search(a);
    const expr::Value sequence = g.materialize(a.tensor("sorted_sequence")), self = a.tensor("self");
    return {expr::Value(plan.result, self.sizes(), [=](const expr::Index& i) {
        const Expr value = comparable(self(i));
        Expr low = expr::index(0), high = expr::index(plan.length);
        for (int step = 0; step < search_steps(plan.length); ++step) {
            const Expr middle = low + (high - low) / expr::index(2);
            expr::Index at = sequence.rank() == 1 ? expr::Index(1) : i;
            at.back() = clamp_index(middle, plan.length);
            const Expr element = comparable(sequence(at));
            const Expr open = low < high, behind = logical_not(plan.right ? element > value : element >= value);
            low = expr::select(open && behind, middle + expr::index(1), low);
            high = expr::select(open && logical_not(behind), middle, high);
        }
        return expr::cast(plan.result, low);
    })};
}

CallResults decompose_bucketize(const Call& c) {
    const V boundaries = c.tensor("boundaries");
    if (boundaries.sizes().size() != 1)
        throw Error("bucketize: found boundaries of sizes " + to_string(boundaries.sizes()) + ", expected 1 dimension");
    return searchsorted(boundaries, c.tensor("self"), c.boolean("out_int32"), c.boolean("right"));
}

/// Descends somewhere along its last dimension, or holds a NaN that is not last.
template <class T>
bool descends(const Tensor& lines) {
    const std::vector<T> values = lines.values<T>();
    const auto length = static_cast<std::size_t>(extent(lines, -1));
    for (std::size_t i = 1; i < values.size(); ++i)
        if (i % length != 0 && !(values[i - 1] <= values[i]) && values[i] == values[i]) return true;
    return false;
}

Reason ascending(std::string_view op, std::string_view what, const Tensor& lines) {
    const bool open = visit_ordered(lines.dtype(), [&]<class T>(T) {
        if constexpr (std::is_same_v<T, bool>)
            return descends<std::int64_t>(lines);
        else
            return descends<T>(lines);
    });
    if (!open) return std::nullopt;
    return "the " + std::string(what) + " of " + std::string(op) + " is not in ascending order";
}

/// Of searchsorted and bucketize, whose result is open for a sequence that does not increase.
Reason open_sorted_sequence(std::string_view op, const Arguments<Tensor>& a) {
    if (a.has("sorter")) return std::nullopt;  // the kernel refuses it
    return ascending(op, "sorted_sequence", a.tensor("sorted_sequence"));
}

Reason open_sorted_boundaries(std::string_view op, const Arguments<Tensor>& a) {
    return ascending(op, "boundaries", a.tensor("boundaries"));
}

}  // namespace

std::span<const OpDef> search_ops() {
    static const OpDef ops[] = {
        primitive("searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, "
                  "str? side=None, Tensor? sorter=None) -> Tensor",
                  "the positions at which values belong in sorted sequences", kNumbers,
                  {infer_searchsorted, eval_search, lower_search}, no_gradient, kBoundStep,
                  {.ask = open_sorted_sequence}),
        composite(
            "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
            "the bucket between boundaries that each value is in", kNumbers, decompose_bucketize, no_gradient,
            {.ask = open_sorted_boundaries}),
    };
    return ops;
}

}  // namespace whittle

// How many elements are in each of equal bins.
// Definition: https://pytorch.org/docs/stable/generated/torch.histc.html
#include <cmath>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"

namespace whittle {
namespace {

using namespace aten;

/// Elements outside of the bounds, and NaN, are in no bin; the upper bound is in the last. Equal bounds stand for the
/// least and the largest element, and where these are equal for a step down and up.
CallResults decompose_histc(const Call& c) {
    const V x = c.tensor("self");
    const std::int64_t bins = c.integer("bins"), count = x.numel();
    const double low = c.scalar("min").to_double(), high = c.scalar("max").to_double();
    const DType dtype = x.dtype();
    if (bins < 1) throw Error("histc: found bins=" + std::to_string(bins) + ", expected at least 1");
    if (!(low <= high))
        throw Error("histc: found bounds from " + std::to_string(low) + " to " + std::to_string(high) +
                    ", expected min to be at most max");
    if (!std::isfinite(low) || !std::isfinite(high))
        throw Error("histc: found bounds from " + std::to_string(low) + " to " + std::to_string(high) +
                    ", expected finite bounds");
    const V zeros = aten::zeros(c.builder(), Ints{bins}, dtype), flat = reshaped(x, Ints{count});
    if (count == 0) return zeros;
    const auto number = [&](double value) { return scalar_tensor(c.builder(), value, dtype); };
    V from = number(low), to = number(high);
    if (low == high) {
        from = min(flat), to = max(flat);
        const V one = eq(from, to);
        from = where(one, from + -1, from), to = where(one, to + 1, to);
    }
    const V inside = logical_and(ge(flat, from), le(flat, to));
    const V share = (flat - from) * static_cast<double>(bins) / (to - from);
    const V bin = clamp_max(as(keep(inside, share), DType::i64), bins - 1);
    return index_add(zeros, 0, bin, as(inside, dtype));
}

constexpr OpDef kHistogramOps[] = {
    composite("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
              "the number of elements in each of `bins` bins of equal width", set_of(DType::f64) | set_of(DType::f32),
              decompose_histc, no_gradient),
};

}  // namespace

std::span<const OpDef> histogram_ops() { return kHistogramOps; }

}  // namespace whittle

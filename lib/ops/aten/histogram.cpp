// How many elements are in each of equal bins.
// Definition: https://pytorch.org/docs/stable/generated/torch.histc.html
#include <cmath>

#include "base/error.h"
#include "ops/aten/backward.h"
#include "ops/aten/families.h"

namespace whittle {
namespace {

/// Elements outside of the bounds, and NaN, are in no bin; the upper bound is in the last. Equal bounds stand for the
/// least and the largest element, and where these are equal for a step down and up.
std::vector<NodeRef> decompose_histc(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue x = a.tensor("self");
    const std::int64_t bins = a.integer("bins"), count = x.meta.numel();
    const double low = a.scalar("min").to_double(), high = a.scalar("max").to_double();
    const DType dtype = x.meta.dtype;
    if (bins < 1) throw Error("histc: found bins=" + std::to_string(bins) + ", expected at least 1");
    if (!(low <= high))
        throw Error("histc: found bounds from " + std::to_string(low) + " to " + std::to_string(high) +
                    ", expected min to be at most max");
    if (!std::isfinite(low) || !std::isfinite(high))
        throw Error("histc: found bounds from " + std::to_string(low) + " to " + std::to_string(high) +
                    ", expected finite bounds");
    const NodeValue zeros = g.zeros({bins}, dtype), flat = g.reshape(x, {count});
    if (count == 0) return {zeros.ref};
    const auto number = [&](double value) {
        return b.call("aten.scalar_tensor.default", {Arg(value)}, {{"dtype", dtype}});
    };
    NodeValue from = number(low), to = number(high);
    if (low == high) {
        from = g.of("aten.min.default", flat), to = g.of("aten.max.default", flat);
        const NodeValue one = g.call("aten.eq.Tensor", {arg(from), arg(to)});
        from = g.either(one, g.add(from, -1), from), to = g.either(one, g.add(to, 1), to);
    }
    const NodeValue inside = g.call("aten.logical_and.default", {arg(g.call("aten.ge.Tensor", {arg(flat), arg(from)})),
                                                                 arg(g.call("aten.le.Tensor", {arg(flat), arg(to)}))});
    const NodeValue share = g.div(g.mul(g.sub(flat, from), Arg(static_cast<double>(bins))), arg(g.sub(to, from)));
    const NodeValue bin = g.call("aten.clamp_max.default", {arg(g.as(g.keep(inside, share), DType::i64)), bins - 1});
    return {g.call("aten.index_add.default", {arg(zeros), 0, arg(bin), arg(g.as(inside, dtype))}).ref};
}

constexpr OpDef kHistogramOps[] = {
    {.name = "aten.histc.default",
     .doc = "how many elements are in each of equal bins: https://pytorch.org/docs/stable/generated/torch.histc.html",
     .schema = "histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor",
     .dtypes = set_of(DType::f64) | set_of(DType::f32),
     .decompose = decompose_histc,
     .grad = no_gradient},
};

}  // namespace

std::span<const OpDef> histogram_ops() { return kHistogramOps; }

}  // namespace whittle

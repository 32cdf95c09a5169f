// Gradients of pooling as LibTorch's autograd computes them, with its names. All are composites.
// https://github.com/pytorch/pytorch/blob/main/tools/autograd/derivatives.yaml
#include "ops/aten/families.h"

#include <algorithm>

#include "ops/aten/formulas.h"
#include "ops/aten/linear_map.h"
#include "ops/aten/pooling.h"
#include "ops/core/open_rules.h"

namespace whittle {
namespace {

using namespace aten;

[[noreturn]] void refuse_gradient(const std::string& op, const V& grad, const V& x) {
    throw Error(op + ": found a gradient of sizes " + to_string(grad.sizes()) + " for an operand of sizes " +
                to_string(x.sizes()) + ", expected the sizes of the result of the pooling");
}

/// Whether both have the images' rank, and the same leading dimensions.
bool fit(const V& grad, const V& x, std::size_t rank) {
    const Sizes &a = grad.sizes(), &b = x.sizes();
    return a.size() == b.size() && (b.size() == rank + 1 || b.size() == rank + 2) &&
           std::equal(a.begin(), a.end() - static_cast<std::ptrdiff_t>(rank), b.begin());
}

/// Each gradient added up where its maximum was.
template <std::size_t Rank>
CallResults max_pool_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self"), at = c.tensor("indices");
    if (!fit(grad, x, Rank) || at.sizes() != grad.sizes()) refuse_gradient(c.schema().name, grad, x);
    const Sizes flat = flat_sizes(x.sizes(), Rank), rows = flat_sizes(grad.sizes(), Rank);
    const V added = scatter_add(zeros(c.builder(), flat, grad.dtype()), static_cast<std::int64_t>(flat.size()) - 1,
                                reshaped(at, rows), reshaped(grad, rows));
    return reshaped(added, x.sizes());
}

/// Each window hands its gradient to its elements, in equal parts.
V spread_over_windows(const std::string& op, const V& grad, const V& x, const Average& average) {
    const Window& w = average.pooling.window;
    if (grad.sizes() != average.pooling.sizes) refuse_gradient(op, grad, x);
    std::vector<LinearMap> maps;
    for (std::size_t d = 0; d < w.in.size(); ++d) {
        maps.push_back({w.out[d], w.in[d]});
        for (std::int64_t place = 0; place < w.out[d]; ++place) {
            const std::int64_t slid = place * w.stride[d] - w.padding[d];
            const std::int64_t start = average.pooling.adaptive ? average.pooling.start(d, place) : slid;
            const std::int64_t end = average.pooling.adaptive ? average.pooling.end(d, place) : slid + w.kernel[d];
            const double share = average.divisor ? 1 : 1 / static_cast<double>(average.count(d, place));
            for (std::int64_t at = std::max<std::int64_t>(start, 0); at < std::min(end, w.in[d]); ++at)
                maps.back().add(place, at, share);
        }
    }
    const V whole = apply_all(grad, maps);
    return average.divisor ? whole / static_cast<double>(*average.divisor) : whole;
}

template <int Rank>
CallResults avg_pool_backward(const Call& c) {
    return spread_over_windows(c.schema().name, c.tensor("grad_output"), c.tensor("self"), average_of<Rank, false>(c));
}

template <std::size_t Rank>
CallResults adaptive_avg_pool_backward(const Call& c) {
    const V grad = c.tensor("grad_output"), x = c.tensor("self");
    if (!fit(grad, x, Rank)) refuse_gradient(c.schema().name, grad, x);
    const Sizes out(grad.sizes().end() - static_cast<std::ptrdiff_t>(Rank), grad.sizes().end());
    return spread_over_windows(c.schema().name, grad, x, {adaptive_pooling(c.schema().name, x.meta, Rank, out)});
}

/// Of the gradients of max pooling, in an image of `self`, its last Dims dimensions: 2 or 3.
template <int Dims>
Reason open_pooled_positions(std::string_view op, const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self");
    if (self.rank() < Dims) return std::nullopt;  // the decomposition refuses it
    return bad_index(op, a.tensor("indices"), element_count(Sizes(self.sizes().end() - Dims, self.sizes().end())),
                     false);
}

template <int Rank>
constexpr OpDef maximum_gradient_op(std::string_view schema) {
    return composite(schema,
                     "zeros with the gradient at the position of each maximum: "
                     "https://pytorch.org/docs/stable/nn.html#pooling-layers",
                     kFloating, max_pool_backward<Rank>, {.ask = open_pooled_positions<Rank>});
}
constexpr OpDef mean_gradient_op(std::string_view schema, DecomposeFn decompose) {
    return composite(schema,
                     "the gradient spread over each window: https://pytorch.org/docs/stable/nn.html#pooling-layers",
                     kFloating, decompose);
}

}  // namespace

std::span<const OpDef> pool_backward_ops() {
    static const OpDef ops[] = {
        maximum_gradient_op<2>(
            "max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, "
            "int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor"),
        maximum_gradient_op<3>(
            "max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, "
            "int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor"),
        maximum_gradient_op<2>(
            "adaptive_max_pool2d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"),
        maximum_gradient_op<3>(
            "adaptive_max_pool3d_backward(Tensor grad_output, Tensor self, Tensor indices) -> Tensor"),
        mean_gradient_op("avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, "
                         "int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
                         avg_pool_backward<2>),
        mean_gradient_op("avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, "
                         "int[3] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
                         avg_pool_backward<3>),
        mean_gradient_op("_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor",
                         adaptive_avg_pool_backward<2>),
        mean_gradient_op("_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor",
                         adaptive_avg_pool_backward<3>),
    };
    return ops;
}

}  // namespace whittle

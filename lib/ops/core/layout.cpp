#include "ops/core/layout.h"

#include <algorithm>
#include <numeric>

#include "tensor/reach.h"

namespace whittle {
namespace {

/// Whether dimension a lies outside of b in memory: 1, -1, or 0 where no operand tells.
int compare_dims(std::size_t a, std::size_t b, const Sizes& sizes, std::span<const Strides> operands) {
    for (const Strides& strides : operands) {
        if (strides[a] == 0 || strides[b] == 0) continue;
        if (strides[a] != strides[b]) return strides[a] > strides[b] ? 1 : -1;
        if (sizes[a] > sizes[b]) return 1;
    }
    return 0;
}

}  // namespace

bool same_strides(const ValueMeta& a, const ValueMeta& b) {
    if (a.numel() == 0) return true;
    for (std::size_t d = 0; d < a.sizes.size(); ++d)
        if (a.sizes[d] != 1 && a.strides[d] != b.strides[d]) return false;
    return true;
}

Tensor laid_out_as(Tensor value, const ValueMeta& meta) {
    return same_strides(ValueMeta::of(value), meta) ? value : laid_out(value, meta.strides);
}

Strides dense_strides(const Sizes& sizes, std::span<const std::size_t> order) {
    Strides strides(sizes.size());
    std::int64_t next = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
        strides[order[i]] = next;
        next *= std::max<std::int64_t>(sizes[order[i]], 1);
    }
    return strides;
}

Strides channels_last_strides(const Sizes& sizes) {
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    return dense_strides(sizes, order);
}

bool suggests_channels_last(const ValueMeta& meta) {
    const std::size_t rank = meta.sizes.size();
    if ((rank != 4 && rank != 5) || meta.strides[1] == 0) return false;
    std::vector<std::size_t> innermost_first = {1};
    for (std::size_t d = rank; --d > 1;) innermost_first.push_back(d);
    innermost_first.push_back(0);
    std::int64_t least = 0;
    for (const std::size_t d : innermost_first) {
        if (meta.sizes[d] == 0 || meta.strides[d] < least) return false;
        if (d == 0 && least == meta.strides[1]) return false;  // one channel of one element: both formats fit
        least = meta.strides[d] * std::max<std::int64_t>(meta.sizes[d], 1);
    }
    return true;
}

Strides pointwise_strides(const Sizes& sizes, std::span<const ValueMeta> operands) {
    std::vector<Strides> strides;
    for (const ValueMeta& operand : operands)
        strides.push_back(broadcast_strides(operand.sizes, operand.strides, sizes));
    std::vector<std::size_t> inner(sizes.size());  // innermost first
    std::iota(inner.rbegin(), inner.rend(), 0);
    // Insertion, and not a sort: dimensions that cannot be compared make the order depend on how it is found.
    for (std::size_t i = 1; i < inner.size(); ++i)
        for (std::size_t moved = i, at = i; at-- > 0;) {
            const int outside = compare_dims(inner[at], inner[moved], sizes, strides);
            if (outside < 0) break;
            if (outside == 0) continue;
            std::swap(inner[at], inner[moved]);
            moved = at;
        }
    std::ranges::reverse(inner);
    return dense_strides(sizes, inner);
}

std::vector<Tensor> run_kernel(const RegisteredOp& op, const Arguments<Tensor>& arguments) {
    std::vector<Tensor> results = op.def->eval(arguments);
    lay_out(op, arguments, results);
    return results;
}

void lay_out(const RegisteredOp& op, const Arguments<ValueMeta>& arguments, std::vector<ValueMeta>& results) {
    if (op.layout) op.layout(arguments, results);
}

void lay_out(const RegisteredOp& op, const Arguments<Tensor>& arguments, std::vector<Tensor>& results) {
    if (!op.layout) return;
    const auto meta = [&](NodeRef ref) { return ValueMeta::of(arguments.value(ref)); };
    std::vector<ValueMeta> metas;
    for (const Tensor& result : results) metas.push_back(ValueMeta::of(result));
    op.layout(Arguments<ValueMeta>(op.schema, &arguments.bound(), meta), metas);
    for (std::size_t i = 0; i < results.size(); ++i)
        if (results[i].strides() != metas[i].strides)
            results[i] = laid_out(results[i], metas[i].strides).with_requires_grad(results[i].requires_grad());
}

}  // namespace whittle

#include "ops/aten/gradient.h"

namespace whittle {

using namespace aten;

OfReduction::OfReduction(const OfSelf& of) : OfSelf(of), plan(reduction_of(call)) {
    for (std::size_t d = 0; d < plan.reduced.size(); ++d)
        if (plan.reduced[d]) dims.push_back(static_cast<std::int64_t>(d));
}

V OfReduction::kept(V result) const {
    if (plan.keepdim) return result;
    for (const std::int64_t dim : dims) result = unsqueeze(result, dim);
    return result;
}

V OfReduction::expanded(const V& result) const {
    const V value = kept(result);
    return value.sizes() == x.sizes() ? value : expand(value, x.sizes());
}

V picked_grad(const OfSelf& of) {
    const AlongDim r(of);
    V grad = r.g, at = r.call.result(1);
    if (grad.rank() < r.x.rank()) {  // without keepdim
        grad = unsqueeze(grad, r.dim);
        at = unsqueeze(at, r.dim);
    }
    return scatter(r.zeros_like_self(), r.dim, at, grad);
}

}  // namespace whittle

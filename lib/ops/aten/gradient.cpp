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

void set_parameters(Gradients& c, std::string_view backward, ArgList args, const OptionalV& through_statistics) {
    const char* names[] = {"input", "weight", "bias"};
    ArgList mask;
    for (const char* name : names) mask.emplace_back(c.needed(name));
    args.emplace_back(mask);
    const Vs gradients = c.builder().call_multi(backward, std::move(args));
    for (std::size_t i = 0; i < std::size(names); ++i)
        if (c.needed(names[i]))
            c.set(names[i], i == 0 && through_statistics ? gradients[i] + *through_statistics : gradients[i]);
}

OptionalV through_statistics(Gradients& c, const V& x, const Sizes& shape, std::int64_t count) {
    if (!c.grad_if_any(1) && !c.grad_if_any(2)) return std::nullopt;
    const V mean = reshaped(c.result(1), shape), rstd = reshaped(c.result(2), shape);
    const V normal = (x - mean) * rstd;
    const V slope = normal * (rstd * rstd) * reshaped(c.grad(2), shape);
    return (reshaped(c.grad(1), shape) - slope) / static_cast<double>(count);
}

}  // namespace whittle

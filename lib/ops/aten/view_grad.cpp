// Gradients of views: the result's gradient, seen from the other side.
#include "ops/aten/view_grad.h"
#include "ops/aten/formulas.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ops/core/geometry.h"

namespace whittle {

namespace {

using namespace aten;

/// The results' gradients; zeros for a part that nothing depends on.
Vs parts_of(const Gradients& c) {
    Vs gradients;
    for (std::size_t i = 0; i < c.result_count(); ++i) gradients.push_back(c.grad(i));
    return gradients;
}

}  // namespace

V add_at(const V& grad, const V& positions, const Sizes& sizes) {
    const V zeros = aten::zeros(*grad.builder, Ints{element_count(sizes)}, grad.dtype());
    const V flat = reshaped(grad, Ints{grad.numel()}), at = reshaped(positions, Ints{grad.numel()});
    const V added = index_put(zeros, {at}, flat, true);
    return reshaped(added, sizes);
}

V restore_grad(const OfSelf& r) { return reshaped(r.g, r.x.sizes()); }
V permute_grad(const OfSelf& r) {
    const Ints dims = wrap_dims(r.call.integers("dims"), r.x.rank(), "permute");
    Ints back(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i)
        back[static_cast<std::size_t>(dims[i])] = static_cast<std::int64_t>(i);
    return permute(r.g, back);
}
V transpose_grad(const OfSelf& r) { return transpose(r.g, r.call.integer("dim0"), r.call.integer("dim1")); }
V movedim_grad(const OfSelf& r) {
    const bool one = r.call.schema().name.ends_with(".int");
    if (one) return movedim(r.g, r.call.integer("destination"), r.call.integer("source"));
    return movedim(r.g, r.call.integers("destination"), r.call.integers("source"));
}
V t_grad(const OfSelf& r) { return t(r.g); }
V unsqueeze_grad(const OfSelf& r) { return squeeze(r.g, r.call.integer("dim")); }
/// New dimensions of size 1 where they were taken.
V squeeze_grad(const OfSelf& r) {
    Ints dims(r.x.sizes().size());
    std::iota(dims.begin(), dims.end(), 0);
    if (const Param* dim = r.call.schema().param("dim"))
        dims = dim->type == ParamType::int_list ? r.call.integers("dim") : Ints{r.call.integer("dim")};
    dims = wrap_dims(dims, r.x.rank(), "squeeze");
    std::ranges::sort(dims);
    V gradient = r.g;
    for (const std::int64_t dim : dims)
        if (r.x.rank() > 0 && r.x.sizes()[static_cast<std::size_t>(dim)] == 1) gradient = unsqueeze(gradient, dim);
    return gradient;
}
V select_grad(const OfSelf& r) {
    return select_backward(r.g, r.x.sizes(), r.call.integer("dim"), r.call.integer("index"));
}
V slice_grad(const OfSelf& r) {
    const Call& a = r.call;
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    return slice_backward(r.g, r.x.sizes(), a.integer("dim"), a.optional_integer("start").value_or(0),
                          a.optional_integer("end").value_or(kEnd), a.integer("step"));
}
V narrow_grad(const OfSelf& r) {
    const std::int64_t dim = wrap_dim(r.call.integer("dim"), r.x.rank()), length = r.call.integer("length");
    const std::int64_t size = r.x.sizes().at(static_cast<std::size_t>(dim));
    std::int64_t start = r.call.integer("start");
    if (start < 0) start += size;
    return slice_backward(r.g, r.x.sizes(), dim, start, start + length, 1);
}
V unbind_grad(const OfSelf& r) {
    const Vs parts = parts_of(r.call);
    return parts.empty() ? zeros_like(r.x) : stack(parts, r.call.integer("dim"));
}
V split_grad(const OfSelf& r) {
    const Vs parts = parts_of(r.call);
    return parts.empty() ? zeros_like(r.x) : cat(parts, r.call.integer("dim"));
}
V unfold_grad(const OfSelf& r) {
    const Call& a = r.call;
    return unfold_backward(r.g, r.x.sizes(), a.integer("dimension"), a.integer("size"), a.integer("step"));
}
/// The diagonal of the elements' numbers says where they came from.
V diagonal_grad(const OfSelf& r) {
    const V numbers = reshaped(arange(r.call.builder(), r.x.numel(), DType::i64), r.x.sizes());
    const Call& a = r.call;
    return add_at(r.g, diagonal(numbers, a.integer("offset"), a.integer("dim1"), a.integer("dim2")), r.x.sizes());
}
void copy_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("self")) c.set("self", zeros_like(c.grad()));
    c.set("src", c.grad());
}

}  // namespace whittle

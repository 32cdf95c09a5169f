// Gradients of what puts elements elsewhere, with others or over others.
#include "ops/aten/formulas.h"
#include "ops/aten/view_grad.h"
#include "ops/core/geometry.h"

namespace whittle {

namespace {

using namespace aten;

Ints all_negated(Ints values) {
    for (std::int64_t& value : values) value = -value;
    return values;
}

}  // namespace

V flip_grad(const OfSelf& r) { return flip(r.g, r.call.integers("dims")); }
V roll_grad(const OfSelf& r) { return roll(r.g, all_negated(r.call.integers("shifts")), r.call.integers("dims")); }
V tril_grad(const OfSelf& r) { return tril(r.g, r.call.integer("diagonal")); }
V triu_grad(const OfSelf& r) { return triu(r.g, r.call.integer("diagonal")); }
/// A dimension repeated n times is n dimensions of its size: those are summed.
V repeat_grad(const OfSelf& r) {
    const Ints repeats = r.call.integers("repeats");
    const std::size_t added = repeats.size() - r.x.sizes().size();
    Sizes apart;
    Ints copies;
    for (std::size_t d = 0; d < repeats.size(); ++d) {
        copies.push_back(static_cast<std::int64_t>(apart.size()));
        apart.push_back(repeats[d]);
        if (d >= added) apart.push_back(r.x.sizes()[d - added]);
    }
    return summed(reshaped(r.g, apart), copies);
}
/// Each tensor's part. [0], which cat takes beside any sizes, has none.
void cat_grad(Gradients& c) {
    c.takes_complex();
    const V grad = c.grad();
    const std::int64_t dim = wrap_dim(c.integer("dim"), grad.rank());
    std::int64_t start = 0;
    for (const V& tensor : c.tensors("tensors")) {
        const bool skipped = tensor.sizes() == Sizes{0} && grad.rank() != 1;
        const std::int64_t size = skipped ? 0 : tensor.sizes().at(static_cast<std::size_t>(dim));
        if (c.needed(tensor))
            c.set(tensor, skipped ? zeros(c.builder(), Ints{0}, grad.dtype()) : sliced(grad, dim, start, start + size));
        start += size;
    }
}
void stack_grad(Gradients& c) {
    c.takes_complex();
    const V grad = c.grad();
    const std::int64_t dim = wrap_dim(c.integer("dim"), grad.rank());
    std::int64_t i = 0;
    for (const V& tensor : c.tensors("tensors")) {
        if (c.needed(tensor)) c.set(tensor, select(grad, dim, i));
        ++i;
    }
}
/// What was added is cropped, what was cropped is zero.
V constant_pad_grad(const OfSelf& r) { return constant_pad_nd(r.g, all_negated(r.call.integers("pad"))); }
V border_pad_grad(const OfSelf& r) {
    return r.call.builder().call(
        "aten." + r.call.schema().name + "_backward.default",  // reflection, replication; 1d to 3d
        {r.g, r.x, Arg::ints(r.call.integers("padding"))});
}

void select_scatter_grad(Gradients& c) {
    c.takes_complex();
    const std::int64_t dim = c.integer("dim"), index = c.integer("index");
    if (c.needed("self")) {
        const V source = c.tensor("src"), none = zeros(c.builder(), source.sizes(), source.dtype());
        c.set("self", select_scatter(c.grad(), none, dim, index));
    }
    if (c.needed("src")) c.set("src", select(c.grad(), dim, index));
}
void slice_scatter_grad(Gradients& c) {
    c.takes_complex();
    const std::int64_t dim = c.integer("dim"), step = c.integer("step");
    const auto start = c.optional_integer("start"), end = c.optional_integer("end");
    if (c.needed("self")) {
        const V source = c.tensor("src"), none = zeros(c.builder(), source.sizes(), source.dtype());
        c.set("self", slice_scatter(c.grad(), none, dim, start, end, step));
    }
    if (c.needed("src")) c.set("src", slice(c.grad(), dim, start, end, step));
}

}  // namespace whittle

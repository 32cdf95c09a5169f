// Gradients of elements at positions: what was read is added there, what was written is read there.
#include "ops/aten/index_grad.h"
#include "ops/aten/formulas.h"

#include "ops/aten/view_grad.h"
#include "ops/core/geometry.h"

namespace whittle {

namespace {

using namespace aten;

/// The mask among the indices, over as many dimensions of sizes `sizes` as it has, seen from all of them.
OptionalV mask_of(Gradients& c, const Sizes& sizes) {
    std::size_t at = 0;
    for (const OptionalV& index : c.optional_tensors("indices")) {
        if (index && index->meta.dtype == DType::boolean) {
            Sizes wide = index->meta.sizes;
            wide.resize(sizes.size() - at, 1);
            return reshaped(*index, wide);
        }
        ++at;
    }
    return std::nullopt;
}

/// The gradient of "src", of which the index may read a corner only.
void set_source(Gradients& c, const V& grad) {
    const V source = c.tensor("src");
    const V read = gather(grad, c.integer("dim"), c.tensor("index"));
    Ints missing;
    for (std::size_t d = source.sizes().size(); d-- > 0;)
        missing.insert(missing.end(), {0, source.sizes()[d] - read.sizes().at(d)});
    const bool whole = read.sizes() == source.sizes();
    c.set("src", whole ? read : constant_pad_nd(read, missing));
}
/// The gradient of "self", zero where something was written.
V unwritten(Gradients& c, const V& grad) { return scatter(grad, c.integer("dim"), c.tensor("index"), 0); }

}  // namespace

V gather_grad(const OfSelf& r) {
    const V zeros = aten::zeros(r.call.builder(), r.x.sizes(), r.g.dtype());
    return scatter_add(zeros, r.call.integer("dim"), r.call.tensor("index"), r.g);
}
V index_select_grad(const OfSelf& r) {
    const V zeros = aten::zeros(r.call.builder(), r.x.sizes(), r.g.dtype());
    return index_add(zeros, r.call.integer("dim"), r.call.tensor("index"), r.g);
}
void embedding_grad(Gradients& c) {
    c.takes_complex();
    const std::int64_t rows = c.tensor("weight").sizes().at(0);
    c.set("weight", embedding_dense_backward(c.grad(), c.tensor("indices"), rows, c.integer("padding_idx"),
                                             c.boolean("scale_grad_by_freq")));
}
V take_grad(const OfSelf& r) { return add_at(r.g, r.call.tensor("index"), r.x.sizes()); }
V index_grad(const OfSelf& r) {
    const V zeros = aten::zeros(r.call.builder(), r.x.sizes(), r.g.dtype());
    return index_put(zeros, r.call.optional_tensors("indices"), r.g, true);
}
void index_put_grad(Gradients& c) {
    c.takes_complex();
    const std::vector<OptionalV> indices = c.optional_tensors("indices");
    const bool added = c.boolean("accumulate");
    if (const OptionalV mask = mask_of(c, c.grad().sizes())) {  // of one value
        if (c.needed("self")) c.set("self", added ? c.grad() : drop(*mask, c.grad()));
        if (c.needed("values")) c.set("values", keep(*mask, c.grad()));
        return;
    }
    if (c.needed("self")) {
        const V zeros = zeros_like(c.tensor("values"));
        c.set("self", added ? c.grad() : index_put(c.grad(), indices, zeros));
    }
    if (c.needed("values")) c.set("values", index(c.grad(), indices));
}

void scatter_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("self")) c.set("self", unwritten(c, c.grad()));
    if (c.needed("src")) set_source(c, c.grad());
}
void scatter_value_grad(Gradients& c) {
    c.takes_complex();
    c.set("self", unwritten(c, c.grad()));
}
void scatter_add_grad(Gradients& c) {
    c.takes_complex();
    c.set("self", c.grad());
    if (c.needed("src")) set_source(c, c.grad());
}
/// Of sums and means; amax, amin and prod have none.
void scatter_reduce_grad(Gradients& c) {
    c.takes_complex();
    const std::string reduce = c.text("reduce");
    const bool include_self = c.boolean("include_self");
    if (reduce != "sum" && reduce != "mean")
        throw Error("scatter_reduce has no gradient rule for reduce='" + reduce + "', only for 'sum' and 'mean'");
    const V index = c.tensor("index"), source = c.tensor("src");
    V grad = c.grad();
    if (reduce == "mean") {
        const V start = include_self ? ones_like(grad) : zeros_like(grad);
        const V counts = scatter_add(start, c.integer("dim"), index, ones_like(source));
        grad = grad / clamp_min(counts, 1);
    }
    if (c.needed("self")) c.set("self", include_self ? grad : unwritten(c, grad));
    if (c.needed("src")) set_source(c, grad);
}
void index_add_grad(Gradients& c) {
    c.takes_complex();
    c.set("self", c.grad());
    if (!c.needed("source")) return;
    const V read = index_select(c.grad(), c.integer("dim"), c.tensor("index"));
    c.set("source", reshaped(scaled(read, c.scalar("alpha")), c.tensor("source").sizes()));
}

}  // namespace whittle

// Gradients of elements at positions: what was read is added there, what was written is read there.
#include "ops/aten/index_grad.h"

#include "ops/aten/view_grad.h"
#include "ops/core/geometry.h"

namespace whittle {

namespace {

Arg indices_of(CallGradients& c) {
    ArgList list;
    for (const std::optional<NodeValue>& index : c.args().optional_tensors("indices"))
        list.push_back(index ? arg(*index) : Arg());
    return list;
}

/// The mask among the indices, over as many dimensions of sizes `sizes` as it has, seen from all of them.
std::optional<NodeValue> mask_of(const Rule& r, CallGradients& c, const Sizes& sizes) {
    std::size_t at = 0;
    for (const std::optional<NodeValue>& index : c.args().optional_tensors("indices")) {
        if (index && index->meta.dtype == DType::boolean) {
            Sizes wide = index->meta.sizes;
            wide.resize(sizes.size() - at, 1);
            return r.reshape(*index, wide);
        }
        ++at;
    }
    return std::nullopt;
}

/// The gradient of "src", of which the index may read a corner only.
void set_source(const Rule& r, CallGradients& c, const NodeValue& grad) {
    const NodeValue source = r.tensor("src");
    const NodeValue read = r.call("aten.gather.default", {arg(grad), c.args().integer("dim"), arg(r.tensor("index"))});
    std::vector<std::int64_t> missing;
    for (std::size_t d = source.meta.sizes.size(); d-- > 0;)
        missing.insert(missing.end(), {0, source.meta.sizes[d] - read.meta.sizes.at(d)});
    const bool whole = read.meta.sizes == source.meta.sizes;
    r.set("src", whole ? read : r.call("aten.constant_pad_nd.default", {arg(read), Arg::ints(missing), 0}));
}
/// The gradient of "self", zero where something was written.
NodeValue unwritten(const Rule& r, CallGradients& c, const NodeValue& grad) {
    return r.call("aten.scatter.value", {arg(grad), c.args().integer("dim"), arg(r.tensor("index")), 0});
}

}  // namespace

void gather_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const NodeValue zeros = r.zeros(r.x.meta.sizes, r.g.meta.dtype);
    r.set(r.call("aten.scatter_add.default", {arg(zeros), c.args().integer("dim"), arg(r.tensor("index")), arg(r.g)}));
}
void index_select_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const NodeValue zeros = r.zeros(r.x.meta.sizes, r.g.meta.dtype);
    r.set(r.call("aten.index_add.default", {arg(zeros), c.args().integer("dim"), arg(r.tensor("index")), arg(r.g)}));
}
void embedding_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const std::int64_t rows = r.tensor("weight").meta.sizes.at(0);
    r.set("weight", r.call("aten.embedding_dense_backward.default",
                           {arg(r.grad()), arg(r.tensor("indices")), rows, c.args().integer("padding_idx"),
                            c.args().boolean("scale_grad_by_freq")}));
}
void take_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(add_at(r, r.g, r.tensor("index"), r.x.meta.sizes));
}
void index_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const NodeValue zeros = r.zeros(r.x.meta.sizes, r.g.meta.dtype);
    r.set(r.call("aten.index_put.default", {arg(zeros), indices_of(c), arg(r.g), true}));
}
void index_put_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const Arg indices = indices_of(c);
    const bool added = c.args().boolean("accumulate");
    if (const std::optional<NodeValue> mask = mask_of(r, c, r.grad().meta.sizes)) {  // of one value
        if (r.needed("self")) r.set("self", added ? r.grad() : r.drop(*mask, r.grad()));
        if (r.needed("values")) r.set("values", r.keep(*mask, r.grad()));
        return;
    }
    if (r.needed("self")) {
        const NodeValue zeros = r.zeros_like(r.tensor("values"));
        r.set("self", added ? r.grad() : r.call("aten.index_put.default", {arg(r.grad()), indices, arg(zeros)}));
    }
    if (r.needed("values")) r.set("values", r.call("aten.index.Tensor", {arg(r.grad()), indices}));
}

void scatter_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    if (r.needed("self")) r.set("self", unwritten(r, c, r.grad()));
    if (r.needed("src")) set_source(r, c, r.grad());
}
void scatter_value_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    r.set("self", unwritten(r, c, r.grad()));
}
void scatter_add_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    r.set("self", r.grad());
    if (r.needed("src")) set_source(r, c, r.grad());
}
/// Of sums and means; amax, amin and prod have none.
void scatter_reduce_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const std::string reduce = c.args().text("reduce");
    const bool include_self = c.args().boolean("include_self");
    if (reduce != "sum" && reduce != "mean")
        throw Error("scatter_reduce has no gradient rule for reduce='" + reduce + "', only for 'sum' and 'mean'");
    const NodeValue index = r.tensor("index"), source = r.tensor("src");
    NodeValue grad = r.grad();
    if (reduce == "mean") {
        const Arg start = arg(include_self ? r.of("aten.ones_like.default", grad) : r.zeros_like(grad));
        const NodeValue counts = r.call("aten.scatter_add.default", {start, c.args().integer("dim"), arg(index),
                                                                     arg(r.of("aten.ones_like.default", source))});
        grad = r.div(grad, arg(r.call("aten.clamp_min.default", {arg(counts), 1})));
    }
    if (r.needed("self")) r.set("self", include_self ? grad : unwritten(r, c, grad));
    if (r.needed("src")) set_source(r, c, grad);
}
void index_add_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    r.set("self", r.grad());
    if (!r.needed("source")) return;
    const NodeValue read =
        r.call("aten.index_select.default", {arg(r.grad()), c.args().integer("dim"), arg(r.tensor("index"))});
    r.set("source", r.reshape(r.scaled(read, c.args().scalar("alpha")), r.tensor("source").meta.sizes));
}

}  // namespace whittle

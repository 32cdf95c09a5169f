// Gradients of views: the result's gradient, seen from the other side.
#include "ops/aten/view_grad.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "ops/core/geometry.h"

namespace whittle {

namespace {

/// 0, 1, 2 … in the sizes of x.
NodeValue numbered(GraphBuilder& b, const NodeValue& x) {
    const NodeValue range = b.call("aten.arange.default", {x.meta.numel()}, {{"dtype", DType::i64}});
    return Gradient(b).reshape(range, x.meta.sizes);
}

/// Of any view: the same view of the elements' numbers says where they came from.
void numbered_view_grad(GraphBuilder& b, CallGradients& c, std::string_view view, ArgList rest) {
    const LinearOfSelf r(b, c);
    rest.insert(rest.begin(), arg(numbered(b, r.x)));
    r.set(add_at(r, r.g, b.call(view, std::move(rest)), r.x.meta.sizes));
}

/// The parts' gradients put together again; zeros for a part that nothing depends on.
void join_parts(GraphBuilder& b, CallGradients& c, std::string_view join) {
    const Linear r(b, c);
    const NodeValue x = r.tensor("self");
    if (c.result_count() == 0) return r.set("self", r.zeros(x.meta.sizes, x.meta.dtype));
    ArgList gradients;
    for (std::size_t i = 0; i < c.result_count(); ++i) gradients.emplace_back(c.grad(i).ref);
    r.set("self", r.call(join, {Arg(std::move(gradients)), c.args().integer("dim")}));
}

}  // namespace

NodeValue add_at(const Gradient& g, const NodeValue& grad, const NodeValue& positions, const Sizes& sizes) {
    const NodeValue zeros = g.zeros({element_count(sizes)}, grad.meta.dtype);
    const NodeValue flat = g.reshape(grad, {grad.meta.numel()}), at = g.reshape(positions, {grad.meta.numel()});
    const NodeValue added = g.call("aten.index_put.default", {arg(zeros), ArgList(1, arg(at)), arg(flat), true});
    return g.reshape(added, sizes);
}

void restore_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.reshape(r.g, r.x.meta.sizes));
}
void permute_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const Ints dims = wrap_dims(c.args().integers("dims"), rank_of(r.x), "permute");
    Ints back(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i)
        back[static_cast<std::size_t>(dims[i])] = static_cast<std::int64_t>(i);
    r.set(r.call("aten.permute.default", {arg(r.g), Arg::ints(back)}));
}
void transpose_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.call("aten.transpose.int", {arg(r.g), c.args().integer("dim0"), c.args().integer("dim1")}));
}
void movedim_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const bool one = c.args().schema().name.ends_with(".int");
    const auto named = [&](const char* name) {
        return one ? Arg(c.args().integer(name)) : Arg::ints(c.args().integers(name));
    };
    r.set(r.call(one ? "aten.movedim.int" : "aten.movedim.intlist", {arg(r.g), named("destination"), named("source")}));
}
void t_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.of("aten.t.default", r.g));
}
void unsqueeze_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.call("aten.squeeze.dim", {arg(r.g), c.args().integer("dim")}));
}
/// New dimensions of size 1 where they were taken.
void squeeze_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    Ints dims(r.x.meta.sizes.size());
    std::iota(dims.begin(), dims.end(), 0);
    if (const Param* dim = c.args().schema().param("dim"))
        dims = dim->type == ParamType::int_list ? c.args().integers("dim") : Ints{c.args().integer("dim")};
    dims = wrap_dims(dims, rank_of(r.x), "squeeze");
    std::ranges::sort(dims);
    NodeValue gradient = r.g;
    for (const std::int64_t dim : dims)
        if (rank_of(r.x) > 0 && r.x.meta.sizes[static_cast<std::size_t>(dim)] == 1)
            gradient = r.call("aten.unsqueeze.default", {arg(gradient), dim});
    r.set(gradient);
}
void select_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.call("aten.select_backward.default",
                 {arg(r.g), Arg::ints(r.x.meta.sizes), c.args().integer("dim"), c.args().integer("index")}));
}
void slice_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const Arguments<NodeValue>& a = c.args();
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    r.set(r.call("aten.slice_backward.default",
                 {arg(r.g), Arg::ints(r.x.meta.sizes), a.integer("dim"), a.optional_integer("start").value_or(0),
                  a.optional_integer("end").value_or(kEnd), a.integer("step")}));
}
void narrow_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const std::int64_t dim = wrap_dim(c.args().integer("dim"), rank_of(r.x)), length = c.args().integer("length");
    const std::int64_t size = r.x.meta.sizes.at(static_cast<std::size_t>(dim));
    std::int64_t start = c.args().integer("start");
    if (start < 0) start += size;
    r.set(r.call("aten.slice_backward.default", {arg(r.g), Arg::ints(r.x.meta.sizes), dim, start, start + length, 1}));
}
void unbind_grad(GraphBuilder& b, CallGradients& c) { join_parts(b, c, "aten.stack.default"); }
void split_grad(GraphBuilder& b, CallGradients& c) { join_parts(b, c, "aten.cat.default"); }
void unfold_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const Arguments<NodeValue>& a = c.args();
    r.set(r.call("aten.unfold_backward.default",
                 {arg(r.g), Arg::ints(r.x.meta.sizes), a.integer("dimension"), a.integer("size"), a.integer("step")}));
}
void diagonal_grad(GraphBuilder& b, CallGradients& c) {
    const Arguments<NodeValue>& a = c.args();
    numbered_view_grad(b, c, "aten.diagonal.default", {a.integer("offset"), a.integer("dim1"), a.integer("dim2")});
}
void copy_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    if (r.needed("self")) r.set("self", r.zeros_like(r.grad()));
    r.set("src", r.grad());
}

}  // namespace whittle

// Gradients of what puts elements elsewhere, with others or over others.
#include "ops/aten/view_grad.h"
#include "ops/core/geometry.h"

namespace whittle {

namespace {

Ints all_negated(Ints values) {
    for (std::int64_t& value : values) value = -value;
    return values;
}

void triangle_grad(GraphBuilder& b, CallGradients& c, std::string_view part) {
    const LinearOfSelf r(b, c);
    r.set(r.call(part, {arg(r.g), c.args().integer("diagonal")}));
}

}  // namespace

void flip_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.call("aten.flip.default", {arg(r.g), Arg::ints(c.args().integers("dims"))}));
}
void roll_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const Arg shifts = Arg::ints(all_negated(c.args().integers("shifts")));
    r.set(r.call("aten.roll.default", {arg(r.g), shifts, Arg::ints(c.args().integers("dims"))}));
}
void tril_grad(GraphBuilder& b, CallGradients& c) { triangle_grad(b, c, "aten.tril.default"); }
void triu_grad(GraphBuilder& b, CallGradients& c) { triangle_grad(b, c, "aten.triu.default"); }
/// A dimension repeated n times is n dimensions of its size: those are summed.
void repeat_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const Ints repeats = c.args().integers("repeats");
    const std::size_t added = repeats.size() - r.x.meta.sizes.size();
    Sizes apart;
    Ints copies;
    for (std::size_t d = 0; d < repeats.size(); ++d) {
        copies.push_back(static_cast<std::int64_t>(apart.size()));
        apart.push_back(repeats[d]);
        if (d >= added) apart.push_back(r.x.meta.sizes[d - added]);
    }
    r.set(r.sum(r.reshape(r.g, apart), copies));
}
/// Each tensor's part. [0], which cat takes beside any sizes, has none.
void cat_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const NodeValue grad = r.grad();
    const std::int64_t dim = wrap_dim(c.args().integer("dim"), rank_of(grad));
    std::int64_t start = 0;
    for (const NodeValue& tensor : c.args().tensors("tensors")) {
        const bool skipped = tensor.meta.sizes == Sizes{0} && rank_of(grad) != 1;
        const std::int64_t size = skipped ? 0 : tensor.meta.sizes.at(static_cast<std::size_t>(dim));
        if (c.needed(tensor))
            c.set(tensor, skipped ? r.zeros({0}, grad.meta.dtype) : r.slice(grad, dim, start, start + size));
        start += size;
    }
}
void stack_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const NodeValue grad = r.grad();
    const std::int64_t dim = wrap_dim(c.args().integer("dim"), rank_of(grad));
    std::int64_t i = 0;
    for (const NodeValue& tensor : c.args().tensors("tensors")) {
        if (c.needed(tensor)) c.set(tensor, r.call("aten.select.int", {arg(grad), dim, i}));
        ++i;
    }
}
/// What was added is cropped, what was cropped is zero.
void constant_pad_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.call("aten.constant_pad_nd.default", {arg(r.g), Arg::ints(all_negated(c.args().integers("pad"))), 0}));
}
void border_pad_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.call("aten." + c.args().schema().name + "_backward.default",
                 {arg(r.g), arg(r.x), Arg::ints(c.args().integers("padding"))}));
}

void select_scatter_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const Arg dim(c.args().integer("dim")), index(c.args().integer("index"));
    if (r.needed("self")) {
        const NodeValue source = r.tensor("src"), none = r.zeros(source.meta.sizes, source.meta.dtype);
        r.set("self", r.call("aten.select_scatter.default", {arg(r.grad()), arg(none), dim, index}));
    }
    if (r.needed("src")) r.set("src", r.call("aten.select.int", {arg(r.grad()), dim, index}));
}
void slice_scatter_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const auto bound = [&](const char* name) {
        const std::optional<std::int64_t> value = c.args().optional_integer(name);
        return value ? Arg(*value) : Arg();
    };
    const ArgList part = {c.args().integer("dim"), bound("start"), bound("end"), c.args().integer("step")};
    const auto with_part = [&](ArgList args) {
        args.insert(args.end(), part.begin(), part.end());
        return args;
    };
    if (r.needed("self")) {
        const NodeValue source = r.tensor("src"), none = r.zeros(source.meta.sizes, source.meta.dtype);
        r.set("self", r.call("aten.slice_scatter.default", with_part({arg(r.grad()), arg(none)})));
    }
    if (r.needed("src")) r.set("src", r.call("aten.slice.Tensor", with_part({arg(r.grad())})));
}

}  // namespace whittle

// Gradients of matrix products.
#include "ops/aten/layer_grad.h"

namespace whittle {

namespace {

/// A matrix whose columns lie in memory as rows would: the transpose of one, such as a layer's weight.
bool is_transposed(const NodeValue& matrix) {
    const ValueMeta& meta = matrix.meta;
    return meta.strides[0] == 1 && meta.strides[1] == meta.sizes[0];
}

/// The gradients of a product of two operands, scaled. A gradient is made in the layout of its operand.
struct ProductGradients : Linear {
    ProductGradients(GraphBuilder& builder, CallGradients& call, std::string_view left_name,
                     std::string_view right_name)
        : Linear(builder, call), left(left_name), right(right_name) {
        if (call.args().schema().param("alpha")) alpha = call.args().scalar("alpha");
    }
    NodeValue t(const NodeValue& x) const { return of("aten.t.default", x); }
    NodeValue swapped(const NodeValue& x) const { return call("aten.transpose.int", {arg(x), 1, 2}); }
    NodeValue mm(const NodeValue& x, const NodeValue& y) const { return call("aten.mm.default", {arg(x), arg(y)}); }
    NodeValue bmm(const NodeValue& x, const NodeValue& y) const { return call("aten.bmm.default", {arg(x), arg(y)}); }

    void set_matrices() const {
        const NodeValue x = conj(tensor(left)), y = conj(tensor(right)), g = grad();
        if (needed(left)) set(left, scaled(is_transposed(x) ? t(mm(y, t(g))) : mm(g, t(y)), alpha));
        if (needed(right)) set(right, scaled(is_transposed(y) ? t(mm(t(g), x)) : mm(t(x), g), alpha));
    }
    void set_batches() const {
        const NodeValue x = conj(tensor(left)), y = conj(tensor(right)), g = grad();
        if (needed(left)) set(left, scaled(bmm(g, swapped(y)), alpha));
        if (needed(right)) set(right, scaled(bmm(swapped(x), g), alpha));
    }
    void set_vector() const {
        const NodeValue matrix = conj(tensor(left)), vector = conj(tensor(right)), g = grad();
        const NodeValue column = call("aten.unsqueeze.default", {arg(g), 1});
        if (needed(left)) set(left, scaled(mul(column, vector), alpha));
        if (needed(right)) set(right, scaled(call("aten.mv.default", {arg(t(matrix)), arg(g)}), alpha));
    }
    void set_added() const {
        if (needed("self")) set("self", scaled(grad(), c.args().scalar("beta")));
    }

    std::string_view left, right;
    Scalar alpha = Scalar(1);
};

}  // namespace

void mm_grad(GraphBuilder& b, CallGradients& c) { ProductGradients(b, c, "self", "mat2").set_matrices(); }
void bmm_grad(GraphBuilder& b, CallGradients& c) { ProductGradients(b, c, "self", "mat2").set_batches(); }
void mv_grad(GraphBuilder& b, CallGradients& c) { ProductGradients(b, c, "self", "vec").set_vector(); }
void dot_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    if (r.needed("self")) r.set("self", r.mul(r.conj(r.tensor("tensor")), r.grad()));
    if (r.needed("tensor")) r.set("tensor", r.mul(r.conj(r.tensor("self")), r.grad()));
}
void addmm_grad(GraphBuilder& b, CallGradients& c) {
    const ProductGradients product(b, c, "mat1", "mat2");
    product.set_added();
    product.set_matrices();
}
void baddbmm_grad(GraphBuilder& b, CallGradients& c) {
    const ProductGradients product(b, c, "batch1", "batch2");
    product.set_added();
    product.set_batches();
}
void addmv_grad(GraphBuilder& b, CallGradients& c) {
    const ProductGradients product(b, c, "mat", "vec");
    product.set_added();
    product.set_vector();
}

}  // namespace whittle

// Gradients of matrix products.
#include "ops/aten/formulas.h"
#include "ops/aten/layer_grad.h"

namespace whittle {

namespace {

using namespace aten;

/// A matrix whose columns lie in memory as rows would: the transpose of one, such as a layer's weight.
bool is_transposed(const V& matrix) {
    const ValueMeta& meta = matrix.meta;
    return meta.strides[0] == 1 && meta.strides[1] == meta.sizes[0];
}

/// The gradients of a product of two operands, scaled. A gradient is made in the layout of its operand.
struct ProductGradients {
    ProductGradients(Gradients& call, std::string_view left_name, std::string_view right_name)
        : c(call), left(left_name), right(right_name) {
        c.takes_complex();
        if (c.schema().param("alpha")) alpha = c.scalar("alpha");
    }

    void set_matrices() const {
        const V x = conjugate(c.tensor(left)), y = conjugate(c.tensor(right)), g = c.grad();
        if (c.needed(left)) c.set(left, scaled(is_transposed(x) ? t(mm(y, t(g))) : mm(g, t(y)), alpha));
        if (c.needed(right)) c.set(right, scaled(is_transposed(y) ? t(mm(t(g), x)) : mm(t(x), g), alpha));
    }
    void set_batches() const {
        const V x = conjugate(c.tensor(left)), y = conjugate(c.tensor(right)), g = c.grad();
        if (c.needed(left)) c.set(left, scaled(bmm(g, transpose(y, 1, 2)), alpha));
        if (c.needed(right)) c.set(right, scaled(bmm(transpose(x, 1, 2), g), alpha));
    }
    void set_vector() const {
        const V matrix = conjugate(c.tensor(left)), vector = conjugate(c.tensor(right)), g = c.grad();
        if (c.needed(left)) c.set(left, scaled(unsqueeze(g, 1) * vector, alpha));
        if (c.needed(right)) c.set(right, scaled(mv(t(matrix), g), alpha));
    }
    void set_added() const {
        if (c.needed("self")) c.set("self", scaled(c.grad(), c.scalar("beta")));
    }

    Gradients& c;
    std::string_view left, right;
    Scalar alpha = Scalar(1);
};

}  // namespace

void mm_grad(Gradients& c) { ProductGradients(c, "self", "mat2").set_matrices(); }
void bmm_grad(Gradients& c) { ProductGradients(c, "self", "mat2").set_batches(); }
void mv_grad(Gradients& c) { ProductGradients(c, "self", "vec").set_vector(); }
void dot_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("self")) c.set("self", conjugate(c.tensor("tensor")) * c.grad());
    if (c.needed("tensor")) c.set("tensor", conjugate(c.tensor("self")) * c.grad());
}
void addmm_grad(Gradients& c) {
    const ProductGradients product(c, "mat1", "mat2");
    product.set_added();
    product.set_matrices();
}
void baddbmm_grad(Gradients& c) {
    const ProductGradients product(c, "batch1", "batch2");
    product.set_added();
    product.set_batches();
}
void addmv_grad(Gradients& c) {
    const ProductGradients product(c, "mat", "vec");
    product.set_added();
    product.set_vector();
}

}  // namespace whittle

#include "ops/aten/linalg_grad.h"

#include <algorithm>

#include "base/error.h"
#include "tensor/shape.h"

namespace whittle {
namespace {

/// Of real and of complex matrices: what is turned is conjugated, too.
struct OfMatrix : Linear {
    using Linear::Linear;
    NodeValue turned(const NodeValue& x) const { return conj(call("aten.transpose.int", {arg(x), -2, -1})); }
    NodeValue product(const NodeValue& x, const NodeValue& y) const {
        return call("aten.matmul.default", {arg(x), arg(y)});
    }
    NodeValue column(const NodeValue& x) const { return call("aten.unsqueeze.default", {arg(x), -1}); }
    /// A^-H
    NodeValue inverse_turned(const NodeValue& x) const {
        return turned(b.call_multi("aten.linalg_inv_ex.default", {arg(x)})[0]);
    }
    NodeValue solve(const NodeValue& a, const NodeValue& right, bool left) const {
        return b.call_multi("aten._linalg_solve_ex.default", {arg(a), arg(right)}, {{"left", Arg(left)}})[0];
    }
    NodeValue solve_triangular(const NodeValue& a, const NodeValue& right, bool upper, bool left,
                               bool unit = false) const {
        return b.call("aten.linalg_solve_triangular.default", {arg(a), arg(right)},
                      {{"upper", Arg(upper)}, {"left", Arg(left)}, {"unitriangular", Arg(unit)}});
    }
    NodeValue triangle(const NodeValue& x, bool upper, std::int64_t diagonal) const {
        return call(upper ? "aten.triu.default" : "aten.tril.default", {arg(x), diagonal});
    }
};

}  // namespace

bool solves_for_vectors(const Sizes& a, const Sizes& b) {
    return b.size() == 1 || (b.size() + 1 == a.size() && std::equal(b.begin(), b.end(), a.begin()));
}

/// d det = det tr(A^-1 dA). Of singular matrices it is not finite.
void det_grad(GraphBuilder& b, CallGradients& c) {
    const OfMatrix r(b, c);
    const NodeValue factor = r.mul(r.grad(), r.conj(r.result()));
    r.set("A", r.mul(r.column(r.column(factor)), r.inverse_turned(r.tensor("A"))));
}

/// d log|det| = Re tr(A^-1 dA), and d sign = i sign Im tr(A^-1 dA), which real numbers do not have.
void slogdet_grad(GraphBuilder& b, CallGradients& c) {
    const OfMatrix r(b, c);
    const NodeValue a = r.tensor("A");
    NodeValue factor = r.grad(1);
    if (is_complex(a.meta.dtype)) {
        const NodeValue turn = r.of("aten.imag.default", r.mul(r.conj(r.result()), r.grad(0)));
        factor = r.call("aten.complex.default", {arg(factor), arg(turn)});
    }
    r.set("A", r.mul(r.column(r.column(factor)), r.inverse_turned(a)));
}

/// d A^-1 = -A^-1 dA A^-1
void inverse_grad(GraphBuilder& b, CallGradients& c) {
    const OfMatrix r(b, c);
    const NodeValue y = r.turned(r.result());
    r.set("A", r.neg(r.product(r.product(y, r.grad()), y)));
}

/// A X = B: B's is A^-H G, A's -A^-H G X^H; X A = B likewise.
void solve_grad(GraphBuilder& b, CallGradients& c) {
    const OfMatrix r(b, c);
    const bool left = c.args().boolean("left");
    const NodeValue a = r.tensor("A"), right = r.tensor("B");
    NodeValue g = r.grad(), x = r.result();
    const bool vector = solves_for_vectors(a.meta.sizes, right.meta.sizes);
    if (vector) g = r.column(g), x = r.column(x);
    const NodeValue of_right = r.solve(r.turned(a), g, left);
    if (r.needed("B")) r.set("B", vector ? r.reshape(of_right, r.grad().meta.sizes) : of_right);
    if (r.needed("A")) r.set("A", r.neg(left ? r.product(of_right, r.turned(x)) : r.product(r.turned(x), of_right)));
}

/// As solve_grad(), of the triangle that is read.
void triangular_grad(GraphBuilder& b, CallGradients& c) {
    const OfMatrix r(b, c);
    const bool upper = c.args().boolean("upper"), left = c.args().boolean("left"),
               unit = c.args().boolean("unitriangular");
    const NodeValue a = r.tensor("self"), x = r.result();
    const NodeValue of_right = r.solve_triangular(r.turned(a), r.grad(), !upper, left, unit);
    r.set("B", of_right);
    if (!r.needed("self")) return;
    const NodeValue whole = r.neg(left ? r.product(of_right, r.turned(x)) : r.product(r.turned(x), of_right));
    r.set("self", r.triangle(whole, upper, unit ? (upper ? 1 : -1) : 0));
}

/// A symmetric gradient: L^-H P(L^H G) L^-1, P the lower triangle with half the diagonal; Murray 2016.
void cholesky_grad(GraphBuilder& b, CallGradients& c) {
    const OfMatrix r(b, c);
    const bool upper = c.args().boolean("upper");
    const NodeValue l = upper ? r.turned(r.result()) : r.result(), g = upper ? r.turned(r.grad()) : r.grad();
    const NodeValue product = r.product(r.turned(l), g);
    const NodeValue below = r.triangle(product, false, -1);
    const NodeValue half = r.mul(r.add(r.triangle(product, false, 0), below), Arg(0.5));
    const NodeValue left = r.solve_triangular(r.turned(l), half, true, true);
    const NodeValue both = r.solve_triangular(l, left, false, false);
    r.set("self", r.mul(r.add(both, r.turned(both)), Arg(0.5)));
}

/// V (diag(g) + (V^H G) / E) V^H with E[i, j] = value[j] - value[i]; where values are equal it is not finite.
void eigh_grad(GraphBuilder& b, CallGradients& c) {
    const OfMatrix r(b, c);
    NodeValue v = r.result(1);
    if (!c.args().boolean("compute_v")) {
        const std::vector<NodeValue> all =
            b.call_multi("aten._linalg_eigh.default", {arg(r.tensor("A")), c.args().text("UPLO"), true});
        v = all[1];
    }
    const auto row = [&](const NodeValue& x) { return r.call("aten.unsqueeze.default", {arg(x), -2}); };
    NodeValue middle = r.mul(v, row(r.grad(0)));
    if (c.args().boolean("compute_v") && c.grad_if_any(1)) {
        const NodeValue values = r.result(0);
        const NodeValue ones =
            b.call("aten.eye.default", {values.meta.sizes.back()}, {{"dtype", Arg(values.meta.dtype)}});
        const NodeValue gaps = r.add(r.sub(row(values), r.column(values)), ones);
        const NodeValue moved = r.product(r.turned(v), r.grad(1));  // vectors keep their length: no diagonal
        const NodeValue between = r.add(r.triangle(moved, false, -1), r.triangle(moved, true, 1));
        middle = r.add(middle, r.product(v, r.div(between, arg(gaps))));
    }
    r.set("A", r.product(middle, r.turned(v)));
}

/// (G_Q + Q S(R G_R^T - G_Q^T Q)) R^-T, S the lower triangle copied to the upper one; Walter and Lehmann 2010.
void qr_grad(GraphBuilder& b, CallGradients& c) {
    const OfMatrix r(b, c);
    const Sizes& sizes = r.tensor("A").meta.sizes;
    if (is_complex(r.tensor("A").meta.dtype))
        throw Error("found a gradient that goes through complex numbers, for which aten.linalg_qr has no rule",
                    "call detach() on the input of linalg_qr");
    if (c.args().text("mode") != "reduced" || sizes[sizes.size() - 2] < sizes.back())
        throw Error(
            "linalg_qr has a gradient rule only with mode='reduced', and only for matrices with at least as many rows "
            "as "
            "columns");
    const NodeValue q = r.result(0), upper = r.result(1), of_q = r.grad(0), of_upper = r.grad(1);
    const NodeValue m = r.sub(r.product(upper, r.turned(of_upper)), r.product(r.turned(of_q), q));
    const NodeValue both = r.add(r.triangle(m, false, 0), r.turned(r.triangle(m, false, -1)));
    const NodeValue side = r.add(of_q, r.product(q, both));
    r.set("A", r.solve_triangular(r.turned(upper), side, false, false));
}

/// U diag(g) V^H, of the values alone.
void svd_grad(GraphBuilder& b, CallGradients& c) {
    const OfMatrix r(b, c);
    if (c.args().boolean("compute_uv") && (c.grad_if_any(0) || c.grad_if_any(2)))
        throw Error("_linalg_svd has no gradient rule for the singular vectors",
                    "use only the singular values, or call detach() on the singular vectors");
    const std::vector<NodeValue> parts = b.call_multi("aten._linalg_svd.default", {arg(r.tensor("A")), false, true});
    const NodeValue g = r.call("aten.unsqueeze.default", {arg(r.grad(1)), -2});
    r.set("A", r.product(r.mul(parts[0], g), parts[2]));
}

}  // namespace whittle

#include "ops/aten/linalg_grad.h"
#include "ops/aten/formulas.h"

#include <algorithm>

#include "base/error.h"
#include "tensor/shape.h"

namespace whittle {
namespace {

using namespace aten;

/// Of complex matrices the conjugate, too.
V turned(const V& x) { return conjugate(transpose(x, -2, -1)); }
V column(const V& x) { return unsqueeze(x, -1); }
/// A^-H
V inverse_turned(const V& x) { return turned(linalg_inv_ex(x)[0]); }
V triangle(const V& x, bool upper, std::int64_t diagonal) { return upper ? triu(x, diagonal) : tril(x, diagonal); }

}  // namespace

bool solves_for_vectors(const Sizes& a, const Sizes& b) {
    return b.size() == 1 || (b.size() + 1 == a.size() && std::equal(b.begin(), b.end(), a.begin()));
}

/// d det = det tr(A^-1 dA). Of singular matrices it is not finite.
void det_grad(Gradients& c) {
    c.takes_complex();
    const V factor = c.grad() * conjugate(c.result());
    c.set("A", column(column(factor)) * inverse_turned(c.tensor("A")));
}

/// d log|det| = Re tr(A^-1 dA), and d sign = i sign Im tr(A^-1 dA), which real numbers do not have.
void slogdet_grad(Gradients& c) {
    c.takes_complex();
    const V a = c.tensor("A");
    V factor = c.grad(1);
    if (is_complex(a.dtype())) {
        const V turn = imag(conjugate(c.result()) * c.grad(0));
        factor = complex(factor, turn);
    }
    c.set("A", column(column(factor)) * inverse_turned(a));
}

/// d A^-1 = -A^-1 dA A^-1
void inverse_grad(Gradients& c) {
    c.takes_complex();
    const V y = turned(c.result());
    c.set("A", -matmul(matmul(y, c.grad()), y));
}

/// A X = B: B's is A^-H G, A's -A^-H G X^H; X A = B likewise.
void solve_grad(Gradients& c) {
    c.takes_complex();
    const bool left = c.boolean("left");
    const V a = c.tensor("A"), right = c.tensor("B");
    V g = c.grad(), x = c.result();
    const bool vector = solves_for_vectors(a.sizes(), right.sizes());
    if (vector) g = column(g), x = column(x);
    const V of_right = _linalg_solve_ex(turned(a), g, left)[0];
    if (c.needed("B")) c.set("B", vector ? reshaped(of_right, c.grad().sizes()) : of_right);
    if (c.needed("A")) c.set("A", -(left ? matmul(of_right, turned(x)) : matmul(turned(x), of_right)));
}

/// As solve_grad(), of the triangle that is read.
void triangular_grad(Gradients& c) {
    c.takes_complex();
    const bool upper = c.boolean("upper"), left = c.boolean("left"), unit = c.boolean("unitriangular");
    const V a = c.tensor("self"), x = c.result();
    const V of_right = linalg_solve_triangular(turned(a), c.grad(), !upper, left, unit);
    c.set("B", of_right);
    if (!c.needed("self")) return;
    const V whole = -(left ? matmul(of_right, turned(x)) : matmul(turned(x), of_right));
    c.set("self", triangle(whole, upper, unit ? (upper ? 1 : -1) : 0));
}

/// A symmetric gradient: L^-H P(L^H G) L^-1, P the lower triangle with half the diagonal; Murray 2016.
void cholesky_grad(Gradients& c) {
    c.takes_complex();
    const bool upper = c.boolean("upper");
    const V l = upper ? turned(c.result()) : c.result(), g = upper ? turned(c.grad()) : c.grad();
    const V both_sides = matmul(turned(l), g);
    const V below = triangle(both_sides, false, -1);
    const V half = (triangle(both_sides, false, 0) + below) * 0.5;
    const V left = linalg_solve_triangular(turned(l), half, true, true);
    const V both = linalg_solve_triangular(l, left, false, false);
    c.set("self", (both + turned(both)) * 0.5);
}

/// V (diag(g) + (V^H G) / E) V^H with E[i, j] = value[j] - value[i]; where values are equal it is not finite.
void eigh_grad(Gradients& c) {
    c.takes_complex();
    V v = c.result(1);
    if (!c.boolean("compute_v")) {
        const auto all = _linalg_eigh(c.tensor("A"), c.text("UPLO"));
        v = all[1];
    }
    const auto row = [&](const V& x) { return unsqueeze(x, -2); };
    V middle = v * row(c.grad(0));
    if (c.boolean("compute_v") && c.grad_if_any(1)) {
        const V values = c.result(0);
        const V ones = eye(c.builder(), values.sizes().back(), values.dtype());
        const V gaps = row(values) - column(values) + ones;
        const V moved = matmul(turned(v), c.grad(1));  // vectors keep their length: no diagonal
        const V between = triangle(moved, false, -1) + triangle(moved, true, 1);
        middle = middle + matmul(v, between / gaps);
    }
    c.set("A", matmul(middle, turned(v)));
}

/// (G_Q + Q S(R G_R^T - G_Q^T Q)) R^-T, S the lower triangle copied to the upper one; Walter and Lehmann 2010.
void qr_grad(Gradients& c) {
    c.takes_complex();
    const Sizes& sizes = c.tensor("A").sizes();
    if (is_complex(c.tensor("A").dtype()))
        throw Error("found a gradient that goes through complex numbers, for which aten.linalg_qr has no rule",
                    "call detach() on the input of linalg_qr");
    if (c.text("mode") != "reduced" || sizes[sizes.size() - 2] < sizes.back())
        throw Error(
            "linalg_qr has a gradient rule only with mode='reduced', and only for matrices with at least as many rows "
            "as "
            "columns");
    const V q = c.result(0), upper = c.result(1), of_q = c.grad(0), of_upper = c.grad(1);
    const V m = matmul(upper, turned(of_upper)) - matmul(turned(of_q), q);
    const V both = triangle(m, false, 0) + turned(triangle(m, false, -1));
    const V side = of_q + matmul(q, both);
    c.set("A", linalg_solve_triangular(turned(upper), side, false, false));
}

/// U diag(g) V^H, of the values alone.
void svd_grad(Gradients& c) {
    c.takes_complex();
    if (c.boolean("compute_uv") && (c.grad_if_any(0) || c.grad_if_any(2)))
        throw Error("_linalg_svd has no gradient rule for the singular vectors",
                    "use only the singular values, or call detach() on the singular vectors");
    const auto parts = _linalg_svd(c.tensor("A"));
    const V g = unsqueeze(c.grad(1), -2);
    c.set("A", matmul(parts[0] * g, parts[2]));
}

}  // namespace whittle

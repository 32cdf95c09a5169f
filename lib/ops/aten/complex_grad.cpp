// Gradients of complex numbers. A gradient is PyTorch's: by the real part, plus i times by the imaginary part, so that
// of a function f with a derivative it is the result's times the conjugate of f'.
// https://pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
#include "ops/aten/complex_grad.h"

#include "ops/core/geometry.h"

namespace whittle {

namespace {

NodeValue real(const Rule& r, const NodeValue& x) {
    return is_complex(x.meta.dtype) ? r.of("aten.real.default", x) : x;
}
NodeValue imag(const Rule& r, const NodeValue& x) { return r.of("aten.imag.default", x); }
NodeValue complex(const Rule& r, const NodeValue& real, const NodeValue& imag) {
    return r.call("aten.complex.default", {arg(real), arg(imag)});
}
NodeValue times_i(const Rule& r, const NodeValue& x) { return complex(r, r.neg(imag(r, x)), real(r, x)); }

/// The dimensions of a transform, wrapped.
Ints wrapped_dims(CallGradients& c, const NodeValue& x) {
    Ints dims = c.args().integers("dim");
    for (std::int64_t& dim : dims) dim = wrap_dim(dim, static_cast<std::int64_t>(x.meta.sizes.size()));
    return dims;
}
NodeValue c2c(const Rule& r, const NodeValue& x, const Ints& dims, std::int64_t normalization, bool forward) {
    return r.call("aten._fft_c2c.default", {arg(x), Arg::ints(dims), normalization, forward});
}

/// With so many zeros behind a dimension.
NodeValue zero_padded(const Rule& r, const NodeValue& x, std::size_t dim, std::int64_t zeros) {
    if (zeros == 0) return x;
    Ints padding(2 * (x.meta.sizes.size() - dim), 0);
    padding.back() = zeros;
    return r.call("aten.constant_pad_nd.default", {arg(x), Arg::ints(padding), 0});
}

}  // namespace

void imag_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(complex(r, r.zeros_like(r.g), r.g));
}
void view_as_real_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const auto part = [&](int i) { return r.call("aten.select.int", {arg(r.g), -1, i}); };
    r.set(complex(r, part(0), part(1)));
}
void view_as_complex_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.of("aten.view_as_real.default", r.g));
}
void conj_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    r.set(r.conj(r.g));
}

/// 0 of real numbers, and at 0; of others what does not change the magnitude.
void sgn_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    if (!is_complex(r.x.meta.dtype)) return r.set(r.zeros_like(r.g));
    const NodeValue along = r.mul(r.y, real(r, r.mul(r.conj(r.y), r.g)));
    const NodeValue magnitude = r.of("aten.abs.default", r.x);
    r.set(r.drop(r.when("eq", magnitude, 0), r.div(r.sub(r.g, along), arg(magnitude))));
}
/// 0 of real numbers, and at 0.
void angle_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    if (!is_complex(r.x.meta.dtype)) return r.set(r.zeros_like(r.g));
    const NodeValue magnitude = r.of("aten.abs.default", r.x);
    const NodeValue around = r.div(times_i(r, r.x), arg(r.mul(magnitude, magnitude)));
    r.set(r.drop(r.when("eq", magnitude, 0), r.mul(around, r.g)));
}
void complex_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    if (r.needed("real")) r.set("real", real(r, r.grad()));
    if (r.needed("imag")) r.set("imag", imag(r, r.grad()));
}
void polar_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const NodeValue conjugate = r.conj(r.grad());
    if (r.needed("abs")) r.set("abs", real(r, r.mul(conjugate, r.of("aten.sgn.default", r.result()))));
    if (r.needed("angle")) r.set("angle", real(r, r.mul(conjugate, times_i(r, r.result()))));
}

/// The other way, normalized alike.
void fft_c2c_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const Ints dims = wrapped_dims(c, r.x);
    r.set(c2c(r, r.g, dims, c.args().integer("normalization"), !c.args().boolean("forward")));
}
/// What onesided leaves out has no gradient.
void fft_r2c_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const Ints dims = wrapped_dims(c, r.x);
    const auto last = static_cast<std::size_t>(dims.back());
    const NodeValue whole = zero_padded(r, r.g, last, r.x.meta.sizes[last] - r.g.meta.sizes[last]);
    r.set(real(r, c2c(r, whole, dims, c.args().integer("normalization"), false)));
}
/// What stands for its conjugate partner, too, counts twice.
void fft_c2r_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const Ints dims = wrapped_dims(c, r.x);
    const auto last = static_cast<std::size_t>(dims.back());
    const NodeValue half =
        r.call("aten._fft_r2c.default", {arg(r.g), Arg::ints(dims), c.args().integer("normalization"), true});
    const std::int64_t size = half.meta.sizes[last], doubled = r.g.meta.sizes[last] - size;
    const auto piece = [&](std::int64_t start, std::int64_t end) { return r.slice(half, dims.back(), start, end); };
    NodeValue gradient = half;
    if (doubled > 0)
        gradient = r.call(
            "aten.cat.default",
            {args_list({piece(0, 1), r.mul(piece(1, 1 + doubled), Arg(2)), piece(1 + doubled, size)}), dims.back()});
    r.set(zero_padded(r, gradient, last, r.x.meta.sizes[last] - size));  // frequencies that the transform did not read
}

}  // namespace whittle

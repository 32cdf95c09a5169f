// Gradients of complex numbers. A gradient is PyTorch's: by the real part, plus i times by the imaginary part, so that
// of a function f with a derivative it is the result's times the conjugate of f'.
// https://pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers
#include "ops/aten/complex_grad.h"
#include "ops/aten/formulas.h"

#include "ops/core/geometry.h"

namespace whittle {

namespace {

using namespace aten;

V real_part(const V& x) { return is_complex(x.dtype()) ? real(x) : x; }
V times_i(const V& x) { return complex(-imag(x), real_part(x)); }

/// The dimensions of a transform, wrapped.
Ints wrapped_dims(const Call& c, const V& x) {
    Ints dims = c.integers("dim");
    for (std::int64_t& dim : dims) dim = wrap_dim(dim, x.rank());
    return dims;
}
/// With so many zeros behind a dimension.
V zero_padded(const V& x, std::size_t dim, std::int64_t zeros) {
    if (zeros == 0) return x;
    Ints padding(2 * (x.sizes().size() - dim), 0);
    padding.back() = zeros;
    return constant_pad_nd(x, padding);
}

}  // namespace

V imag_grad(const OfSelf& r) { return complex(zeros_like(r.g), r.g); }
V view_as_real_grad(const OfSelf& r) {
    const auto part = [&](int i) { return select(r.g, -1, i); };
    return complex(part(0), part(1));
}
V view_as_complex_grad(const OfSelf& r) { return view_as_real(r.g); }
V conj_grad(const OfSelf& r) { return conjugate(r.g); }

/// 0 of real numbers, and at 0; of others what does not change the magnitude.
V sgn_grad(const OfSelf& r) {
    if (!is_complex(r.x.dtype())) return zeros_like(r.g);
    const V along = r.y * real_part(conjugate(r.y) * r.g);
    const V magnitude = abs(r.x);
    return drop(eq(magnitude, 0), (r.g - along) / magnitude);
}
/// 0 of real numbers, and at 0.
V angle_grad(const OfSelf& r) {
    if (!is_complex(r.x.dtype())) return zeros_like(r.g);
    const V magnitude = abs(r.x);
    const V around = times_i(r.x) / (magnitude * magnitude);
    return drop(eq(magnitude, 0), around * r.g);
}
void complex_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("real")) c.set("real", real_part(c.grad()));
    if (c.needed("imag")) c.set("imag", imag(c.grad()));
}
void polar_grad(Gradients& c) {
    c.takes_complex();
    const V turned = conjugate(c.grad());
    if (c.needed("abs")) c.set("abs", real_part(turned * sgn(c.result())));
    if (c.needed("angle")) c.set("angle", real_part(turned * times_i(c.result())));
}

/// The other way, normalized alike.
V fft_c2c_grad(const OfSelf& r) {
    const Ints dims = wrapped_dims(r.call, r.x);
    return _fft_c2c(r.g, dims, r.call.integer("normalization"), !r.call.boolean("forward"));
}
/// What onesided leaves out has no gradient.
V fft_r2c_grad(const OfSelf& r) {
    const Ints dims = wrapped_dims(r.call, r.x);
    const auto last = static_cast<std::size_t>(dims.back());
    const V whole = zero_padded(r.g, last, r.x.sizes()[last] - r.g.sizes()[last]);
    return real_part(_fft_c2c(whole, dims, r.call.integer("normalization"), false));
}
/// What stands for its conjugate partner, too, counts twice.
V fft_c2r_grad(const OfSelf& r) {
    const Ints dims = wrapped_dims(r.call, r.x);
    const auto last = static_cast<std::size_t>(dims.back());
    const V half = _fft_r2c(r.g, dims, r.call.integer("normalization"), true);
    const std::int64_t size = half.sizes()[last], doubled = r.g.sizes()[last] - size;
    const auto piece = [&](std::int64_t start, std::int64_t end) { return sliced(half, dims.back(), start, end); };
    V gradient = half;
    if (doubled > 0) gradient = cat(Vs{piece(0, 1), piece(1, 1 + doubled) * 2, piece(1 + doubled, size)}, dims.back());
    return zero_padded(gradient, last, r.x.sizes()[last] - size);  // frequencies that the transform did not read
}

}  // namespace whittle

#include "ops/aten/formulas.h"

namespace whittle::aten {

V as(const V& x, DType dtype) { return x.dtype() == dtype ? x : to(x, dtype); }

V reshaped(const V& x, const Sizes& sizes) { return x.sizes() == sizes ? x : reshape(x, sizes); }

V summed(const V& x, const Ints& dims, bool keep) { return dims.empty() ? x : sum(x, dims, keep); }

V sliced(const V& x, std::int64_t dim, std::int64_t start, std::int64_t end) {
    return start == 0 && end == x.size(dim) ? x : slice(x, dim, start, end);
}

V conjugate(const V& x) { return is_complex(x.dtype()) ? conj_physical(x) : x; }

V complement(const V& x) { return -x + 1; }

V scaled(const V& x, const Scalar& by) { return by.to_double() == 1 ? x : x * Arg(by); }

V keep(const V& condition, const V& x) { return where(condition, x, Scalar(0)); }

V drop(const V& condition, const V& x) { return masked_fill(x, condition, Scalar(0)); }

V real_part(const V& x) { return is_complex(x.dtype()) ? real(x) : x; }

Ints all_negated(Ints values) {
    for (std::int64_t& value : values) value = -value;
    return values;
}

V add_at(const V& grad, const V& positions, const Sizes& sizes) {
    const V nothing = zeros(*grad.builder, Ints{element_count(sizes)}, grad.dtype());
    const V flat = reshaped(grad, Ints{grad.numel()}), at = reshaped(positions, Ints{grad.numel()});
    return reshaped(index_put(nothing, {at}, flat, true), sizes);
}

V own_copy(const V& x) { return clone(x, "contiguous_format"); }

V none(GraphBuilder& builder, DType dtype) { return zeros(builder, Ints{0}, dtype); }

}  // namespace whittle::aten

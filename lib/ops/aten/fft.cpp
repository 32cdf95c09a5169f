// Discrete Fourier transforms, the three that ATen dispatches to: complex to complex, real to complex, complex to real.
// Kernels compute in f64 whatever the dtype. Definitions: https://pytorch.org/docs/stable/fft.html
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/elements.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

// --- Kernels ---

using Row = std::vector<Complex128>;

/// The n-th roots of unity, of the sign of the exponent.
Row roots(std::int64_t n, int sign) {
    Row result(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k)
        result[static_cast<std::size_t>(k)] =
            std::polar(1.0, sign * 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));
    return result;
}

/// Elements start, start + step … of `row`, transformed: by the least prime factor (Cooley and Tukey), a prime length
/// by its definition. `unity` are the roots of the whole row.
Row transform(const Row& row, std::size_t start, std::size_t step, std::size_t count, const Row& unity) {
    if (count == 1) return {row[start]};
    std::size_t factor = 2;
    while (count % factor != 0) factor = factor * factor >= count ? count : factor + 1;
    const std::size_t rest = count / factor;
    std::vector<Row> parts;
    for (std::size_t p = 0; p < factor; ++p)
        parts.push_back(transform(row, start + p * step, step * factor, rest, unity));
    Row result(count);
    for (std::size_t k = 0; k < count; ++k)
        for (std::size_t p = 0; p < factor; ++p)
            result[k] += parts[p][k % rest] * unity[p * k % count * (unity.size() / count)];
    return result;
}

/// Normalizations by ATen's codes: 0 none, 1 by the square root of the length, 2 by the length.
double scale_of(std::int64_t normalization, std::int64_t length) {
    if (normalization < 0 || normalization > 2)
        throw Error("fft: found normalization=" + std::to_string(normalization) + ", expected 0, 1 or 2");
    const auto n = static_cast<double>(length);
    return normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(n) : 1 / n;
}

/// Every row along `dim`, transformed.
void transform_rows(Row& values, const Sizes& sizes, std::int64_t dim, bool forward) {
    const std::int64_t length = sizes[static_cast<std::size_t>(dim)];
    std::int64_t inner = 1;
    for (auto d = static_cast<std::size_t>(dim) + 1; d < sizes.size(); ++d) inner *= sizes[d];
    if (values.empty()) return;
    const Row unity = roots(length, forward ? -1 : 1);
    const std::int64_t outer = static_cast<std::int64_t>(values.size()) / (length * inner);
    for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t i = 0; i < inner; ++i) {
            Row row;
            for (std::int64_t k = 0; k < length; ++k)
                row.push_back(values[static_cast<std::size_t>((o * length + k) * inner + i)]);
            row = transform(row, 0, 1, row.size(), unity);
            for (std::int64_t k = 0; k < length; ++k)
                values[static_cast<std::size_t>((o * length + k) * inner + i)] = row[static_cast<std::size_t>(k)];
        }
}

/// The dimensions that are transformed, wrapped, and the number of elements of one transform.
std::vector<std::int64_t> dims_of(const AnyArguments auto& arguments, const Sizes& sizes) {
    std::vector<std::int64_t> dims;
    for (const std::int64_t dim : arguments.integers("dim")) {
        dims.push_back(wrap_dim(dim, sizes));
        if (std::ranges::count(dims, dims.back()) > 1)
            throw Error(arguments.schema().name + ": found dimension " + std::to_string(dim) +
                        " twice, expected distinct dimensions");
    }
    if (dims.empty() || sizes.empty())
        throw Error(arguments.schema().name + ": found no dimension to transform, expected one or more");
    for (const std::int64_t dim : dims)
        if (sizes[static_cast<std::size_t>(dim)] < 1)
            throw Error(arguments.schema().name +
                        ": found a dimension of size 0, expected at least one element to transform");
    return dims;
}

std::int64_t transform_length(const Sizes& sizes, const std::vector<std::int64_t>& dims) {
    std::int64_t length = 1;
    for (const std::int64_t dim : dims) length *= sizes[static_cast<std::size_t>(dim)];
    return length;
}

Tensor scaled_row(Row values, double scale, DType dtype, const Sizes& sizes) {
    for (Complex128& value : values) value *= scale;
    return store(values, dtype, sizes);
}

// --- _fft_c2c ---

std::vector<ValueMeta> infer_c2c(const Arguments<ValueMeta>& arguments) {
    const ValueMeta self = arguments.tensor("self");
    dims_of(arguments, self.sizes);
    return {ValueMeta::contiguous(self.dtype, self.sizes)};
}
std::vector<Tensor> eval_c2c(const Arguments<Tensor>& arguments) {
    const Tensor self = arguments.tensor("self");
    const std::vector<std::int64_t> dims = dims_of(arguments, self.sizes());
    Row values = self.values<Complex128>();
    for (const std::int64_t dim : dims) transform_rows(values, self.sizes(), dim, arguments.boolean("forward"));
    const double scale = scale_of(arguments.integer("normalization"), transform_length(self.sizes(), dims));
    return {scaled_row(std::move(values), scale, self.dtype(), self.sizes())};
}

// --- _fft_r2c: the last of the dimensions keeps its first half where onesided ---

Sizes spectrum_sizes(const AnyArguments auto& arguments, Sizes sizes) {
    const auto last = static_cast<std::size_t>(dims_of(arguments, sizes).back());
    if (arguments.boolean("onesided")) sizes[last] = sizes[last] / 2 + 1;
    return sizes;
}
std::vector<ValueMeta> infer_r2c(const Arguments<ValueMeta>& arguments) {
    const ValueMeta self = arguments.tensor("self");
    return {ValueMeta::contiguous(complex_of(self.dtype), spectrum_sizes(arguments, self.sizes))};
}
std::vector<Tensor> eval_r2c(const Arguments<Tensor>& arguments) {
    const Tensor self = arguments.tensor("self");
    const std::vector<std::int64_t> dims = dims_of(arguments, self.sizes());
    Row values = self.values<Complex128>();
    for (const std::int64_t dim : dims) transform_rows(values, self.sizes(), dim, true);
    const double scale = scale_of(arguments.integer("normalization"), transform_length(self.sizes(), dims));
    const Tensor whole = scaled_row(std::move(values), scale, complex_of(self.dtype()), self.sizes());
    return {whole.as_strided(spectrum_sizes(arguments, self.sizes()), whole.strides(), 0).clone()};
}

// --- _fft_c2r: back to real numbers, of which the last dimension has the first half ---

Sizes signal_sizes(const AnyArguments auto& arguments, Sizes sizes) {
    const auto last = static_cast<std::size_t>(dims_of(arguments, sizes).back());
    const std::int64_t size = arguments.integer("last_dim_size");
    if (size < 1) throw Error("_fft_c2r: found last_dim_size=" + std::to_string(size) + ", expected 1 or more");
    if (sizes[last] < size / 2 + 1)
        throw Error("_fft_c2r: found " + std::to_string(sizes[last]) + " frequencies, expected at least " +
                    std::to_string(size / 2 + 1) + " for a signal of " + std::to_string(size) + " elements");
    sizes[last] = size;
    return sizes;
}
std::vector<ValueMeta> infer_c2r(const Arguments<ValueMeta>& arguments) {
    const ValueMeta self = arguments.tensor("self");
    return {ValueMeta::contiguous(real_of(self.dtype), signal_sizes(arguments, self.sizes))};
}
std::vector<Tensor> eval_c2r(const Arguments<Tensor>& arguments) {
    const Tensor self = arguments.tensor("self");
    std::vector<std::int64_t> dims = dims_of(arguments, self.sizes());
    const Sizes sizes = signal_sizes(arguments, self.sizes());
    const double scale = scale_of(arguments.integer("normalization"), transform_length(sizes, dims));
    const std::int64_t last = dims.back();
    dims.pop_back();
    Row values = self.values<Complex128>();
    for (const std::int64_t dim : dims) transform_rows(values, self.sizes(), dim, false);
    // The other half of the last dimension is the conjugate of the first, read backwards.
    const Tensor half = store(values, DType::c128, self.sizes());
    const auto at = static_cast<std::size_t>(last);
    const Tensor whole = pick(half, sizes, [&](std::vector<std::int64_t> index) {
        if (index[at] > sizes[at] / 2) index[at] = sizes[at] - index[at];
        return element_offset(index, half.strides());
    });
    values = whole.values<Complex128>();
    std::size_t position = 0;
    for_each_index(sizes, [&](const std::vector<std::int64_t>& index) {
        Complex128& value = values[position++];
        if (index[at] > sizes[at] / 2) value = std::conj(value);
        // What has no partner is read as real.
        if (index[at] == 0 || 2 * index[at] == sizes[at]) value = value.real();
    });
    transform_rows(values, sizes, last, false);
    std::vector<double> signal;
    for (const Complex128& value : values) signal.push_back(value.real() * scale);
    return {store(signal, real_of(self.dtype()), sizes)};
}

// --- Gradients ---

using namespace aten;

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

constexpr OpDef kFft[] = {
    primitive("_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
              "the forward or inverse Fourier transform of complex numbers, over several dimensions", kComplex,
              {infer_c2c, eval_c2c}, fft_c2c_grad),
    primitive("_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
              "the Fourier transform of real numbers; onesided leaves out the conjugate half",
              set_of(DType::f32) | set_of(DType::f64), {infer_r2c, eval_r2c}, fft_r2c_grad),
    primitive("_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor",
              "the inverse Fourier transform of a onesided spectrum, as real numbers", kComplex, {infer_c2r, eval_c2r},
              fft_c2r_grad),
};

}  // namespace

std::span<const OpDef> fft_ops() { return kFft; }

}  // namespace whittle

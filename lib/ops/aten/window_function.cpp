// Window functions: weights that fall to the ends of a signal. All come of numbers of the call alone.
// https://pytorch.org/docs/stable/torch.html#torch.bartlett_window, .blackman_window, .hamming_window, .hann_window,
// .kaiser_window
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/checked.h"
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/tensor_options.h"

namespace whittle {
namespace {

using namespace aten;

/// What a call asks for.
struct Shape {
    explicit Shape(const AnyArguments auto& a) {
        check_options(a);
        const std::string& op = a.schema().name;
        wanted = a.integer("window_length");
        dtype = a.dtype("dtype").value_or(DType::f32);
        if (wanted < 0) throw Error(op + ": found window_length=" + std::to_string(wanted) + ", expected 0 or more");
        if (!is_floating(dtype))
            throw Error(op + ": found dtype " + std::string(name(dtype)) + ", expected a floating-point dtype");
        periodic = !a.schema().param("periodic") || a.boolean("periodic");
    }

    std::int64_t wanted = 0;
    bool periodic = true;
    DType dtype = DType::f32;
};

/// A periodic window of n is a symmetric one of n + 1 without its last.
struct WindowFunction : Shape {
    explicit WindowFunction(const Call& a)
        : Shape(a), b(a.builder()), length((Checked(wanted) + (periodic ? 1 : 0)).value()) {}

    /// Of windows that have a length to compute of: 0 and 1 have none.
    bool is_short() const { return wanted < 2; }
    V ones() const { return aten::ones(b, Ints{wanted}, dtype); }
    double last() const { return static_cast<double>(length - 1); }
    /// 0, 1, 2 …
    V range() const { return arange(b, length, dtype); }
    V cut(const V& whole) const { return length == wanted ? whole : clone(sliced(whole, 0, 0, wanted)); }

    GraphBuilder& b;
    std::int64_t length = 0;
};

std::vector<ValueMeta> infer_window(const Arguments<ValueMeta>& a) {
    const Shape shape(a);
    return {ValueMeta::contiguous(shape.dtype, {shape.wanted})};
}

/// alpha - beta cos(2 pi x)
V hamming(const Call& c, double alpha, double beta) {
    const WindowFunction w(c);
    if (w.is_short()) return w.ones();
    const V wave = cos(w.range() * (std::numbers::pi * 2 / w.last()));
    return w.cut(wave * -beta + alpha);
}
CallResults hamming_window(const Call& c) {
    const double alpha = c.schema().param("alpha") ? c.number("alpha") : 0.54;
    return hamming(c, alpha, c.schema().param("beta") ? c.number("beta") : 0.46);
}
CallResults hann_window(const Call& c) { return hamming(c, 0.5, 0.5); }

/// 0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x)
CallResults blackman_window(const Call& c) {
    const WindowFunction w(c);
    if (w.is_short()) return w.ones();
    const V x = w.range() * (std::numbers::pi / w.last());
    const V fast = cos(x * 4) * 0.08, slow = cos(x * 2) * 0.5;
    return w.cut(fast - slow + 0.42);
}

/// 1 - |2 x - 1|: up, then down.
CallResults bartlett_window(const Call& c) {
    const WindowFunction w(c);
    if (w.is_short()) return w.ones();
    const V up = w.range() * (2 / w.last()), down = -up + 2;
    const std::int64_t half = (w.length - 1) / 2 + 1;
    return w.cut(cat(Vs{sliced(up, 0, 0, half), sliced(down, 0, half, w.length)}));
}

/// The modified Bessel function of order 0. The library's throws where its series does not end, far behind where the
/// function overflows, which is where exp(x) / sqrt(2 pi x) does.
double bessel_i0(double x) { return x > 714 ? std::numeric_limits<double>::infinity() : std::cyl_bessel_i(0.0, x); }

/// I0(beta sqrt(1 - (2 x - 1)^2)) / I0(beta), I0 being the modified Bessel function of order 0, which no op computes.
CallResults kaiser_window(const Call& c) {
    const WindowFunction w(c);
    if (w.is_short()) return w.ones();
    const double beta = c.schema().param("beta") ? c.number("beta") : 12;
    Storage::check_size((Checked(w.wanted) * static_cast<std::int64_t>(sizeof(double))).value());
    std::vector<double> values;
    for (std::int64_t i = 0; i < w.wanted; ++i) {
        const double x = 2 * static_cast<double>(i) / w.last() - 1;
        values.push_back(bessel_i0(std::fabs(beta) * std::sqrt(std::max(1 - x * x, 0.0))) / bessel_i0(std::fabs(beta)));
    }
    return c.constant(Tensor::of(values, {w.wanted}).to(w.dtype), "window");
}

constexpr OpDef window(std::string_view schema, DecomposeFn decompose) {
    return composite(schema, "a window function", kFloating, decompose, {.infer = infer_window}, no_gradient);
}

constexpr OpDef kWindowOps[] = {
    window("bartlett_window{|.periodic}(int window_length{|, bool periodic}, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
           bartlett_window),
    window("blackman_window{|.periodic}(int window_length{|, bool periodic}, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
           blackman_window),
    window("hamming_window{|.periodic|.periodic_alpha|.periodic_alpha_beta}(int window_length{|, bool periodic|, bool "
           "periodic, float alpha|, bool periodic, float alpha, float beta}, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
           hamming_window),
    window("hann_window{|.periodic}(int window_length{|, bool periodic}, *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
           hann_window),
    window("kaiser_window{|.periodic|.beta}(int window_length{|, bool periodic|, bool periodic, float beta}, "
           "*, " WHITTLE_TENSOR_OPTIONS ") -> Tensor",
           kaiser_window),
};

}  // namespace

std::span<const OpDef> window_ops() { return kWindowOps; }

}  // namespace whittle

// Window functions: weights that fall to the ends of a signal. All come of numbers of the call alone.
// https://pytorch.org/docs/stable/torch.html#torch.bartlett_window, .blackman_window, .hamming_window, .hann_window,
// .kaiser_window
#include <cmath>
#include <limits>
#include <numbers>

#include "base/checked.h"
#include "base/error.h"
#include "ops/aten/backward.h"
#include "ops/aten/families.h"
#include "ops/aten/tensor_options.h"

namespace whittle {
namespace {

/// What a call asks for.
struct Shape {
    template <class T>
    explicit Shape(const Arguments<T>& a) {
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
struct WindowFunction : Gradient, Shape {
    WindowFunction(GraphBuilder& builder, const Arguments<NodeValue>& a)
        : Gradient(builder), Shape(a), b(builder), length((Checked(wanted) + (periodic ? 1 : 0)).value()) {}

    /// Of windows that have a length to compute of: 0 and 1 have none.
    bool is_short() const { return wanted < 2; }
    Refs ones() const { return {b.call("aten.ones.default", {Arg::ints({wanted})}, {{"dtype", dtype}}).ref}; }
    double last() const { return static_cast<double>(length - 1); }
    /// 0, 1, 2 …
    NodeValue range() const { return b.call("aten.arange.default", {length}, {{"dtype", dtype}}); }
    NodeValue times(const NodeValue& x, double by) const { return call("aten.mul.Scalar", {arg(x), Arg(by)}); }
    NodeValue plus(const NodeValue& x, double what) const { return call("aten.add.Scalar", {arg(x), Arg(what)}); }
    NodeValue cos(const NodeValue& x) const { return of("aten.cos.default", x); }
    Refs cut(const NodeValue& whole) const {
        if (length == wanted) return {whole.ref};
        return {of("aten.clone.default", slice(whole, 0, 0, wanted)).ref};
    }

    GraphBuilder& b;
    std::int64_t length = 0;
};

std::vector<ValueMeta> infer_window(const Arguments<ValueMeta>& a) {
    const Shape shape(a);
    return {ValueMeta::contiguous(shape.dtype, {shape.wanted})};
}

/// alpha - beta cos(2 pi x)
Refs hamming(GraphBuilder& b, const Arguments<NodeValue>& a, double alpha, double beta) {
    const WindowFunction w(b, a);
    if (w.is_short()) return w.ones();
    const NodeValue wave = w.cos(w.times(w.range(), std::numbers::pi * 2 / w.last()));
    return w.cut(w.plus(w.times(wave, -beta), alpha));
}
Refs hamming_window(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const double alpha = a.schema().param("alpha") ? a.number("alpha") : 0.54;
    return hamming(b, a, alpha, a.schema().param("beta") ? a.number("beta") : 0.46);
}
Refs hann_window(GraphBuilder& b, const Arguments<NodeValue>& a) { return hamming(b, a, 0.5, 0.5); }

/// 0.42 - 0.5 cos(2 pi x) + 0.08 cos(4 pi x)
Refs blackman_window(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const WindowFunction w(b, a);
    if (w.is_short()) return w.ones();
    const NodeValue x = w.times(w.range(), std::numbers::pi / w.last());
    const NodeValue fast = w.times(w.cos(w.times(x, 4)), 0.08), slow = w.times(w.cos(w.times(x, 2)), 0.5);
    return w.cut(w.plus(w.sub(fast, slow), 0.42));
}

/// 1 - |2 x - 1|: up, then down.
Refs bartlett_window(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const WindowFunction w(b, a);
    if (w.is_short()) return w.ones();
    const NodeValue up = w.times(w.range(), 2 / w.last()), down = w.plus(w.neg(up), 2);
    const std::int64_t half = (w.length - 1) / 2 + 1;
    return w.cut(b.call("aten.cat.default", {args_list({w.slice(up, 0, 0, half), w.slice(down, 0, half, w.length)})}));
}

/// The modified Bessel function of order 0. The library's throws where its series does not end, far behind where the
/// function overflows, which is where exp(x) / sqrt(2 pi x) does.
double bessel_i0(double x) { return x > 714 ? std::numeric_limits<double>::infinity() : std::cyl_bessel_i(0.0, x); }

/// I0(beta sqrt(1 - (2 x - 1)^2)) / I0(beta), I0 being the modified Bessel function of order 0, which no op computes.
Refs kaiser_window(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const WindowFunction w(b, a);
    if (w.is_short()) return w.ones();
    const double beta = a.schema().param("beta") ? a.number("beta") : 12;
    Storage::check_size((Checked(w.wanted) * static_cast<std::int64_t>(sizeof(double))).value());
    std::vector<double> values;
    for (std::int64_t i = 0; i < w.wanted; ++i) {
        const double x = 2 * static_cast<double>(i) / w.last() - 1;
        values.push_back(bessel_i0(std::fabs(beta) * std::sqrt(std::max(1 - x * x, 0.0))) / bessel_i0(std::fabs(beta)));
    }
    return {b.constant(Tensor::of(values, {w.wanted}).to(w.dtype), "window").ref};
}

constexpr OpDef window(std::string_view name, std::string_view doc, std::string_view schema, DecomposeFn decompose) {
    return {.name = name,
            .doc = doc,
            .schema = schema,
            .dtypes = kFloating,
            .infer = infer_window,
            .decompose = decompose,
            .grad = no_gradient};
}

#define WHITTLE_WINDOW(name, overload, parameters, suffix)                                      \
    window("aten." #name "." suffix,                                                            \
           "a window function: https://pytorch.org/docs/stable/generated/torch." #name ".html", \
           #name overload "(int window_length" parameters ", *, " WHITTLE_TENSOR_OPTIONS ") -> Tensor", name)

constexpr OpDef kWindowOps[] = {
    WHITTLE_WINDOW(bartlett_window, "", "", "default"),
    WHITTLE_WINDOW(bartlett_window, ".periodic", ", bool periodic", "periodic"),
    WHITTLE_WINDOW(blackman_window, "", "", "default"),
    WHITTLE_WINDOW(blackman_window, ".periodic", ", bool periodic", "periodic"),
    WHITTLE_WINDOW(hamming_window, "", "", "default"),
    WHITTLE_WINDOW(hamming_window, ".periodic", ", bool periodic", "periodic"),
    WHITTLE_WINDOW(hamming_window, ".periodic_alpha", ", bool periodic, float alpha", "periodic_alpha"),
    WHITTLE_WINDOW(hamming_window, ".periodic_alpha_beta", ", bool periodic, float alpha, float beta",
                   "periodic_alpha_beta"),
    WHITTLE_WINDOW(hann_window, "", "", "default"),
    WHITTLE_WINDOW(hann_window, ".periodic", ", bool periodic", "periodic"),
    WHITTLE_WINDOW(kaiser_window, "", "", "default"),
    WHITTLE_WINDOW(kaiser_window, ".periodic", ", bool periodic", "periodic"),
    WHITTLE_WINDOW(kaiser_window, ".beta", ", bool periodic, float beta", "beta"),
};

}  // namespace

std::span<const OpDef> window_ops() { return kWindowOps; }

}  // namespace whittle

// Samples of lib/ops/aten/special_functions.cpp and special_forms.cpp: where the functions are smooth.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Tensor between(DType dtype, double low, double high, std::uint64_t seed = 1) {
    return is_floating(dtype) ? uniform(dtype, {3, 4}, low, high, seed) : values(dtype, {1, 0, 1, 1}, {2, 2});
}
Samples function_of_one(const Tensor& x, const ArgList& before = {}, const ArgList& rest = {}) {
    Samples samples = {{"rows", {x}, before}, {"transposed", {transposed(x)}, before}};
    for (Sample& sample : samples) {
        sample.args.push_back(t(0));
        sample.args.insert(sample.args.end(), rest.begin(), rest.end());
    }
    return samples;
}
Samples function_of_two(const Tensor& x, const Tensor& y) {
    return {call_of("rows", {x, y}), call_of("transposed", {transposed(x), transposed(y)})};
}

}  // namespace

Table special_function_table() {
    return {
        {{"aten.erfinv.default", "aten.special_ndtri.default", "aten.special_erfcx.default",
          "aten.special_log_ndtr.default", "aten.i0.default", "aten.special_i0e.default", "aten.special_i1.default",
          "aten.special_i1e.default", "aten.special_bessel_j0.default", "aten.special_bessel_j1.default",
          "aten.special_modified_bessel_i0.default", "aten.special_modified_bessel_i1.default",
          "aten.special_airy_ai.default", "aten.special_spherical_bessel_j0.default"},
         [](DType dtype) { return function_of_one(between(dtype, 0.1, 0.9)); }},
        // LibTorch 1.13 makes them of its j0 and j1, whose errors grow above 1.5.
        {{"aten.special_bessel_y0.default", "aten.special_bessel_y1.default"},
         [](DType dtype) { return function_of_one(between(dtype, 0.2, 0.8)); }},
        {{"aten.special_modified_bessel_k0.default", "aten.special_modified_bessel_k1.default",
          "aten.special_scaled_modified_bessel_k0.default", "aten.special_scaled_modified_bessel_k1.default"},
         [](DType dtype) { return function_of_one(between(dtype, 0.5, 3)); }},
        {{"aten.special_zeta.default"},
         [](DType dtype) {
             return function_of_two(between(dtype, 2, 4, 1), is_floating(dtype) ? between(dtype, 0.5, 3, 2)
                                                                                : values(dtype, {1, 1, 1, 1}, {2, 2}));
         }},
        {{"aten.igamma.default", "aten.igammac.default"},
         [](DType dtype) { return function_of_two(between(dtype, 0.5, 3, 1), between(dtype, 0.5, 3, 2)); }},
        {{"aten.nextafter.default"},
         [](DType dtype) { return function_of_two(between(dtype, -1, 1, 1), between(dtype, -1, 1, 2)); }},
    };
}

Table special_form_table() {
    return {
        {{"aten.polygamma.default"},
         [](DType dtype) {
             Samples samples = function_of_one(between(dtype, 0.5, 3), {1});
             for (Sample& second : function_of_one(between(dtype, 0.5, 3), {2})) {
                 second.label += ", second";
                 samples.push_back(std::move(second));
             }
             return samples;
         }},
        {{"aten.mvlgamma.default"},
         [](DType dtype) {
             return function_of_one(is_floating(dtype) ? between(dtype, 2, 4) : values(dtype, {2, 3, 4, 5}, {2, 2}), {},
                                    {3});
         }},
        {{"aten.special_chebyshev_polynomial_t.default", "aten.special_chebyshev_polynomial_u.default",
          "aten.special_chebyshev_polynomial_v.default", "aten.special_chebyshev_polynomial_w.default",
          "aten.special_shifted_chebyshev_polynomial_t.default", "aten.special_shifted_chebyshev_polynomial_u.default",
          "aten.special_shifted_chebyshev_polynomial_v.default", "aten.special_shifted_chebyshev_polynomial_w.default",
          "aten.special_hermite_polynomial_h.default", "aten.special_hermite_polynomial_he.default",
          "aten.special_laguerre_polynomial_l.default", "aten.special_legendre_polynomial_p.default"},
         [](DType dtype) {
             const bool real = is_floating(dtype);
             const Tensor x = real ? uniform(dtype, {3, 4}, 0.1, 0.9, 1) : values(dtype, {0, 1, 1, 0}, {1, 4}),
                          degrees = values(DType::i64, {0, 1, 5, 2}), same = values(dtype, {2, 1, 0, 3});
             const Tensor below = real ? values(dtype, {-1, 2.5, 3, -0.5}) : same;
             return Samples{call_of("whole degrees", {x, degrees}), call_of("of the dtype", {transposed(x), same}),
                            call_of("below 0", {x, below})};
         }},
        {{"aten.special_chebyshev_polynomial_t.n_scalar", "aten.special_chebyshev_polynomial_u.n_scalar",
          "aten.special_chebyshev_polynomial_v.n_scalar", "aten.special_chebyshev_polynomial_w.n_scalar",
          "aten.special_shifted_chebyshev_polynomial_t.n_scalar",
          "aten.special_shifted_chebyshev_polynomial_u.n_scalar",
          "aten.special_shifted_chebyshev_polynomial_v.n_scalar",
          "aten.special_shifted_chebyshev_polynomial_w.n_scalar", "aten.special_hermite_polynomial_h.n_scalar",
          "aten.special_hermite_polynomial_he.n_scalar", "aten.special_laguerre_polynomial_l.n_scalar",
          "aten.special_legendre_polynomial_p.n_scalar"},
         [](DType dtype) {
             Samples samples;
             for (const int n : {0, 1, 2, 5}) {
                 const Tensor x =
                     is_floating(dtype) ? uniform(dtype, {3, 4}, 0.1, 0.9, 1) : values(dtype, {0, 0, 0, 0}, {2, 2});
                 samples.push_back(call_of("degree " + std::to_string(n), {x, n}));
             }
             return samples;
         }},
    };
}

}  // namespace whittle::samples

// Samples of lib/ops/aten/window_function.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Of a length, then the given rest: of no elements, one, an even and an odd count.
Samples window_samples(DType dtype, const ArgList& rest) {
    Samples result;
    for (const std::int64_t length : {0, 1, 2, 7, 10})
        result.push_back({.label = std::to_string(length),
                          .tensors = {},
                          .args = joined({length}, rest),
                          .kwargs = {{"dtype", dtype}}});
    result.push_back({.label = "default dtype, " + std::string(name(dtype)), .tensors = {}, .args = result[3].args});
    return result;
}
Samples length_samples(DType dtype) { return window_samples(dtype, {}); }
Samples periodic_samples(DType dtype) { return window_samples(dtype, {false}); }
Samples parameter_samples(DType dtype) { return window_samples(dtype, {true, 0.75}); }
Samples two_parameters_samples(DType dtype) { return window_samples(dtype, {false, 0.75, 0.2}); }

/// And of a beta of which only the ends are numbers.
Samples beta_samples(DType dtype) {
    Samples result = parameter_samples(dtype);
    result.push_back(call_of("overflow", {7, false, 1e6}, {{"dtype", dtype}}));
    return result;
}

}  // namespace

Table window_table() {
    return {{{"aten.bartlett_window.default", "aten.blackman_window.default", "aten.hamming_window.default",
              "aten.hann_window.default", "aten.kaiser_window.default"},
             length_samples},
            {{"aten.bartlett_window.periodic", "aten.blackman_window.periodic", "aten.hamming_window.periodic",
              "aten.hann_window.periodic", "aten.kaiser_window.periodic"},
             periodic_samples},
            {{"aten.hamming_window.periodic_alpha"}, parameter_samples},
            {{"aten.hamming_window.periodic_alpha_beta"}, two_parameters_samples},
            {{"aten.kaiser_window.beta"}, beta_samples}};
}

}  // namespace whittle::samples

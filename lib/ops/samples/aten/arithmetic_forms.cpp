// Samples of lib/ops/aten/arithmetic_forms.cpp.
#include <cmath>
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples near_samples(DType dtype) {
    const Tensor x = values(dtype, {1, 2, 3, 0}, {4}), y = values(dtype, {1, 2.00001, 4, 0}, {4});
    return {call_of("near and far", {x, y}), call_of("loose", {x, y, 0.5, 0.5}),
            call_of("equal only", {special(dtype), special(dtype), 0.0, 0.0, true}),
            call_of("special", {special(dtype), special(dtype)}),
            call_of("broadcast", {ramp(dtype, {2, 1}), ramp(dtype, {3})})};
}

Samples powers(DType dtype) {
    const Tensor base = values(dtype, {1, 2, 3, 0}, {4}), exponent = values(dtype, {2, 3, 1, 0}, {4});
    return {call_of("vectors", {base, exponent}), call_of("broadcast", {values(dtype, {2, 3}, {2, 1}), exponent})};
}

/// op(self, rest...), of numbers around 0.
Samples of_numbers(DType dtype, const ArgList& rest = {}) {
    return {{"numbers", {ramp(dtype, {2, 4})}, joined({t(0)}, rest)}};
}

Samples membership(DType dtype) {
    const Tensor elements = values(dtype, {1, 2, 3, 4}, {2, 2}), others = values(dtype, {2, 4, 9}, {3});
    return {call_of("some", {elements, others}), call_of("inverted", {elements, others}, {{"invert", Arg(true)}})};
}

Samples scattered_by(DType dtype, const char* reduce, bool number) {
    const Tensor self = values(dtype, {1, 2, 3, 4, 5, 6}, {2, 3}), source = values(dtype, {2, 3, 1, 2}, {2, 2});
    Sample sample = scattered(reduce, {self, indices({2, 2}, 3)}, 1, {});
    if (number)
        sample.args.push_back(2);
    else
        sample.tensors.push_back(source), sample.args.push_back(t(2));
    sample.kwargs = {{"reduce", Arg(reduce)}};
    return {sample};
}

Samples convolutions(DType dtype) {
    const Tensor x = random(dtype, {1, 2, 5, 6}, 1), weight = random(dtype, {3, 2, 3, 3}, 2);
    const auto call = [&](const char* padding) {
        return call_of(padding, {x, weight, Arg(), Arg::ints({1, 1}), padding, Arg::ints({1, 1}), 1});
    };
    return {call("same"), call("valid")};
}

Samples float_power_tensor_scalar_samples(DType dtype) { return {call_of("square", {values(dtype, {1, 2, 3}), 2})}; }
Samples float_power_scalar_samples(DType dtype) { return {call_of("of 2", {2, values(dtype, {1, 2, 3})})}; }
Samples msort_samples(DType dtype) { return {call_of("matrix", {random(dtype, {4, 3})})}; }

}  // namespace

Table arithmetic_form_table() {
    return {
        {{"aten.isclose.default"}, near_samples},
        {{"aten.isposinf.default", "aten.isneginf.default"},
         [](DType dtype) {
             return Samples{call_of("special", {special(dtype)}), call_of("ramp", {ramp(dtype, {2, 3})})};
         }},
        {{"aten.float_power.Tensor_Tensor"}, powers},
        {{"aten.float_power.Tensor_Scalar"}, float_power_tensor_scalar_samples},
        {{"aten.float_power.Scalar"}, float_power_scalar_samples},
        {{"aten.ldexp.Tensor"}, powers},
        {{"aten.special_ndtr.default"}, [](DType dtype) { return of_numbers(dtype); }},
        {{"aten.special_xlog1py.default"}, powers},
        {{"aten.special_entr.default"}, [](DType dtype) { return of_numbers(dtype); }},
        {{"aten.rrelu.default"},
         [](DType dtype) {
             return of_numbers(dtype) + Samples{call_of("slopes", {ramp(dtype, {3}), 0.25, 0.5})};
         }},
        {{"aten.native_dropout_backward.default"},
         [](DType dtype) {
             const Tensor mask = values(DType::boolean, {1, 0, 1, 1, 0, 1}, {2, 3});
             return Samples{call_of("matrix", {random(dtype, {2, 3}), mask, 2.0})};
         }},
        {{"aten.nanmean.default"},
         [](DType dtype) {
             const Tensor x = values(dtype, {1, std::nan(""), 3, 4, 5, std::nan("")}, {2, 3});
             return Samples{call_of("all", {x}), call_of("rows, kept", {x, Arg::ints({1}), true})};
         }},
        {{"aten.msort.default"}, msort_samples},
        {{"aten.trapezoid.x", "aten.trapz.x", "aten.cumulative_trapezoid.x"},
         [](DType dtype) {
             const Tensor y = values(dtype, {1, 2, 4, 3, 0, 1}, {2, 3}), x = values(dtype, {0, 1, 3}, {3});
             return Samples{call_of("rows", {y, x})};
         }},
        {{"aten.trapezoid.dx", "aten.trapz.dx", "aten.cumulative_trapezoid.dx"},
         [](DType dtype) {
             const Tensor y = values(dtype, {1, 2, 4, 3, 0, 1}, {2, 3});
             return Samples{call_of("rows", {y}), call_of("columns", {y}, {{"dx", Arg(2.0)}, {"dim", Arg(0)}})};
         }},
        {{"aten.quantile.default", "aten.nanquantile.default"},
         [](DType dtype) {
             const Tensor x = values(dtype, {3, 1, 2, 5, std::nan(""), 4, 8, 6}, {2, 4}),
                          q = values(dtype, {0, 0.4, 1}, {3});
             return Samples{call_of("of all", {x, q}), call_of("rows", {x, q, 1}),
                            call_of("columns, kept", {x, q, 0, true})};
         }},
        {{"aten.quantile.scalar", "aten.nanquantile.scalar"},
         [](DType dtype) {
             const Tensor x = values(dtype, {3, 1, 2, 5, std::nan(""), 4, 8, 6}, {2, 4});
             return Samples{call_of("of all, kept", {x, 0.3, Arg(), true}), call_of("rows", {x, 0.3, 1}),
                            call_of("lower", {x, 0.4, 1}, {{"interpolation", Arg("lower")}}),
                            call_of("midpoint", {x, 0.4, 1}, {{"interpolation", Arg("midpoint")}})};
         }},
        {{"aten.isin.Tensor_Tensor"}, membership},
        {{"aten.isin.Scalar_Tensor"},
         [](DType dtype) -> Samples {
             return {call_of("among", {2, values(dtype, {1, 2, 3}, {3})}),
                     call_of("not among", {5, values(dtype, {1, 2, 3, 2}, {2, 2})}, {{"invert", Arg(true)}})};
         }},
        {{"aten.isin.Tensor_Scalar"},
         [](DType dtype) {
             const Tensor x = values(dtype, {1, 2, 3});
             return Samples{call_of("some", {x, 2}), call_of("inverted", {x, 2}, {{"invert", Arg(true)}})};
         }},
        {{"aten._safe_softmax.default"},
         [](DType dtype) {
             const double low = -std::numeric_limits<double>::infinity();
             return Samples{call_of("a blocked row", {values(dtype, {1, 2, low, low, low, low}, {2, 3}), -1})};
         }},
        {{"aten.scatter.reduce"},
         [](DType dtype) { return scattered_by(dtype, "add", false) + scattered_by(dtype, "multiply", false); }},
        {{"aten.scatter.value_reduce"},
         [](DType dtype) { return scattered_by(dtype, "add", true) + scattered_by(dtype, "multiply", true); }},
        {{"aten._convolution_mode.default"}, convolutions},
        {{"aten.slow_conv3d.default"},
         [](DType dtype) {
             return Samples{call_of("plain", {random(dtype, {1, 2, 3, 4, 4}, 1), random(dtype, {3, 2, 2, 2, 2}, 2),
                                              Arg::ints({2, 2, 2})})};
         }},
        {{"aten.thnn_conv2d.default"},
         [](DType dtype) {
             return Samples{
                 call_of("bias", {random(dtype, {1, 2, 5, 6}, 1), random(dtype, {3, 2, 3, 3}, 2), Arg::ints({3, 3}),
                                  random(dtype, {3}, 3), Arg::ints({2, 1}), Arg::ints({1, 0})})};
         }},
        {{"aten._unsafe_masked_index.default"},
         [](DType dtype) {
             const Tensor x = ramp(dtype, {4}), mask = values(DType::boolean, {1, 0, 1}, {3});
             return Samples{
                 {"beyond where it does not hold", {x, mask, integers({3, 9, 0})}, {t(0), t(1), ArgList{t(2)}, 7}}};
         }},
        {{"aten._scaled_dot_product_flash_attention_for_cpu.default"},
         [](DType dtype) {
             const Tensor q = random(dtype, {1, 2, 3, 4}, 1), k = random(dtype, {1, 2, 5, 4}, 2),
                          v = random(dtype, {1, 2, 5, 4}, 3), mask = random(dtype, {3, 5}, 4);
             return Samples{
                 call_of("plain", {q, k, v}), call_of("causal", {q, k, v, 0.0, true}),
                 Sample{
                     "mask, scale", {q, k, v, mask}, {t(0), t(1), t(2)}, {{"attn_mask", t(3)}, {"scale", Arg(0.5)}}}};
         }},
        {{"aten._scaled_dot_product_efficient_attention.default"},
         [](DType dtype) {
             const Tensor q = random(dtype, {1, 2, 3, 4}, 1), k = random(dtype, {1, 2, 5, 4}, 2),
                          v = random(dtype, {1, 2, 5, 4}, 3), bias = random(dtype, {1, 2, 3, 5}, 4);
             return Samples{call_of("sums", {q, k, v, Arg(), true}),
                            call_of("causal", {q, k, v, Arg(), false, 0.0, true}),
                            call_of("bias, scale", {q, k, v, bias, true}, {{"scale", Arg(0.5)}})};
         }},
        {{"aten._pad_enum.default"},
         [](DType dtype) {
             const Tensor x = ramp(dtype, {1, 2, 4});
             return Samples{
                 call_of("constant", {x, Arg::ints({1, 2}), 3, 0.5}), call_of("reflect", {x, Arg::ints({1, 2}), 0}),
                 call_of("replicate", {x, Arg::ints({1, 2}), 1}), call_of("circular", {x, Arg::ints({1, 2}), 2})};
         }},
        {{"aten._pad_circular.default"},
         [](DType dtype) {
             return Samples{call_of("both sides", {ramp(dtype, {1, 2, 4}), Arg::ints({1, 2})})};
         }},
        {{"aten.embedding_backward.default"},
         [](DType dtype) {
             const Tensor grad = random(dtype, {2, 3}), at = values(DType::i64, {1, 0});
             return Samples{call_of("rows", {grad, at, 4, -1, false, false})};
         }},
    };
}

}  // namespace whittle::samples

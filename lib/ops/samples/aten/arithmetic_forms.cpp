// Samples of lib/ops/aten/arithmetic_forms.cpp.
#include <cmath>
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Sample by_keyword(Sample sample, std::vector<std::pair<std::string, Arg>> kwargs) {
    sample.kwargs = std::move(kwargs);
    return sample;
}

Samples near_samples(DType dtype) {
    const Tensor x = values(dtype, {1, 2, 3, 0}, {4}), y = values(dtype, {1, 2.00001, 4, 0}, {4});
    return {{"near and far", {x, y}, {t(0), t(1)}},
            {"loose", {x, y}, {t(0), t(1), 0.5, 0.5}},
            {"equal only", {special(dtype), special(dtype)}, {t(0), t(1), 0.0, 0.0, true}},
            {"special", {special(dtype), special(dtype)}, {t(0), t(1)}},
            {"broadcast", {ramp(dtype, {2, 1}), ramp(dtype, {3})}, {t(0), t(1)}}};
}

Samples powers(DType dtype) {
    const Tensor base = values(dtype, {1, 2, 3, 0}, {4}), exponent = values(dtype, {2, 3, 1, 0}, {4});
    return {{"vectors", {base, exponent}, {t(0), t(1)}},
            {"broadcast", {values(dtype, {2, 3}, {2, 1}), exponent}, {t(0), t(1)}}};
}

/// op(self, rest...), of numbers around 0.
Samples of_numbers(DType dtype, const ArgList& rest = {}) {
    return {{"numbers", {ramp(dtype, {2, 4})}, joined({t(0)}, rest)}};
}

Samples membership(DType dtype) {
    const Tensor elements = values(dtype, {1, 2, 3, 4}, {2, 2}), others = values(dtype, {2, 4, 9}, {3});
    return {{"some", {elements, others}, {t(0), t(1)}},
            by_keyword({"inverted", {elements, others}, {t(0), t(1)}}, {{"invert", Arg(true)}})};
}

Samples scattered_by(DType dtype, const char* reduce, bool number) {
    const Tensor self = values(dtype, {1, 2, 3, 4, 5, 6}, {2, 3}), source = values(dtype, {2, 3, 1, 2}, {2, 2});
    Sample sample = scattered(reduce, {self, indices({2, 2}, 3)}, 1, {});
    if (number)
        sample.args.push_back(2);
    else
        sample.tensors.push_back(source), sample.args.push_back(t(2));
    return {by_keyword(sample, {{"reduce", Arg(reduce)}})};
}

Samples convolutions(DType dtype) {
    const Tensor x = random(dtype, {1, 2, 5, 6}, 1), weight = random(dtype, {3, 2, 3, 3}, 2);
    const auto call = [&](const char* padding) {
        return Sample{padding, {x, weight}, {t(0), t(1), Arg(), Arg::ints({1, 1}), padding, Arg::ints({1, 1}), 1}};
    };
    return {call("same"), call("valid")};
}

Samples float_power_tensor_scalar_samples(DType dtype) { return {{"square", {values(dtype, {1, 2, 3})}, {t(0), 2}}}; }
Samples float_power_scalar_samples(DType dtype) { return {{"of 2", {values(dtype, {1, 2, 3})}, {2, t(0)}}}; }
Samples msort_samples(DType dtype) { return {{"matrix", {random(dtype, {4, 3})}, {t(0)}}}; }

}  // namespace

Table arithmetic_form_table() {
    return {
        {{"aten.isclose.default"}, near_samples},
        {{"aten.isposinf.default", "aten.isneginf.default"},
         [](DType dtype) {
             return Samples{{"special", {special(dtype)}, {t(0)}}, {"ramp", {ramp(dtype, {2, 3})}, {t(0)}}};
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
             return of_numbers(dtype) + Samples{{"slopes", {ramp(dtype, {3})}, {t(0), 0.25, 0.5}}};
         }},
        {{"aten.native_dropout_backward.default"},
         [](DType dtype) {
             const Tensor mask = values(DType::boolean, {1, 0, 1, 1, 0, 1}, {2, 3});
             return Samples{{"matrix", {random(dtype, {2, 3}), mask}, {t(0), t(1), 2.0}}};
         }},
        {{"aten.nanmean.default"},
         [](DType dtype) {
             const Tensor x = values(dtype, {1, std::nan(""), 3, 4, 5, std::nan("")}, {2, 3});
             return Samples{{"all", {x}, {t(0)}}, {"rows, kept", {x}, {t(0), Arg::ints({1}), true}}};
         }},
        {{"aten.msort.default"}, msort_samples},
        {{"aten.trapezoid.x", "aten.trapz.x", "aten.cumulative_trapezoid.x"},
         [](DType dtype) {
             const Tensor y = values(dtype, {1, 2, 4, 3, 0, 1}, {2, 3}), x = values(dtype, {0, 1, 3}, {3});
             return Samples{{"rows", {y, x}, {t(0), t(1)}}};
         }},
        {{"aten.trapezoid.dx", "aten.trapz.dx", "aten.cumulative_trapezoid.dx"},
         [](DType dtype) {
             const Tensor y = values(dtype, {1, 2, 4, 3, 0, 1}, {2, 3});
             return Samples{{"rows", {y}, {t(0)}},
                            by_keyword({"columns", {y}, {t(0)}}, {{"dx", Arg(2.0)}, {"dim", Arg(0)}})};
         }},
        {{"aten.quantile.default", "aten.nanquantile.default"},
         [](DType dtype) {
             const Tensor x = values(dtype, {3, 1, 2, 5, std::nan(""), 4, 8, 6}, {2, 4}),
                          q = values(dtype, {0, 0.4, 1}, {3});
             return Samples{{"of all", {x, q}, {t(0), t(1)}},
                            {"rows", {x, q}, {t(0), t(1), 1}},
                            {"columns, kept", {x, q}, {t(0), t(1), 0, true}}};
         }},
        {{"aten.quantile.scalar", "aten.nanquantile.scalar"},
         [](DType dtype) {
             const Tensor x = values(dtype, {3, 1, 2, 5, std::nan(""), 4, 8, 6}, {2, 4});
             return Samples{{"of all, kept", {x}, {t(0), 0.3, Arg(), true}},
                            {"rows", {x}, {t(0), 0.3, 1}},
                            by_keyword({"lower", {x}, {t(0), 0.4, 1}}, {{"interpolation", Arg("lower")}}),
                            by_keyword({"midpoint", {x}, {t(0), 0.4, 1}}, {{"interpolation", Arg("midpoint")}})};
         }},
        {{"aten.isin.Tensor_Tensor"}, membership},
        {{"aten.isin.Scalar_Tensor"},
         [](DType dtype) -> Samples {
             return {{"among", {values(dtype, {1, 2, 3}, {3})}, {2, t(0)}},
                     {"not among", {values(dtype, {1, 2, 3, 2}, {2, 2})}, {5, t(0)}, {{"invert", Arg(true)}}}};
         }},
        {{"aten.isin.Tensor_Scalar"},
         [](DType dtype) {
             const Tensor x = values(dtype, {1, 2, 3});
             return Samples{{"some", {x}, {t(0), 2}},
                            by_keyword({"inverted", {x}, {t(0), 2}}, {{"invert", Arg(true)}})};
         }},
        {{"aten._safe_softmax.default"},
         [](DType dtype) {
             const double low = -std::numeric_limits<double>::infinity();
             return Samples{{"a blocked row", {values(dtype, {1, 2, low, low, low, low}, {2, 3})}, {t(0), -1}}};
         }},
        {{"aten.scatter.reduce"},
         [](DType dtype) { return scattered_by(dtype, "add", false) + scattered_by(dtype, "multiply", false); }},
        {{"aten.scatter.value_reduce"},
         [](DType dtype) { return scattered_by(dtype, "add", true) + scattered_by(dtype, "multiply", true); }},
        {{"aten._convolution_mode.default"}, convolutions},
        {{"aten.slow_conv3d.default"},
         [](DType dtype) {
             return Samples{{"plain",
                             {random(dtype, {1, 2, 3, 4, 4}, 1), random(dtype, {3, 2, 2, 2, 2}, 2)},
                             {t(0), t(1), Arg::ints({2, 2, 2})}}};
         }},
        {{"aten.thnn_conv2d.default"},
         [](DType dtype) {
             return Samples{{"bias",
                             {random(dtype, {1, 2, 5, 6}, 1), random(dtype, {3, 2, 3, 3}, 2), random(dtype, {3}, 3)},
                             {t(0), t(1), Arg::ints({3, 3}), t(2), Arg::ints({2, 1}), Arg::ints({1, 0})}}};
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
             return Samples{{"plain", {q, k, v}, {t(0), t(1), t(2)}},
                            {"causal", {q, k, v}, {t(0), t(1), t(2), 0.0, true}},
                            by_keyword({"mask, scale", {q, k, v, mask}, {t(0), t(1), t(2)}},
                                       {{"attn_mask", t(3)}, {"scale", Arg(0.5)}})};
         }},
        {{"aten._scaled_dot_product_efficient_attention.default"},
         [](DType dtype) {
             const Tensor q = random(dtype, {1, 2, 3, 4}, 1), k = random(dtype, {1, 2, 5, 4}, 2),
                          v = random(dtype, {1, 2, 5, 4}, 3), bias = random(dtype, {1, 2, 3, 5}, 4);
             return Samples{
                 {"sums", {q, k, v}, {t(0), t(1), t(2), Arg(), true}},
                 {"causal", {q, k, v}, {t(0), t(1), t(2), Arg(), false, 0.0, true}},
                 by_keyword({"bias, scale", {q, k, v, bias}, {t(0), t(1), t(2), t(3), true}}, {{"scale", Arg(0.5)}})};
         }},
        {{"aten._pad_enum.default"},
         [](DType dtype) {
             const Tensor x = ramp(dtype, {1, 2, 4});
             return Samples{{"constant", {x}, {t(0), Arg::ints({1, 2}), 3, 0.5}},
                            {"reflect", {x}, {t(0), Arg::ints({1, 2}), 0}},
                            {"replicate", {x}, {t(0), Arg::ints({1, 2}), 1}},
                            {"circular", {x}, {t(0), Arg::ints({1, 2}), 2}}};
         }},
        {{"aten._pad_circular.default"},
         [](DType dtype) {
             return Samples{{"both sides", {ramp(dtype, {1, 2, 4})}, {t(0), Arg::ints({1, 2})}}};
         }},
        {{"aten.embedding_backward.default"},
         [](DType dtype) {
             const Tensor grad = random(dtype, {2, 3}), at = values(DType::i64, {1, 0});
             return Samples{{"rows", {grad, at}, {t(0), t(1), 4, -1, false, false}}};
         }},
    };
}

}  // namespace whittle::samples

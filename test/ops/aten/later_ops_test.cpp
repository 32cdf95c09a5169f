// Ops that PyTorch has since 2.0, and LibTorch 1.13 so cannot be asked for: values by hand, and by other ops.
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "ops/samples/run_op.h"
#include "ops/samples/samples.h"

namespace whittle {
namespace {

using samples::call_of, samples::t;
using samples::run_op;

Tensor f32_of(const std::vector<double>& values, const Sizes& sizes) {
    return samples::values(DType::f32, values, sizes);
}
Tensor ends(const std::vector<std::int64_t>& values) { return samples::integers(values).to(DType::i32); }

std::vector<double> computed(const std::string& target, const std::vector<Tensor>& tensors, const ArgList& args,
                             std::size_t result = 0) {
    return run_op(target, tensors, args).at(result).values<double>();
}

}  // namespace

TEST_CASE("groups of rows, columns and terms are multiplied by their own matrices", "[ops][known]") {
    const Tensor x = f32_of({1, 2, 3, 4, 5, 6}, {3, 2}), weights = f32_of({1, 0, 0, 1, 2, 0, 0, 2}, {2, 2, 2});
    const ArgList args = {t(0), t(1), t(2)};
    const std::vector<double> rows = {1, 2, 6, 8, 10, 12};
    CHECK(computed("aten._grouped_mm.default", {x, weights, ends({1, 3})}, args) == rows);
    CHECK(computed("transformers.grouped_mm_fallback.default", {x, weights, ends({1, 3})}, args) == rows);
    CHECK(computed("transformers.grouped_mm_fallback.default", {x, weights, ends({0, 2})}, args) ==
          std::vector<double>{2, 4, 6, 8, 0, 0});
    // Columns: the first by the first matrix, the other two by the second one.
    CHECK(computed("aten._grouped_mm.default", {weights, f32_of({1, 2, 3, 4, 5, 6}, {2, 3}), ends({1, 3})}, args) ==
          std::vector<double>{1, 4, 6, 4, 10, 12});
    // Terms: 1 * 1, and 2 * 2 + 3 * 3.
    CHECK(computed("aten._grouped_mm.default", {f32_of({1, 2, 3}, {1, 3}), f32_of({1, 2, 3}, {3, 1}), ends({1, 3})},
                   args) == std::vector<double>{1, 13});
}

TEST_CASE("a layer of an LSTM for CPUs is the LSTM, forward and backward in time", "[ops][known]") {
    const Tensor x = samples::random(DType::f32, {3, 2, 3}, 1), w = samples::random(DType::f32, {16, 3}, 2),
                 u = samples::random(DType::f32, {16, 4}, 3), b = samples::random(DType::f32, {16}, 4),
                 h = samples::random(DType::f32, {1, 2, 4}, 5), c = samples::random(DType::f32, {1, 2, 4}, 6);
    const auto layer = [&](const Tensor& input, bool reverse) {
        return run_op(
            "aten.mkldnn_rnn_layer.default", {input, w, u, b, b, h, c},
            {t(0), t(1), t(2), t(3), t(4), t(5), t(6), reverse, Arg::ints({}), 2, 4, 1, true, false, false, false});
    };
    const std::vector<Tensor> lstm =
        run_op("aten.lstm.input", {x, h, c, w, u, b, b},
               {t(0), ArgList{t(1), t(2)}, ArgList{t(3), t(4), t(5), t(6)}, true, 1, 0.0, false, false, false});
    const std::vector<Tensor> forward = layer(x, false);
    for (std::size_t i = 0; i < lstm.size(); ++i) CHECK(same_bits(forward.at(i), lstm[i]));
    const auto flipped = [](const Tensor& value) {
        return run_op("aten.flip.default", {value}, {t(0), Arg::ints({0})}).at(0);
    };
    const std::vector<Tensor> backward = layer(flipped(x), true);
    CHECK(same_bits(flipped(backward.at(0)), lstm[0]));
    CHECK(same_bits(backward.at(1), lstm[1]));
}

TEST_CASE("torchvision's ops compute what torchvision 0.27 does", "[ops][known]") {
    std::vector<double> counted(24);
    std::iota(counted.begin(), counted.end(), 0);
    const Tensor x = f32_of(counted, {1, 1, 4, 6});
    const auto near = [](const std::vector<double>& got, const std::vector<double>& expected) {
        REQUIRE(got.size() == expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-5));
    };
    const Tensor regions = f32_of({0, 1, 1, 4, 3, 0, -2, 0, 2, 9}, {2, 5});  // the second one goes beyond the image
    const auto aligned = [&](double scale, std::int64_t ratio, bool half) {
        return computed("torchvision.roi_align.default", {x, regions}, {t(0), t(1), scale, 1, 2, ratio, half});
    };
    near(aligned(1, 2, false), {13.75, 15.25, 3.375, 7.25});
    near(aligned(1, 2, true), {10.25, 11.75, 2.625, 5.5});
    near(aligned(0.5, -1, true), {3.375, 4.125, 9.9, 9.9});

    const Tensor weight = f32_of({1, 2, 3, 4}, {1, 1, 2, 2}), bias = f32_of({0.5}, {1});
    const Tensor offset =
        f32_of({0, 0.5, 0, 0, 0, 0, -1, 0.25}, {1, 8, 1, 1}).as_strided({1, 8, 2, 3}, {8, 1, 0, 0}, 0);
    const Tensor mask = f32_of({1, 0.5, 0, 2}, {1, 4, 1, 1}).as_strided({1, 4, 2, 3}, {4, 1, 0, 0}, 0);
    near(computed("torchvision.deform_conv2d.default", {x, weight, offset, mask, bias},
                  {t(0), t(1), t(2), t(3), t(4), 2, 2, 0, 0, 1, 1, 1, 1, true}),
         {12, 32, 40, 132, 152, 136});

    // 12/20 of the first two boxes lie in both, 12/16 of the first and the fourth, 9/19 of the second and the
    // fourth, 4/6 of the other two.
    const Tensor boxes = f32_of({0, 0, 4, 4, 1, 0, 5, 4, 6, 6, 8, 8, 0, 0, 4, 3, 6, 6, 8, 9}, {5, 4}),
                 scores = f32_of({0.5, 0.75, 0.25, 0.625, 0.75}, {5});
    const auto kept = [&](double limit) {
        const Sample call = call_of("", {boxes, scores, limit}, {}, {0, 1});
        const Graph graph = graph_of(Registry::instance().require("torchvision.nms.default"), call);
        return evaluate(graph, {}).at(0).values<std::int64_t>();
    };
    CHECK(kept(0.5) == std::vector<std::int64_t>{1, 4, 3});
    CHECK(kept(0) == std::vector<std::int64_t>{1, 4});
    CHECK(kept(0.7) == std::vector<std::int64_t>{1, 4, 3, 2});
    CHECK(kept(1) == std::vector<std::int64_t>{1, 4, 3, 0, 2});
}

TEST_CASE("later forms of batch norm, prelu and attention compute what the earlier ones do", "[ops][known]") {
    const Tensor x = samples::random(DType::f64, {2, 3, 4}, 1), grad = samples::random(DType::f64, {2, 3, 4}, 2);
    const Tensor weight = samples::uniform(DType::f64, {3}, 0.5, 2), bias = samples::random(DType::f64, {3}, 3);
    const Tensor mean = samples::random(DType::f64, {3}, 4), var = samples::uniform(DType::f64, {3}, 0.5, 2, 5);
    const std::vector<Tensor> all = {x, weight, bias, mean, var};
    const auto same = [](const std::vector<Tensor>& got, const std::vector<Tensor>& expected, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) CHECK(same_bits(got.at(i), expected.at(i)));
    };
    const auto functional = run_op("aten._native_batch_norm_legit_functional.default", all,
                                   {t(0), t(1), t(2), t(3), t(4), true, 0.1, 1e-5});
    same(functional,
         run_op("aten.native_batch_norm.default", {x, weight, bias}, {t(0), t(1), t(2), Arg(), Arg(), true, 0.1, 1e-5}),
         3);
    // A tenth of the batch's mean, and of its variance with 7 in place of 8 values.
    const std::vector<double> means = functional.at(3).values<double>(), vars = functional.at(4).values<double>();
    for (std::size_t i = 0; i < 3; ++i) {
        const double batch = functional.at(1).values<double>()[i], scale = functional.at(2).values<double>()[i];
        CHECK(means[i] == Approx(0.9 * mean.values<double>()[i] + 0.1 * batch));
        CHECK(vars[i] == Approx(0.9 * var.values<double>()[i] + 0.1 * (1 / (scale * scale) - 1e-5) * 8 / 7));
    }
    const auto updated =
        run_op("aten._batch_norm_with_update_functional.default", all, {t(0), t(1), t(2), t(3), t(4), 0.1, 1e-5});
    same(updated, functional, 3);
    same({updated.at(4), updated.at(5)}, {functional.at(3), functional.at(4)}, 2);
    same(run_op("aten._batch_norm_no_update.default", all, {t(0), t(1), t(2), t(3), t(4), 0.1, 1e-5}),
         run_op("aten.native_batch_norm.default", all, {t(0), t(1), t(2), t(3), t(4), false, 0.1, 1e-5}), 1);

    const std::vector<Tensor> saved = {grad, x, weight, mean, var, functional.at(1), functional.at(2), updated.at(3)};
    const Arg wanted = ArgList{true, true, true};
    same(run_op("aten.batch_norm_backward.default", saved,
                {t(0), t(1), t(2), t(3), t(4), t(5), t(6), true, 1e-5, wanted, t(7)}),
         run_op("aten.native_batch_norm_backward.default", {saved.begin(), saved.end() - 1},
                {t(0), t(1), t(2), t(3), t(4), t(5), t(6), true, 1e-5, wanted}),
         3);

    const Tensor wide = weight.as_strided({1, 3, 1}, {3, 1, 1}, 0);
    same(run_op("aten._prelu_kernel.default", {x, wide}, {t(0), t(1)}),
         run_op("aten.prelu.default", {x, weight}, {t(0), t(1)}), 1);
    const Tensor slopes = run_op("aten._prelu_kernel_backward.default", {grad, x, wide}, {t(0), t(1), t(2)}).at(0);
    for (std::size_t i = 0; i < 24; ++i)
        CHECK(slopes.values<double>()[i] ==
              grad.values<double>()[i] * (x.values<double>()[i] > 0 ? 1 : weight.values<double>()[i / 4 % 3]));

    const Tensor rows = x.as_strided({1, 2, 3, 4}, {24, 12, 4, 1}, 0);
    same(run_op("aten._scaled_dot_product_efficient_attention.default", {rows}, {t(0), t(0), t(0), Arg(), false}),
         run_op("aten.scaled_dot_product_attention.default", {rows}, {t(0), t(0), t(0)}), 1);
}

TEST_CASE("the gradient of a norm by the root of the mean of squares", "[ops][known]") {
    const double scale = 1 / std::sqrt(2.5);  // of 1 and 2
    const std::vector<Tensor> tensors = {f32_of({1, 0}, {1, 2}), f32_of({1, 2}, {1, 2}), f32_of({scale}, {1, 1}),
                                         f32_of({3, 5}, {2})};
    const auto gradient = run_op("aten._fused_rms_norm_backward.default", tensors,
                                 {t(0), t(1), Arg::ints({2}), t(2), t(3), ArgList{true, true}});
    const std::vector<double> of_x = gradient.at(0).values<double>(), of_weight = gradient.at(1).values<double>();
    CHECK(of_x.at(0) == Approx(3 * scale * 0.8));
    CHECK(of_x.at(1) == Approx(3 * scale * -0.4));
    CHECK(of_weight.at(0) == Approx(scale));
    CHECK(of_weight.at(1) == 0);
}

TEST_CASE("products in a wider dtype do not round to that of their operands", "[ops][known]") {
    const Tensor x = f32_of({1, 1.0 / 256}, {1, 2}).to(DType::bf16), y = f32_of({1, 1}, {2, 1}).to(DType::bf16);
    CHECK(computed("aten.mm.dtype", {x, y}, {t(0), t(1), DType::f32}) == std::vector<double>{1 + 1.0 / 256});
    CHECK(computed("aten.addmm.dtype", {x.as_strided({1}, {1}, 1), x, y}, {t(0), t(1), t(2), DType::f32}) ==
          std::vector<double>{1 + 2.0 / 256});
}

TEST_CASE("scales and zero points follow from the range of the data", "[ops][known]") {
    const Tensor x = f32_of({-1, 0.5, 1.55, 0}, {4});
    const auto chosen = [&](const std::string& how, std::size_t result) {
        return computed("quantized_decomposed.choose_qparams" + how, {x}, {t(0), -128, 127, 1e-5, DType::i8}, result);
    };
    CHECK(chosen(".tensor", 0).at(0) == Approx(2.55 / 255));
    CHECK(chosen(".tensor", 1) == std::vector<double>{-28});
    CHECK(chosen("_symmetric.tensor", 0).at(0) == Approx(1.55 / 127.5));
    CHECK(chosen("_symmetric.tensor", 1) == std::vector<double>{0});
    const Tensor rows = f32_of({-1, 1.55, 0, 2.54}, {2, 2});
    const std::string by_row = "quantized_decomposed.choose_qparams_per_token";
    const std::vector<double> scales = computed(by_row + ".default", {rows}, {t(0), DType::i8});
    CHECK(scales.at(0) == Approx(1.55 / 127));
    CHECK(scales.at(1) == Approx(0.02));
    CHECK(computed(by_row + "_asymmetric.default", {rows}, {t(0), DType::i8}, 1) == std::vector<double>{-28, -128});
}

}  // namespace whittle

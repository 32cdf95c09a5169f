// The backward ops against finite differences of the ops whose gradients they are, in f64.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/samples/run_op.h"
#include "ops/samples/samples.h"

namespace whittle {
namespace {

using samples::run_op;
using samples::t;
using Tensors = std::vector<Tensor>;
constexpr DType kDType = DType::f64;

Tensor rand(Sizes sizes, std::uint64_t seed) { return samples::random(kDType, std::move(sizes), seed); }
Tensor positive(Sizes sizes, std::uint64_t seed) { return samples::uniform(kDType, std::move(sizes), 0.5, 2, seed); }

/// d sum(g * f(x)) / dx of the forward call's first result, by central differences in its operand `of`.
std::vector<double> by_differences(const std::string& target, Tensors operands, const ArgList& args, std::size_t of,
                                   const Tensor& g, const std::vector<std::pair<std::string, Arg>>& kwargs) {
    constexpr double kStep = 1e-6;
    const std::vector<double> values = operands[of].values<double>(), weights = g.values<double>();
    const auto at = [&](std::size_t i, double delta) {
        std::vector<double> moved = values;
        moved[i] += delta;
        operands[of] = samples::values(kDType, moved, operands[of].sizes());
        const std::vector<double> result = run_op(target, operands, args, kwargs).at(0).values<double>();
        double sum = 0;
        for (std::size_t j = 0; j < result.size(); ++j) sum += result[j] * weights[j];
        return sum;
    };
    std::vector<double> slopes;
    for (std::size_t i = 0; i < values.size(); ++i) slopes.push_back((at(i, kStep) - at(i, -kStep)) / (2 * kStep));
    return slopes;
}

/// A forward call, and the backward call made of its operands, its results and the gradient, which comes first.
struct Case {
    std::string forward;
    Tensors operands;
    ArgList args;
    std::vector<std::size_t> of;  ///< operands in whose order the backward op's results are
    std::string backward;
    std::function<std::pair<Tensors, ArgList>(const Tensors& results)> make;  ///< tensors after the gradient
    std::vector<std::pair<std::string, Arg>> kwargs = {};
};

void check(const Case& test) {
    INFO(test.backward << " " << test.operands[0].sizes().size() << "-d");
    const Tensors results = run_op(test.forward, test.operands, test.args, test.kwargs);
    const Tensor g = rand(results[0].sizes(), 77);
    auto [tensors, args] = test.make(results);
    tensors.insert(tensors.begin(), g);
    const Tensors gradients = run_op(test.backward, tensors, args, test.kwargs);
    for (std::size_t i = 0; i < test.of.size(); ++i) {
        const std::vector<double> expected =
            by_differences(test.forward, test.operands, test.args, test.of[i], g, test.kwargs);
        const std::vector<double> got = gradients.at(i).values<double>();
        REQUIRE(got.size() == expected.size());
        CHECK(gradients[i].sizes() == test.operands[test.of[i]].sizes());
        for (std::size_t j = 0; j < got.size(); ++j) CHECK(got[j] == Approx(expected[j]).margin(1e-6));
    }
}

Arg pair(std::int64_t v) { return Arg::ints({v, v}); }
Arg all() { return Arg(ArgList{Arg(true), Arg(true), Arg(true)}); }

}  // namespace

TEST_CASE("gradients of activations and losses are those of finite differences", "[ops]") {
    const Tensor x = rand({3, 4}, 1), y = rand({3, 4}, 2), w = positive({4}, 3);
    const Tensor classes = samples::values(DType::i64, {1, 3, 0});
    const auto of_x = [&](const Tensors&) { return std::pair(Tensors{x}, ArgList{t(0), t(1)}); };
    const auto of_result = [](const Tensors& r) { return std::pair(Tensors{r[0]}, ArgList{t(0), t(1)}); };
    check({"aten.relu.default", {x}, {t(0)}, {0}, "aten.threshold_backward.default", [&](const Tensors&) {
               return std::pair(Tensors{x}, ArgList{t(0), t(1), 0});
           }});
    check({"aten.sigmoid.default", {x}, {t(0)}, {0}, "aten.sigmoid_backward.default", of_result});
    check({"aten.tanh.default", {x}, {t(0)}, {0}, "aten.tanh_backward.default", of_result});
    check({"aten.gelu.default", {x}, {t(0)}, {0}, "aten.gelu_backward.default", of_x});
    check({"aten.gelu.default", {x}, {t(0)}, {0}, "aten.gelu_backward.default", of_x, {{"approximate", "tanh"}}});
    for (const std::int64_t dim : {0, 1}) {
        const auto make = [dim](const Tensors& r) {
            return std::pair(Tensors{r[0]}, ArgList{t(0), t(1), dim, Arg(kDType)});
        };
        check({"aten._softmax.default", {x}, {t(0), dim, false}, {0}, "aten._softmax_backward_data.default", make});
        check({"aten._log_softmax.default",
               {x},
               {t(0), dim, false},
               {0},
               "aten._log_softmax_backward_data.default",
               make});
    }
    for (const std::int64_t reduction : {0, 1, 2}) {
        check({"aten.mse_loss.default",
               {x, y},
               {t(0), t(1), reduction},
               {0},
               "aten.mse_loss_backward.default",
               [&](const Tensors&) {
                   return std::pair(Tensors{x, y}, ArgList{t(0), t(1), t(2), reduction});
               }});
        for (const std::int64_t ignored : {-100, 3})
            check({"aten.nll_loss_forward.default",
                   {x, classes, w},
                   {t(0), t(1), t(2), reduction, ignored},
                   {0},
                   "aten.nll_loss_backward.default",
                   [&](const Tensors& r) {
                       return std::pair(Tensors{x, classes, w, r[1]},
                                        ArgList{t(0), t(1), t(2), t(3), reduction, ignored, t(4)});
                   }});
    }
}

TEST_CASE("cross entropy is what its definition says", "[ops]") {
    const std::vector<double> x = {0.5, -1, 2, 1, 0, 0.25}, w = {0.5, 1, 2};
    const double total = std::exp(0.5) + std::exp(-1.0) + std::exp(2.0);
    const auto score = [&](std::size_t c) { return x[c] - std::log(total); };
    double all = 0;
    for (std::size_t c = 0; c < 3; ++c) all += w[c] * score(c);
    const Tensors operands = {samples::values(kDType, x, {2, 3}),
                              samples::values(DType::i64, {2, -7}),  // the second row is ignored

                              samples::values(kDType, w)};
    const auto loss = [&](std::int64_t reduction, double smoothing) {
        return run_op("aten.cross_entropy_loss.default", operands, {t(0), t(1), t(2), reduction, -7, smoothing})
            .at(0)
            .values<double>();
    };
    CHECK(loss(1, 0).at(0) == Approx(-score(2)));  // of one row, whatever its weight
    CHECK(loss(2, 0).at(0) == Approx(-w[2] * score(2)));
    CHECK(loss(0, 0).at(1) == 0);
    CHECK(loss(2, 0.3).at(0) == Approx(-0.7 * w[2] * score(2) - 0.3 / 3 * all));
    CHECK(loss(1, 0.3).at(0) == Approx((-0.7 * w[2] * score(2) - 0.3 / 3 * all) / w[2]));
    const Tensor shares = samples::values(kDType, {0.2, 0.3, 0.5, 0, 0, 0}, {2, 3});
    const double expected = -(0.2 * score(0) + 0.3 * score(1) + 0.5 * score(2)) / 2;
    CHECK(run_op("aten.cross_entropy_loss.default", {operands[0], shares}, {t(0), t(1)}).at(0).values<double>().at(0) ==
          Approx(expected));
}

TEST_CASE("gradients of parts are those of finite differences", "[ops]") {
    const Tensor x = rand({5, 4}, 1), rows = samples::values(DType::i64, {1, 4, 1, 0}, {2, 2});
    const Arg sizes = Arg::ints({5, 4});
    check({"aten.embedding.default",
           {x, rows},
           {t(0), t(1)},
           {0},
           "aten.embedding_dense_backward.default",
           [&](const Tensors&) {
               return std::pair(Tensors{rows}, ArgList{t(0), t(1), 5, -1, false});
           }});
    check({"aten.select.int", {x}, {t(0), 1, -2}, {0}, "aten.select_backward.default", [&](const Tensors&) {
               return std::pair(Tensors{}, ArgList{t(0), sizes, 1, -2});
           }});
    check({"aten.slice.Tensor", {x}, {t(0), 0, 1, 5, 2}, {0}, "aten.slice_backward.default", [&](const Tensors&) {
               return std::pair(Tensors{}, ArgList{t(0), sizes, 0, 1, 5, 2});
           }});
    check({"aten.diagonal.default", {x}, {t(0), -1, 0, 1}, {0}, "aten.diagonal_backward.default", [&](const Tensors&) {
               return std::pair(Tensors{}, ArgList{t(0), sizes, -1, 0, 1});
           }});
}

TEST_CASE("gradients of normalization are those of finite differences", "[ops]") {
    const Tensor x = rand({3, 2, 4}, 1), w = positive({4}, 2), bias = rand({4}, 3);
    check({"aten.native_layer_norm.default",
           {x, w, bias},
           {t(0), Arg::ints({4}), t(1), t(2), 1e-5},
           {0, 1, 2},
           "aten.native_layer_norm_backward.default",
           [&](const Tensors& r) {
               return std::pair(Tensors{x, r[1], r[2], w, bias},
                                ArgList{t(0), t(1), Arg::ints({4}), t(2), t(3), t(4), t(5), all()});
           }});
    const Tensor image = rand({2, 3, 2, 2}, 4), scale = positive({3}, 5), shift = rand({3}, 6);
    const Tensor mean = rand({3}, 7), variance = positive({3}, 8);
    check({"aten._native_batch_norm_legit.no_stats",
           {image, scale, shift},
           {t(0), t(1), t(2), true, 0.1, 1e-5},
           {0, 1, 2},
           "aten.native_batch_norm_backward.default",
           [&](const Tensors& r) {
               return std::pair(Tensors{image, scale, r[1], r[2]},
                                ArgList{t(0), t(1), t(2), Arg(), Arg(), t(3), t(4), true, 1e-5, all()});
           }});
    check({"aten.native_batch_norm.default",
           {image, scale, shift, mean, variance},
           {t(0), t(1), t(2), t(3), t(4), false, 0.1, 1e-5},
           {0, 1, 2},
           "aten.native_batch_norm_backward.default",
           [&](const Tensors&) {
               return std::pair(Tensors{image, scale, mean, variance},
                                ArgList{t(0), t(1), t(2), t(3), t(4), Arg(), Arg(), false, 1e-5, all()});
           }});
}

TEST_CASE("the gradient of an image of more pixels than bf16 counts is at the pixel that was read", "[ops]") {
    const auto reached = [](DType dtype) {
        const Tensor grad = samples::values(dtype, {1}, {1, 1, 1, 1}), image(dtype, {1, 1, 40, 40});
        const Tensor grid = samples::values(dtype, {-0.8125, 0.6875}, {1, 1, 1, 2});  // row 33, column 3
        const ArgList args = {t(0), t(1), t(2), 1, 0, false, Arg(ArgList{Arg(true), Arg(true)})};
        const std::vector<double> pixels =
            run_op("aten.grid_sampler_2d_backward.default", {grad, image, grid}, args)[0].values<double>();
        return std::ranges::find(pixels, 1.0) - pixels.begin();
    };
    for (const DType dtype : {DType::bf16, DType::f16, DType::f32, DType::f64}) CHECK(reached(dtype) == 33 * 40 + 3);
}

TEST_CASE("gradients of convolution and pooling are those of finite differences", "[ops]") {
    struct Geometry {
        std::int64_t stride, padding, dilation, groups;
    };
    for (const Geometry& c : {Geometry{1, 1, 1, 1}, {2, 0, 1, 2}, {3, 2, 1, 1}, {1, 2, 2, 2}, {2, 1, 2, 1}}) {
        const Tensor x = rand({2, 2, 6, 5}, 1), w = rand({4, 2 / c.groups, 3, 2}, 2), bias = rand({4}, 3);
        const ArgList rest = {pair(c.stride), pair(c.padding), pair(c.dilation), false, pair(0), c.groups};
        ArgList args = {t(0), t(1), t(2)}, backward = {t(0), t(1), t(2), Arg::ints({4})};
        args.insert(args.end(), rest.begin(), rest.end());
        backward.insert(backward.end(), rest.begin(), rest.end());
        backward.push_back(all());
        check({"aten.convolution.default",
               {x, w, bias},
               args,
               {0, 1, 2},
               "aten.convolution_backward.default",
               [&](const Tensors&) {
                   return std::pair(Tensors{x, w}, backward);
               }});
    }
    const Tensor x = rand({1, 2, 6, 5}, 4);
    const ArgList window = {Arg::ints({3, 2}), pair(2), pair(1), pair(1), false};
    ArgList args = {t(0)}, backward = {t(0), t(1)};
    args.insert(args.end(), window.begin(), window.end());
    backward.insert(backward.end(), window.begin(), window.end());
    backward.push_back(t(2));
    check({"aten.max_pool2d_with_indices.default",
           {x},
           args,
           {0},
           "aten.max_pool2d_with_indices_backward.default",
           [&](const Tensors& r) {
               return std::pair(Tensors{x, r[1]}, backward);
           }});
    for (const bool ceil : {false, true})
        for (const bool counted : {false, true})
            for (const Arg& divisor : {Arg(), Arg(5)}) {
                const ArgList rest = {Arg::ints({3, 2}), Arg::ints({2, 3}), pair(1), ceil, counted, divisor};
                ArgList forward = {t(0)}, back = {t(0), t(1)};
                forward.insert(forward.end(), rest.begin(), rest.end());
                back.insert(back.end(), rest.begin(), rest.end());
                check({"aten.avg_pool2d.default",
                       {x},
                       forward,
                       {0},
                       "aten.avg_pool2d_backward.default",
                       [&](const Tensors&) { return std::pair(Tensors{x}, back); }});
            }
}

}  // namespace whittle

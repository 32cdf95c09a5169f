// What ONNX's random ops draw from: the standard's models compare sizes only.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "ops/aten/random.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/samples/sample.h"

namespace whittle {
namespace {

constexpr std::int64_t kCount = 10000;

/// What the op draws with these attributes; of kCount elements, like a tensor where it takes one.
std::vector<double> drawn(const std::string& target, std::vector<std::pair<std::string, Arg>> attributes,
                          const Tensor& like = Tensor(DType::f32, {kCount})) {
    const RegisteredOp& op = Registry::instance().require(target);
    Sample sample{.label = "drawn", .tensors = {}, .kwargs = std::move(attributes), .opset_imports = {{"", 15}}};
    if (op.schema.param("shape")) {
        sample.kwargs.emplace_back("shape", Arg::ints({kCount}));
    } else {
        sample.tensors = {like};
        sample.args = {NodeRef{0}};
    }
    seed_random_ops(1);
    return evaluate(graph_of(op, sample), sample.inputs()).at(0).values<double>();
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double deviation(const std::vector<double>& values) {
    const double middle = mean(values);
    double sum = 0;
    for (const double value : values) sum += (value - middle) * (value - middle);
    return std::sqrt(sum / static_cast<double>(values.size()));
}

TEST_CASE("uniform values lie between low and high", "[onnx][random]") {
    for (const char* target : {"onnx.RandomUniform", "onnx.RandomUniformLike"}) {
        INFO(target);
        const std::vector<double> values = drawn(target, {{"low", -2.0}, {"high", 4.0}});
        CHECK(*std::ranges::min_element(values) >= -2);
        CHECK(*std::ranges::max_element(values) <= 4);
        CHECK(mean(values) == Approx(1).margin(0.1));
        CHECK(deviation(values) == Approx(6 / std::sqrt(12.0)).epsilon(0.05));
    }
}

TEST_CASE("normal values have the mean and the deviation given", "[onnx][random]") {
    for (const char* target : {"onnx.RandomNormal", "onnx.RandomNormalLike"}) {
        INFO(target);
        const std::vector<double> values = drawn(target, {{"mean", 3.0}, {"scale", 2.0}});
        CHECK(mean(values) == Approx(3).margin(0.1));
        CHECK(deviation(values) == Approx(2).epsilon(0.05));
    }
}

TEST_CASE("bounds and deviations that cannot be are refused", "[onnx][random]") {
    CHECK_THROWS_WITH(drawn("onnx.RandomUniform", {{"low", 3.0}, {"high", 1.0}}),
                      Catch::Contains("found low=3 and high=1"));
    CHECK_THROWS_WITH(drawn("onnx.RandomNormal", {{"scale", -1.0}}), Catch::Contains("found scale=-1,"));
}

TEST_CASE("bernoulli's operand holds the chances", "[onnx][random]") {
    const std::vector<double> values =
        drawn("onnx.Bernoulli", {}, Tensor::of(std::vector<float>(kCount, 0.25f), {kCount}));
    CHECK(std::ranges::all_of(values, [](double value) { return value == 0 || value == 1; }));
    CHECK(mean(values) == Approx(0.25).margin(0.03));
}

}  // namespace
}  // namespace whittle

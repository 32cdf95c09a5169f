// Conversions to 8-bit floats as ONNX defines them: https://onnx.ai/onnx/operators/onnx__Cast.html, the tables of
// E4M3FN and E5M2.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/samples/samples.h"
#include "tensor/convert.h"

namespace whittle {
namespace {

using samples::call_of;

std::vector<double> cast(const Tensor& from, const std::vector<std::pair<std::string, Arg>>& more = {},
                         DType to = DType::f8_e4m3fn) {
    Sample sample = call_of("", {from}, {{"to", info_of(to).onnx}});
    sample.kwargs.insert(sample.kwargs.end(), more.begin(), more.end());
    const Graph graph = graph_of(Registry::instance().require("onnx.Cast"), sample);
    const Tensor result = evaluate(graph, std::vector{from})[0];
    CHECK(result.dtype() == to);
    return result.values<double>();
}

}  // namespace

TEST_CASE("onnx.Cast to FLOAT8E4M3FN saturates", "[ops]") {
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        INFO(name(dtype));
        const std::vector<double> got =
            cast(Tensor::of<double>({1000, -1000, INFINITY, -INFINITY, NAN, 0.1, 470}, {7}).to(dtype));
        CHECK(got[0] == 448);
        CHECK(got[1] == -448);
        CHECK(got[2] == 448);
        CHECK(got[3] == -448);
        CHECK(std::isnan(got[4]));
        CHECK(got[5] == 0.1015625);
        CHECK(got[6] == 448);
    }
    CHECK(cast(Tensor::of<std::int64_t>({5000000000, -7}, {2})) == std::vector<double>{448, -7});
    CHECK(cast(Tensor::of<bool>({true, false}, {2})) == std::vector<double>{1, 0});
    CHECK(cast(Tensor::of<std::int64_t>({60000, 3}, {2}).to(DType::u16)) == std::vector<double>{448, 3});
    CHECK(cast(Tensor::of<double>({57344, -2}, {2}).to(DType::f8_e5m2)) == std::vector<double>{448, -2});
}

TEST_CASE("onnx.Cast to FLOAT8E5M2 saturates, without which what is beyond the range becomes infinite", "[ops]") {
    const std::vector<double> numbers = {1e9, -1e9, INFINITY, -INFINITY, 61439, 61440, 0.1, -3.3};
    const Tensor from = Tensor::of(numbers, {8}).to(DType::f32);
    CHECK(cast(from, {}, DType::f8_e5m2) ==
          std::vector<double>{57344, -57344, 57344, -57344, 57344, 57344, 0.09375, -3.5});
    CHECK(cast(from, {{"saturate", 0}}, DType::f8_e5m2) ==
          std::vector<double>{INFINITY, -INFINITY, INFINITY, -INFINITY, 57344, INFINITY, 0.09375, -3.5});
    CHECK(std::isnan(cast(Tensor::of<float>({NAN}, {1}), {}, DType::f8_e5m2)[0]));
}

TEST_CASE("onnx.Cast with saturate=0 makes NaN of what is beyond the range", "[ops]") {
    const std::vector<double> got = cast(Tensor::of<float>({1000, -INFINITY, 448, 470}, {4}), {{"saturate", 0}});
    CHECK(std::isnan(got[0]));
    CHECK(std::isnan(got[1]));
    CHECK(got[2] == 448);
    CHECK(std::isnan(got[3]));
}

/// 65519.999 and 1 + 2^-11 + 2^-40 as NumPy 1.24 converts them: 65504 and 1.0009765625.
TEST_CASE("onnx.Cast rounds f64 once", "[ops]") {
    std::vector<double> numbers = {
        65519.999, 1 + 0x1p-11 + 0x1p-40, 65520, 1e300, INFINITY, NAN, 0, 464, 464.000001, 1e-300,
        0x1p-25,   0x1p-25 + 0x1p-70};
    std::mt19937_64 random(1);
    std::uniform_int_distribution<int> eighths(0, 1 << 16);
    for (int i = 0; i < 4000; ++i) {  // beside the middles of neighbors
        const double middle = std::ldexp(eighths(random) | 1, -8 - i % 24);
        numbers.insert(numbers.end(), {middle, middle * (1 + 0x1p-45), middle * (1 - 0x1p-45), middle * (1 + 0x1p-20)});
    }
    const std::size_t positive = numbers.size();
    for (std::size_t i = 0; i < positive; ++i) numbers.push_back(-numbers[i]);
    const Tensor from = Tensor::of(numbers, {static_cast<std::int64_t>(numbers.size())});
    const auto check = [&]<class T>(T, const std::vector<std::pair<std::string, Arg>>& kwargs) {
        const Sample sample = call_of("", {from}, kwargs);
        const Tensor got =
            evaluate(graph_of(Registry::instance().require("onnx.Cast"), sample), std::vector{from})[0].contiguous();
        int wrong = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const T expected = nearest<T>(numbers[i]);
            const bool nan = std::isnan(static_cast<float>(expected));
            const float value = static_cast<float>(got.data<T>()[i]);
            wrong += nan ? !std::isnan(value) : got.data<T>()[i].bits() != expected.bits();
        }
        CHECK(wrong == 0);
    };
    check(Half{}, {{"to", 10}});
    check(BFloat16{}, {{"to", 16}});
    check(Float8E4M3FN{}, {{"to", 17}, {"saturate", 0}});
    check(Float8E5M2{}, {{"to", 19}, {"saturate", 0}});
}

TEST_CASE("onnx.Cast reads FLOAT8E4M3FN", "[ops]") {
    const Tensor stored = Tensor::of<float>({0.5f, -20}, {2}).to(DType::f8_e4m3fn);
    const Sample sample = call_of("", {stored}, {{"to", 1}});
    const Graph graph = graph_of(Registry::instance().require("onnx.Cast"), sample);
    CHECK(same_bits(evaluate(graph, std::vector{stored})[0], Tensor::of<float>({0.5f, -20}, {2})));
}

}  // namespace whittle

// Conversions to 8-bit floats as ONNX defines them: https://onnx.ai/onnx/operators/onnx__Cast.html, the table of
// E4M3FN.
#include <catch2/catch.hpp>
#include <cmath>

#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/samples/samples.h"

namespace whittle {
namespace {

using samples::t;

std::vector<double> cast(const Tensor& from, const std::vector<std::pair<std::string, Arg>>& more = {}) {
    Sample sample{.label = "", .tensors = {from}, .args = {t(0)}, .kwargs = {{"to", 17}}};
    sample.kwargs.insert(sample.kwargs.end(), more.begin(), more.end());
    const Graph graph = graph_of(Registry::instance().require("onnx.Cast"), sample);
    const Tensor result = evaluate(graph, std::vector{from})[0];
    CHECK(result.dtype() == DType::f8_e4m3fn);
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
}

TEST_CASE("onnx.Cast with saturate=0 makes NaN of what is beyond the range", "[ops]") {
    const std::vector<double> got = cast(Tensor::of<float>({1000, -INFINITY, 448, 470}, {4}), {{"saturate", 0}});
    CHECK(std::isnan(got[0]));
    CHECK(std::isnan(got[1]));
    CHECK(got[2] == 448);
    CHECK(std::isnan(got[3]));
}

TEST_CASE("onnx.Cast reads FLOAT8E4M3FN", "[ops]") {
    const Tensor stored = Tensor::of<float>({0.5f, -20}, {2}).to(DType::f8_e4m3fn);
    const Sample sample{.label = "", .tensors = {stored}, .args = {t(0)}, .kwargs = {{"to", 1}}};
    const Graph graph = graph_of(Registry::instance().require("onnx.Cast"), sample);
    CHECK(same_bits(evaluate(graph, std::vector{stored})[0], Tensor::of<float>({0.5f, -20}, {2})));
}

}  // namespace whittle

// Regions of onnx.Resize that are no numbers. What they give the standard leaves open; the reference reads no element.
#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/samples/samples.h"

namespace whittle {
namespace {

using samples::call_of;

std::vector<double> resized_region(const std::string& mode, double start, double end) {
    const Sample sample = call_of(
        "",
        {Tensor::of<float>({1, 2, 3}), Tensor::of<float>({static_cast<float>(start), static_cast<float>(end)}), Arg(),
         Tensor::of<std::int64_t>({2})},
        {{"coordinate_transformation_mode", "tf_crop_and_resize"}, {"extrapolation_value", 9.0}, {"mode", mode}},
        {1, 2});
    return evaluate(graph_of(Registry::instance().require("onnx.Resize"), sample), sample.inputs())[0].values<double>();
}

}  // namespace

TEST_CASE("a region of onnx.Resize that is NaN or infinite gives the extrapolation value", "[ops]") {
    for (const std::string mode : {"nearest", "linear", "cubic"}) {
        INFO(mode);
        CHECK(resized_region(mode, 0, 1) == std::vector<double>{1, 3});
        CHECK(resized_region(mode, NAN, 1) == std::vector<double>{9, 9});
        CHECK(resized_region(mode, 0, INFINITY) == std::vector<double>{9, 9});
    }
}

TEST_CASE("factors of onnx.Gemm on integers are integers of 64 bits", "[ops]") {
    const Tensor one = Tensor::of<std::int64_t>({3}, {1, 1});
    const auto product = [&](double alpha) {
        const Sample sample = call_of("", {one, one}, {{"alpha", alpha}});
        return evaluate(graph_of(Registry::instance().require("onnx.Gemm"), sample), sample.inputs())[0];
    };
    CHECK(product(2).values<std::int64_t>() == std::vector<std::int64_t>{18});
    CHECK_THROWS_WITH(product(1e20), Catch::Contains("found alpha of"));
    CHECK_THROWS_WITH(product(NAN), Catch::Contains("alpha"));
}

}  // namespace whittle

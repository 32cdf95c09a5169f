// The bounds of ops, of which intervals are made.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/sanitizer.h"
#include "graph/text.h"
#include "judge/changed.h"
#include "judge/explained.h"
#include "judge/interval.h"
#include "judge/outside.h"
#include "ops/core/interpreter.h"
#include "ops/samples/table.h"
#include "tensor/limits.h"
#include "tensor/random.h"

using namespace whittle;

TEST_CASE("the bound of elu holds for exp(x) - 1 and for expm1(x)", "[interval]") {
    const Graph graph = parse(R"(graph elu {
        %x = placeholder["x"] : f32[2]
        %y = aten.elu.default(%x) : f32[2]
        return (%y)
    })");
    const std::vector<float> xs = {-0.001f, -3.0f};
    const auto interval = intervals_of(graph, std::vector<Tensor>{Tensor::of(xs, {2})}, {});
    REQUIRE(interval);
    std::vector<float> by_exp, by_expm1;
    for (const float x : xs) by_exp.push_back(std::exp(x) - 1), by_expm1.push_back(std::expm1(x));
    REQUIRE(by_exp[0] != by_expm1[0]);
    CHECK(test::outside(Tensor::of(by_exp, {2}), interval->at(0)) == "");
    CHECK(test::outside(Tensor::of(by_expm1, {2}), interval->at(0)) == "");
    CHECK(interval->at(0).full.most() < 1e-6);
}

TEST_CASE("the bound of lgamma holds near its roots below zero", "[interval]") {
    const Graph graph = parse(R"(graph lgamma {
        %x = placeholder["x"] : f32[1]
        %y = aten.lgamma.default(%x) : f32[1]
        return (%y)
    })");
    const auto interval = intervals_of(graph, std::vector<Tensor>{Tensor::of({-2.4570248126983643f})}, {});
    REQUIRE(interval);
    CHECK(test::outside(Tensor::of({-1.1355729157003225e-07f}), interval->at(0)) == "");  // PyTorch 1.13
    CHECK(test::outside(Tensor::of({-3e-06f}), interval->at(0)) != "");
}

TEST_CASE("the bound of a cubic resize holds whoever rounds the coordinates", "[interval]") {
    const Graph graph = parse(R"(graph cubic {
        %x = placeholder["x"] : f32[1, 1, 4, 4]
        %y = aten.upsample_bicubic2d.default(%x, [7, 7], false, none, none) : f32[1, 1, 7, 7]
        return (%y)
    })");
    Random random(5);
    const Tensor x = random_tensor(DType::f32, {1, 1, 4, 4}, random);
    const auto interval = intervals_of(graph, std::vector<Tensor>{x}, {});
    REQUIRE(interval);
    CHECK(test::outside(evaluate(graph, std::vector<Tensor>{x}).at(0), interval->at(0)) == "");
    // Two steps of a coordinate near 4, by which weights change twice as much, over 16 elements below 4.
    CHECK(interval->at(0).full.most() > 2 * 4 * std::numeric_limits<float>::epsilon());
    CHECK(interval->at(0).full.most() < 1e-3);
}

namespace {

/// A result whose element with the widest interval, of those that no jump widens, is moved by four radii and the
/// tolerance is excused.
bool excuses_moved(const Graph& graph, const std::vector<Tensor>& inputs, const std::vector<Tensor>& results,
                   const Interval& interval) {
    const Tensor& right = results.at(0);
    if (!is_floating(right.dtype()) || !interval.unbounded.empty()) return false;
    const Tolerance tolerance = default_tolerance(right.dtype());
    const std::vector<double> center = interval.center.values<double>();
    std::size_t at = center.size();
    double moved = 0, widest = -1;
    for (std::size_t i = 0; i < center.size(); ++i) {
        const double radius = interval.full.most_at(i);
        const double by = 4 * radius + 2 * (tolerance.atol + tolerance.rtol * std::fabs(center[i]));
        const bool jumps = radius != interval.smooth.most_at(i);
        if (jumps || radius <= widest || !(std::fabs(center[i]) + by < float_limits(right.dtype()).largest)) continue;
        at = i, widest = radius, moved = center[i] < 0 ? center[i] - by : center[i] + by;
    }
    if (at == center.size()) return false;
    std::vector<Tensor> got = results;
    got[0] = test::with(right, at, moved);
    return explained_by_rounding(graph, inputs, got, results, {}).explained;
}

/// The results of the reference kernel lie in the intervals, and moved ones do not: "" or what is wrong.
std::string sample_fits(const RegisteredOp& op, const Sample& sample) {
    const Graph graph = graph_of(op, sample);
    const std::vector<Tensor> inputs = sample.inputs();
    const auto intervals = intervals_of(graph, inputs, {});
    if (!intervals) return {};
    const std::vector<Tensor> got = evaluate(graph, inputs);
    for (std::size_t k = 0; k < got.size(); ++k) {
        const std::string found = test::outside(got[k], intervals->at(k));
        if (!found.empty()) return "result " + std::to_string(k) + " " + found;
    }
    return !got.empty() && excuses_moved(graph, inputs, got, intervals->at(0)) ? "a moved result is excused" : "";
}

}  // namespace

TEST_CASE("what the reference computes lies in the interval of every op with a bound", "[interval]") {
    if (kAddressSanitizer) return;  // every op runs elsewhere; this takes minutes
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (op.def->random || op.def->higher_order) continue;
        std::set<std::string> wrong;
        for (const DType dtype : {DType::f32, DType::f16}) {
            if (!(op.def->dtypes & set_of(dtype))) continue;
            for (const Sample& sample : samples_of(op, dtype)) {
                std::string found;
                try {
                    found = sample_fits(op, sample);
                } catch (const Error&) {  // the reference refuses it, as it should
                }
                if (!found.empty()) wrong.insert(std::string(name(dtype)) + " " + sample.label + ": " + found);
            }
        }
        INFO(op.name);
        for (const std::string& line : wrong) UNSCOPED_INFO(line);
        CHECK(wrong.empty());
    }
}

TEST_CASE("most ops have a bound", "[interval]") {
    if (kAddressSanitizer) return;  // every op runs elsewhere; this takes minutes
    std::set<std::string_view> without;
    for (const RegisteredOp& op : Registry::instance().all()) {
        const Samples samples = op.def->dtypes & set_of(DType::f32) ? samples_of(op, DType::f32) : Samples();
        for (const Sample& sample : samples)
            if (!ops_without_bound(graph_of(op, sample)).empty()) without.insert(op.name);
    }
    for (const std::string_view op :
         {"aten.convolution.default", "aten.native_layer_norm.default", "aten._softmax.default", "onnx.Conv",
          "onnx.MatMul", "onnx.LSTM", "onnx.QuantizeLinear", "onnx.TopK"}) {
        INFO(op);
        CHECK_FALSE(without.contains(op));
    }
    CHECK(without.contains("aten._linalg_svd.default"));
    CHECK(without.size() < Registry::instance().all().size() / 5);
}

TEST_CASE("what is compared with itself, moved or selected, is no tie", "[interval]") {
    const Graph graph = parse(R"(graph itself {
        %x = placeholder["x"] : f32[3, 1]
        %y = aten.exp.default(%x) : f32[3, 1]
        %z = aten.view.default(%y, [1, 3]) : f32[1, 3]
        %le = aten.le.Tensor(%y, %z) : bool[3, 3]
        %m = aten.amax.default(%y, [0], true) : f32[1, 1]
        %eq = aten.eq.Tensor(%y, %m) : bool[3, 1]
        return (%le, %eq)
    })");
    const std::vector<Tensor> inputs = {Tensor::of<float>({1, 2, 3}, {3, 1})};
    const auto intervals = intervals_of(graph, inputs, {});
    REQUIRE(intervals);
    for (const Interval& interval : *intervals) CHECK(interval.full.most() == 0);
}

TEST_CASE("two computations of one number may differ", "[interval]") {
    const Graph graph = parse(R"(graph twice {
        %x = placeholder["x"] : f32[3]
        %y = aten.exp.default(%x) : f32[3]
        %z = aten.exp.default(%x) : f32[3]
        %le = aten.le.Tensor(%y, %z) : bool[3]
        return (%le)
    })");
    const std::vector<Tensor> inputs = {Tensor::of<float>({1, 2, 3}, {3})};
    const auto intervals = intervals_of(graph, inputs, {});
    REQUIRE(intervals);
    CHECK(intervals->at(0).full.most() > 0);
}

#include "judge/interval.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <regex>

#include "base/files.h"
#include "graph/text.h"
#include "judge/changed.h"
#include "judge/explained.h"
#include "ops/core/interpreter.h"
#include "passes/widen.h"
#include "tensor/random.h"

using namespace whittle;
using Catch::Contains;

namespace {

Tensor halves(const std::vector<double>& values) {
    return Tensor::of(values, {static_cast<std::int64_t>(values.size())}).to(DType::f16);
}

RoundingDecision decided(const Graph& graph, const std::vector<Tensor>& inputs, const Tensor& got,
                         const Tensor& expected, const Accuracy& accuracy = {}) {
    return explained_by_rounding(graph, inputs, std::vector{got}, std::vector{expected}, accuracy);
}

/// Tolerances as low as rounding itself, so that an interval is never too wide.
Accuracy tight(double atol) {
    Accuracy accuracy;
    accuracy.tolerances[DType::f32] = {.rtol = 0, .atol = atol};
    return accuracy;
}

}  // namespace

TEST_CASE("a tie of QuantizeLinear makes both of its neighbors right", "[interval]") {
    // (-0.1 - 0.2 - 0.15 - 0.131) / 4 / 0.0035 = -41.5: -42 or -41, and 135 more
    Graph graph = parse(R"(graph pool_tie opset("": 13) {
        %x = placeholder["x"] : f32[1, 1, 2, 2]
        %s = placeholder["s"] : f32[]
        %z = placeholder["z"] : u8[]
        %m = onnx.AveragePool(%x, kernel_shape=[2, 2]) : f32[1, 1, 1, 1]
        %y = onnx.QuantizeLinear(%m, %s, %z) : u8[1, 1, 1, 1]
        return (%y)
    })");
    const std::vector<Tensor> inputs = {Tensor::of<float>({-0.1f, -0.2f, -0.15f, -0.131f}, {1, 1, 2, 2}),
                                        Tensor::of(Scalar(0.0035), DType::f32), Tensor::of(Scalar(135), DType::u8)};
    const auto level = [](int value) { return Tensor::of<std::int64_t>({value}, {1, 1, 1, 1}).to(DType::u8); };
    for (const auto& [got, expected] : {std::pair(93, 94), std::pair(94, 93)}) {
        const RoundingDecision tie = decided(graph, inputs, level(got), level(expected));
        INFO(tie.why);
        CHECK(tie.explained);
        CHECK_FALSE(tie.too_wide);
        CHECK_THAT(tie.why, Contains("output 0 [0, 0, 0, 0]: rounding decides the result of onnx.QuantizeLinear"));
    }
    for (const int wrong : {92, 95}) {
        CHECK_FALSE(decided(graph, inputs, level(wrong), level(94)).explained);
        CHECK_FALSE(decided(graph, inputs, level(94), level(wrong)).explained);
    }
    std::vector<Tensor> beside = inputs;  // far from any tie
    beside[0] = test::with(inputs[0], 0, -0.104);
    CHECK_FALSE(decided(graph, beside, level(93), level(94)).explained);
}

TEST_CASE("a comparison that one ulp decides is right either way", "[interval]") {
    const Graph graph = parse(R"(graph less_tan opset("": 13) {
        %x = placeholder["x"] : f16[3]
        %y = placeholder["y"] : f16[3]
        %t = onnx.Tan(%x) : f16[3]
        %z = onnx.Less(%t, %y) : bool[3]
        return (%z)
    })");
    const std::vector<Tensor> inputs = {halves({94.8125, 0.05157470703125, 0.5}),
                                        halves({0.6337890625, 0.0516357421875, 0.25})};
    const auto bools = [](bool a, bool b, bool c) {
        return Tensor::of<std::int64_t>({a, b, c}, {3}).to(DType::boolean);
    };
    const RoundingDecision tie = decided(graph, inputs, bools(true, false, false), bools(false, true, false));
    INFO(tie.why);
    CHECK(tie.explained);
    CHECK_THAT(tie.why, Contains("rounding decides the result of onnx.Less"));
    // tan(0.5) = 0.546 is not below 0.25
    CHECK_FALSE(decided(graph, inputs, bools(true, false, true), bools(true, false, false)).explained);
}

TEST_CASE("which of equal elements a selection finds is open, unless it is stable", "[interval]") {
    const auto positions = [](const std::string& call) {
        return parse("graph g {\n  %x = placeholder[\"x\"] : f32[4]\n  %s = " + call +
                     " : (f32[4], i64[4])\n  %i = getitem(%s, 1) : i64[4]\n  return (%i)\n}\n");
    };
    const auto i64 = [](std::vector<std::int64_t> values) { return Tensor::of(values, {4}); };
    const Graph topk = positions("aten.topk.default(%x, 4)");
    const Graph stable = positions("aten.sort.stable(%x, stable=true, descending=true)");
    for (const float least : {0.0f, -INFINITY}) {
        const std::vector<Tensor> inputs = {Tensor::of<float>({1, 1, least, NAN})};
        const Tensor expected = i64({3, 0, 1, 2});
        const RoundingDecision tie = decided(topk, inputs, i64({3, 1, 0, 2}), expected);
        INFO(tie.why);
        CHECK(tie.explained);
        CHECK_THAT(tie.why, Contains("aten.topk.default finds one of several equal elements"));
        CHECK_FALSE(decided(topk, inputs, i64({3, 0, 2, 1}), expected).explained);
        CHECK_FALSE(decided(topk, inputs, i64({0, 3, 1, 2}), expected).explained);
        CHECK_FALSE(decided(stable, inputs, i64({3, 1, 0, 2}), expected).explained);
    }
}

TEST_CASE("equality is decided by rounding, and distance is not", "[interval]") {
    const Graph graph = parse(R"(graph equal {
        %x = placeholder["x"] : f32[2]
        %y = placeholder["y"] : f32[2]
        %e = aten.exp.default(%x) : f32[2]
        %z = aten.eq.Tensor(%e, %y) : bool[2]
        return (%z)
    })");
    const std::vector<Tensor> inputs = {Tensor::of({1.0f, 1.0f}), Tensor::of({2.7182817f, 2.718f})};
    const auto bools = [](bool a, bool b) { return Tensor::of<std::int64_t>({a, b}, {2}).to(DType::boolean); };
    CHECK(decided(graph, inputs, bools(true, false), bools(false, false)).explained);
    CHECK_FALSE(decided(graph, inputs, bools(false, true), bools(false, false)).explained);
}

TEST_CASE("positions of equal maxima are open, those of others are not", "[interval]") {
    const Graph graph = parse(R"(graph largest {
        %x = placeholder["x"] : f32[4]
        %e = aten.exp.default(%x) : f32[4]
        %z = aten.argmax.default(%e) : i64[]
        return (%z)
    })");
    const std::vector<Tensor> inputs = {Tensor::of({0.0f, 1.0f, 0.5f, std::nextafter(1.0f, 0.0f)})};
    const auto position = [](std::int64_t at) { return Tensor::of(Scalar(at), DType::i64); };
    CHECK(decided(graph, inputs, position(3), position(1)).explained);
    CHECK_FALSE(decided(graph, inputs, position(0), position(1)).explained);
}

TEST_CASE("integers that a double does not tell apart are not excused", "[interval]") {
    const Graph graph = parse(R"(graph copy {
        %x = placeholder["x"] : i64[2]
        %y = aten.clone.default(%x) : i64[2]
        return (%y)
    })");
    constexpr std::int64_t kOdd = 9007199254740993;  // 2^53 + 1
    const Tensor x = Tensor::of<std::int64_t>({kOdd, 5});
    const RoundingDecision wrong = decided(graph, {x}, Tensor::of<std::int64_t>({kOdd - 1, 5}), x);
    CHECK_FALSE(wrong.explained);
    CHECK_THAT(wrong.why, Contains("output 0 [0]: the two integers differ, but are equal in f64"));
    CHECK_FALSE(decided(graph, {x}, Tensor::of<std::int64_t>({kOdd, 6}), x).explained);
}

TEST_CASE("what is close by steps of the data type needs no excuse", "[interval]") {
    const Graph graph = parse(R"(graph sum {
        %x = placeholder["x"] : f32[2]
        %y = aten.neg.default(%x) : f32[2]
        return (%y)
    })");
    Accuracy steps = tight(0);
    steps.tolerances[DType::f32].ulp = 1;
    const Tensor expected = Tensor::of({-1.0f, -2.0f});
    const Tensor got = Tensor::of({std::nextafter(-1.0f, 0.0f), -2.5f});
    CHECK_THAT(decided(graph, {Tensor::of({1.0f, 2.0f})}, got, expected, steps).why, Contains("output 0 [1]"));
}

TEST_CASE("a sum in another order is right, and one that lacks a term is not", "[interval]") {
    const Graph graph = parse(R"(graph sum {
        %x = placeholder["x"] : f32[1000]
        %y = aten.sum.default(%x) : f32[]
        return (%y)
    })");
    Random random(1);
    std::vector<float> values(1000);
    for (float& value : values) value = static_cast<float>(random.normal());
    const std::vector<Tensor> inputs = {Tensor::of(values, {1000})};
    float forward = 0, backward = 0;
    for (std::size_t i = 0; i < values.size(); ++i) forward += values[i], backward += values[values.size() - 1 - i];
    const auto single = [](float value) { return Tensor::of(Scalar(static_cast<double>(value)), DType::f32); };
    REQUIRE(forward != backward);
    const auto interval = intervals_of(graph, inputs, {});
    REQUIRE(interval);
    const double center = interval->at(0).center.values<double>()[0], radius = interval->at(0).full.above_at(0);
    CHECK(std::fabs(static_cast<double>(forward) - center) <= radius);
    CHECK(std::fabs(static_cast<double>(backward) - center) <= radius);
    CHECK(decided(graph, inputs, single(forward), single(backward), tight(1e-9)).too_wide);
    const auto off = [&](double by) { return single(static_cast<float>(center + by)); };
    CHECK(decided(graph, inputs, off(0.9 * radius), off(0), tight(radius / 3)).explained);
    CHECK_THAT(decided(graph, inputs, off(0.9 * radius), off(0), tight(radius / 3)).why,
               Contains("is within the rounding error of aten.sum.default"));
    CHECK_FALSE(decided(graph, inputs, off(2 * radius), off(0), tight(radius / 3)).explained);
    CHECK_FALSE(decided(graph, inputs, single(forward - values[7]), single(forward)).explained);
}

TEST_CASE("a value in a wider dtype is as exact as what it was computed in", "[interval]") {
    const Graph graph = parse(R"(graph widened {
        %x = placeholder["x"] : f16[2]
        %e = aten.exp.default(%x) : f16[2]
        %m = aten.mul.Tensor(%e, %e) : f16[2]
        %y = aten._to_copy.default(%m, dtype=f64) : f64[2]
        %z = aten.neg.default(%y) : f64[2]
        return (%z)
    })");
    const std::vector<Tensor> inputs = {halves({0.5, 1.5})};
    const double right = -std::exp(1.0);
    const auto pair = [](double first, double second) { return Tensor::of(std::vector<double>{first, second}, {2}); };
    const RoundingDecision steps = decided(graph, inputs, pair(right + 0.004, -20), pair(right, -20));
    INFO(steps.why);
    CHECK(steps.explained);
    CHECK_THAT(steps.why, Contains("within the rounding error of aten."));
    CHECK_FALSE(decided(graph, inputs, pair(right + 0.2, -20), pair(right, -20)).explained);
    // The interval of the sum is too wide: the tolerance of f16 decides, not that of f32.
    const Graph total = parse(R"(graph total {
        %x = placeholder["x"] : f16[64]
        %s = aten.sum.default(%x) : f16[]
        %y = aten._to_copy.default(%s, dtype=f32) : f32[]
        return (%y)
    })");
    std::vector<double> alternating(64, 1);
    for (std::size_t i = 1; i < 64; i += 2) alternating[i] = -0.984375;
    const auto single = [](double value) { return Tensor::of(Scalar(value), DType::f32); };
    const RoundingDecision near = decided(total, {halves(alternating)}, single(0.504), single(0.5));
    INFO(near.why);
    CHECK(near.explained);
    CHECK(near.too_wide);
    CHECK_THAT(near.why, Contains("within the tolerance of f16, to which aten.sum.default rounds"));
    CHECK_FALSE(decided(total, {halves(alternating)}, single(0.6), single(0.5)).explained);
    const Graph exact = parse(R"(graph exact {
        %x = placeholder["x"] : f16[2]
        %y = aten._to_copy.default(%x, dtype=f64) : f64[2]
        %z = aten.exp.default(%y) : f64[2]
        return (%z)
    })");
    CHECK_FALSE(decided(exact, inputs, pair(std::exp(0.5) + 1e-5, 4.5), pair(std::exp(0.5), 4.5)).explained);
}

TEST_CASE("faults at the end of thirty layers are not excused", "[interval]") {
    std::string text =
        "graph deep {\n%x = placeholder[\"x\"] : f32[4, 16]\n%w = placeholder[\"w\"] : f32[16, 16]\n"
        "%b = placeholder[\"b\"] : f32[16]\n";
    std::string last = "x";
    for (int layer = 0; layer < 30; ++layer) {
        const std::string n = std::to_string(layer);
        text += "%m" + n + " = aten.addmm.default(%b, %" + last + ", %w) : f32[4, 16]\n%r" + n +
                " = aten.tanh.default(%m" + n + ") : f32[4, 16]\n";
        last = "r" + n;
    }
    const Graph graph = parse(text + "return (%" + last + ")\n}\n");
    Random random(3);
    std::vector<Tensor> inputs = {random_tensor(DType::f32, {4, 16}, random),
                                  random_tensor(DType::f32, {16, 16}, random), random_tensor(DType::f32, {16}, random)};
    const Tensor right = evaluate(graph, inputs).at(0);
    std::vector<double> shifted = right.values<double>();
    std::rotate(shifted.begin(), shifted.begin() + 1, shifted.end());
    const RoundingDecision index = decided(graph, inputs, Tensor::of(shifted, {4, 16}).to(DType::f32), right);
    INFO(index.why);
    CHECK_FALSE(index.explained);
    std::vector<Tensor> planted = inputs;
    planted[2] = test::with(inputs[2], 5, inputs[2].values<double>()[5] + 0.01);
    CHECK_FALSE(decided(graph, inputs, evaluate(graph, planted).at(0), right).explained);
}

TEST_CASE("what an op without a bound computes is not excused", "[interval]") {
    const Graph graph = parse(R"(graph fft {
        %x = placeholder["x"] : f32[2, 2]
        %y = aten._linalg_det.default(%x) : (f32[], f32[2, 2], i32[2])
        %d = getitem(%y, 0) : f32[]
        return (%d)
    })");
    CHECK(ops_without_bound(graph) == std::vector<std::string>{"aten._linalg_det.default"});
    const auto single = [](double value) { return Tensor::of(Scalar(value), DType::f32); };
    const RoundingDecision decision = decided(graph, {Tensor::of<float>({1, 0, 0, 1}, {2, 2})}, single(1), single(1.5));
    CHECK_FALSE(decision.explained);
    CHECK_THAT(decision.why, Contains("the rounding error of aten._linalg_det.default has no known bound"));
}

TEST_CASE("an op without a bound excuses nothing, however near results are to f64", "[interval]") {
    const Graph graph = parse(R"(graph det {
        %x = placeholder["x"] : f32[4, 4]
        %y = aten._linalg_det.default(%x) : (f32[], f32[4, 4], i32[4])
        %d = getitem(%y, 0) : f32[]
        return (%d)
    })");
    int rounded = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Random random(seed);
        const std::vector<Tensor> inputs = {random_tensor(DType::f32, {4, 4}, random)};
        const Tensor right = evaluate(graph, inputs).at(0);
        const double exact = evaluate_exactly(graph, inputs)->at(0).item().to_double(),
                     error = right.item().to_double() - exact;
        const Tensor other = Tensor::of(Scalar(exact - error), DType::f32);  // as far on the other side
        if (same_bits(other, right)) continue;
        ++rounded;
        CHECK_FALSE(decided(graph, inputs, other, right, tight(0)).explained);
    }
    CHECK(rounded > 0);
}

TEST_CASE("complex numbers have no interval, and are held against f64", "[interval]") {
    const Graph graph = parse(R"(graph product {
        %x = placeholder["x"] : c64[8]
        %y = aten.mul.Tensor(%x, %x) : c64[8]
        return (%y)
    })");
    Random random(1);
    const std::vector<Tensor> inputs = {random_tensor(DType::c64, {8}, random)};
    const Tensor right = evaluate(graph, inputs).at(0);
    std::vector<Complex128> mirrored = evaluate_exactly(graph, inputs)->at(0).values<Complex128>();
    const std::vector<Complex128> at = right.values<Complex128>();
    for (std::size_t i = 0; i < at.size(); ++i) mirrored[i] = 2.0 * mirrored[i] - at[i];  // as far on the other side
    Accuracy accuracy;
    accuracy.tolerances[DType::c64] = {.rtol = 0, .atol = 0};
    const RoundingDecision decision = decided(graph, inputs, Tensor::of(mirrored, {8}).to(DType::c64), right, accuracy);
    CHECK(decision.explained);
    CHECK_THAT(decision.why, Contains("aten.mul.Tensor has no known bound for this data type"));
}

TEST_CASE("where intervals are too wide, rounding is what is about as near to f64 as the expected values",
          "[interval]") {
    const Graph graph = parse(R"(graph g {
      %x = placeholder["x"] : f32[2]
      %large = aten.add.Scalar(%x, 10000.0) : f32[2]
      %small = aten.sub.Scalar(%large, 10000.0) : f32[2]
      return (%small)
    })");
    const std::vector<Tensor> inputs = {Tensor::of<float>({0.1F, 0.2F}, {2})};
    const auto told = [&](std::vector<float> got, std::vector<float> expected, Accuracy::Mode mode) {
        return decided(graph, inputs, Tensor::of<float>(got, {2}), Tensor::of<float>(expected, {2}), {.mode = mode})
            .explained;
    };
    const auto close = Accuracy::Mode::close;
    CHECK(told({0.0996F, 0.2002F}, {0.1004F, 0.2004F}, close));    // the reference's: {0.099609, 0.200195}
    CHECK_FALSE(told({0.2F, 0.3F}, {0.1004F, 0.2004F}, close));    // a bug
    CHECK_FALSE(told({0.0996F, 0.2005F}, {0.1F, 0.201F}, close));  // the second pays for the first, which was right
    CHECK_FALSE(told({0.0996F, 0.2002F}, {0.2F, 0.3F}, close));    // what is expected is wrong
    CHECK_FALSE(told({0.0996F, 0.2002F}, {0.1004F, 0.2004F}, Accuracy::Mode::strict));
}

TEST_CASE("memory that nobody wrote has no bound", "[interval]") {
    const Graph graph = parse(R"(graph uninitialized {
        %e = aten.empty.memory_format([2]) : f32[2]
        return (%e)
    })");
    CHECK(ops_without_bound(graph) == std::vector<std::string>{"aten.empty.memory_format"});
    CHECK_FALSE(decided(graph, {}, Tensor::of({0.0f, 1.0f}), Tensor::of({0.0f, 0.0f})).explained);
}

TEST_CASE("a quotient by a power of two has no other ties than its own", "[interval]") {
    // 2.5 is exact, however it is divided: round() gives 2 (pytorch/pytorch#103465 computes 3)
    const Graph by_two = parse(R"(graph round {
        %x = placeholder["x"] : i64[1]
        %q = aten.div.Tensor(%x, 2) : f32[1]
        %z = aten.round.default(%q) : f32[1]
        return (%z)
    })");
    const auto five = [](std::int64_t value) { return std::vector{Tensor::of<std::int64_t>({value}, {1})}; };
    CHECK_FALSE(decided(by_two, five(5), Tensor::of({3.0f}), Tensor::of({2.0f})).explained);
    const Graph quantize = parse(R"(graph quantize opset("": 13) {
        %x = placeholder["x"] : f32[1]
        %s = placeholder["s"] : f32[]
        %y = onnx.QuantizeLinear(%x, %s) : u8[1]
        return (%y)
    })");
    const auto level = [](std::int64_t value) { return Tensor::of<std::int64_t>({value}, {1}).to(DType::u8); };
    const auto scaled = [](float x, double scale) {
        return std::vector{Tensor::of({x}), Tensor::of(Scalar(scale), DType::f32)};
    };
    CHECK_FALSE(decided(quantize, scaled(1.25f, 0.5), level(3), level(2)).explained);
    CHECK(decided(quantize, scaled(17.5f, 7), level(3), level(2)).explained);
    const Graph floor = parse(R"(graph floor {
        %x = placeholder["x"] : f32[1]
        %y = placeholder["y"] : f32[1]
        %z = aten.div.Tensor_mode(%x, %y, rounding_mode="floor") : f32[1]
        return (%z)
    })");
    const auto pair = [](float x, float y) { return std::vector{Tensor::of({x}), Tensor::of({y})}; };
    CHECK_FALSE(decided(floor, pair(6, 2), Tensor::of({2.0f}), Tensor::of({3.0f})).explained);
    CHECK(decided(floor, pair(41, 41), Tensor::of({0.0f}), Tensor::of({1.0f})).explained);
}

TEST_CASE("what overflows f32 is infinite, and no matter of rounding", "[interval]") {
    // openxla/xla#42732: log(exp(x)) is made x
    const auto graph = [](const std::string& dtype) {
        return parse("graph log_exp opset(\"\": 13) {\n  %x = placeholder[\"x\"] : " + dtype +
                     "[1]\n  %e = onnx.Exp(%x) : " + dtype + "[1]\n  %y = onnx.Log(%e) : " + dtype +
                     "[1]\n  return (%y)\n}\n");
    };
    const auto log_exp = [&](DType dtype, double x) {
        const auto number = [&](double value) { return Tensor::of(std::vector<double>{value}, {1}).to(dtype); };
        return decided(graph(std::string(name(dtype))), {number(x)}, number(x), number(INFINITY)).explained;
    };
    CHECK_FALSE(log_exp(DType::f32, 100));
    CHECK_FALSE(log_exp(DType::f32, 89));
    CHECK(log_exp(DType::f16, 20));  // an f32 between the two holds exp(20)
}

TEST_CASE("an intermediate value that is too large for f16 is infinite or not, as the compiler likes", "[interval]") {
    const auto difference = [](DType dtype, double x, double y, double got, double expected) {
        const std::string type(name(dtype));
        const Graph graph =
            parse("graph g {\n  %x = placeholder[\"x\"] : " + type + "[1]\n  %y = placeholder[\"y\"] : " + type +
                  "[1]\n  %e = aten.exp.default(%x) : " + type + "[1]\n  %d = aten.sub.Tensor(%e, %y) : " + type +
                  "[1]\n  return (%d)\n}\n");
        const auto number = [&](double value) { return Tensor::of(std::vector<double>{value}, {1}).to(dtype); };
        return decided(graph, {number(x), number(y)}, number(got), number(expected));
    };
    const RoundingDecision wider = difference(DType::f16, 20, INFINITY, -INFINITY, NAN);
    CHECK(wider.explained);
    CHECK_THAT(wider.why, Contains("precision of intermediate values decides whether aten.exp.default overflows f16"));
    CHECK_FALSE(difference(DType::f16, 1, INFINITY, -INFINITY, NAN).explained);
    CHECK_FALSE(difference(DType::f32, 100, INFINITY, -INFINITY, NAN).explained);
}

TEST_CASE("what overflows inside an f16 sum is infinite or not", "[interval]") {
    const auto sum = [](DType dtype, const std::vector<double>& values, double got, double expected) {
        const std::string type(name(dtype));
        const Graph graph = parse("graph g {\n  %x = placeholder[\"x\"] : " + type +
                                  "[3]\n  %y = aten.sum.default(%x) : " + type + "[]\n  return (%y)\n}\n");
        const auto number = [&](double value) { return Tensor::of(std::vector<double>{value}, {}).to(dtype); };
        return decided(graph, {Tensor::of(values, {3}).to(dtype)}, number(got), number(expected)).explained;
    };
    CHECK(sum(DType::f16, {6e4, 6e4, -6e4}, INFINITY, 6e4));
    CHECK_FALSE(sum(DType::f16, {3e4, 1, -3e4}, INFINITY, 1));
    // An infinite term is infinite in every order.
    CHECK_FALSE(sum(DType::f16, {INFINITY, 1, 2}, 0, INFINITY));
    CHECK_FALSE(sum(DType::f32, {INFINITY, 1, 2}, 0, INFINITY));
}

TEST_CASE("an expected NaN has no tolerance that rounding could exceed", "[interval]") {
    const Graph graph = parse(R"(graph g {
        %x = placeholder["x"] : f32[1]
        %y = aten.exp.default(%x) : f32[1]
        return (%y)
    })");
    const RoundingDecision decision = decided(graph, {Tensor::of({NAN})}, Tensor::of({0.0f}), Tensor::of({NAN}));
    CHECK_FALSE(decision.explained);
    CHECK_FALSE(decision.too_wide);
    CHECK_THAT(decision.why, Contains("found 0, but the f64 result is nan"));
}

TEST_CASE("near a pole the tolerance decides", "[interval]") {
    const Graph graph = parse(R"(graph pole {
        %x = placeholder["x"] : f32[1]
        %y = placeholder["y"] : f32[1]
        %e = aten.exp.default(%x) : f32[1]
        %d = aten.sub.Tensor(%e, %y) : f32[1]
        %z = aten.reciprocal.default(%d) : f32[1]
        return (%z)
    })");
    const std::vector<Tensor> inputs = {Tensor::of({1.0f}), Tensor::of({2.7182817f})};
    const RoundingDecision decision = decided(graph, inputs, Tensor::of({1e6f}), Tensor::of({1e7f}));
    CHECK_FALSE(decision.explained);
    CHECK(decision.too_wide);
}

TEST_CASE("share/doc/explanation/accuracy.md states the limits of intervals", "[interval]") {
    std::string steps = std::to_string(static_cast<std::int64_t>(kMostIntervalSteps));
    for (std::size_t at = steps.size(); at > 3;) steps.insert(at -= 3, ",");
    const std::string page =
        std::regex_replace(read_file(WHITTLE_SOURCE_DIR "/share/doc/explanation/accuracy.md"), std::regex("\\s+"), " ");
    CHECK_THAT(page, Contains(steps + " steps"));
    CHECK_THAT(page,
               Contains("wider than " + std::to_string(static_cast<int>(kWidestInterval)) + " times the tolerance"));
}

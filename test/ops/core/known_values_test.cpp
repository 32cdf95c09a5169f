// Results that LibTorch 1.13, onnx 1.12 or onnxruntime computed, of calls whose definition is easily read otherwise;
// and that the ops' lowering computes the same.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/sanitizer.h"
#include "expr/interpret.h"
#include "ops/core/draws.h"
#include "ops/core/interpreter.h"
#include "ops/core/lowering.h"
#include "ops/samples/run_op.h"
#include "ops/samples/samples.h"
#include "tensor/compare.h"

namespace whittle {
namespace {

using samples::call_of, samples::t;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();

struct Known {
    std::string target;
    Sample sample;
    Tensor expected;
};

Tensor f32(const std::vector<double>& values, Sizes sizes) { return samples::values(DType::f32, values, sizes); }
Tensor f32(const std::vector<double>& values) { return samples::values(DType::f32, values); }
Tensor i64(const std::vector<double>& values) { return samples::values(DType::i64, values); }

/// Checks the reference and the lowering of the call.
void check(const Known& known) {
    INFO(known.target << " '" << known.sample.label << "'");
    const RegisteredOp& op = Registry::instance().require(known.target);
    const Graph graph = graph_of(op, known.sample);
    const Accuracy strict{.mode = Accuracy::Mode::strict, .tolerances = {{known.expected.dtype(), {0, 0, 2}}}};
    const std::vector<Tensor> got = evaluate(graph, known.sample.inputs());
    const auto difference = compare(got.at(0), known.expected, strict);
    CHECK((difference ? difference->description : "") == "");

    test::Lowering lowering;
    std::vector<expr::Value> operands;
    for (const Tensor& input : known.sample.inputs()) operands.push_back(lowering.input(input));
    for (const expr::Value& result : lowering.graph(graph, operands)) lowering.builder.output(result);
    const expr::Group group = lowering.builder.finish();
    const auto lowered = compare(expr::interpret(group, lowering.used_by(group)).at(0), known.expected, strict);
    CHECK((lowered ? "lowered: " + lowered->description : "") == "");
}

Sample onnx(std::int64_t opset, const std::string& label, std::vector<Tensor> tensors,
            std::vector<std::pair<std::string, Arg>> kwargs = {}, std::vector<std::size_t> constants = {}) {
    Sample sample{.label = label,
                  .tensors = std::move(tensors),
                  .kwargs = std::move(kwargs),
                  .constants = std::move(constants),
                  .opset_imports = {{"", opset}}};
    for (std::size_t i = 0; i < sample.tensors.size(); ++i) sample.args.push_back(t(static_cast<int>(i)));
    return sample;
}

/// Against C++'s own arithmetic, which LibTorch 1.13 does not have.
TEST_CASE("u64 is computed above 2^63 as below", "[ops][known]") {
    constexpr std::uint64_t kEnd = UINT64_MAX, kTop = std::uint64_t{1} << 63;
    const std::vector<std::uint64_t> left = {kEnd, kTop, kTop + 5, 3, 0, kTop - 1}, right = {2, kTop, 7, kEnd, 1, kTop};
    const Tensor a = Tensor::of(left, {6}), b = Tensor::of(right, {6});
    const auto each = [&](const std::string& target, auto f, std::vector<std::pair<std::string, Arg>> kwargs = {}) {
        std::vector<decltype(f(kEnd, kEnd))> out;
        for (std::size_t i = 0; i < left.size(); ++i) out.push_back(f(left[i], right[i]));
        check({target, call_of("u64", {a, b}, std::move(kwargs)), Tensor::of(out, {6})});
    };
    using U = std::uint64_t;
    each("aten.add.Tensor", [](U x, U y) { return x + y; });
    each("aten.sub.Tensor", [](U x, U y) { return x - y; });
    each("aten.mul.Tensor", [](U x, U y) { return x * y; });
    each("aten.div.Tensor_mode", [](U x, U y) { return x / y; }, {{"rounding_mode", Arg("trunc")}});
    each("aten.floor_divide.default", [](U x, U y) { return x / y; });
    each("aten.remainder.Tensor", [](U x, U y) { return x % y; });
    each("aten.fmod.Tensor", [](U x, U y) { return x % y; });
    each("aten.div.Tensor", [](U x, U y) { return static_cast<float>(x) / static_cast<float>(y); });
    each("aten.maximum.default", [](U x, U y) { return x < y ? y : x; });
    each("aten.minimum.default", [](U x, U y) { return x < y ? x : y; });
    each("aten.lt.Tensor", [](U x, U y) { return x < y; });
    each("aten.ge.Tensor", [](U x, U y) { return x >= y; });
    each("aten.bitwise_right_shift.Tensor", [](U x, U y) { return y < 64 ? x >> y : 0; });
    each("aten.bitwise_left_shift.Tensor", [](U x, U y) { return y < 64 ? x << y : 0; });
    check({"aten.amax.default", call_of("u64", {a, Arg::ints({0})}), Tensor::of<U>({kEnd}, {})});
    check({"aten.amin.default", call_of("u64", {b, Arg::ints({0})}), Tensor::of<U>({1}, {})});
    check({"aten.to.dtype", call_of("to f64", {a, Arg(DType::f64)}),
           Tensor::of<double>({0x1p64, 0x1p63, 0x1p63, 3, 0, 0x1p63})});
    check({"aten.to.dtype", call_of("to u64", {Tensor::of<double>({0x1p63, 0x1.8p63, 5.5, -1}), Arg(DType::u64)}),
           Tensor::of<U>({kTop, kTop + (kTop >> 1), 5, kEnd})});
    check({"aten.clamp.default", call_of("u64", {a, Arg(4), Arg(9)}), Tensor::of<U>({9, 9, 9, 4, 4, 9})});
    check({"aten.argmax.default", call_of("u64", {a, Arg(0)}), Tensor::of<std::int64_t>({0}, {})});
    check({"aten.argmin.default", call_of("u64", {b, Arg(0)}), Tensor::of<std::int64_t>({4}, {})});
    check({"aten.sort.default", call_of("u64", {a, Arg(0)}), Tensor::of<U>({0, 3, kTop - 1, kTop, kTop + 5, kEnd})});
    check({"aten.topk.default", call_of("u64", {b, Arg(2)}), Tensor::of<U>({kEnd, kTop})});
    check({"aten.scatter_reduce.two", call_of("u64", {b, Arg(0), i64({0, 1, 2, 3, 4, 0}), a, Arg("amax")}),
           Tensor::of<U>({kEnd, kTop, kTop + 5, kEnd, 1, kTop})});
    check({"onnx.CumSum",
           onnx(14, "u64", {Tensor::of<U>({kTop, kTop + 99, 1}), Tensor::of(Scalar(0), DType::i64)}, {}, {1}),
           Tensor::of<U>({kTop, 99, 100})});
    check({"onnx.ReduceMean", onnx(13, "u64", {Tensor::of<U>({kTop, kTop - 2})}), Tensor::of<U>({kEnd / 2})});
    check({"onnx.BitShift",
           onnx(11, "u32", {Tensor::of<std::uint32_t>({0x80000001u}), Tensor::of<std::uint32_t>({31})},
                {{"direction", Arg("RIGHT")}}),
           Tensor::of<std::uint32_t>({1})});
}

TEST_CASE("u16, u32 and u64 do not promote to other integers", "[ops]") {
    const RegisteredOp& op = Registry::instance().require("aten.add.Tensor");
    const Tensor a(DType::u16, {2}), b(DType::i32, {2});
    CHECK_THROWS_WITH(graph_of(op, call_of("mixed", {a, b})),
                      Catch::Contains("found operands of dtypes u16 and i32, expected equal dtypes"));
}

TEST_CASE("erfc keeps its small values", "[ops][known]") {
    check({"aten.erfc.default", call_of("5", {f32({5, -1, 0})}), f32({1.5374597944280349e-12, 1.8427007929497148, 1})});
}

TEST_CASE("logsumexp of nothing is -inf", "[ops][known]") {
    check(
        {"aten.logsumexp.default", call_of("empty dimension", {f32({}, {2, 0}), Arg::ints({1})}), f32({-kInf, -kInf})});
}

TEST_CASE("hardtanh and relu6 of integers truncate their bounds", "[ops][known]") {
    const Tensor x = samples::values(DType::i32, {-3, -2, -1, 0, 1, 2, 3});
    check({"aten.hardtanh.default", call_of("i32", {x, -1.5, 2.5}),
           samples::values(DType::i32, {-1, -1, -1, 0, 1, 2, 2})});
    check({"aten.hardtanh.default", call_of("u8", {samples::values(DType::u8, {0, 1, 2, 5, 6}), 1.7, 5.5}),
           samples::values(DType::u8, {1, 1, 2, 5, 5})});
    check({"aten.relu6.default", call_of("i8", {samples::values(DType::i8, {-3, 0, 5, 9})}),
           samples::values(DType::i8, {0, 0, 5, 6})});
}

TEST_CASE("PT2E's integers are rounded to even, moved and limited", "[ops][known]") {
    const std::string dialect = "quantized_decomposed.";
    const Tensor x = f32({-1.25, 0.125, 0.375, 5}), levels = samples::values(DType::u8, {0, 3, 5, 7});
    check({dialect + "quantize_per_tensor.default", call_of("u8", {x, 0.25, 3, 0, 7, DType::u8}),
           samples::values(DType::u8, {0, 3, 5, 7})});
    check({dialect + "dequantize_per_tensor.default", call_of("u8", {levels, 0.25, 3, 0, 7, DType::u8}),
           f32({-0.75, 0, 0.5, 1})});
    const Tensor rows = f32({-1.25, 0.125, 0.375, 5}, {2, 2}), scales = f32({0.25, 0.5}), zeros = i64({3, 0});
    check({dialect + "quantize_per_channel.default", call_of("i8", {rows, scales, zeros, 0, -128, 127, DType::i8}),
           samples::values(DType::i8, {-2, 3, 1, 10}, {2, 2})});
    check({dialect + "dequantize_per_channel.default",
           call_of("i8", {samples::values(DType::i8, {-2, 3, 1, 10}, {2, 2}), scales, zeros, 0, -128, 127, DType::i8}),
           f32({-1.25, 0, 0.5, 5}, {2, 2})});
}

TEST_CASE("resizing by a factor that keeps the size", "[ops][known]") {
    const Tensor line = f32({0, 1, 4, 9}, {1, 1, 4}), image = f32({0, 1, 4, 9}, {1, 1, 1, 4});
    const Arg factor(ArgList{Arg(1.2)}), factors(ArgList{Arg(1.2), Arg(1.2)});
    check({"aten.upsample_linear1d.vec", call_of("1.2", {line, Arg(), false, factor}), line});
    check({"aten.upsample_bilinear2d.vec", call_of("1.2", {image, Arg(), false, factors}), image});
    check({"aten.upsample_nearest2d.vec", call_of("1.2, one channel", {image, Arg(), factors}), image});
    check({"aten.upsample_nearest1d.vec", call_of("1.2", {line, Arg(), factor}), f32({0, 0, 1, 4}, {1, 1, 4})});
    check({"aten.upsample_nearest2d.vec",
           call_of("1.2, two channels", {f32({0, 1, 4, 9, 0, 1, 4, 9}, {1, 2, 1, 4}), Arg(), factors}),
           f32({0, 0, 1, 4, 0, 0, 1, 4}, {1, 2, 1, 4})});
}

TEST_CASE("resizing by a factor near 0 reads the last element", "[ops][known]") {
    const Tensor line = f32({1, 2, 3, 4}, {1, 1, 4}), image = f32({1, 2, 3, 4}, {1, 1, 1, 4});
    const Sizes five = {1, 5};
    for (const double factor : {1e-10, 1e-30, 1e-310}) {
        INFO(factor);
        // The first element's position is 0 times 1 / factor, which no number is where that is infinite.
        const float first = factor < 1e-300 ? 4 : 1;
        check({"aten.upsample_nearest1d.default", call_of("", {line, Arg::ints({5}), Arg(factor)}),
               f32({first, 4, 4, 4, 4}, {1, 1, 5})});
        check({"aten._upsample_nearest_exact1d.default", call_of("", {line, Arg::ints({5}), Arg(factor)}),
               f32({4, 4, 4, 4, 4}, {1, 1, 5})});
        if (factor < 1e-300) continue;  // between elements at infinity there is nothing
        check({"aten.upsample_linear1d.default", call_of("", {line, Arg::ints({5}), false, Arg(factor)}),
               f32({4, 4, 4, 4, 4}, {1, 1, 5})});
        check({"aten.upsample_bicubic2d.default", call_of("", {image, Arg::ints(five), false, Arg(1.0), Arg(factor)}),
               f32({4, 4, 4, 4, 4}, {1, 1, 1, 5})});
    }
}

TEST_CASE("the gradient of a resize that keeps the sizes is copied, be it infinite", "[ops][known]") {
    const Tensor grad = f32({std::numeric_limits<double>::infinity(), 1, 1, 1}, {1, 1, 1, 4});
    const Arg sizes = Arg::ints({1, 4}), image = Arg::ints({1, 1, 1, 4});
    check({"aten.upsample_bicubic2d_backward.default", call_of("", {grad, sizes, image, false}), grad});
}

TEST_CASE("distances within a tensor are those of all pairs, of many rows, too", "[ops][known]") {
    std::vector<double> places, distances;
    for (int i = 0; i < 200; ++i) places.push_back(i * i);
    for (std::size_t i = 0; i < places.size(); ++i)
        for (std::size_t j = i + 1; j < places.size(); ++j) distances.push_back(places[j] - places[i]);
    check({"aten._pdist_forward.default", call_of("", {f32(places, {200, 1}), 1.0}), f32(distances)});
}

TEST_CASE("any and all over an empty list of dimensions reduce nothing", "[ops][known]") {
    const Tensor x = f32({0, 2, kNaN, 0}, {2, 2});
    const Tensor each = samples::values(DType::boolean, {0, 1, 1, 0}, {2, 2});
    check({"aten.any.dims", call_of("none", {x, Arg::ints({})}), each});
    check({"aten.all.dims", call_of("none", {x, Arg::ints({}), true}), each});
    check({"aten.any.dims", call_of("all", {x, Arg()}), samples::scalar(DType::boolean, 1)});
}

TEST_CASE("onnx.Resize by scales rounds the size down in f32", "[ops][known]") {
    const Tensor ten = f32({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), five = f32({0, 1, 2, 3, 4});
    const auto resized = [](const Tensor& x, float scale) {
        return onnx(13, "by " + std::to_string(scale), {x, f32({}), Tensor::of<float>({scale})},
                    {{"mode", "nearest"}, {"coordinate_transformation_mode", "asymmetric"}, {"nearest_mode", "floor"}},
                    {1, 2});
    };
    check({"onnx.Resize", resized(ten, 0.9f), f32({0, 1, 2, 3, 4, 5, 6, 7, 8})});
    check({"onnx.Resize", resized(five, 1.4f), f32({0, 0, 1, 2, 2, 3, 4})});
}

TEST_CASE("onnx.Slice backwards from before the first element begins there", "[ops][known]") {
    const auto backwards = [](double start, double end) {
        return onnx(13, "backwards", {f32({1, 2, 3, 4, 5}), i64({start}), i64({end}), i64({0}), i64({-1})}, {},
                    {1, 2, 3, 4});
    };
    check({"onnx.Slice", backwards(-10, -100), f32({1})});
    check({"onnx.Slice", backwards(10, -100), f32({5, 4, 3, 2, 1})});
    check({"onnx.Slice", backwards(2, 0), f32({3, 2})});
}

TEST_CASE("onnx.Sign of NaN is NaN", "[ops][known]") {
    check({"onnx.Sign", onnx(13, "nan", {f32({kNaN, -2, 0, kInf})}), f32({kNaN, -1, 0, 1})});
}

TEST_CASE("onnx.LpNormalization leaves zeros", "[ops][known]") {
    const Tensor x = f32({0, 0, 3, -4}, {2, 2});
    check({"onnx.LpNormalization", onnx(1, "p 2", {x}, {{"p", 2}}), f32({0, 0, 0.6, -0.8}, {2, 2})});
    check({"onnx.LpNormalization", onnx(1, "p 1", {x}, {{"p", 1}}), f32({0, 0, 3. / 7, -4. / 7}, {2, 2})});
}

TEST_CASE("onnx.LpPool is a norm of what is in the window, and of no padding", "[ops][known]") {
    const Tensor x = f32({3, -4, 0, 5}, {1, 1, 4});
    const Arg kernel = Arg::ints({2});
    check({"onnx.LpPool", onnx(11, "p 2", {x}, {{"kernel_shape", kernel}}), f32({5, 4, 5}, {1, 1, 3})});
    check({"onnx.LpPool", onnx(11, "p 1", {x}, {{"kernel_shape", kernel}, {"p", 1}}), f32({7, 4, 5}, {1, 1, 3})});
    check(
        {"onnx.LpPool",
         onnx(11, "padded", {x}, {{"kernel_shape", kernel}, {"pads", Arg::ints({1, 1})}, {"strides", Arg::ints({2})}}),
         f32({3, 4, 5}, {1, 1, 3})});
    const Tensor all = f32({3, -4, 0, 12, 8, 0, -6, 0}, {1, 2, 2, 2});
    check({"onnx.GlobalLpPool", onnx(2, "p 2", {all}), f32({13, 10}, {1, 2, 1, 1})});
    check({"onnx.GlobalLpPool", onnx(2, "p 1", {all}, {{"p", 1}}), f32({19, 14}, {1, 2, 1, 1})});
}

TEST_CASE("onnx.MaxPool rounding up has no window that begins in the padding behind", "[ops][known]") {
    check({"onnx.MaxPool",
           onnx(12, "ceil", {f32({1, 4, 2, 3}, {1, 1, 4})},
                {{"ceil_mode", 1},
                 {"pads", Arg::ints({0, 2})},
                 {"kernel_shape", Arg::ints({4})},
                 {"strides", Arg::ints({4})}}),
           f32({4}, {1, 1, 1})});
}

// Found against ONNX Runtime: the padding's value is the lowest integer, too, and came first.
TEST_CASE("onnx.MaxPool says where the lowest integer is, not that it is in the padding", "[ops][known]") {
    const Sample sample =
        onnx(12, "lowest", {samples::values(DType::u8, {0, 0}, {1, 1, 2, 1})},
             {{"num_outputs", 2}, {"pads", Arg::ints({0, 1, 1, 0})}, {"kernel_shape", Arg::ints({2, 2})}});
    const std::vector<Tensor> got =
        evaluate(graph_of(Registry::instance().require("onnx.MaxPool"), sample), sample.inputs());
    CHECK(got.at(0).dtype() == DType::u8);
    CHECK(got.at(1).values<std::int64_t>() == std::vector<std::int64_t>{0, 1});
}

// Found against ONNX Runtime, which refused what f64 was declared to give.
TEST_CASE("onnx.LayerNormalization gives mean and deviation in its stash_type, f32", "[ops][known]") {
    const Sample sample =
        onnx(17, "f64", {samples::values(DType::f64, {1, 3}, {1, 2}), samples::values(DType::f64, {1, 1})},
             {{"num_outputs", 3}});
    const std::vector<Tensor> got =
        evaluate(graph_of(Registry::instance().require("onnx.LayerNormalization"), sample), sample.inputs());
    CHECK(got.at(0).dtype() == DType::f64);
    CHECK(got.at(1).dtype() == DType::f32);
    CHECK(got.at(2).dtype() == DType::f32);
    CHECK(got.at(1).values<double>() == std::vector<double>{2});
}

TEST_CASE("onnx.Dropout in training with ratio 0 is the identity", "[ops][known]") {
    const Tensor x = f32({1, -2, 3});
    check({"onnx.Dropout",
           onnx(13, "ratio 0", {x, samples::scalar(DType::f32, 0), samples::scalar(DType::boolean, 1)}, {}, {1, 2}),
           x});
}

TEST_CASE("onnx.Dropout in training zeroes some elements and scales the others", "[ops][known]") {
    const Tensor x = Tensor::of(std::vector<float>(1000, 3), {1000});
    const Sample sample =
        onnx(13, "ratio 1/4", {x, samples::scalar(DType::f32, 0.25), samples::scalar(DType::boolean, 1)},
             {{"num_outputs", 2}}, {1, 2});
    const Graph graph = graph_of(Registry::instance().require("onnx.Dropout"), sample);
    CHECK(draws_random_numbers(graph));
    const std::vector<Tensor> got = evaluate(graph, sample.inputs());
    const std::vector<float> values = got.at(0).values<float>();
    const std::vector<bool> mask = got.at(1).values<bool>();
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == (mask[i] ? 4 : 0));
    const auto kept = std::count(mask.begin(), mask.end(), true);
    CHECK((650 < kept && kept < 850));  // seven standard deviations about 750
    Sample inference = sample;
    inference.tensors[2] = samples::scalar(DType::boolean, 0);
    CHECK_FALSE(draws_random_numbers(graph_of(Registry::instance().require("onnx.Dropout"), inference)));
}

TEST_CASE("a part that is replaced leaves the strides of the whole, as PyTorch has it since 2.0", "[ops][known]") {
    const auto strides = [](const Tensor& self) {
        const Sample sample = call_of("row", {self, f32({7, 8, 9}), 0, 1});
        const Graph graph = graph_of(Registry::instance().require("aten.select_scatter.default"), sample);
        const Tensor got = evaluate(graph, sample.inputs()).at(0);
        CHECK(got.as_strided({3}, {got.strides()[1]}, got.offset() + got.strides()[0]).values<float>() ==
              std::vector<float>{7, 8, 9});
        CHECK(graph.nodes[static_cast<std::size_t>(graph.calls().front())].meta().strides == got.strides());
        return got.strides();
    };
    const Tensor x = f32({1, 2, 3, 4, 5, 6}, {2, 3});
    CHECK(strides(x) == Strides{3, 1});
    CHECK(strides(samples::transposed(x)) == Strides{1, 2});
    CHECK(strides(samples::strided(x)) == Strides{6, 2});
    CHECK(strides(samples::expanded(f32({1, 2, 3}), {2, 3})) == Strides{3, 1});  // elements of their own
    CHECK(strides(samples::negative(x)) == Strides{3, 1});
}

TEST_CASE("rms_norm divides by the root of the mean of the squares", "[ops][known]") {  // LibTorch 1.13 has it not
    const Tensor x = f32({3, 4, 0, -6, 8, 0}, {2, 3});
    const double first = std::sqrt(25. / 3 + 0.5), second = std::sqrt(100. / 3 + 0.5);
    check({"aten.rms_norm.default", call_of("weighted", {x, Arg::ints({3}), f32({1, 2, 3}), 0.5}),
           f32({3 / first, 8 / first, 0, -6 / second, 16 / second, 0}, {2, 3})});
}

TEST_CASE("a row that is blocked as a whole has no share", "[ops][known]") {  // LibTorch 1.13 has it not
    const float low = -std::numeric_limits<float>::infinity();
    const Tensor x = f32({0, 0, low, low, low, low}, {2, 3});
    check({"aten._safe_softmax.default", call_of("rows", {x, -1}), f32({0.5, 0.5, 0, 0, 0, 0}, {2, 3})});
}

TEST_CASE("later ops that are others with more results, or with a mask", "[ops][known]") {  // not in LibTorch 1.13
    const auto results = [](std::string_view op, const std::vector<Tensor>& tensors, const ArgList& args) {
        return samples::run_op(op, tensors, args);
    };
    const Tensor x = f32({3, 4, 0, -6, 8, 0}, {2, 3});
    const std::vector<Tensor> norm = results("aten._fused_rms_norm.default", {x}, {t(0), Arg::ints({3}), Arg(), 0.0});
    CHECK(same_bits(norm.at(0), results("aten.rms_norm.default", {x}, {t(0), Arg::ints({3}), Arg(), 0.0}).at(0)));
    CHECK(norm.at(1).sizes() == Sizes{2, 1});
    CHECK(norm.at(1).values<float>()[0] == Approx(1 / std::sqrt(25. / 3)));

    // Scores 1 and 0.
    const Tensor query = f32({1}, {1, 1, 1, 1}), key = f32({1, 0}, {1, 1, 2, 1}), value = f32({10, 20}, {1, 1, 2, 1});
    const std::vector<Tensor> attended =
        results("aten._scaled_dot_product_flash_attention_for_cpu.default", {query, key, value}, {t(0), t(1), t(2)});
    CHECK(attended.at(0).values<float>()[0] == Approx((10 * std::exp(1) + 20) / (std::exp(1) + 1)));
    CHECK(attended.at(1).sizes() == Sizes{1, 1, 1});
    CHECK(attended.at(1).values<float>()[0] == Approx(std::log(std::exp(1) + 1)));

    const Tensor a = samples::values(DType::i8, {100, 100, -128, 1}, {2, 2}),
                 b = samples::values(DType::i8, {100, 1, 100, -1}, {2, 2});  // sums that i8 does not have
    CHECK(same_bits(results("aten._int_mm.default", {a, b}, {t(0), t(1)}).at(0),
                    samples::values(DType::i32, {20000, 0, -12700, -129}, {2, 2})));

    const Tensor mask = samples::values(DType::boolean, {1, 0, 1}, {3});
    CHECK(results("aten._unsafe_masked_index.default", {f32({5, 6}, {2}), mask, samples::integers({1, 99, 0})},
                  {t(0), t(1), ArgList{t(2)}, 7})
              .at(0)
              .values<float>() == std::vector<float>{6, 7, 5});
}

TEST_CASE("a long sum of f32 is as near in its lowering as in the reference", "[ops][known]") {
    const Tensor tenth = Tensor::of(Scalar(0.1), DType::f32).as_strided({1000000}, {0}, 0);
    const Sample sample = call_of("a million tenths", {tenth});
    const double each = static_cast<double>(0.1f), exact = 1000000 * each;
    check({"aten.sum.default", sample, samples::scalar(DType::f32, exact)});
    check({"aten.mean.default", sample, samples::scalar(DType::f32, exact / 1000000)});
    const auto norm = [&](double p, double expected) {
        check({"aten.linalg_vector_norm.default", call_of("a million tenths", {tenth, p}),
               samples::scalar(DType::f32, expected)});
    };
    norm(1, exact);
    norm(2, std::sqrt(1000000 * each * each));
    norm(3, std::cbrt(1000000 * each * each * each));
}

/// A sum of products, which the reference adds in blocks of f32: both are within the tolerance of what is exact.
void check_near(const std::string& target, const Sample& sample, double exact) {
    INFO(target);
    const Graph graph = graph_of(Registry::instance().require(target), sample);
    const auto near = [&](const Tensor& got) {
        const Tensor expected =
            Tensor::of(Scalar(exact), DType::f32).as_strided(got.sizes(), Strides(got.rank(), 0), 0);
        const auto difference = compare(got, expected, Tolerance{.rtol = 2e-5, .atol = 0, .ulp = 0});
        return difference ? difference->description : "";
    };
    CHECK(near(evaluate(graph, sample.inputs()).at(0)) == "");
    test::Lowering lowering;
    std::vector<expr::Value> operands;
    for (const Tensor& input : sample.inputs()) operands.push_back(lowering.input(input));
    for (const expr::Value& result : lowering.graph(graph, operands)) lowering.builder.output(result);
    const expr::Group group = lowering.builder.finish();
    CHECK(near(expr::interpret(group, lowering.used_by(group)).at(0)) == "");
}

TEST_CASE("a long sum of products of f32 is near in its lowering, too", "[ops][known]") {
    if (kAddressSanitizer) return;  // nothing of memory is told here, in a minute
    constexpr std::int64_t k = 300000;
    const Tensor tenth = Tensor::of(Scalar(0.1), DType::f32);
    const auto tenths = [&](Sizes sizes) { return tenth.as_strided(sizes, Strides(sizes.size(), 0), 0); };
    const double each = static_cast<double>(0.1f), exact = static_cast<double>(k) * each * each;
    check_near("aten.dot.default", call_of("", {tenths({k}), tenths({k})}), exact);
    check_near("aten.mm.default", call_of("", {tenths({2, k}), tenths({k, 3})}), exact);
    check_near("aten.addmm.default", call_of("", {tenths({3}), tenths({2, k}), tenths({k, 3})}, {{"alpha", 2.0}}),
               each + 2 * exact);
    check_near("aten.linear.default", call_of("", {tenths({2, k}), tenths({3, k})}), exact);
    check_near("aten.convolution.default",
               call_of("", {tenths({1, 300, 10, 100}), tenths({2, 300, 10, 100}), Arg(), Arg::ints({1, 1}),
                            Arg::ints({0, 0}), Arg::ints({1, 1}), false, Arg::ints({0, 0}), 1}),
               exact);
    check_near("aten.avg_pool2d.default", call_of("", {tenths({1, 1, 300, 1000}), Arg::ints({300, 1000})}), each);
}

}  // namespace
}  // namespace whittle

// Opsets 18 to 24, which Debian's libonnx does not know: ops that are new there, or got operands and attributes. Values
// follow from the words of the standard, onnx Operators.md.
#include <cfloat>

#include "ops/core/interpreter.h"
#include "values.h"

namespace whittle {
namespace {

using test::counting;
using test::floats;
using test::load;
using test::load_error;
using test::model;
using test::near;
using test::Numbers;
using test::result;
using test::results;

TEST_CASE("reductions take their axes as an operand since opset 18", "[onnx]") {
    const std::string by_operand = R"(g (float[2,3] x) => (float[2] y) {
        a = Constant<value = int64[1] {-1}>()
        y = ReduceMax<keepdims = 0>(x, a)
    })";
    CHECK(result(by_operand, 18, counting({2, 3})) == Numbers{2, 5});
    CHECK_THAT(load_error(model(by_operand, 17)), Catch::Contains("found 2 inputs, expected 1"));
    CHECK_THAT(load_error(model("g (float[2,3] x) => (float[2] y) { y = ReduceMax<axes = [1]>(x) }", 18)),
               Catch::Contains("found the unknown attribute 'axes'"));
    CHECK(result("g (float[2,3] x) => (float[2,3] y) { y = ReduceMean<noop_with_empty_axes = 1>(x) }", 18,
                 counting({2, 3})) == Numbers{0, 1, 2, 3, 4, 5});
    const Numbers of_nothing = result(R"(g (float[2,0] x) => (float[2] y) {
        a = Constant<value = int64[1] {1}>()
        y = ReduceMin<keepdims = 0>(x, a)
    })",
                                      20, Tensor(DType::f32, {2, 0}));
    CHECK(of_nothing == Numbers(2, std::numeric_limits<double>::infinity()));
}

TEST_CASE("the last piece of a Split may be smaller since opset 18", "[onnx]") {
    const std::string split =
        "g (float[7] x) => (float[3] a, float[3] b, float[1] c) { a, b, c = Split<num_outputs = 3>(x) }";
    CHECK(results(split, 18, {counting({7})}) == std::vector<Numbers>{{0, 1, 2}, {3, 4, 5}, {6}});
    CHECK_THAT(load_error(model("g (float[4] x) => (float[2] a, float[2] b) { a, b = Split<num_outputs = 3>(x) }", 18)),
               Catch::Contains("found num_outputs=3, expected num_outputs=2"));
}

TEST_CASE("Pad has axes since opset 18 and goes round since 19", "[onnx]") {
    const std::string wrap = R"(g (float[2,3] x) => (float[2,6] y) {
        p = Constant<value = int64[2] {1, 2}>()
        a = Constant<value = int64[1] {-1}>()
        y = Pad<mode = "wrap">(x, p, , a)
    })";
    CHECK(result(wrap, 19, counting({2, 3})) == Numbers{2, 0, 1, 2, 0, 1, 5, 3, 4, 5, 3, 4});
    CHECK_THAT(load_error(model(wrap, 18)), Catch::Contains("since opset 19, 'wrap'"));
}

TEST_CASE("Resize takes axes, keeps the aspect ratio and antialiases since opset 18", "[onnx]") {
    const auto resize = [](const std::string& attributes, const std::string& sizes) {
        return "g (float[1,1,4,8] x) => (float[1,1,2,4] y) { s = Constant<value = int64[2] {" + sizes +
               "}>() y = Resize<axes = [2, 3], mode = \"linear\"" + attributes + ">(x, , , s) }";
    };
    // Twice as coarse: each result is of four elements, 1/8 3/8 3/8 1/8 of them, as far as there are any.
    const Numbers row = {result(resize(", antialias = 1", "4, 4"), 18, counting({1, 1, 4, 8}))};
    CHECK(near({row.begin(), row.begin() + 4}, {(0.375 * 0 + 0.375 * 1 + 0.125 * 2 + 0.125 * 0) / 1, 2.5, 4.5,
                                                (0.125 * 5 + 0.375 * 6 + 0.375 * 7 + 0.125 * 7) / 1}));
    const Graph kept = load(model(resize(", keep_aspect_ratio_policy = \"not_larger\"", "3, 4"), 18)).graph;
    CHECK(kept.node({kept.outputs().at(0)}).meta().sizes == Sizes{1, 1, 2, 4});
    const Graph larger = load(model(resize(", keep_aspect_ratio_policy = \"not_smaller\"", "3, 4"), 18)).graph;
    CHECK(larger.node({larger.outputs().at(0)}).meta().sizes == Sizes{1, 1, 3, 6});
    CHECK_THAT(load_error(model(resize("", "2, 4"), 17)), Catch::Contains("found the unknown attribute 'axes'"));
}

TEST_CASE("half_pixel_symmetric keeps the middle where a size was rounded", "[onnx]") {
    // 4 * 0.6 is 2.4, rounded to 2: 0.1667 pixels to the right of half_pixel's places.
    const auto at = [](const std::string& mode) {
        return result(
            "g (float[4] x) => (float[2] y) { s = Constant<value = float[1] {0.6}>() "
            "y = Resize<coordinate_transformation_mode = \"" +
                mode + "\", mode = \"linear\">(x, , s) }",
            19, counting({4}));
    };
    CHECK(near(at("half_pixel"), {0.5 / 0.6 - 0.5, 1.5 / 0.6 - 0.5}, 1e-5));
    const double moved = 2 * (1 - 2 / 2.4);
    CHECK(near(at("half_pixel_symmetric"), {moved + 0.5 / 0.6 - 0.5, moved + 1.5 / 0.6 - 0.5}, 1e-5));
}

TEST_CASE("poolings are dilated, and a norm rounds up", "[onnx]") {
    CHECK(result("g (float[1,1,6] x) => (float[1,1,4] y) { y = AveragePool<dilations = [2], kernel_shape = [2]>(x) }",
                 19, counting({1, 1, 6})) == Numbers{1, 2, 3, 4});
    // A window that goes beyond the image is divided by what it has of the image, or of image and padding.
    const std::string edges = "dilations = [2], kernel_shape = [2], pads = [1, 1], strides = [2]>(x) }";
    const Tensor ones = floats({1, 1, 1, 1, 1}, {1, 1, 5});
    CHECK(result("g (float[1,1,5] x) => (float[1,1,3] y) { y = AveragePool<" + edges, 19, ones) == Numbers{1, 1, 1});
    CHECK(result("g (float[1,1,5] x) => (float[1,1,3] y) { y = AveragePool<count_include_pad = 1, " + edges, 19,
                 ones) == Numbers{0.5, 1, 0.5});
    CHECK(result("g (float[1,1,5] x) => (float[1,1,3] y) { y = LpPool<ceil_mode = 1, kernel_shape = [2], p = 1, "
                 "strides = [2]>(x) }",
                 18, counting({1, 1, 5})) == Numbers{1, 5, 4});
}

TEST_CASE("windows, pads, scales and zero points that do not fit are refused by name", "[onnx]") {
    const auto error = [](const std::string& inputs, const std::string& call) {
        return load_error(model("g (" + inputs + ") => (float[N,C,L] y) { y = " + call + " }", 21));
    };
    CHECK_THAT(error("float[1,1,2] x, float[1,1,1] w", "ConvTranspose<pads = [3, 1]>(x, w)"),
               Catch::Contains("found pads that remove 4 elements from dimension 2, expected at most its 2 elements"));
    CHECK_THAT(error("float[1,1,1] x, int64[1,1,1] i", "MaxUnpool<kernel_shape = [2], pads = [3, 0]>(x, i)"),
               Catch::Contains("found pads that remove 3 elements from dimension 2, expected at most its 2 elements"));
    CHECK_THAT(error("float[1,1,9] x", "MaxPool<kernel_shape = [4294967296]>(x)"),
               Catch::Contains("found a kernel of sizes [4294967296], expected sizes from 1 to 2^31"));
    CHECK_THAT(error("float[1,1,9] x", "MaxPool<kernel_shape = [1], strides = [0]>(x)"),
               Catch::Contains("found strides=[0], expected numbers from 1 to 2^31"));
    CHECK_THAT(error("uint8[1,2,1] x, float[3] s, uint8 z", "DequantizeLinear(x, s, z)"),
               Catch::Contains("found x_scale of sizes [3], expected one number"));
    CHECK_THAT(error("uint8[1,2,1] x, float s, uint8[3] z", "DequantizeLinear(x, s, z)"),
               Catch::Contains("found x_zero_point of sizes [3], expected one number"));
}

TEST_CASE("without axes a reduction that is told to be none takes each element by itself", "[onnx]") {
    const auto of = [](const std::string& op) {
        return result("g (float[2] x) => (float[2] y) { y = " + op + "<noop_with_empty_axes = 1>(x) }", 18,
                      floats({-2, 3}, {2}));
    };
    CHECK(of("ReduceSum") == Numbers{-2, 3});
    CHECK(of("ReduceL1") == Numbers{2, 3});
    CHECK(of("ReduceL2") == Numbers{2, 3});
    CHECK(of("ReduceSumSquare") == Numbers{4, 9});
    CHECK(near(result("g (float[1] x) => (float[1] y) { y = ReduceLogSum<noop_with_empty_axes = 1>(x) }", 18,
                      floats({2}, {1})),
               {std::log(2)}));
}

TEST_CASE("HardSwish of the largest number is that number", "[onnx]") {
    CHECK(result("g (float[1] x) => (float[1] y) { y = HardSwish(x) }", 18, floats({FLT_MAX}, {1})) ==
          Numbers{FLT_MAX});
}

TEST_CASE("normalization of groups scales groups at opset 18 and channels at 21", "[onnx]") {
    const auto normalize = [](const std::string& scale) {
        return "g (float[1,4,1] x) => (float[1,4,1] y) { s = Constant<value = float" + scale +
               ">() y = GroupNormalization<epsilon = 0.0, num_groups = 2>(x, s, s) }";
    };
    const Tensor x = floats({1, 3, 2, 8}, {1, 4, 1});  // of each group -1 and 1
    CHECK(near(result(normalize("[2] {1, 10}"), 18, x), {0, 2, 0, 20}));
    CHECK(near(result(normalize("[4] {1, 2, 3, 4}"), 21, x), {0, 4, 0, 8}));
    CHECK_THAT(load_error(model(normalize("[2] {1, 10}"), 21)), Catch::Contains("expected [4], one per channel"));
}

TEST_CASE("element by element: Gelu, Mish, the bits", "[onnx]") {
    const Tensor one = floats({1}, {1});
    CHECK(
        near(result("g (float[1] x) => (float[1] y) { y = Gelu(x) }", 20, one), {(1 + std::erf(std::sqrt(0.5))) / 2}));
    CHECK(near(result("g (float[1] x) => (float[1] y) { y = Gelu<approximate = \"tanh\">(x) }", 20, one),
               {(1 + std::tanh(std::sqrt(2 / M_PI) * 1.044715)) / 2}));
    CHECK(near(result("g (float[1] x) => (float[1] y) { y = Mish(x) }", 18, one), {std::tanh(std::log1p(M_E))}));
    const Tensor bits = Tensor::of<std::int64_t>({12, -1}).to(DType::i32);
    const auto with_ten = [&](const std::string& op) {
        return result("g (int32[2] x) => (int32[2] y) { c = Constant<value = int32[1] {10}>() y = " + op + "(x, c) }",
                      18, bits);
    };
    CHECK(with_ten("BitwiseAnd") == Numbers{8, 10});
    CHECK(with_ten("BitwiseOr") == Numbers{14, -1});
    CHECK(with_ten("BitwiseXor") == Numbers{6, -11});
    CHECK(result("g (int32[2] x) => (int32[2] y) { y = BitwiseNot(x) }", 18, bits) == Numbers{-13, 0});
}

TEST_CASE("blocks become an image, and the middle is cut out or padded", "[onnx]") {
    // Blocks of two, one apart: element 1 of the image is the second of block 0 and the first of block 1.
    CHECK(result(R"(g (float[1,2,3] x) => (float[1,1,4] y) {
        i = Constant<value = int64[1] {4}>()
        b = Constant<value = int64[1] {2}>()
        y = Col2Im(x, i, b)
    })",
                 18, counting({1, 2, 3})) == Numbers{0, 4, 6, 5});
    CHECK(result(R"(g (float[1,2,1] x) => (float[1,1,3] y) {
        i = Constant<value = int64[1] {3}>()
        b = Constant<value = int64[1] {2}>()
        y = Col2Im<dilations = [2]>(x, i, b)
    })",
                 18, floats({7, 8}, {1, 2, 1})) == Numbers{7, 0, 8});
    CHECK(result("g (float[5] x) => (float[2] y) { s = Constant<value = int64[1] {2}>() y = CenterCropPad(x, s) }", 18,
                 counting({5})) == Numbers{1, 2});
    CHECK(result("g (float[2] x) => (float[5] y) { s = Constant<value = int64[1] {5}>() y = CenterCropPad(x, s) }", 18,
                 floats({7, 8}, {2})) == Numbers{0, 7, 8, 0, 0});
}

TEST_CASE("a grid of the identity has the places of the pixels", "[onnx]") {
    const auto grid = [](int ends) {
        return result(
            "g (float[1,2,3] x) => (float[1,1,2,2] y) { s = Constant<value = int64[4] {1, 1, 1, 2}>() "
            "y = AffineGrid<align_corners = " +
                std::to_string(ends) + ">(x, s) }",
            20, floats({1, 0, 0, 0, 1, 0}, {1, 2, 3}));
    };
    CHECK(grid(0) == Numbers{-0.5, 0, 0.5, 0});
    CHECK(grid(1) == Numbers{-1, 0, 1, 0});
}

TEST_CASE("writes at indices keep the larger one since opset 18", "[onnx]") {
    const std::string scatter = R"(g (float[3] x) => (float[3] y) {
        i = Constant<value = int64[3] {0, 0, 2}>()
        u = Constant<value = float[3] {5, 4, 1}>()
        y = ScatterElements<reduction = "max">(x, i, u)
    })";
    CHECK(result(scatter, 18, counting({3})) == Numbers{5, 1, 2});
    CHECK_THAT(load_error(model(scatter, 16)), Catch::Contains("since opset 18, 'max' or 'min'"));
}

TEST_CASE("scales are of blocks and steps of 16 bits since opset 21", "[onnx]") {
    CHECK(result(R"(g (float[4] x) => (int16[4] y) {
        s = Constant<value = float[2] {1, 0.001}>()
        y = QuantizeLinear<axis = 0, block_size = 2, output_dtype = 5>(x, s)
    })",
                 21, floats({1.5f, -2.5f, 3, 50}, {4})) == Numbers{2, -2, 3000, 32767});
    CHECK(result(R"(g (int16[4] x) => (float[4] y) {
        s = Constant<value = float[2] {1, 0.5}>()
        y = DequantizeLinear<axis = 0, block_size = 2>(x, s)
    })",
                 21, Tensor::of<std::int64_t>({-300, 2, 3, 4}).to(DType::i16)) == Numbers{-300, 2, 1.5, 2});
}

TEST_CASE("the axis of a DFT is an operand since opset 20, counted from the end when missing", "[onnx]") {
    // Of two numbers: sum and difference. [2, 2, 1]: along the second dimension, or the first.
    const Tensor x = floats({1, 2, 30, 40}, {2, 2, 1});
    CHECK(near(result("g (float[2,2,1] x) => (float[2,2,2] y) { y = DFT(x) }", 20, x), {3, 0, -1, 0, 70, 0, -10, 0}));
    const Tensor rows = floats({1, 2, 3, 4}, {1, 2, 2, 1});  // where the second from the end is not the second
    CHECK(near(result("g (float[1,2,2,1] x) => (float[1,2,2,2] y) { y = DFT(x) }", 20, rows),
               {3, 0, -1, 0, 7, 0, -1, 0}));
    CHECK(near(
        result("g (float[2,2,1] x) => (float[2,2,2] y) { a = Constant<value = int64 {0}>() y = DFT(x, , a) }", 20, x),
        {31, 0, 42, 0, -29, 0, -38, 0}));
}

TEST_CASE("a convolution's windows are moved by offsets, y before x", "[onnx]") {
    // One element of weight 2 at each place: down by one pixel, and right by half of one; outside are zeros.
    const std::string moved = R"(g (float[1,1,2,2] x) => (float[1,1,2,2] y) {
        w = Constant<value = float[1,1,1,1] {2}>()
        o = Constant<value = float[1,2,2,2] {OFFSETS}>()
        y = DeformConv(x, w, o)
    })";
    const auto by = [&](const std::string& offsets) {
        std::string text = moved;
        return result(text.replace(text.find("OFFSETS"), 7, offsets), 19, floats({1, 2, 30, 40}, {1, 1, 2, 2}));
    };
    CHECK(near(by("0, 0, 0, 0, 0, 0, 0, 0"), {2, 4, 60, 80}));
    CHECK(near(by("1, 1, 1, 1, 0, 0, 0, 0"), {60, 80, 0, 0}));
    CHECK(near(by("0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5"), {3, 2, 70, 40}));
}

TEST_CASE("a volume is read between its voxels since opset 20", "[onnx]") {
    // The grid has (x, y, z): the middle, and between the two slices at their first element.
    CHECK(near(result(R"(g (float[1,1,2,2,2] x) => (float[1,1,1,1,2] y) {
        g = Constant<value = float[1,1,1,2,3] {0, 0, 0, -0.5, -0.5, 0}>()
        y = GridSample(x, g)
    })",
                      20, counting({1, 1, 2, 2, 2})),
               {3.5, 2}));
}

TEST_CASE("what later opsets have and Whittle has not is named", "[onnx]") {
    CHECK_THAT(load_error(model("g (string[1] x) => (string[1] y) { y = StringConcat(x, x) }", 20)),
               Catch::Contains("Whittle does not support the op onnx.StringConcat yet"));
    CHECK_THAT(load_error(model("g (uint8[9] x) => (uint8[3,3,3] y) { y = ImageDecoder(x) }", 20)),
               Catch::Contains("Whittle does not support the op onnx.ImageDecoder yet"));
    onnx::ModelProto four_bits = model("g (float[2] x) => (float[2] y) { y = Relu(x) }", 21);
    const auto of_type = [&](int code) {
        four_bits.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->set_elem_type(code);
        return load_error(four_bits);
    };
    CHECK_THAT(of_type(22), Catch::Contains("found i4 elements as the input 'x', expected numbers"));
    CHECK_THAT(of_type(23), Catch::Contains("found f4_e2m1 elements as the input 'x'"));
    CHECK_THAT(of_type(24), Catch::Contains("found f8_e8m0 elements as the input 'x'"));
    CHECK_THAT(of_type(99), Catch::Contains("found elements of type 99"));
}

TEST_CASE("opsets 22 to 24 are read, and written for the release that has them", "[onnx]") {
    // docs/Versioning.md: 22 came with version 10 of the representation, 23 with 11, 24 with 12.
    for (const auto& [opset, ir_version] : {std::pair(21, 10), {22, 10}, {23, 11}, {24, 12}}) {
        INFO(opset);
        const onnx::ModelProto relu = model("g (float[2] x) => (float[2] y) { y = Relu(x) }", opset);
        CHECK(test::run(load(relu).graph, {floats({-1, 2}, {2})}) == Numbers{0, 2});
        onnx::ModelProto written;
        REQUIRE(written.ParseFromString(to_onnx(load(relu).graph)));
        CHECK(written.ir_version() == ir_version);
        CHECK(written.opset_import(0).version() == opset);
    }
    CHECK_THAT(load_error(model("g (float[2] x) => (float[2] y) { y = Swish(x) }", 23)),
               Catch::Contains("the op onnx.Swish is not part of the standard (opset 23 of ai.onnx)"));
}

TEST_CASE("Swish is x sigmoid(alpha x)", "[onnx]") {
    const Tensor x = floats({-1, 0, 2}, {3});
    const auto swish = [](double value, double alpha) { return value / (1 + std::exp(-alpha * value)); };
    CHECK(near(result("g (float[3] x) => (float[3] y) { y = Swish(x) }", 24, x), {swish(-1, 1), 0, swish(2, 1)}));
    CHECK(near(result("g (float[3] x) => (float[3] y) { y = Swish<alpha = 0.5>(x) }", 24, x),
               {swish(-1, 0.5), 0, swish(2, 0.5)}));
}

TEST_CASE("RMSNormalization divides by the root of the mean square", "[onnx]") {
    const auto normalize = [](const std::string& attributes, const std::string& scale) {
        return "g (float[2,2] x) => (float[2,2] y) { s = Constant<value = float" + scale + ">() y = RMSNormalization<" +
               attributes + ">(x, s) }";
    };
    const Tensor x = floats({3, 4, 0, 2}, {2, 2});
    const double first = std::sqrt(12.5 + 1e-5), second = std::sqrt(2 + 1e-5), both = std::sqrt(29. / 4 + 2);
    CHECK(near(result(normalize("stash_type = 1", "[2] {1, 10}"), 23, x), {3 / first, 40 / first, 0, 20 / second}));
    CHECK(near(result(normalize("axis = 0, epsilon = 2.0", "[1] {2}"), 23, x), {6 / both, 8 / both, 0, 4 / both}));
    CHECK_THAT(load_error(model(normalize("axis = -1", "[1,1,2] {1, 1}"), 23)),
               Catch::Contains("expected sizes that broadcast to [2, 2]"));
    CHECK_THAT(load_error(model(normalize("stash_type = 7", "[2] {1, 1}"), 23)),
               Catch::Contains("found dtype i64 as stash_type, expected f64, f32, f16 or bf16"));
    // In f16 the square of 300 is infinite; in f32, the default, it is not, and only the quotient is rounded.
    const std::string half = R"(g (float16[2] x) => (float16[2] y) {
        w = Constant<value = float[2] {1, 1}>()
        s = Cast<to = 10>(w)
        y = RMSNormalization<STASH>(x, s)
    })";
    const auto stashed = [&](const std::string& attribute) {
        std::string text = half;
        return result(text.replace(text.find("STASH"), 5, attribute), 23, floats({300, 0}, {2}).to(DType::f16));
    };
    CHECK(near(stashed("stash_type = 1"), {std::sqrt(2), 0}, 1e-3));
    CHECK(stashed("stash_type = 10") == Numbers{0, 0});
}

TEST_CASE("a scale is of any float since opset 23, and its type, or precision, is divided in", "[onnx]") {
    const auto quantize = [](int scale_type, const std::string& attributes) {
        return "g (float[2] x) => (uint16[2] y) { w = Constant<value = float[1] {1}>() s = Cast<to = " +
               std::to_string(scale_type) + ">(w) y = QuantizeLinear<output_dtype = 4" + attributes + ">(x, s) }";
    };
    constexpr int kFloat = 1, kHalf = 10;
    const Tensor x = floats({2049, 7}, {2});  // f16 has no 2049: it is rounded to 2048
    CHECK(result(quantize(kFloat, ""), 23, x) == Numbers{2049, 7});
    CHECK(result(quantize(kFloat, ", precision = 10"), 23, x) == Numbers{2048, 7});
    CHECK(result(quantize(kHalf, ""), 23, x) == Numbers{2048, 7});
    CHECK_THAT(load_error(model(quantize(kFloat, ", precision = 10"), 21)),
               Catch::Contains("found the unknown attribute 'precision'"));
    CHECK_THAT(load_error(model(quantize(kHalf, ""), 21)), Catch::Contains("expected f32, the type of input 0"));

    const std::string dequantize = R"(g (int8[2] x) => (float16[2] y) {
        s = Constant<value = float[1] {0.1}>()
        y = DequantizeLinear<output_dtype = 10>(x, s)
    })";
    const Graph read = load(model(dequantize, 23)).graph;
    const Tensor y = evaluate(read, std::vector{Tensor::of<std::int64_t>({3, -5}).to(DType::i8)}).at(0);
    CHECK(y.dtype() == DType::f16);
    // In f16, as the standard says: 3 times what 0.1 is there, 1638 / 2^14, is 4914 / 2^14, of which f16 has 4912.
    CHECK(y.to(DType::f64).values<double>() == Numbers{4912. / (1 << 14), -8192. / (1 << 14)});
}

TEST_CASE("Cast says since opset 24 how a type is rounded to that Whittle does not have", "[onnx]") {
    const auto cast = [](const std::string& mode) {
        return "g (float[1] x) => (float16[1] y) { y = Cast<to = 10, round_mode = \"" + mode + "\">(x) }";
    };
    CHECK(result(cast("nearest"), 24, floats({1.5f}, {1})) == Numbers{1.5});
    CHECK_THAT(load_error(model(cast("sideways"), 24)), Catch::Contains("expected 'up', 'down' or 'nearest'"));
    CHECK_THAT(load_error(model(cast("up"), 23)), Catch::Contains("found the unknown attribute 'round_mode'"));
}

}  // namespace
}  // namespace whittle

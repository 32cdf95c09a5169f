// What counts as left open, and what does not: the border on both sides of each rule.
#include "fuzz/left_open.h"

#include <catch2/catch.hpp>

#include "graph/text.h"
#include "ops/core/interpreter.h"

namespace whittle::fuzz {
namespace {

/// What the call says of whole numbers x, an i32[3] unless told otherwise.
std::string why(const std::string& call, const std::vector<std::int32_t>& x, const std::string& result = "i32[3]") {
    const Graph graph = parse("graph g {\n  %x = placeholder[\"x\"] : i32[3]\n  %y = " + call + " : " + result +
                              "\n  return (%y)\n}\n");
    return left_open(graph, std::vector{Tensor::of(x, {3})});
}

TEST_CASE("which of equal elements is found is left open, and nothing else of a selection", "[fuzz]") {
    const std::string pair = "(i32[2], i64[2])";
    CHECK(why("aten.topk.default(%x, 2)", {1, 2, 1}, pair) ==
          "aten.topk.default selects one of several equal elements, and the specification of the op does not say which "
          "element");
    CHECK(why("aten.topk.default(%x, 2)", {1, 2, 3}, pair) == "");
    CHECK(why("aten.argsort.default(%x)", {5, 5, 3}, "i64[3]") != "");
    CHECK(why("aten.argsort.stable(%x, stable=true)", {5, 5, 3}, "i64[3]") == "");
    const Graph floats = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2, 2]\n  %y = aten.kthvalue.default(%x, 1, 0) : (f32[2], i64[2])\n"
        "  %i = getitem(%y, 1) : i64[2]\n  return (%i)\n}\n");
    const auto of = [&](const std::vector<float>& x) { return left_open(floats, std::vector{Tensor::of(x, {2, 2})}); };
    CHECK(of({1, 1, 2, 2}) == "");  // equal ones of two lines
    CHECK(of({1, 0, 2, -0.0f}) != "");
    CHECK(of({1, NAN, 2, NAN}) != "");
    CHECK(of({1, NAN, 2, 3}) == "");
}

TEST_CASE("shifts within the dtype, and quotients that it has, are not left open", "[fuzz]") {
    for (const std::string shift : {"bitwise_left_shift.Tensor", "__rshift__.Tensor"}) {
        CAPTURE(shift);
        CHECK(why("aten." + shift + "(%x, %x)", {0, 1, 31}) == "");
        CHECK(why("aten." + shift + "(%x, %x)", {0, 1, 32}) != "");
        CHECK(why("aten." + shift + "(%x, %x)", {0, 1, -1}) != "");
    }
    constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
    CHECK(why("aten.remainder.Scalar(%x, -1)", {0, 1, kLeast}) ==
          "aten.remainder.Scalar divides -2147483648 by -1: i32 does not hold the quotient");
    CHECK(why("aten.remainder.Scalar(%x, -1)", {0, 1, kLeast + 1}) == "");
    CHECK(why("aten.remainder.Scalar(%x, -2)", {0, 1, kLeast}) == "");
}

TEST_CASE("elements that are put back to one position, or by an output_shape, are left open", "[fuzz]") {
    const auto why_of = [](const std::string& shape, std::vector<std::int64_t> positions) {
        Graph graph = parse(
            "graph g {\n  %x = placeholder[\"x\"] : f32[1, 1, 2]\n  %i = placeholder[\"i\"] : i64[1, 1, 2]\n"
            "  %s = placeholder[\"s\"] : i64[3]\n"
            "  %y = onnx.MaxUnpool(%x, %i" +
            shape + ", kernel_shape=[2], strides=[2]) : f32[1, 1, 4]\n  return (%y)\n}\n");
        graph.dialect = "onnx";
        graph.opset_imports = {{"", 13}};
        return left_open(graph, std::vector{Tensor::of<float>({1, 2}, {1, 1, 2}), Tensor::of(positions, {1, 1, 2}),
                                            Tensor::of<std::int64_t>({1, 1, 4})});
    };
    CHECK(why_of("", {0, 3}) == "");
    CHECK(why_of("", {3, 3}) != "");
    CHECK(why_of(", %s", {0, 3}) != "");
}

TEST_CASE("a model without its open calls reads what they gave as inputs", "[fuzz]") {
    const Model model{parse("graph g {\n  %x = placeholder[\"x\"] : f32[3]\n"
                            "  %y = aten.topk.default(%x, 2) : (f32[2], i64[2])\n  %i = getitem(%y, 1) : i64[2]\n"
                            "  %z = aten.add.Scalar(%i, 1) : i64[2]\n  return (%z)\n}\n"),
                      {Tensor::of({4.0f, 4.0f, 1.0f})}};
    const Model rest = without_open(model);
    REQUIRE(rest.graph.calls().size() == 1);
    REQUIRE(rest.inputs.size() == 1);
    CHECK(same_bits(rest.inputs[0], Tensor::of<std::int64_t>({0, 1})));
    CHECK(same_bits(evaluate(rest.graph, rest.inputs).at(0), Tensor::of<std::int64_t>({1, 2})));
}

}  // namespace
}  // namespace whittle::fuzz

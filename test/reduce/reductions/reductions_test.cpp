// Each reduction as text: a case before, the edits that are applied, the case after.
#include "reduce/reductions/edits.h"

namespace whittle::reduce::reductions_test {

TEST_CASE("outputs: dropped, with what only they needed", "[reductions]") {
    const std::string before = R"(graph g {
  %x = placeholder["x"] : f32[4]
  %y = placeholder["y"] : f32[4]
  %a = aten.relu.default(%x) : f32[4]
  %b = aten.tanh.default(%y) : f32[4]
  %c = aten.abs.default(%a) : f32[4]
  return (%b, %c, %a)
}
)";
    CHECK(names(output_edits, case_of(before)) == Names{"drop output %b", "drop output %c", "drop output %a"});
    CHECK(after(output_edits, before, {"drop output %b", "drop output %c"}) == R"(graph g {
  %x = placeholder["x"] : f32[4]
  %a = aten.relu.default(%x) : f32[4]
  return (%a)
}
)");
    CHECK(after(output_edits, before, {"drop output %a", "drop output %b", "drop output %c"}) == "no case");
}

TEST_CASE("bypass: an operand of the same type in the place of a result", "[reductions]") {
    const std::string before = R"(graph g {
  %x = placeholder["x"] : f32[4, 4]
  %a = aten.relu.default(%x) : f32[4, 4]
  %s = aten.sum.dim_IntList(%a, [1], true) : f32[4, 1]
  %b = aten.add.Tensor(%a, %s) : f32[4, 4]
  %c = aten.tanh.default(%b) : f32[4, 4]
  return (%c)
}
)";
    CHECK(names(bypass_edits, case_of(before)) == Names{"bypass %a by %x", "bypass %b by %a", "bypass %c by %b"});
    CHECK(after(bypass_edits, before, {"bypass %b by %a", "bypass %a by %x"}) == R"(graph g {
  %x = placeholder["x"] : f32[4, 4]
  %c = aten.tanh.default(%x) : f32[4, 4]
  return (%c)
}
)");
}

TEST_CASE("values: zeros or ones in the place of what a call computes", "[reductions]") {
    const std::string before = R"(graph g {
  %x = placeholder["x"] : f32[4]
  %y = placeholder["y"] : f32[4]
  %a = aten.relu.default(%x) : f32[4]
  %b = aten.add.Tensor(%a, %y) : f32[4]
  return (%b)
}
)";
    CHECK(names(value_edits, case_of(before)) == Names{"%a is 0", "%a is 1"});
    CHECK(after(value_edits, before, {"%a is 1", "%a is 0"}) == R"(graph g {
  %y = placeholder["y"] : f32[4]
  %a_1 = get_attr["a"] : f32[4]
  %b = aten.add.Tensor(%a_1, %y) : f32[4]
  return (%b)
}
)");
    const std::optional<Case> ones = edited(value_edits, case_of(before), {"%a is 1"});
    REQUIRE(ones);
    CHECK(ones->graph.attributes.at("a").values<float>() == std::vector<float>{1, 1, 1, 1});
    CHECK(ones->inputs.size() == 1);
}

TEST_CASE("operands: another leaf of the same type, or a number", "[reductions]") {
    const std::string before = R"(graph g {
  %x = placeholder["x"] : f32[4]
  %y = placeholder["y"] : f32[4]
  %w = get_attr["w"] : f32[2, 4]
  %a = aten.add.Tensor(%x, %y) : f32[4]
  %b = aten.mul.Tensor(%w, %a) : f32[2, 4]
  return (%b)
}
)";
    CHECK(after(operand_edits, before, {"%y is %x"}) == R"(graph g {
  %x = placeholder["x"] : f32[4]
  %w = get_attr["w"] : f32[2, 4]
  %a = aten.add.Tensor(%x, %x) : f32[4]
  %b = aten.mul.Tensor(%w, %a) : f32[2, 4]
  return (%b)
}
)");
    CHECK(after(operand_edits, before, {"%y is the number 1"}) == R"(graph g {
  %x = placeholder["x"] : f32[4]
  %w = get_attr["w"] : f32[2, 4]
  %a = aten.add.Tensor(%x, 1.0) : f32[4]
  %b = aten.mul.Tensor(%w, %a) : f32[2, 4]
  return (%b)
}
)");
    CHECK_FALSE(edited(operand_edits, case_of(before), {"%x is the number 0", "%y is the number 0"}));  // add(0.0, 0.0)
    const Names all = names(operand_edits, case_of(before));
    CHECK(std::find(all.begin(), all.end(), "%w is %x") == all.end());  // of another type
}

TEST_CASE("dtype: f32 in the place of others", "[reductions]") {
    const std::string before = R"(graph g {
  %x = placeholder["x"] : f16[4]
  %y = placeholder["y"] : f64[4]
  %i = placeholder["i"] : i64[4]
  %a = aten._to_copy.default(%x, dtype=f64) : f64[4]
  %b = aten.add.Tensor(%a, %y) : f64[4]
  %c = aten.add.Tensor(%b, %i) : f64[4]
  return (%c)
}
)";
    CHECK(after(dtype_edits, before, {"all f64 is f32"}) == R"(graph g {
  %x = placeholder["x"] : f16[4]
  %y = placeholder["y"] : f32[4]
  %i = placeholder["i"] : i64[4]
  %a = aten._to_copy.default(%x, dtype=f32) : f32[4]
  %b = aten.add.Tensor(%a, %y) : f32[4]
  %c = aten.add.Tensor(%b, %i) : f32[4]
  return (%c)
}
)");
    // Integers may be indices or counts: no compiler has to take those in f32.
    CHECK(names(dtype_edits, case_of(before)) == Names{"all f64 is f32", "all f16 is f32", "%x is f32", "%y is f32"});
}

TEST_CASE("dtype: an ONNX op whose operands have one type keeps one", "[reductions]") {
    const Case before = case_of(R"(graph g opset("": 17) {
  %x = placeholder["x"] : f64[4]
  %y = placeholder["y"] : f64[4]
  %a = onnx.Add(%x, %y) : f64[4]
  return (%a)
}
)");
    CHECK_FALSE(edited(dtype_edits, before, {"%x is f32"}));
    CHECK(edited(dtype_edits, before, {"all f64 is f32"}));
}

TEST_CASE("arguments: those with a default take it", "[reductions]") {
    const std::string before = R"(graph g {
  %x = placeholder["x"] : f32[1, 2, 6, 6]
  %w = get_attr["w"] : f32[2, 2, 3, 3]
  %c = aten.conv2d.default(%x, %w, none, [2, 2], [1, 1]) : f32[1, 2, 3, 3]
  %a = aten.add.Tensor(%c, %c, alpha=3) : f32[1, 2, 3, 3]
  return (%a)
}
)";
    CHECK(names(argument_edits, case_of(before)) ==
          Names{"default stride of %c", "default padding of %c", "default alpha of %a"});
    CHECK(after(argument_edits, before, names(argument_edits, case_of(before))) == R"(graph g {
  %x = placeholder["x"] : f32[1, 2, 6, 6]
  %w = get_attr["w"] : f32[2, 2, 3, 3]
  %c = aten.conv2d.default(%x, %w) : f32[1, 2, 4, 4]
  %a = aten.add.Tensor(%c, %c) : f32[1, 2, 4, 4]
  return (%a)
}
)");
}

TEST_CASE("arguments: what may be none is, and what is true in a list is false", "[reductions]") {
    const std::string before = R"(graph g {
  %g = placeholder["g"] : f32[2, 4]
  %x = placeholder["x"] : f32[2, 4]
  %m = placeholder["m"] : f32[2, 1]
  %w = placeholder["w"] : f32[4]
  %b = aten.native_layer_norm_backward.default(%g, %x, [4], %m, %m, %w, none, [true, false, true]) : (f32[2, 4], f32[4], f32[4])
  %y = getitem(%b, 0) : f32[2, 4]
  return (%y)
}
)";
    CHECK(names(argument_edits, case_of(before)) == Names{"no weight of %b", "false for element 0 of output_mask of %b",
                                                          "false for element 2 of output_mask of %b"});
    const std::string text =
        after(argument_edits, before, {"no weight of %b", "false for element 2 of output_mask of %b"});
    CHECK(text.find("(%g, %x, [4], %m, %m, none, none, [true, false, false])") != std::string::npos);
    CHECK(text.find("%w") == std::string::npos);
}

TEST_CASE("data: zeros, ones, one value, small numbers, fewer digits", "[reductions]") {
    Case from = case_of(
        "graph g {\n  %x = placeholder[\"x\"] : f32[3]\n  %a = aten.abs.default(%x) : f32[3]\n  return (%a)\n}\n");
    from.inputs = {Tensor::of<float>({3.14159f, -2.71828f, 0.1f})};
    const auto values = [&](const std::string& what, std::optional<std::int64_t> level = {}) {
        const std::optional<Case> result = edited(data_edits, from, {what}, level);
        REQUIRE(result);
        CHECK(same_bits(result->expected[0], result->expected[0]));
        return result->inputs[0].values<float>();
    };
    using Floats = std::vector<float>;
    CHECK(values("%x is 0") == Floats{0, 0, 0});
    CHECK(values("%x is 1") == Floats{1, 1, 1});
    CHECK(values("%x is the first element everywhere") == Floats{3.14159f, 3.14159f, 3.14159f});
    CHECK(values("%x is whole numbers") == Floats{3, -3, 0});
    CHECK(values("%x has few digits", 3) == Floats{3, -2.5, 0.09375f});
    for (const float value : values("%x is small whole numbers")) CHECK(std::abs(value) <= 4);
    // What is far from 1 is round in decimals, and stays so.
    from.inputs = {Tensor::of<float>({6.7e29f, -2.3e-20f, 2})};
    CHECK(values("%x is one decimal digit") == Floats{7e29f, -2e-20f, 2});
    from.inputs = {Tensor::of<float>({7e29f, 7e29f, 7e29f})};
    CHECK(names(data_edits, from) == Names{"%x is 0", "%x is 1"});
    // Simple data are left alone, so that the reduction comes to an end.
    from.inputs = {Tensor::of<float>({0, 0, 0})};
    CHECK(names(data_edits, from).empty());
    from.inputs = {Tensor::of<float>({1, 1, 1})};
    CHECK(names(data_edits, from) == Names{"%x is 0"});
    // Strides go first, and stay while values become simple.
    from.inputs = {Tensor::of<float>({3.1f, 0, -2.7f, 0, 0.1f, 0}).as_strided({3}, {2}, 0)};
    CHECK(edited(data_edits, from, {"%x is contiguous"})->inputs[0].is_contiguous());
    const std::optional<Case> strided = edited(data_edits, from, {"%x is whole numbers"});
    REQUIRE(strided);
    CHECK(strided->inputs[0].strides() == Strides{2});
    CHECK(strided->inputs[0].values<float>() == Floats{3, -3, 0});
    // What was applied first counts.
    from.inputs = {Tensor::of<float>({1, 2, 3})};
    CHECK(edited(data_edits, from, {"%x is 0", "%x is 1", "%x has few digits"})->inputs[0].values<float>() ==
          Floats{0, 0, 0});
}

}  // namespace whittle::reduce::reductions_test

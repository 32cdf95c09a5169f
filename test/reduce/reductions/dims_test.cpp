// The reduction of sizes as text, as in reductions_test.cpp.
#include "reduce/reductions/edits.h"

namespace whittle::reduce::reductions_test {

TEST_CASE("dims: what must stay equal shrinks together, and everything downstream follows", "[reductions]") {
    const std::string before = R"(graph g {
  %x = placeholder["x"] : f32[8, 16]
  %w = get_attr["w"] : f32[16, 32]
  %bias = get_attr["bias"] : f32[32]
  %m = aten.mm.default(%x, %w) : f32[8, 32]
  %b = aten.add.Tensor(%m, %bias) : f32[8, 32]
  %v = aten.view.default(%b, [8, 2, 16]) : f32[8, 2, 16]
  return (%v)
}
)";
    const Case from = case_of(before);
    CHECK(names(dimension_edits, from) ==
          Names{"size 8 of %x", "size 16 of %x", "size 32 of %w", "size 32 of %bias", "size 2 of %v", "size 16 of %v"});
    CHECK(after(dimension_edits, before, {"size 8 of %x", "size 16 of %x"}) == R"(graph g {
  %x = placeholder["x"] : f32[1, 1]
  %w = get_attr["w"] : f32[1, 32]
  %bias = get_attr["bias"] : f32[32]
  %m = aten.mm.default(%x, %w) : f32[1, 32]
  %b = aten.add.Tensor(%m, %bias) : f32[1, 32]
  %v = aten.view.default(%b, [1, 2, 16]) : f32[1, 2, 16]
  return (%v)
}
)");
    // A level between; the data that stay are those that were there.
    const std::optional<Case> half = edited(dimension_edits, from, {"size 8 of %x"}, 5);
    REQUIRE(half);
    CHECK(half->inputs[0].sizes() == Sizes{5, 16});
    CHECK(half->inputs[0].values<float>()[79] == from.inputs[0].values<float>()[79]);
    CHECK(half->expected[0].sizes() == Sizes{5, 2, 16});
}

TEST_CASE("dims: of a small case the last elements, too") {
    Case from = case_of(R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %y = aten.relu.default(%x) : f32[2, 3]
  return (%y)
}
)");
    from.inputs = {Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3})};
    CHECK(names(dimension_edits, from) ==
          Names{"size 2 of %x", "size 2 of %x, its end", "size 3 of %x", "size 3 of %x, its end"});
    const std::optional<Case> end = edited(dimension_edits, from, {"size 2 of %x", "size 3 of %x, its end"});
    REQUIRE(end);
    CHECK(same_bits(end->inputs.at(0), Tensor::of<float>({3}, {1, 1})));
}

TEST_CASE("dims: a product of sizes follows its factors", "[reductions]") {
    const auto all = [](const std::string& before) { return all_at_once(dimension_edits, case_of(before)); };
    CHECK(all(R"(graph g {
  %x = placeholder["x"] : f32[8, 4, 6]
  %v = aten.view.default(%x, [8, 24]) : f32[8, 24]
  %w = aten.reshape.default(%v, [2, 4, 24]) : f32[2, 4, 24]
  return (%w)
}
)") == R"(graph g {
  %x = placeholder["x"] : f32[1, 1, 1]
  %v = aten.view.default(%x, [1, 1]) : f32[1, 1]
  %w = aten.reshape.default(%v, [1, 1, 1]) : f32[1, 1, 1]
  return (%w)
}
)");
    // A number that is no list: the groups of a convolution.
    CHECK(all(R"(graph g {
  %x = placeholder["x"] : f32[1, 48, 5, 5]
  %w = get_attr["w"] : f32[48, 1, 3, 3]
  %c = aten.convolution.default(%x, %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 48) : f32[1, 48, 5, 5]
  return (%c)
}
)") == R"(graph g {
  %x = placeholder["x"] : f32[1, 1, 1, 1]
  %w = get_attr["w"] : f32[1, 1, 1, 1]
  %c = aten.convolution.default(%x, %w, none, [1, 1], [1, 1], [1, 1], false, [0, 0], 1) : f32[1, 1, 3, 3]
  return (%c)
}
)");
    // Weights of an LSTM have four rows for each hidden unit, its bias eight.
    CHECK(all(R"(graph g opset("": 17) {
  %x = placeholder["x"] : f32[3, 2, 16]
  %w = get_attr["w"] : f32[1, 64, 16]
  %r = get_attr["r"] : f32[1, 64, 16]
  %b = get_attr["b"] : f32[1, 128]
  %l = onnx.LSTM(%x, %w, %r, %b, hidden_size=16) : f32[3, 1, 2, 16]
  %y = getitem(%l, 0) : f32[3, 1, 2, 16]
  return (%y)
}
)") == R"(graph g opset("": 17) {
  %x = placeholder["x"] : f32[1, 1, 1]
  %w = get_attr["w"] : f32[1, 4, 1]
  %r = get_attr["r"] : f32[1, 4, 1]
  %b = get_attr["b"] : f32[1, 8]
  %l = onnx.LSTM(%x, %w, %r, %b, hidden_size=1) : f32[1, 1, 1, 1]
  %y = getitem(%l, 0) : f32[1, 1, 1, 1]
  return (%y)
}
)");
}

TEST_CASE("dims: sizes inside nested graphs follow", "[reductions]") {
    const std::string before = R"(graph g opset("": 17) {
  @first = graph first opset("": 17) {
    %a = placeholder["a"] : f32[6, 4]
    %k = get_attr["k"] : f32[4]
    %m = onnx.Mul(%a, %k) : f32[6, 4]
    return (%m)
  }
  @second = graph second opset("": 17) {
    %a = placeholder["a"] : f32[6, 4]
    %n = onnx.Neg(%a) : f32[6, 4]
    return (%n)
  }
  %c = placeholder["c"] : bool[]
  %x = placeholder["x"] : f32[6, 4]
  %i = onnx.If(%c, then_branch=@first, else_branch=@second, captured=[%x]) : f32[6, 4]
  %r = getitem(%i, 0) : f32[6, 4]
  return (%r)
}
)";
    const std::string result = all_at_once(dimension_edits, case_of(before));
    INFO(result);
    CHECK(result.find("%a = placeholder[\"a\"] : f32[1, 1]\n    %k = get_attr[\"k\"] : f32[1]\n    %m = onnx.Mul(%a, "
                      "%k) : f32[1, 1]") != std::string::npos);
    CHECK(result.find("%n = onnx.Neg(%a) : f32[1, 1]") != std::string::npos);
    CHECK(result.find("captured=[%x]) : f32[1, 1]") != std::string::npos);
}

TEST_CASE("dims: constant shapes are places of a size too", "[reductions]") {
    Case from = case_of(R"(graph g opset("": 16) {
  %x = placeholder["x"] : f32[4, 6]
  %s = get_attr["s"] : i64[3]
  %r = onnx.Reshape(%x, %s) : f32[4, 3, 2]
  return (%r)
}
)");
    from.graph.attributes["s"] = Tensor::of<std::int64_t>({4, 3, 2});
    const std::optional<Case> one = edited(dimension_edits, from, {"size 4 of %x"});
    REQUIRE(one);
    CHECK(one->expected[0].sizes() == Sizes{1, 3, 2});
    CHECK_THAT(all_at_once(dimension_edits, from),
               Catch::Contains("f32[1, 1]") && Catch::Contains("Reshape(%x, %s) : f32[1]"));
}

TEST_CASE("dims: a window keeps what it needs", "[reductions]") {
    const std::string before = R"(graph g {
  %x = placeholder["x"] : f32[1, 1, 47, 9]
  %p = aten.max_pool2d.default(%x, [3, 3], [2, 2]) : f32[1, 1, 23, 4]
  return (%p)
}
)";
    CHECK(after(dimension_edits, before, {"size 47 of %x", "size 9 of %x"}) == R"(graph g {
  %x = placeholder["x"] : f32[1, 1, 3, 3]
  %p = aten.max_pool2d.default(%x, [3, 3], [2, 2]) : f32[1, 1, 1, 1]
  return (%p)
}
)");
}

}  // namespace whittle::reduce::reductions_test

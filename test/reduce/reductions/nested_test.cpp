// Nested graphs' reductions as text, as in reductions_test.cpp.
#include "reduce/reductions/edits.h"

namespace whittle::reduce::reductions_test {

TEST_CASE("nested: a branch in the place of an op that chooses", "[reductions]") {
    const std::string before = R"(graph g opset("": 17) {
  @first = graph first opset("": 17) {
    %a = placeholder["a"] : f32[4]
    %b = placeholder["b"] : f32[4]
    %k = get_attr["k"] : f32[4]
    %m = onnx.Mul(%a, %k) : f32[4]
    return (%m)
  }
  @second = graph second opset("": 17) {
    %a = placeholder["a"] : f32[4]
    %b = placeholder["b"] : f32[4]
    return (%b)
  }
  %c = placeholder["c"] : bool[]
  %x = placeholder["x"] : f32[4]
  %y = placeholder["y"] : f32[4]
  %i = onnx.If(%c, then_branch=@first, else_branch=@second, captured=[%x, %y]) : f32[4]
  %r = getitem(%i, 0) : f32[4]
  %n = onnx.Neg(%r) : f32[4]
  return (%n)
}
)";
    CHECK(names(nested_edits, case_of(before)) ==
          Names{"then_branch in the place of %i", "else_branch in the place of %i"});
    const std::string first = R"(graph g opset("": 17) {
  %x = placeholder["x"] : f32[4]
  %k = get_attr["k"] : f32[4]
  %m = onnx.Mul(%x, %k) : f32[4]
  %n = onnx.Neg(%m) : f32[4]
  return (%n)
}
)";
    CHECK(after(nested_edits, before, {"then_branch in the place of %i"}) == first);
    CHECK(after(nested_edits, before, {"then_branch in the place of %i", "else_branch in the place of %i"}) == first);
    CHECK(after(nested_edits, before, {"else_branch in the place of %i"}) == R"(graph g opset("": 17) {
  %y = placeholder["y"] : f32[4]
  %n = onnx.Neg(%y) : f32[4]
  return (%n)
}
)");
    // Inside a branch, a call gives way to its operand or to a constant.
    CHECK(after(bypass_edits, before, {"bypass %m by %a"}).find("onnx.Mul") == std::string::npos);
    CHECK(after(value_edits, before, {"%m is 0"}).find("onnx.Mul") == std::string::npos);
}

TEST_CASE("nested: a branch in the place of cond(), whose graphs go by position", "[reductions]") {
    const std::string before = R"(graph g {
  @no = graph no {
    %b = placeholder["b"] : f32[2]
    return (%b)
  }
  @yes = graph yes {
    %a = placeholder["a"] : f32[2]
    %t = aten.tanh.default(%a) : f32[2]
    return (%t)
  }
  %p = placeholder["p"] : bool[]
  %x = placeholder["x"] : f32[2]
  %c = higher_order.cond(%p, @yes, @no, [%x]) : f32[2]
  %y = aten.neg.default(%c) : f32[2]
  return (%y)
}
)";
    CHECK(names(nested_edits, case_of(before)) ==
          std::vector<std::string>{"yes in the place of %c", "no in the place of %c"});
    CHECK(after(nested_edits, before, {"yes in the place of %c"}) == R"(graph g {
  %x = placeholder["x"] : f32[2]
  %t = aten.tanh.default(%x) : f32[2]
  %y = aten.neg.default(%t) : f32[2]
  return (%y)
}
)");
}

TEST_CASE("nested: one iteration in the place of a loop", "[reductions]") {
    const std::string before = R"(graph g opset("": 17) {
  @body = graph body opset("": 17) {
    %i = placeholder["i"] : i64[]
    %go = placeholder["go"] : bool[]
    %v = placeholder["v"] : f32[4]
    %c = placeholder["c"] : f32[4]
    %f = onnx.Cast(%i, to=1) : f32[]
    %p = onnx.Add(%v, %f) : f32[4]
    %q = onnx.Mul(%p, %c) : f32[4]
    return (%go, %q)
  }
  %n = get_attr["n"] : i64[]
  %x = placeholder["x"] : f32[4]
  %y = placeholder["y"] : f32[4]
  %l = onnx.Loop(%n, none, [%x], body=@body, captured=[%y]) : f32[4]
  %r = getitem(%l, 0) : f32[4]
  return (%r)
}
)";
    CHECK(after(nested_edits, before, {"body in the place of %l"}) == R"(graph g opset("": 17) {
  %x = placeholder["x"] : f32[4]
  %y = placeholder["y"] : f32[4]
  %i = get_attr["i"] : i64[]
  %f = onnx.Cast(%i, to=1) : f32[]
  %p = onnx.Add(%x, %f) : f32[4]
  %q = onnx.Mul(%p, %y) : f32[4]
  return (%q)
}
)");
}

TEST_CASE("nested: one slice in the place of map() and scan()", "[reductions]") {
    const std::string before = R"(graph g {
  @body = graph body {
    %sum = placeholder["sum"] : f32[2]
    %row = placeholder["row"] : f32[2]
    %w = placeholder["w"] : f32[2]
    %m = aten.mul.Tensor(%row, %w) : f32[2]
    %a = aten.add.Tensor(%sum, %m) : f32[2]
    return (%a, %m)
  }
  %init = placeholder["init"] : f32[2]
  %xs = placeholder["xs"] : f32[3, 2]
  %w = placeholder["w"] : f32[2]
  %s = higher_order.scan(@body, [%init], [%xs], [%w]) : (f32[2], f32[3, 2])
  %last = getitem(%s, 0) : f32[2]
  %all = getitem(%s, 1) : f32[3, 2]
  return (%last, %all)
}
)";
    CHECK(after(nested_edits, before, {"body in the place of %s"}) == R"(graph g {
  %init = placeholder["init"] : f32[2]
  %xs = placeholder["xs"] : f32[3, 2]
  %w = placeholder["w"] : f32[2]
  %row = aten.select.int(%xs, 0, 0) : f32[2]
  %m = aten.mul.Tensor(%row, %w) : f32[2]
  %a = aten.add.Tensor(%init, %m) : f32[2]
  %m_slice = aten.unsqueeze.default(%m, 0) : f32[1, 2]
  %m_slices = aten.repeat.default(%m_slice, [3, 1]) : f32[3, 2]
  return (%a, %m_slices)
}
)");
}

TEST_CASE("a loop that an edit makes endless is no case", "[reductions]") {
    const Case from = case_of(R"(graph g opset("": 17) {
  @body = graph body opset("": 17) {
    %i = placeholder["i"] : i64[]
    %go = placeholder["go"] : bool[]
    %v = placeholder["v"] : f32[4]
    %k = get_attr["k"] : f32[]
    %s = onnx.ReduceSum(%v, keepdims=0) : f32[]
    %more = onnx.Less(%s, %k) : bool[]
    %p = onnx.Abs(%v) : f32[4]
    return (%more, %p)
  }
  %c = placeholder["c"] : bool[]
  %x = placeholder["x"] : f32[4]
  %l = onnx.Loop(none, %c, [%x], body=@body, captured=[]) : f32[4]
  %r = getitem(%l, 0) : f32[4]
  return (%r)
}
)");
    // More than nothing is always less than one: with the condition true it goes on for ever.
    CHECK_FALSE(edited(value_edits, from, {"%more is 1"}));
    CHECK(edited(value_edits, from, {"%more is 0"}));
}

}  // namespace whittle::reduce::reductions_test

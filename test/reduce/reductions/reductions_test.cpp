// Each reduction as text: a case before, the edits that are applied, the case after.
#include <algorithm>
#include <catch2/catch.hpp>

#include "graph/text.h"
#include "reduce/reductions/reduction.h"
#include "tensor/random.h"

using namespace whittle;
using namespace whittle::reduce;

namespace {

using Edits = std::vector<Edit> (*)(const Case&);
using Names = std::vector<std::string>;

/// Inputs are random, whole numbers from 0 to 3 for integers; attributes are as parse() makes them, zeros.
Case case_of(const std::string& text) {
    Case result{parse(text)};
    Random random(1);
    for (const NodeId id : result.graph.placeholders()) {
        const ValueMeta& meta = result.graph.node({id}).meta();
        result.inputs.push_back(random_tensor(meta.dtype, meta.sizes, random));
    }
    return result;
}

Names names(Edits edits, const Case& from) {
    Names names;
    for (const Edit& edit : edits(from)) names.push_back(edit.what);
    return names;
}

/// The case with the named edits at `level` (default: their simplest), or nothing when that is no case.
std::optional<Case> edited(Edits edits, const Case& from, const Names& wanted, std::optional<std::int64_t> level = {}) {
    Draft draft(from);
    for (const std::string& name : wanted) {
        const std::vector<Edit> all = edits(from);
        const auto found = std::find_if(all.begin(), all.end(), [&](const Edit& edit) { return edit.what == name; });
        INFO(name << " among " << Catch::Detail::stringify(names(edits, from)));
        REQUIRE(found != all.end());
        found->apply(draft, level.value_or(found->simplest));
    }
    return draft.finish();
}

/// The case as text, with every edit at its simplest that fits those before it, round after round as minimize() does.
std::string all_at_once(Edits edits, Case from) {
    for (std::string before;;) {
        Draft draft(from);
        for (const Edit& edit : edits(from)) {
            Draft next = draft;
            edit.apply(next, edit.simplest);
            if (next.infers()) draft = next;
        }
        const std::optional<Case> result = draft.finish();
        if (!result) return "no case";
        from = *result;
        if (print(from.graph) == before) return before;
        before = print(from.graph);
    }
}

std::string after(Edits edits, const std::string& before, const Names& wanted, std::optional<std::int64_t> level = {}) {
    const std::optional<Case> result = edited(edits, case_of(before), wanted, level);
    return result ? print(result->graph) : "no case";
}

}  // namespace

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

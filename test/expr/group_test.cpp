#include "expr/group.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "expr/builder.h"

using namespace whittle;
using namespace whittle::expr;

namespace {

Group relu_group() {
    GroupBuilder b("g");
    const Value x = b.input("x.1", DType::f32, {2, 3}, {3, 1});
    b.set_origin("relu", "%relu = aten.relu.default(%x)");
    b.output(Value(DType::f32, {2, 3}, [&](const Index& at) {
        return select(x(at) < constant(DType::f32, 0), constant(DType::f32, 0), x(at));
    }));
    return b.finish();
}

}  // namespace

TEST_CASE("a group prints as a stage per paragraph") {
    CHECK(print(relu_group()) ==
          "group g\n"
          "input x_1: f32[2, 3] strides [3, 1]\n"
          "\n"
          "# %relu = aten.relu.default(%x)\n"
          "stage relu: f32[2, 3]\n"
          "  for i < 2, j < 3: relu[i, j] = select(x_1[i, j] < 0, 0, x_1[i, j])\n"
          "\n"
          "output relu\n");
}

TEST_CASE("the builder fuses by substitution and stores on request") {
    GroupBuilder b;
    const Value x = b.input("for", DType::f32, {4}, {1});
    const Value twice(DType::f32, {4}, [&](const Index& at) { return x(at) + x(at); });
    const Value sum = b.reduce(
        DType::f32, {}, {4}, [](const Index&) { return constant(DType::f32, 0); },
        [&](const Index&, const Index& r, Expr self) { return self + twice(r); }, "sum");
    b.materialize(twice, "unused");
    CHECK(b.materialize(sum).stored_as() == "sum");
    CHECK(b.output(sum) == "sum");
    CHECK(b.output(sum) == "sum_1");   // a second output of its own
    CHECK(b.output(x, "i") == "i_1");  // an input is copied; i names a loop
    const Group group = b.finish();
    CHECK(group.inputs[0].name == "for_1");
    CHECK(group.stages.size() == 3);  // "unused" was dropped
    CHECK(print(group.stage("sum")->updates[0].value) == "sum[] + (for_1[r0] + for_1[r0])");
}

TEST_CASE("a stage that is stored for another node carries the line of the node that computes it") {
    GroupBuilder b;
    const Value x = b.input("x", DType::f32, {4}, {1});
    b.set_origin("a", "%a = neg(%x)");
    const Value a(DType::f32, {4}, [x](const Index& i) { return x(i) + x(i); });
    b.set_result(a);
    b.set_origin("s", "%s = sort(%a)");
    b.set_result(a);  // handed on
    const Value kept = b.materialize(a);
    b.output(b.materialize(Value(DType::f32, {4}, [kept](const Index& i) { return kept(i) + kept(i); })));
    const Group group = b.finish();
    REQUIRE(group.stages.size() == 2);
    CHECK(group.stages[0].origin == "%a = neg(%x)");
    CHECK(group.stages[1].origin == "%s = sort(%a)");
}

TEST_CASE("a value memoizes its elements") {
    int evaluations = 0;
    const Value v(DType::i32, {2}, [&](const Index& at) {
        ++evaluations;
        return at[0] * index(3);
    });
    const Expr a = v({variable("i")}), b = v({variable("i")});
    CHECK(evaluations == 1);
    CHECK(a == b);
}

TEST_CASE("verify names the stage and the rule") {
    const auto complaint = [](auto&& change) -> std::string {
        Group group = relu_group();
        change(group);
        try {
            verify(group);
        } catch (const Error& e) {
            return e.what();
        }
        return "accepted";
    };
    using Catch::Contains;
    const Expr i = variable("i"), zero = constant(DType::f32, 0);
    CHECK(complaint([](Group&) {}) == "accepted");
    CHECK_THAT(complaint([](Group& g) { g.stages[0].name = "while"; }), Contains("while"));
    CHECK_THAT(complaint([](Group& g) { g.stages[0].name = "x_1"; }), Contains("already used"));
    CHECK_THAT(complaint([](Group& g) { g.stages[0].vars[0].name = "j"; }), Contains("j twice"));
    CHECK_THAT(complaint([](Group& g) { g.stages[0].vars.push_back({"x_1", 2}); }), Contains("loop variable x_1"));
    CHECK_THAT(complaint([](Group& g) { g.stages[0].dtype = DType::f64; }),
               Contains("expected an expression of dtype f64"));
    CHECK_THAT(complaint([&](Group& g) { g.stages[0].value = load("x_1", DType::f32, {i}); }), Contains("2 indices"));
    CHECK_THAT(complaint([&](Group& g) { g.stages[0].value = load("y", DType::f32, {i, i}); }), Contains("load of y"));
    CHECK_THAT(complaint([&](Group& g) {
                   g.stages[0].value = cast(DType::f32, load("x_1", DType::i32, {i, i}));
               }),
               Contains("as i32"));
    CHECK_THAT(complaint([&](Group& g) { g.stages[0].value = load("relu", DType::f32, {i, i}); }), Contains("itself"));
    CHECK_THAT(complaint([](Group& g) { g.outputs = {}; }), Contains("no output"));
    CHECK_THAT(complaint([](Group& g) { g.outputs = {"x_1"}; }), Contains("no stage with this name"));
    CHECK_THAT(complaint([](Group& g) { g.inputs[0].strides = {1}; }), Contains("1 strides"));
    CHECK_THAT(complaint([&](Group& g) {
                   g.stages[0].updates = {{.domain = {{"r", 3}}, .where = {i, variable("r")}, .value = zero}};
               }),
               Contains("accepted"));
    CHECK_THAT(complaint([&](Group& g) {
                   g.stages[0].updates = {{.where = {i, index(0)}, .value = cast(DType::f32, variable("j"))}};
               }),
               Contains("update 0") && Contains("variable j"));
}

TEST_CASE("a directive that is off takes its dependents with it") {
    using Kind = Directive::Kind;
    Schedule schedule = {
        {.kind = Kind::split, .stage = "s", .args = {"i", "io", "ii"}, .factor = 8, .tail = "GuardWithIf"},
        {.kind = Kind::vectorize, .stage = "s", .args = {"ii"}, .requires_ = {0}},
        {.kind = Kind::unroll, .stage = "s", .update = 1, .args = {"r0"}, .factor = 4},
        {.kind = Kind::reorder, .stage = "s", .args = {"ii", "j", "io"}, .requires_ = {1}}};
    CHECK(active(schedule).size() == 4);
    schedule[0].enabled = false;
    REQUIRE(active(schedule).size() == 1);
    CHECK(print(*active(schedule)[0]) == "s.update(1).unroll(r0, 4)");
    CHECK(print(schedule[0]) == "s.split(i, io, ii, 8, GuardWithIf)");
    CHECK(print(schedule[1]) == "s.vectorize(ii)");
}

TEST_CASE("tensors of generated code cannot take the names of what it calls") {
    for (const char* taken : {"view", "while", "half", "INFINITY", "wrap_add", "pipeline", "3d", "_x", "a__b", ""})
        CHECK_FALSE(is_identifier(taken));
    for (const char* fine : {"view_1", "relu", "x0"}) CHECK(is_identifier(fine));
}

#include "graph/schema.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "graph/example.h"

using namespace whittle;
using Catch::Contains;

TEST_CASE("ATen's notation is read") {
    const Schema add = Schema::parse("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor");
    CHECK(add.name == "add.Tensor");
    REQUIRE(add.params.size() == 3);
    CHECK(add.params[0].type == ParamType::tensor);
    CHECK_FALSE(add.params[1].keyword_only);
    CHECK(add.params[2].keyword_only);
    CHECK(*add.params[2].default_value == Arg(1));
    CHECK(add.param("other") == &add.params[1]);
    CHECK(add.param("nobody") == nullptr);

    const Schema inplace = Schema::parse("relu_(Tensor(a!) self) -> Tensor(a!)");
    CHECK(inplace.params[0].mutates);
    CHECK(inplace.params[0].alias == "a");
    CHECK(inplace.returns[0].alias == "a");
    const Schema view = Schema::parse("split(Tensor(a -> *) self, SymInt[] sizes, int dim=0) -> Tensor(a)[]");
    CHECK(view.params[0].alias == "a");
    CHECK_FALSE(view.params[0].mutates);
    CHECK(view.returns[0].list);

    const Schema sort = Schema::parse("sort(Tensor self, int dim=-1) -> (Tensor values, Tensor indices)");
    REQUIRE(sort.returns.size() == 2);
    CHECK(sort.returns[1].name == "indices");
    CHECK(Schema::parse("noop() -> ()").returns.empty());
}

TEST_CASE("every type of the notation has its parameter type") {
    const auto [text, type, optional, length] = GENERATE(table<std::string, ParamType, bool, int>({
        {"Tensor", ParamType::tensor, false, 0},
        {"Tensor?", ParamType::tensor, true, 0},
        {"Tensor[]", ParamType::tensor_list, false, 0},
        {"Tensor?[]", ParamType::tensor_list, true, 0},
        {"int", ParamType::integer, false, 0},
        {"SymInt?", ParamType::integer, true, 0},
        {"int[]", ParamType::int_list, false, 0},
        {"SymInt[2]", ParamType::int_list, false, 2},
        {"int[1]?", ParamType::int_list, true, 1},
        {"float", ParamType::number, false, 0},
        {"float[]?", ParamType::float_list, true, 0},
        {"bool", ParamType::boolean, false, 0},
        {"bool[3]", ParamType::bool_list, false, 3},
        {"Scalar?", ParamType::scalar, true, 0},
        {"str", ParamType::text, false, 0},
        {"str[]", ParamType::text_list, false, 0},
        {"ScalarType?", ParamType::dtype, true, 0},
        {"MemoryFormat?", ParamType::text, true, 0},
        {"Graph", ParamType::graph, false, 0},
    }));
    const Schema schema = Schema::parse("op(" + text + " x) -> Tensor");
    CHECK(schema.params[0].type == type);
    CHECK(schema.params[0].optional == optional);
    CHECK(schema.params[0].length == length);
}

TEST_CASE("defaults have the parameter's type") {
    const auto [text, value] = GENERATE(table<std::string, Arg>({
        {"Tensor? x=None", Arg()},
        {"bool x=True", true},
        {"bool x=False", false},
        {"int x=-1", -1},
        {"int x=Mean", 1},
        {"float x=1e-05", 1e-05},
        {"float x=2", 2.0},
        {"float x=-inf", -std::numeric_limits<double>::infinity()},
        {"Scalar x=1", 1},
        {"Scalar x=0.5", 0.5},
        {"int[] x=[]", ArgList{}},
        {"int[2] x=[0, 1]", ArgList{0, 1}},
        {"int[2] x=1", ArgList{1, 1}},
        {"float[] x=[1, 0.5]", ArgList{1.0, 0.5}},
        {"bool[3] x=[True,True,False]", ArgList{true, true, false}},
        {"str x='mean'", "mean"},
        {"str x=\"a b\"", "a b"},
        {"str[] x=['a','b']", ArgList{"a", "b"}},
        {"MemoryFormat x=contiguous_format", "contiguous_format"},
        {"ScalarType x=long", DType::i64},
        {"ScalarType x=float", DType::f32},
        {"ScalarType x=bf16", DType::bf16},
    }));
    const Schema schema = Schema::parse("op(" + text + ") -> Tensor");
    INFO(text);
    REQUIRE(schema.params[0].default_value);
    CHECK(*schema.params[0].default_value == value);
}

TEST_CASE("malformed schemas are refused with a column") {
    const auto [text, message] = GENERATE(table<std::string, std::string>({
        {"", "column 1: found the end, expected the op's name"},
        {"op", "column 3: found the end, expected '('"},
        {"op(Tensor)", "expected the parameter's name"},
        {"op(Tenso x) -> Tensor", "column 4: found 'Tenso x) ->"},
        {"op(Tensor x", "expected ')'"},
        {"op(Tensor x) Tensor", "expected '->'"},
        {"op(Tensor x) -> int", "column 17: found 'int', expected Tensor"},
        {"op(Tensor x) -> Tensor junk, more", "expected the end"},
        {"op(Tensor x, Tensor x) -> Tensor", "expected a name other than 'x'"},
        {"op(int x=y) -> Tensor", "expected a default value of the parameter's type"},
        {"op(int[] x=1) -> Tensor", "expected a list"},
        {"op(int[0] x) -> Tensor", "a length from 1 to 64"},
        {"op(str x='y) -> Tensor", "expected a closing quote"},
        {"op(ScalarType[] x) -> Tensor", "a type that can be in a list"},
    }));
    CHECK_THAT(thrown<Error>([text = text] { Schema::parse(text); }), Contains(message));
}

namespace {
const char* const kConv =
    "conv(Tensor input, Tensor? bias, int[2] stride=1, float eps=1e-05, Scalar s=1, *, str mode='x', Tensor?[] more=[])"
    " -> Tensor";

ArgList bind(ArgList args, std::vector<std::pair<std::string, Arg>> kwargs = {}) {
    return bind_arguments(Schema::parse(kConv),
                          {.name = "c", .target = "aten.conv", .args = std::move(args), .kwargs = std::move(kwargs)});
}
}  // namespace

TEST_CASE("arguments are bound in the schema's order with defaults") {
    CHECK(bind({NodeRef{0}, Arg()}) == ArgList{NodeRef{0}, Arg(), ArgList{1, 1}, 1e-05, 1, "x", ArgList{}});
    CHECK(bind({NodeRef{0}}, {{"stride", 3}, {"bias", NodeRef{1}}, {"mode", "y"}}) ==
          ArgList{NodeRef{0}, NodeRef{1}, ArgList{3, 3}, 1e-05, 1, "y", ArgList{}});
    CHECK(bind({2.5, Arg(), ArgList{1, 2}, 1, true}) == ArgList{2.5, Arg(), ArgList{1, 2}, 1.0, true, "x", ArgList{}});
    CHECK(bind({1, Arg()}, {{"more", ArgList{NodeRef{0}, Arg()}}}).back() == Arg(ArgList{NodeRef{0}, Arg()}));
}

TEST_CASE("arguments that do not fit are named") {
    const auto message = [](ArgList args, std::vector<std::pair<std::string, Arg>> kwargs = {}) {
        return thrown<Error>([&] { bind(std::move(args), std::move(kwargs)); });
    };
    CHECK_THAT(message({NodeRef{0}}), Contains("%c: aten.conv: parameter bias: found nothing, expected Tensor?"));
    CHECK_THAT(message({"text", Arg()}), Contains("parameter input: found str, expected Tensor"));
    CHECK_THAT(message({Arg(), Arg()}), Contains("parameter input: found None, expected Tensor"));
    CHECK_THAT(message({NodeRef{0}, Arg(), ArgList{1.5}}), Contains("stride: found list of float, expected int[2]"));
    CHECK_THAT(message({NodeRef{0}, Arg(), true}), Contains("stride: found bool, expected int[2]"));
    CHECK_THAT(message({NodeRef{0}, Arg(), 1, 1.0, 1, "mode"}), Contains("found 6 positional arguments"));
    CHECK_THAT(message({NodeRef{0}, Arg()}, {{"nobody", 1}}), Contains("found the unknown argument nobody"));
    CHECK_THAT(message({NodeRef{0}, Arg()}, {{"bias", Arg()}}), Contains("found the argument bias twice"));
    CHECK_THAT(message({NodeRef{0}, Arg()}, {{"more", ArgList{1}}}),
               Contains("more: found list of int, expected Tensor?[]"));
    CHECK_THAT(message({}),
               Contains("conv(Tensor input, Tensor? bias, int[2] stride, float eps, Scalar s, *, str mode"));
}

TEST_CASE("columns of parameters and results are counted from 1") {
    const SchemaColumns columns =
        SchemaColumns::of("my::op.two( Tensor(a!) x, *,  float? eps=1e-5) -> (Tensor y, Tensor)");
    CHECK(columns.params == std::vector<std::size_t>{13, 31});
    CHECK(columns.returns == std::vector<std::size_t>{52, 62});
    CHECK(SchemaColumns::of("f() -> ()").params.empty());
    CHECK_THROWS_WITH(SchemaColumns::of("f(Tensor) -> Tensor"), Contains("column 9"));
}

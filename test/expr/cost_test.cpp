#include "expr/cost.h"

#include <catch2/catch.hpp>

using namespace whittle;
using namespace whittle::expr;

TEST_CASE("a product of matrices costs two operations for each of its terms", "[cost]") {
    // c[i, j] = sum over k of a[i, k] * b[k, j], of 3 by 5 by 7, and b is one row that is repeated.
    Group group{.name = "matmul"};
    group.inputs = {{.name = "a", .dtype = DType::f32, .sizes = {3, 5}, .strides = {5, 1}},
                    {.name = "b", .dtype = DType::f32, .sizes = {5, 7}, .strides = {0, 1}}};
    Stage c{.name = "c", .dtype = DType::f32, .vars = {{"i", 3}, {"j", 7}}, .value = constant(DType::f32, Scalar(0.0))};
    const Expr i = variable("i"), j = variable("j"), k = variable("k");
    const Expr term = load("a", DType::f32, {i, k}) * load("b", DType::f32, {k, j});
    c.updates = {{.domain = {{"k", 5}}, .where = {i, j}, .value = load("c", DType::f32, {i, j}) + term}};
    group.stages = {c};
    group.outputs = {"c"};
    verify(group);
    const Cost found = cost(group);
    CHECK(found.flops == 2 * 3 * 5 * 7);
    CHECK(found.bytes == 4 * (3 * 5 + 7 + 3 * 7));
}

TEST_CASE("indices, comparisons and moves are no arithmetic", "[cost]") {
    Group group{.name = "relu"};
    group.inputs = {{.name = "x", .dtype = DType::f32, .sizes = {8}, .strides = {1}}};
    const Expr i = variable("i"), x = load("x", DType::f32, {index(7) - i}), zero = constant(DType::f32, Scalar(0.0));
    group.stages = {{.name = "y", .dtype = DType::f32, .vars = {{"i", 8}}, .value = select(x < zero, zero, x)}};
    group.outputs = {"y"};
    verify(group);
    CHECK(cost(group).flops == 0);
    CHECK(cost(group).bytes == 64);
}

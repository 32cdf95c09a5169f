// The rules of the schedule: what they make of a group computes what the group does, as any subset of its directives.
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "backends/rule_groups.h"

namespace whittle::halide::rule_groups {
namespace {

struct Shape {
    std::string name;
    std::function<Value(GroupBuilder&)> make;
};

const std::vector<Shape>& shapes() {
    static const std::vector<Shape> list = {
        {"product", [](GroupBuilder& b) { return product(b, 0, 37, 29, 71); }},
        {"product of whole tiles", [](GroupBuilder& b) { return product(b, 0, 48, 32, 64); }},
        {"product with relu", [](GroupBuilder& b) { return relu(product(b, 0, 37, 31, 67)); }},
        {"product, second transposed", [](GroupBuilder& b) { return product(b, 0, 35, 29, 70, true); }},
        {"product of a row", [](GroupBuilder& b) { return product(b, 0, 1, 211, 307); }},
        {"product of a row, transposed", [](GroupBuilder& b) { return relu(product(b, 0, 1, 211, 307, true)); }},
        {"products", [](GroupBuilder& b) { return product(b, 3, 19, 31, 33); }},
        {"narrow product", [](GroupBuilder& b) { return product(b, 0, 257, 33, 5); }},
        {"convolution", [](GroupBuilder& b) { return relu(convolution(b, 5, 18, 13, 3, 1)); }},
        {"convolution, every second", [](GroupBuilder& b) { return convolution(b, 3, 32, 19, 3, 2); }},
        {"convolution, 17 columns", [](GroupBuilder& b) { return convolution(b, 3, 16, 19, 3, 1); }},
        {"convolution of points", [](GroupBuilder& b) { return relu(convolution(b, 16, 24, 9, 1, 1)); }},
        {"convolution of points, along its columns",
         [](GroupBuilder& b) { return relu(convolution(b, 7, 12, 47, 1, 1)); }},
        {"convolution of points, along vectors that overlap",
         [](GroupBuilder& b) { return relu(convolution(b, 8, 48, 12, 1, 1)); }},
        {"convolution of points, 3 columns", [](GroupBuilder& b) { return relu(convolution(b, 80, 64, 3, 1, 1)); }},
        {"small product of a row, transposed", [](GroupBuilder& b) { return relu(product(b, 0, 1, 67, 129, true)); }},
        {"long sums in blocks", [](GroupBuilder& b) { return relu(convolution(b, 512, 16, 5, 3, 1, true)); }},
        {"convolution in groups",
         [](GroupBuilder& b) {
             return relu(convolution(b, {3, 6, 8, 11, 13}));
         }},
        {"convolution in groups, every second",
         [](GroupBuilder& b) {
             return convolution(b, {2, 5, 16, 9, 10, 3, 2});
         }},
        {"convolution in groups, lanes past the end",
         [](GroupBuilder& b) {
             return relu(convolution(b, {3, 4, 24, 7, 19}));
         }},
        {"convolution in groups, 5 lanes",
         [](GroupBuilder& b) {
             return convolution(b, {7, 7, 5, 12, 17});
         }},
        {"convolution in groups of many channels",
         [](GroupBuilder& b) {
             return relu(convolution(b, {2, 6, 67, 5, 14}));
         }},
        {"convolution of points in groups",
         [](GroupBuilder& b) {
             return relu(convolution(b, {4, 40, 12, 9, 9, 1}));
         }},
        {"convolution in groups, long sums in blocks",
         [](GroupBuilder& b) {
             return relu(convolution(b, {2, 512, 8, 2, 4, 3, 1, true}));
         }},
        {"depthwise convolution",
         [](GroupBuilder& b) {
             const Value x = input(b, "x", {2, 17, 19, 37}), w = input(b, "w", {17, 3, 3});
             return relu(b.reduce(
                 DType::f32, {2, 17, 9, 18}, {3, 3}, [](const Index&) { return zero(); },
                 [=](const Index& i, const Index& r, const Expr& self) {
                     const Expr two = expr::index(2);
                     return self + x({i[0], i[1], i[2] * two + r[0], i[3] * two + r[1]}) * w({i[1], r[0], r[1]});
                 },
                 "sums"));
         }},
        {"depthwise convolution of a padded image, few columns",
         [](GroupBuilder& b) {
             const Value x = padded(b, input(b, "x", {2, 140, 6, 6})), w = input(b, "w", {140, 3, 3});
             return relu(b.reduce(
                 DType::f32, {2, 140, 6, 6}, {3, 3}, [](const Index&) { return zero(); },
                 [=](const Index& i, const Index& r, const Expr& self) {
                     return self + x({i[0], i[1], i[2] + r[0], i[3] + r[1]}) * w({i[1], r[0], r[1]});
                 },
                 "sums"));
         }},
        {"depthwise convolution of many terms",
         [](GroupBuilder& b) {
             return relu(depthwise(b, input(b, "x", {2, 17, 25, 37}), 7));
         }},
        {"depthwise convolution of many terms, few columns",
         [](GroupBuilder& b) {
             return depthwise(b, input(b, "x", {1, 40, 13, 13}), 7);
         }},
        {"depthwise convolution of many terms, every second, of an image with a border",
         [](GroupBuilder& b) {
             return relu(depthwise(b, padded(b, input(b, "x", {2, 9, 20, 41})), 7, 2));
         }},
        {"convolution of many terms along rows alone",
         [](GroupBuilder& b) {
             const Value x = input(b, "x", {3, 11, 70}), w = input(b, "w", {11, 41});
             return b.reduce(
                 DType::f32, {3, 11, 30}, {41}, [](const Index&) { return zero(); },
                 [=](const Index& i, const Index& r, const Expr& self) {
                     return self + x({i[0], i[1], i[2] + r[0]}) * w({i[1], r[0]});
                 },
                 "sums");
         }},
        {"convolution in groups of too few channels for lanes",
         [](GroupBuilder& b) {
             return convolution(b, {5, 8, 2, 9, 21});
         }},
        {"convolution of an image that is stored, rows shared",
         [](GroupBuilder& b) {
             return convolution(b, stored(b, input(b, "x", {1, 48, 40, 40})), 40, 3, 1);
         }},
        {"maxima of windows in a padded image",
         [](GroupBuilder& b) {
             return window_maximum(b, padded(b, input(b, "x", {2, 11, 37, 32})), 19, 16);
         }},
        {"column sums",
         [](GroupBuilder& b) {
             const Value x = input(b, "x", {131, 307});
             return b.reduce(
                 DType::f32, {307}, {131}, [](const Index&) { return zero(); },
                 [x](const Index& i, const Index& r, const Expr& self) {
                     return self + x({r[0], i[0]});
                 },
                 "sum");
         }},
        {"row sums",
         [](GroupBuilder& b) {
             return row_sum(b, input(b, "x", {47, 307}));
         }},
        {"sums of images",
         [](GroupBuilder& b) {
             return image_sum(b, input(b, "x", {3, 17, 28, 28}));
         }},
        {"sums of small images",
         [](GroupBuilder& b) {
             return image_sum(b, input(b, "x", {3, 67, 7, 7}));
         }},
        {"sums of images in f64",
         [](GroupBuilder& b) {
             return image_sum(b, input(b, "x", {2, 31, 13, 19}), DType::f64);
         }},
        {"sums of short rows",
         [](GroupBuilder& b) {
             return row_sum(b, input(b, "x", {2, 177, 49}));
         }},
        {"row sums in f64",
         [](GroupBuilder& b) {
             return row_sum(b, input(b, "x", {3, 4099}), DType::f64);
         }},
        {"row maxima",
         [](GroupBuilder& b) {
             return row_maximum(b, input(b, "x", {3, 17, 211}));
         }},
        {"softmax",
         [](GroupBuilder& b) {
             return softmax(b, {5, 17, 131});
         }},
        {"product of few rows with what lies along the sum",
         [](GroupBuilder& b) { return product_along(b, 3, 131, 67); }},
        {"transpose",
         [](GroupBuilder& b) {
             const Value x = input(b, "x", {3, 131, 137});
             return Value(DType::f32, {3, 137, 131}, [x](const Index& i) { return x({i[0], i[2], i[1]}); });
         }},
        {"softmax of one row",
         [](GroupBuilder& b) {
             return softmax(b, {1, 9001});
         }},
    };
    return list;
}

Group group_of(const Shape& shape) {
    GroupBuilder builder("group");
    builder.output(shape.make(builder), "result");
    return builder.finish();
}

}  // namespace

TEST_CASE("what the rules make of a group computes the same") {
    for (const Shape& shape : shapes())
        for (const Machine& machine : kMachines) {
            const Group plain = group_of(shape);
            Group group = plain;
            const Schedule schedule = halide::schedule(group, machine);
            INFO(shape.name << ", vectors of " << machine.vector_bytes << " bytes\n" << print(group));
            // A rule had to do with it.
            CHECK((group.stages.size() > plain.stages.size() ||
                   std::ranges::count(schedule, Directive::Kind::reorder, &Directive::kind) > 0 ||
                   std::ranges::count(schedule, Directive::Kind::compute_at, &Directive::kind) > 0));
            expr::verify(group);
            const bool special = true;
            const std::vector<Tensor> inputs = inputs_of(plain, special), expected = interpret(plain, inputs);
            CHECK(differing_beyond_order(interpret(group, inputs).at(0), expected.at(0)) == "");
            check_kernel(group, schedule, inputs, expected);
        }
}

TEST_CASE("each directive of the rules can be switched off alone") {
    for (const Shape& shape : shapes()) {
        if (shape.name != "product with relu" && shape.name != "convolution" && shape.name != "softmax" &&
            shape.name != "convolution in groups" && shape.name != "depthwise convolution of many terms")
            continue;
        const Group plain = group_of(shape);
        const std::vector<Tensor> inputs = inputs_of(plain, false), expected = interpret(plain, inputs);
        Group group = plain;
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        for (std::size_t i = 0; i < schedule.size(); i++) {
            Schedule without = schedule;
            without[i].enabled = false;
            INFO(shape.name << " without " << print(schedule[i]));
            // A stage with updates, or that is read in vectors, has to be stored somewhere.
            if (schedule[i].kind == Directive::Kind::compute_at || schedule[i].kind == Directive::Kind::compute_root)
                continue;
            check_kernel(group, without, inputs, expected);
        }
    }
}

TEST_CASE("windows are written out, and what only they read is computed as they go") {
    for (const Shape& shape : shapes()) {
        if (shape.name.find("padded image") == std::string::npos) continue;
        INFO(shape.name);
        Group group = group_of(shape);
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        for (const expr::Stage& stage : group.stages) CHECK(stage.updates.empty() == (stage.name != "padded"));
        CHECK(group.stage("padded")->value->op == expr::Op::constant);  // the border, over which the image is copied
        const auto placed = std::ranges::find_if(schedule, [](const Directive& directive) {
            return directive.kind == Directive::Kind::compute_at && directive.stage == "padded";
        });
        REQUIRE(placed != schedule.end());
        CHECK(placed->args == std::vector<std::string>{"j"});  // of a channel
    }
}

}  // namespace whittle::halide::rule_groups

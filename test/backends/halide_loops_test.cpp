// The loops that the rules of the schedule make are the ones that they are for.
#include "backends/rule_groups.h"
#include "expr/hoist.h"

namespace whittle::halide::rule_groups {

TEST_CASE("what depends on constants alone is a kernel of its own") {
    GroupBuilder builder("group");
    Group group = [&] {
        const Value a = input(builder, "a", {37, 29}), b = input(builder, "b", {71, 29});
        builder.set_constant(b);
        builder.output(builder.reduce(
                           DType::f32, {37, 71}, {29}, [](const Index&) { return zero(); },
                           [=](const Index& i, const Index& r, const Expr& self) {
                               return self + a({i[0], r[0]}) * b({i[1], r[0]});
                           },
                           "product"),
                       "result");
        return builder.finish();
    }();
    const std::vector<Tensor> inputs = inputs_of(group, false), expected = interpret(group, inputs);
    const Schedule schedule = halide::schedule(group, kMachines[0]);
    const auto hoisted = expr::hoist(group, schedule);
    REQUIRE(hoisted);
    REQUIRE(hoisted->once.inputs.size() == 1);
    CHECK(hoisted->once.inputs[0].name == "b");
    CHECK(hoisted->rest.input("b") == nullptr);
    expr::verify(hoisted->once);
    expr::verify(hoisted->rest);
    const std::vector<Tensor> packed = interpret(hoisted->once, std::vector<Tensor>{inputs[1]});
    check_kernel(hoisted->rest, hoisted->rest_schedule, {inputs[0], packed.at(0)}, expected);
    check_kernel(hoisted->once, hoisted->once_schedule, {inputs[1]}, packed);
    group.inputs[1].constant = false;
    CHECK(!expr::hoist(group, schedule));
}

TEST_CASE("a convolution of points takes the image's columns as lanes where that takes no longer") {
    const auto packed_lane = [](std::int64_t channels, std::int64_t size) {
        GroupBuilder builder("group");
        builder.output(convolution(builder, channels, 48, size, 1, 1), "result");
        Group group = builder.finish();
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        for (const Directive& directive : schedule)
            if (directive.kind == Directive::Kind::vectorize && directive.stage == "sums_sum")
                return directive.args.at(0).substr(0, 1);
        return std::string();
    };
    CHECK(packed_lane(512, 48) == "l");
    CHECK(packed_lane(512, 24) == "j");  // 8 lanes of 32 would be computed twice
    CHECK(packed_lane(8, 24) == "l");    // but of so short sums the result takes longer to write across
    CHECK(packed_lane(32, 11) == "j");
}

TEST_CASE("rows are folded in vectors where the lanes take less than what waits for each addition") {
    const auto lanes = [](std::int64_t rows, std::int64_t columns, const Machine& machine) {
        GroupBuilder builder("group");
        builder.output(image_sum(builder, input(builder, "x", {16, 128, rows, columns})), "result");
        Group group = builder.finish();
        halide::schedule(group, machine);
        const expr::Stage* stage = group.stage("sum_lanes");
        return stage ? stage->vars.back().extent : 0;
    };
    CHECK(lanes(28, 28, kMachines[0]) == 16);
    CHECK(lanes(28, 28, kMachines[1]) == 24);
    CHECK(lanes(14, 14, kMachines[0]) == 8);
    CHECK(lanes(7, 7, kMachines[0]) == 4);
    CHECK(lanes(1, 49, kMachines[0]) == 48);
    CHECK(lanes(12, 3, kMachines[0]) == 0);
    CHECK(lanes(1, 36, kMachines[1]) == 32);
    CHECK(lanes(4, 9, kMachines[0]) == 8);
}

namespace {

/// As a transposed convolution multiplies: [tap, channel, rows, columns] of an image and a weight by taps.
Value columns(GroupBuilder& builder, std::int64_t channels, std::int64_t width) {
    const Value x = input(builder, "x", {channels, 5, width}), w = input(builder, "w", {2, channels, 48});
    return builder.reduce(
        DType::f32, {2, 48, 5, width}, {channels}, [](const Index&) { return zero(); },
        [=](const Index& i, const Index& r, const Expr& self) {
            return self + x({r[0], i[2], i[3]}) * w({i[0], r[0], i[1]});
        },
        "columns");
}

}  // namespace

TEST_CASE("columns that are fewer than a vector's lanes leave the lanes to channels where that takes no longer") {
    const auto lane = [](std::int64_t channels, std::int64_t width) {
        GroupBuilder builder("group");
        builder.output(relu(columns(builder, channels, width)), "result");
        const Group plain = builder.finish();
        Group group = plain;
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        const std::vector<Tensor> inputs = inputs_of(plain, true);
        check_kernel(group, schedule, inputs, interpret(plain, inputs));
        for (const Directive& directive : schedule)
            if (directive.kind == Directive::Kind::vectorize && directive.stage == "columns_sum")
                return directive.args.at(0).substr(0, 1);
        return std::string();
    };
    CHECK(lane(96, 4) == "j");
    CHECK(lane(96, 7) == "j");
    CHECK(lane(24, 16) == "l");
    CHECK(lane(8, 7) == "l");  // of so short sums the result takes longer to write across
}

TEST_CASE("threads share an image's rows where the weights are few, and so do the stages around") {
    const auto shared = [](std::int64_t channels, std::int64_t size) {
        GroupBuilder builder("group");
        builder.output(
            convolution(builder, stored(builder, input(builder, "x", {1, channels, size, size})), channels, 3, 1),
            "result");
        Group group = builder.finish();
        std::string loops;
        for (const Directive& directive : halide::schedule(group, kMachines[0]))
            if (directive.kind == Directive::Kind::parallel && directive.stage != "sums_packed")
                loops += directive.stage + " " + directive.args.at(0).substr(0, 1) + "\n";
        return loops;
    };
    CHECK(shared(64, 40) == "result k\nimage k\n");
    CHECK(shared(512, 16) == "result j\nimage j\n");
}

TEST_CASE("few rows are no reason to pack what lies along the sum, unless it is constant") {
    const auto is_packed = [](std::int64_t rows, bool constant) {
        GroupBuilder builder("group");
        builder.output(product_along(builder, rows, 128, 256), "result");
        Group group = builder.finish();
        group.inputs[1].constant = constant;
        halide::schedule(group, kMachines[0]);
        return group.stage("product_packed") != nullptr;
    };
    CHECK_FALSE(is_packed(1, false));
    CHECK(is_packed(1, true));
    CHECK(is_packed(64, false));
}

TEST_CASE("a panel that the first cache has no room for is read for four rows or more at a time") {
    const auto rows = [](std::int64_t steps) {
        GroupBuilder builder("group");
        builder.output(product(builder, 0, 512, steps, 512), "result");
        Group group = builder.finish();
        for (const Directive& directive : halide::schedule(group, kMachines[1]))
            if (directive.kind == Directive::Kind::split && directive.args.at(0) == "i") return directive.factor;
        return std::int64_t{0};
    };
    CHECK(rows(128) == 3);  // beside four vectors, which fit
    CHECK(rows(512) >= 4);
}

TEST_CASE("a product's loops: panels of packed columns, tiles in registers") {
    GroupBuilder builder("group");
    builder.output(product(builder, 0, 96, 32, 128), "result");
    Group group = builder.finish();
    std::string text;
    for (const Directive& directive : halide::schedule(group, kMachines[0]))
        if (directive.update < 0) text += print(directive) + "\n";
    CHECK(text ==
          "product.split(j, j_o, j_i, 64, ShiftInwards)\n"
          "product.split(i, i_o, i_i, 6, ShiftInwards)\n"
          "product.reorder(j_i, i_i, i_o, j_o)\n"
          "product.vectorize(j_i, 16, ShiftInwards)\n"
          "product.unroll(j_i)\n"
          "product.unroll(i_i)\n"
          "product_sum.compute_at(product, i_o)\n"
          "product_sum.split(j, j_o, j_i, 64, RoundUp)\n"
          "product_sum.split(i, i_o, i_i, 6, RoundUp)\n"
          "product_sum.reorder(j_i, i_i, i_o, j_o)\n"
          "product_sum.vectorize(j_i, 16, GuardWithIf)\n"
          "product_sum.unroll(j_i)\n"
          "product_sum.unroll(i_i)\n"
          "product_packed.compute_at(product, j_o)\n"
          "product_packed.vectorize(j, 16, RoundUp)\n");
}

}  // namespace whittle::halide::rule_groups

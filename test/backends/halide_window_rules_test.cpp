// The loops of windows of many terms, of convolutions in groups, and of columns that are interleaved.
#include <algorithm>

#include "backends/rule_groups.h"

namespace whittle::halide::rule_groups {

TEST_CASE("windows of many terms, of random sizes, compute the same by the rules") {
    Random random(51);
    const auto up_to = [&](int most) {
        return 1 + static_cast<std::int64_t>(random.below(static_cast<unsigned>(most)));
    };
    for (int count = 0; count < 6; count++) {
        const std::int64_t kernel = 5 + up_to(3), stride = up_to(3);
        const auto image = [&](std::int64_t size) { return (size - 1) * stride + kernel; };
        const Sizes sizes = {up_to(2), up_to(5), image(up_to(11)), image(3 + up_to(37))};
        GroupBuilder builder("group");
        builder.output(relu(depthwise(builder, input(builder, "x", sizes), kernel, stride)), "result");
        const Group plain = builder.finish();
        const std::vector<Tensor> inputs = inputs_of(plain, true), expected = interpret(plain, inputs);
        for (const Machine& machine : kMachines) {
            Group group = plain;
            const Schedule schedule = halide::schedule(group, machine, RuleUse::always);
            INFO("window " << count << ", vectors of " << machine.vector_bytes << " bytes\n" << print(group));
            CHECK(group.stage("sums_window_sum"));
            expr::verify(group);
            CHECK(differing_beyond_order(interpret(group, inputs).at(0), expected.at(0)) == "");
            check_kernel(group, schedule, inputs, expected);
        }
    }
}

TEST_CASE("a window of many terms keeps a tile in registers, and writes out the rows that the tile shares") {
    GroupBuilder builder("group");
    builder.output(relu(depthwise(builder, padded(builder, input(builder, "x", {1, 40, 32, 32})), 7)), "result");
    Group group = builder.finish();
    const Schedule schedule = halide::schedule(group, kMachines[0]);
    REQUIRE(group.stage("sums_window_sum"));
    const auto directive = [&](const std::string& stage, int update, Directive::Kind kind) {
        std::string text;
        for (const Directive& d : schedule)
            if (d.stage == stage && d.update == update && d.kind == kind) text += print(d) + "\n";
        return text;
    };
    CHECK(directive("sums_window_sum", 0, Directive::Kind::reorder) ==
          "sums_window_sum.update(0).reorder(l_i, k_i, r0, r1, k_o, l_o)\n");
    CHECK(directive("sums_window_sum", 0, Directive::Kind::unroll) ==
          "sums_window_sum.update(0).unroll(k_i)\nsums_window_sum.update(0).unroll(r0)\n");
    CHECK(directive("sums_window_sum", 0, Directive::Kind::contract) == "sums_window_sum.update(0).contract()\n");
    // Of a channel, in the loop of a thread.
    CHECK(directive("padded", -1, Directive::Kind::compute_at) == "padded.compute_at(result, j_c)\n");
}

TEST_CASE("convolutions in groups of random sizes compute the same by the rules") {
    Random random(50);
    const auto up_to = [&](int most) {
        return 1 + static_cast<std::int64_t>(random.below(static_cast<unsigned>(most)));
    };
    for (int count = 0; count < 8; count++) {
        const Grouped c{.groups = 1 + up_to(4),
                        .in = up_to(6),
                        .out = 1 + up_to(35),
                        .rows = up_to(7),
                        .columns = 1 + up_to(20),
                        .kernel = up_to(3),
                        .stride = up_to(2)};
        GroupBuilder builder("group");
        builder.output(relu(convolution(builder, c)), "result");
        const Group plain = builder.finish();
        const std::vector<Tensor> inputs = inputs_of(plain, true), expected = interpret(plain, inputs);
        for (const Machine& machine : kMachines) {
            Group group = plain;
            const Schedule schedule = halide::schedule(group, machine, RuleUse::always);
            INFO("convolution " << count << ", vectors of " << machine.vector_bytes << " bytes\n" << print(group));
            expr::verify(group);
            CHECK(differing_beyond_order(interpret(group, inputs).at(0), expected.at(0)) == "");
            check_kernel(group, schedule, inputs, expected);
        }
    }
}

TEST_CASE("a convolution in groups is a contraction in each, unless a window takes less") {
    const auto has_groups = [](const Grouped& c) {
        GroupBuilder builder("group");
        builder.output(relu(convolution(builder, c)), "result");
        Group group = builder.finish();
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        const bool found = group.stage("sums_group_sum") != nullptr;
        const bool contracts = std::ranges::any_of(schedule, [](const Directive& directive) {
            return directive.kind == Directive::Kind::contract && directive.stage == "sums_group_sum";
        });
        CHECK(contracts == found);
        return found;
    };
    CHECK(has_groups({4, 16, 16, 14, 14}));
    CHECK(has_groups({4, 16, 32, 14, 14}));
    CHECK(has_groups({2, 3, 64, 28, 28}));
    CHECK_FALSE(has_groups({16, 2, 4, 32, 32}));  // 4 lanes, sums of 18 products
    CHECK_FALSE(has_groups({16, 4, 4, 32, 32}));  // of 36
}

TEST_CASE("a convolution in groups computes one group's sums at a time, of one row") {
    GroupBuilder builder("group");
    builder.output(convolution(builder, {4, 8, 24, 14, 14}), "result");
    Group group = builder.finish();
    std::string text;
    for (const Directive& directive : halide::schedule(group, kMachines[0]))
        if (directive.stage == "result" || directive.kind == Directive::Kind::compute_at)
            text += print(directive) + "\n";
    CHECK(text ==
          "result.split(j, j_o, j_i, 24, ShiftInwards)\n"
          "result.reorder(l, j_i, j_o, k, i)\n"
          "result.vectorize(l, 8, ShiftInwards)\n"
          "result.parallel(k)\n"
          "sums_group_sum.compute_at(result, j_o)\n");
}

TEST_CASE("columns that are read at their quotients and remainders are computed apart, and interleaved") {
    const auto check = [](std::int64_t period, std::int64_t before, std::int64_t columns, const std::string& expected) {
        GroupBuilder builder("group");
        const Value parts = input(builder, "x", {period, 3, 24, (before + columns - 1) / period + 1});
        builder.output(relu({DType::f32,
                             {3, 24, columns},
                             [=](const Index& i) {
                                 const Expr at = i[2] + expr::index(before), size = expr::index(period);
                                 return parts({at % size, i[0], i[1], at / size});
                             }}),
                       "result");
        Group group = builder.finish();
        const Schedule schedule = halide::schedule(group, kMachines[0]);
        INFO("period " << period << ", " << before << " before, " << columns << " columns\n" << print(group));
        std::string text;
        for (const Directive& directive : schedule) text += print(directive) + "\n";
        CHECK(text == expected);
        const std::vector<Tensor> inputs = inputs_of(group, true);
        check_kernel(group, schedule, inputs, interpret(group, inputs));
    };
    check(2, 0, 46,
          "result.split(k, k_o, k_i, 2, RoundUp)\n"
          "result.unroll(k_i)\n"
          "result.vectorize(k_o, 8, ShiftInwards)\n");
    check(2, 1, 46,
          "result.split(k, k_o, k_i, 2, RoundUp)\n"
          "result.unroll(k_i)\n"
          "result.vectorize(k_o, 8, ShiftInwards)\n");
    check(3, 2, 15,
          "result.split(k, k_o, k_i, 3, RoundUp)\n"
          "result.unroll(k_i)\n"
          "result.vectorize(k_o, 4, ShiftInwards)\n");
    check(4, 0, 64,
          "result.split(k, k_o, k_i, 4, RoundUp)\n"
          "result.unroll(k_i)\n"
          "result.vectorize(k_o, 8, ShiftInwards)\n");
    check(2, 0, 47, "result.vectorize(k, 8, ShiftInwards)\n");  // not of whole periods
}

}  // namespace whittle::halide::rule_groups

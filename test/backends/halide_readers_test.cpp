// The four readers of a group agree: the interpreter, plain loops, Halide objects and Halide text.
#include <catch2/catch.hpp>

#include "backends/kernel_cases.h"
#include "backends/random_schedule.h"
#include "base/error.h"
#include "expr/builder.h"
#include "expr/interpret.h"
#include "expr/random/random_group.h"

using namespace whittle;
using namespace whittle::halide;
using expr::Expr;
using expr::Group;
using expr::Index;
using expr::Schedule;
using expr::Value;

namespace {

std::vector<KernelCase> random_cases(Random& random, int count) {
    std::vector<KernelCase> cases;
    for (int i = 0; i < count; ++i) {
        KernelCase made{expr::random_group(random, {.depth = 3, .empty = i % 5 == 0}), {}, {}};
        made.schedule = RandomSchedule(made.group, random).make();
        made.inputs = expr::random_inputs(made.group, random);
        cases.push_back(std::move(made));
    }
    return cases;
}

}  // namespace

TEST_CASE("Halide's pipelines agree with the interpreter on random groups under random schedules") {
    for (const int seed : {7, 3001}) {
        Random random(seed);
        check_pipelines(random_cases(random, 40));
    }
}

// Halide 14 takes results that are read back for aligned, and so constant indices with a stride (sound_accesses.h).
TEST_CASE("a kernel reads its results and stages wherever they lie") {
    expr::GroupBuilder builder;
    const Value x = builder.input("x", DType::f32, {21, 4}, {4, 1});
    const Value table = builder.materialize(
        Value(DType::f32, {21, 4}, [&](const Index& i) { return x(i) + expr::constant(DType::f32, Scalar(1.0)); }));
    const std::string stored = builder.output(table);
    const std::string column = builder.output(Value(DType::f32, {19}, [&](const Index& i) {
        return table({i[0] + expr::index(2), expr::index(3)});
    }));
    const Value sum = builder.reduce(
        DType::f32, {4}, {21}, [](const Index&) { return expr::constant(DType::f32, Scalar(0.0)); },
        [&](const Index& i, const Index& r, const Expr& old) {
            return old + x({r[0], i[0]});
        });
    const std::string sums = builder.output(sum);
    const Group group = builder.finish();
    using Kind = expr::Directive::Kind;
    const auto vectorize = [](const std::string& stage, int update, const std::string& loop, std::int64_t factor) {
        return expr::Directive{
            .kind = Kind::vectorize, .stage = stage, .update = update, .args = {loop}, .factor = factor};
    };
    Random random(1);
    const std::string loop = group.stage(column)->vars[0].name, sum_loop = group.stage(sums)->vars[0].name;
    check_pipelines(
        {{group, {vectorize(column, -1, loop, 8), vectorize(sums, 0, sum_loop, 4)}, random_inputs(group, random)}});
}

// Halide 14 takes a choice of integers that lie 2^63 apart for the constant 1 (translate.h, misleads_alignment).
// All that Halide asks of the buffers themselves is left out (known_buffers.h), this is not.
TEST_CASE("what a schedule makes reach out of a buffer is refused") {
    expr::GroupBuilder builder;
    const Value x = builder.input("x", DType::f32, {5}, {1});
    const std::string out = builder.output(Value(DType::f32, {5}, [&](const Index& i) { return x(i); }));
    const Group group = builder.finish();
    expr::Directive vectorize{.kind = expr::Directive::Kind::vectorize,
                              .stage = out,
                              .args = {group.stage(out)->vars[0].name},
                              .factor = 8,
                              .tail = "RoundUp"};
    Random random(1);
    const std::vector<Tensor> inputs = random_inputs(group, random);
    const auto refusal = [&] {
        std::string error;
        if (const auto kernel = compile(group, {vectorize}, error)) run(*kernel, group, inputs, error);
        return error;
    };
    CHECK(refusal().find("is accessed at 7, which is beyond the max (4)") != std::string::npos);
    vectorize.tail = "GuardWithIf";
    CHECK(refusal() == "");
}

TEST_CASE("quotients of a choice of far integers are computed") {
    const auto number = [](std::int64_t value) { return expr::constant(DType::i64, Scalar(value)); };
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min(), far = 6'000'000'000'000'000'000;
    expr::GroupBuilder builder;
    const Value x = builder.input("x", DType::f32, {16}, {1});
    const auto chosen = [&](const Index& i, const Expr& otherwise) {
        return expr::select(x(i) < expr::constant(DType::f32, Scalar(1.0)), expr::cast(DType::i64, x(i)), otherwise);
    };
    builder.output(Value(DType::i64, {16}, [&](const Index& i) { return chosen(i, number(lowest)) % number(3); }));
    builder.output(Value(DType::i64, {16}, [&](const Index& i) { return chosen(i, number(lowest)) / number(3); }));
    builder.output(Value(DType::i64, {16}, [&](const Index& i) {
        const Expr positive = expr::constant(DType::f32, Scalar(0.0)) < x(i);
        return expr::select(positive, number(far), number(-far)) % number(7);
    }));
    const Group group = builder.finish();
    Random random(1);
    const std::vector<KernelCase> cases = {{group, {}, random_inputs(group, random)}};
    check_pipelines(cases);
    check_texts(cases);
}

// Halide 14 merges a cast of a float to an integer with one to the unsigned type of the same width (translate.h).
TEST_CASE("arithmetic that may wrap takes integers made of negative floats") {
    expr::GroupBuilder builder;
    const Value x = builder.input("x", DType::f32, {9}, {1});
    for (const DType dtype : {DType::i32, DType::i64})
        builder.output(Value(dtype, {9}, [&](const Index& i) {
            const Expr chosen = expr::select(expr::unary(expr::Op::abs, x(i)) < expr::constant(DType::f32, Scalar(3e4)),
                                             x(i), expr::constant(DType::f32, Scalar(0.0)));
            const Expr integer = expr::cast(dtype, chosen);
            return integer * integer - integer;
        }));
    // And to wider ones, where there are no bits to mask.
    for (const auto& [narrow, wide] : {std::pair(DType::i32, DType::u64), std::pair(DType::i8, DType::u16),
                                       std::pair(DType::u32, DType::u64), std::pair(DType::i16, DType::i64)})
        builder.output(Value(wide, {9}, [&, narrow = narrow, wide = wide](const Index& i) {
            return expr::cast(wide, expr::cast(narrow, expr::cast(DType::i64, x(i))));
        }));
    const Group group = builder.finish();
    Tensor values(DType::f32, {9});
    for (int i = 0; i < 9; ++i) values.mutable_data<float>()[i] = static_cast<float>(i - 6) * 1.25F;
    const std::vector<KernelCase> cases = {{group, {}, {values}}};
    check_pipelines(cases);
    check_texts(cases);
}

TEST_CASE("the text of Halide's pipelines agrees with the interpreter on random groups") {
    Random random(8);
    const auto cases = random_cases(random, 30);
    check_pipelines(cases);
    check_texts(cases);
}

namespace {

/// Whether the kernel computes what the interpreter does.
bool agrees(const KernelCase& c) {
    std::string error;
    const auto kernel = compile(c.group, c.schedule, error);
    if (!kernel) return false;
    const std::vector<Tensor> got = run(*kernel, c.group, c.inputs, error), expected = interpret(c.group, c.inputs);
    for (std::size_t k = 0; error.empty() && k < expected.size(); ++k)
        if (!expr::difference(got[k], expected[k]).empty()) return false;
    return error.empty();
}

/// Without the directives that it fails without, too.
KernelCase fewest_directives(KernelCase c) {
    for (std::size_t i = c.schedule.size(); i-- > 0;) {
        if (!c.schedule[i].enabled) continue;
        KernelCase without = c;
        without.schedule[i].enabled = false;
        if (!agrees(without)) c = without;
    }
    return c;
}

}  // namespace

// Halide 14 folds min(x, lowest) and then refuses to negate it.
TEST_CASE("the lowest integer is a constant like others") {
    expr::GroupBuilder builder;
    for (const DType dtype : {DType::i32, DType::i64}) {
        const Value x = builder.input(dtype == DType::i32 ? "x" : "y", dtype, {9}, {1});
        const Expr lowest =
            expr::constant(dtype, dtype == DType::i32 ? Scalar(std::int64_t{std::numeric_limits<std::int32_t>::min()})
                                                      : Scalar(std::numeric_limits<std::int64_t>::min()));
        builder.output(
            Value(dtype, {9}, [&](const Index& i) { return expr::unary(expr::Op::abs, min(x(i), lowest)); }));
        builder.output(Value(dtype, {9}, [&](const Index& i) { return min(x(i), lowest); }));
        builder.output(Value(dtype, {9}, [&](const Index& i) { return expr::unary(expr::Op::abs, x(i)); }));
        builder.output(Value(dtype, {9}, [&](const Index& i) { return min(x(i), lowest) * min(x(i), lowest); }));
    }
    const Group group = builder.finish();
    Random random(1);
    const std::vector<KernelCase> cases = {{group, {}, random_inputs(group, random)}};
    check_pipelines(cases);
    check_texts(cases);
}

// Run by hand with --rng-seed: as above, for longer.
TEST_CASE("soak: pipelines", "[.]") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        Random random(seed * 1000 + Catch::rngSeed());
        for (const KernelCase& c : random_cases(random, 20))
            if (!agrees(c)) check_pipelines({fewest_directives(c)});
    }
}

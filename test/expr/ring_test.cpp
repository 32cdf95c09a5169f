// Ring forms: what they keep of a group, and what they find.
#include "expr/ring.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "expr/batch.h"
#include "expr/builder.h"
#include "expr/constants.h"
#include "expr/parts.h"
#include "expr/random/random_group.h"
#include "tensor/compare.h"

using namespace whittle;
using namespace whittle::expr;
using test::f32;

namespace {

RingForm form_of(const Group& group) {
    auto form = ring_form(group);
    if (const auto* why = std::get_if<std::string>(&form)) FAIL(*why);
    return std::get<RingForm>(std::move(form));
}

/// The same group with another value in one of its stages.
Group with_value(Group group, const std::string& stage, const std::function<Expr(const Expr&)>& change) {
    for (Stage& one : group.stages)
        if (one.name == stage) one.value = rewrite(one.value, change);
    return group;
}

/// Each load of `name` from one element further along its last dimension, the last one from the same.
std::function<Expr(const Expr&)> one_further(const std::string& name, std::int64_t extent) {
    return [=](const Expr& e) {
        if (e->op != Op::load || e->name != name) return e;
        std::vector<Expr> indices = e->operands;
        // Not a rotation: a sum of all elements is the same.
        indices.back() = binary(Op::min, indices.back() + index(1), index(extent - 1));
        return load(name, e->dtype, indices);
    };
}

bool same_outputs(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return std::ranges::equal(a, b, [](const Tensor& x, const Tensor& y) { return same_bits(x, y); });
}

}  // namespace

TEST_CASE("a sum is the sum modulo 2^32, in any order", "[ring]") {
    GroupBuilder builder;
    const Value x = builder.input("x", DType::f32, {7}, {1});
    builder.output(builder.reduce(
        DType::f32, {}, {7}, [](const Index&) { return f32(0); },
        [&](const Index&, const Index& r, const Expr& old) { return old + x({r[0]}) * f32(-1); }));
    const Group group = builder.finish();
    const RingForm form = form_of(group);
    CHECK(form.choices.empty());
    const std::vector<Tensor> inputs = ring_inputs(form, group, {{Tensor(DType::f32, {7})}}, 1);
    std::uint32_t sum = 0;
    for (std::size_t i = 7; i-- > 0;) sum -= inputs.at(0).data<std::uint32_t>()[i];
    CHECK(interpret(form.group, inputs).at(0).data<std::uint32_t>()[0] == sum);
}

TEST_CASE("a quotient times the divisor is the dividend again", "[ring]") {
    for (const DType dtype : {DType::f32, DType::f64}) {
        GroupBuilder builder;
        const Value x = builder.input("x", dtype, {50}, {1}), y = builder.input("y", dtype, {50}, {1});
        builder.output(Value(dtype, {50}, [&](const Index& i) { return x(i) / y(i); }));
        const Group group = builder.finish();
        const RingForm form = form_of(group);
        const Tensor any(dtype, {50});
        const std::vector<Tensor> inputs = ring_inputs(form, group, {{any, any}}, 1);
        const auto a = inputs.at(0).values<std::uint64_t>(), b = inputs.at(1).values<std::uint64_t>(),
                   quotients = interpret(form.group, inputs).at(0).values<std::uint64_t>();
        const std::uint64_t mask = dtype == DType::f32 ? 0xffffffffu : ~std::uint64_t{0};
        for (std::size_t i = 0; i < a.size(); ++i) CHECK(((quotients[i] * (b[i] | 1)) & mask) == a[i]);
    }
}

TEST_CASE("comparisons, and integers made of floats, are those of the original", "[ring]") {
    GroupBuilder builder;
    const Value x = builder.input("x", DType::f32, {4}, {1});
    const std::string flag = builder.output(Value(DType::boolean, {4}, [&](const Index& i) { return x(i) < f32(2); }));
    const std::string whole =
        builder.output(Value(DType::i32, {4}, [&](const Index& i) { return cast(DType::i32, x(i)); }));
    const std::string most = builder.output(builder.reduce(
        DType::f32, {}, {4}, [](const Index&) { return f32(-1e30); },
        [&](const Index&, const Index& r, const Expr& old) { return select(old < x({r[0]}), x({r[0]}), old); }));
    const Group group = builder.finish();
    const RingForm form = form_of(group);
    CHECK(form.choices.size() == 3);
    const std::vector<Tensor> given = {Tensor::of({1.f, 3.f, 7.f, 5.f})};
    const std::vector<Tensor> inputs = ring_inputs(form, group, given, 1);
    const std::vector<Tensor> before = interpret(group, given), after = interpret(form.group, inputs);
    CHECK(same_bits(before[0], after[0]));
    CHECK(same_bits(before[1], after[1]));
    CHECK(after[2].data<std::uint32_t>()[0] == inputs[0].data<std::uint32_t>()[2]);  // where the largest is
}

TEST_CASE("every random group has a ring form, with its integers and without floats", "[ring]") {
    Random random(11);
    int outputs = 0;
    for (int i = 0; i < 300; ++i) {
        const Group group = random_group(random, {.empty = i % 5 == 0});
        const std::vector<Tensor> given = random_inputs(group, random);
        INFO(print(group));
        const RingForm form = form_of(group);
        for (const Stage& stage : form.group.stages) {
            CHECK_FALSE(is_floating(stage.dtype));
            visit(stage, [](const Expr& e) { CHECK_FALSE(is_floating(e->dtype)); });
        }
        const std::vector<Tensor> before = interpret(group, given),
                                  after = interpret(form.group, ring_inputs(form, group, given, 1));
        for (std::size_t k = 0; k < before.size(); ++k) {
            if (is_floating(before[k].dtype())) continue;
            CHECK(difference(after[k], before[k]) == "");
            ++outputs;
        }
    }
    CHECK(outputs > 50);
}

TEST_CASE("a wrong index whose effect is below the tolerance is found", "[ring]") {
    GroupBuilder builder;
    const Value large = builder.input("large", DType::f32, {8, 16}, {16, 1}),
                small = builder.input("small", DType::f32, {8, 16}, {16, 1});
    const std::string out =
        builder.output(Value(DType::f32, {8, 16}, [&](const Index& i) { return large(i) + small(i) * f32(1e-7); }));
    const Group group = builder.finish();
    Random random(1);
    const std::vector<Tensor> given = {random_tensor(DType::f32, {8, 16}, random),
                                       random_tensor(DType::f32, {8, 16}, random)};
    const Group wrong = with_value(group, out, one_further("small", 16));
    CHECK_FALSE(compare(interpret(wrong, given).at(0), interpret(group, given).at(0), Accuracy{}));
    const RingForm form = form_of(group);
    const std::vector<Tensor> inputs = ring_inputs(form, group, given, 1);
    CHECK_FALSE(same_outputs(interpret(form_of(wrong).group, inputs), interpret(form.group, inputs)));
}

namespace {

/// Sums over the second dimension of its inputs, of which each counts in every sum, and one below a boundary only.
Group random_sums(Random& random) {
    constexpr std::int64_t kRows = 5, kTerms = 12;
    GroupBuilder builder;
    std::vector<Value> inputs;
    for (const char* name : {"a", "b", "c", "d"})
        inputs.push_back(builder.input(name, DType::f32, {kRows, kTerms}, {kTerms, 1}));
    const Expr boundary = index(1 + random.below(kTerms - 2));
    builder.output(builder.reduce(
        DType::f32, {kRows}, {kTerms}, [](const Index&) { return f32(0); },
        [&](const Index& i, const Index& r, const Expr& old) {
            const Index at = {i[0], r[0]};
            std::vector<Expr> parts = {select(r[0] < boundary, inputs[0](at), inputs[1](at)), inputs[2](at),
                                       inputs[3](at)};
            while (parts.size() > 1) {
                constexpr Op kBinary[] = {Op::add, Op::sub, Op::mul, Op::div, Op::atan2};
                constexpr Op kUnary[] = {Op::exp, Op::tanh, Op::sqrt, Op::floor};
                const Expr b = parts.back();
                parts.pop_back();
                const auto k = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(parts.size())));
                Expr made = binary(kBinary[random.below(std::size(kBinary))], parts[k], b);
                parts[k] = random.below(2) ? made : unary(kUnary[random.below(std::size(kUnary))], made);
            }
            return old + parts[0];
        }));
    return builder.finish();
}

}  // namespace

TEST_CASE("wrong indices, predicates and bounds of random sums are found", "[ring]") {
    Random random(5);
    int injected = 0, found = 0;
    for (int i = 0; i < 200; ++i) {
        const Group group = random_sums(random);
        const RingForm form = form_of(group);
        std::vector<Tensor> given;
        for (const Input& input : group.inputs) given.push_back(random_tensor(DType::f32, input.sizes, random));
        const std::vector<Tensor> inputs = ring_inputs(form, group, given, static_cast<std::uint64_t>(i));
        const std::vector<Tensor> expected = interpret(form.group, inputs);
        const auto inject = [&](const std::function<void(Update&)>& fault) {
            Group wrong = form.group;
            for (Stage& stage : wrong.stages)
                for (Update& update : stage.updates) fault(update);
            ++injected;
            found += !same_outputs(interpret(wrong, inputs), expected);
        };
        for (const char* name : {"a", "b", "c", "d"})
            inject([&](Update& update) { update.value = rewrite(update.value, one_further(name, 12)); });
        inject([](Update& update) {
            update.value = rewrite(update.value, [](const Expr& e) {
                return e->op == Op::lt && e->operands[1]->op == Op::constant ? e->operands[0] <= e->operands[1] : e;
            });
        });
        inject([](Update& update) { update.domain[0].extent -= 1; });
    }
    CHECK(injected == 1200);
    CHECK(found * 100 >= injected * 99);
}

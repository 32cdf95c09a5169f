#include "expr/interpret.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "expr/builder.h"
#include "expr/constants.h"

using namespace whittle;
using namespace whittle::expr;
using test::f32;

namespace {

/// One output stage of `sizes` whose element is `element`, over inputs that look like `inputs`.
template <class Element>
Tensor run(DType dtype, Sizes sizes, std::vector<Tensor> inputs, Element element) {
    GroupBuilder b;
    std::vector<Value> values;
    for (const Tensor& t : inputs) values.push_back(b.input("in", t.dtype(), t.sizes(), t.strides()));
    b.output(Value(dtype, sizes, [&](const Index& at) { return element(values, at); }));
    return interpret(b.finish(), inputs).at(0);
}

template <class T>
std::vector<T> elements(const Tensor& t) {
    const Tensor c = t.contiguous();
    return std::vector<T>(c.data<T>(), c.data<T>() + c.numel());
}

}  // namespace

TEST_CASE("floats are computed in their own precision") {
    const Tensor x = Tensor::of<float>({16777216.f, 1.f});
    const auto sum = [](auto& v, const Index& at) { return v[0](at) + f32(1); };
    CHECK(elements<float>(run(DType::f32, {2}, {x}, sum)) == std::vector<float>{16777216.f, 2.f});
    const auto wide = [](auto& v, const Index& at) { return cast(DType::f64, v[0](at)) + constant(DType::f64, 1); };
    CHECK(elements<double>(run(DType::f64, {2}, {x}, wide)) == std::vector<double>{16777217., 2.});
}

TEST_CASE("integers wrap in their own width and divide as Euclid") {
    const Tensor a = Tensor::of<std::int8_t>({127, -128, -7, 7}), b = Tensor::of<std::int8_t>({1, -1, 2, 0});
    const auto of = [&](Op op) {
        return elements<std::int8_t>(
            run(DType::i8, {4}, {a, b}, [&](auto& v, const Index& at) { return binary(op, v[0](at), v[1](at)); }));
    };
    CHECK(of(Op::add) == std::vector<std::int8_t>{-128, 127, -5, 7});
    CHECK(of(Op::mul) == std::vector<std::int8_t>{127, -128, -14, 0});
    CHECK(of(Op::div) == std::vector<std::int8_t>{127, -128, -4, 0});
    CHECK(of(Op::mod) == std::vector<std::int8_t>{0, 0, 1, 0});
}

TEST_CASE("every operation is computed on all types that it takes") {
    for (std::size_t i = 0; i < std::size(kOps); ++i) {
        const Op op = static_cast<Op>(i);
        const int count = info_of(op).operands;
        for (const DType dtype :
             {DType::f64, DType::f32, DType::i64, DType::i8, DType::u8, DType::u64, DType::boolean}) {
            if (!takes(op, dtype) || (count != 1 && count != 2) || op == Op::cast) continue;
            CAPTURE(name(op), whittle::name(dtype));
            const Tensor one = Tensor::of<double>({1}).to(dtype);
            const DType result = info_of(op).gives == OpInfo::Result::logical ? DType::boolean : dtype;
            const Tensor got = run(result, {1}, std::vector<Tensor>(static_cast<std::size_t>(count), one),
                                   [&](auto& v, const Index& at) {
                                       return count == 1 ? unary(op, v[0](at)) : binary(op, v[0](at), v[1](at));
                                   });
            CHECK(got.dtype() == result);
        }
    }
}

TEST_CASE("half types load, cast and store") {
    const Tensor h = Tensor::of<Half>({Half(1.5f), Half(-0.f), Half(65504.f)});
    const Tensor r = run(DType::bf16, {3}, {h}, [](auto& v, const Index& at) {
        return cast(DType::bf16, cast(DType::f32, v[0](at)) * f32(2));
    });
    CHECK(static_cast<float>(r.data<BFloat16>()[0]) == 3.f);
    CHECK(std::signbit(static_cast<float>(r.data<BFloat16>()[1])));
    CHECK(static_cast<float>(r.data<BFloat16>()[2]) == 131072.f);
}

TEST_CASE("functions follow C99 on NaN and infinities") {
    const float inf = std::numeric_limits<float>::infinity();
    const Tensor x = Tensor::of<float>({inf, -inf, NAN, 2.5f, -0.f});
    const auto of = [&](Op op) {
        return elements<float>(
            run(DType::f32, {5}, {x}, [&](auto& v, const Index& at) { return unary(op, v[0](at)); }));
    };
    CHECK(of(Op::exp)[0] == inf);
    CHECK(of(Op::exp)[1] == 0);
    CHECK(std::isnan(of(Op::exp)[2]));
    CHECK(of(Op::round_even)[3] == 2.f);
    CHECK(std::signbit(of(Op::trunc)[4]));
    const auto nan =
        run(DType::boolean, {5}, {x}, [](auto& v, const Index& at) { return unary(Op::is_nan, v[0](at)); });
    CHECK(elements<bool>(nan)[2]);
    CHECK_FALSE(elements<bool>(nan)[0]);
}

TEST_CASE("inputs may have any strides") {
    const Tensor base = Tensor::of<std::int64_t>({1, 2, 3, 4, 5, 6});
    const auto copy = [](auto& v, const Index& at) { return v[0](at); };
    const auto read = [&](Sizes sizes, Strides strides, std::int64_t offset) {
        return elements<std::int64_t>(run(DType::i64, sizes, {base.as_strided(sizes, strides, offset)}, copy));
    };
    CHECK(read({2, 2}, {1, 3}, 1) == std::vector<std::int64_t>{2, 5, 3, 6});
    CHECK(read({3}, {-2}, 5) == std::vector<std::int64_t>{6, 4, 2});
    CHECK(read({2, 2}, {0, 1}, 0) == std::vector<std::int64_t>{1, 2, 1, 2});
    CHECK(read({}, {}, 3) == std::vector<std::int64_t>{4});
    CHECK(read({0, 3}, {3, 1}, 0).empty());
}

TEST_CASE("reductions, scans and scatters run in the order of their domain") {
    const Tensor x = Tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    const Tensor where = Tensor::of<std::int64_t>({2, 0, 2});
    GroupBuilder b;
    const Value v = b.input("x", DType::f32, {2, 3}, {3, 1});
    const Value w = b.input("where", DType::i64, {3}, {1});
    const Value order = b.reduce(
        DType::f32, {2}, {3}, [](const Index&) { return f32(0); },
        [&](const Index& at, const Index& r, Expr self) {
            return self * f32(10) + v({at[0], r[0]});
        });
    const auto scan = [&](const Index& at, const auto& self) {
        const LoopVar r = b.domain_variable(2);
        const Expr here = variable(r.name) + index(1);
        return std::vector<Update>{
            {.domain = {r}, .where = {at[0], here}, .value = self({at[0], here - index(1)}) + self({at[0], here})}};
    };
    const auto scatter = [&](const Index&, const auto& self) {
        const LoopVar r = b.domain_variable(3);
        const Expr to = cast(DType::i32, w({variable(r.name)}));
        return std::vector<Update>{{.domain = {r},
                                    .where = {to},
                                    .value = self({to}) + v({index(0), variable(r.name)}),
                                    .condition = variable(r.name) < index(2)}};
    };
    b.output(order);
    b.output(b.stage(DType::f32, {2, 3}, v, scan));
    b.output(b.stage(
        DType::f32, {3}, [](const Index&) { return f32(0); }, scatter));
    const Group group = b.finish();
    const std::vector<Tensor> inputs = {x, where};
    const std::vector<Tensor> results = interpret(group, inputs);
    CHECK(elements<float>(results[0]) == std::vector<float>{123, 456});
    CHECK(elements<float>(results[1]) == std::vector<float>{1, 3, 6, 4, 9, 15});
    CHECK(elements<float>(results[2]) == std::vector<float>{2, 0, 1});
}

TEST_CASE("out-of-bounds loads and wrong inputs are errors that say where") {
    using Catch::Contains;
    const Tensor x = Tensor::of<float>({1, 2, 3});
    const auto off_by_one = [](auto& v, const Index& at) { return v[0]({at[0] + index(1)}); };
    CHECK_THROWS_WITH(
        run(DType::f32, {3}, {x}, off_by_one),
        Contains("found index 3 in dimension 0 of in, expected an index from 0 to 2") && Contains("stage t"));
    CHECK(elements<float>(run(DType::f32, {2}, {x}, off_by_one)) == std::vector<float>{2, 3});
    CHECK(run(DType::f32, {0}, {x}, off_by_one).numel() == 0);  // an empty loop loads nothing

    GroupBuilder b;
    b.output(b.input("x", DType::f32, {3}, {1}));
    const Group group = b.finish();
    const std::vector<Tensor> wrong = {Tensor::of<double>({1, 2, 3})};
    CHECK_THROWS_WITH(interpret(group, wrong), Contains("found f64[3] for input x, expected f32[3]"));
    CHECK_THROWS_WITH(interpret(group, {}), Contains("found 0 inputs"));
}

TEST_CASE("a watched value is kept for each point of its loops, before the element is stored") {
    GroupBuilder builder;
    const Value x = builder.input("x", DType::f32, {2, 3}, {3, 1});
    const std::string most = builder.output(builder.reduce(
        DType::f32, {2}, {3}, [](const Index&) { return f32(0); },
        [&](const Index& i, const Index& r, const Expr& old) {
            const Expr next = x({i[0], r[0]});
            return select(old < next, next, old);
        }));
    const Group group = builder.finish();
    const Stage& stage = *group.stage(most);
    const Update& update = stage.updates.at(0);
    const Watched grows{most, 0, update.value->operands.at(0), loops_of(stage, update)};
    const Watched column{most, 0, variable(update.domain.at(0).name), update.domain};
    std::vector<Tensor> kept;
    const std::vector<Tensor> inputs = {Tensor::of(std::vector<float>{1, 3, 2, 5, 4, 6}, {2, 3})};
    interpret(group, inputs, {{grows, column}}, kept);
    REQUIRE(kept.size() == 2);
    CHECK(kept[0].sizes() == Sizes{2, 3});
    CHECK(kept[0].values<bool>() == std::vector<bool>{true, true, false, true, false, true});
    CHECK(elements<std::int32_t>(kept[1]) == std::vector<std::int32_t>{0, 1, 2});
}

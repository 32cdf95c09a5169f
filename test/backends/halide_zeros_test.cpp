// The sign of a zero, and NaN, in sums that the rules of the schedule write out, tile, or cut into lanes and blocks: a
// sum of nothing but -0 is -0 where it starts from -0, and 0 where it starts from 0.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "backends/halide/planned.h"
#include "backends/kernel_runs.h"
#include "expr/builder.h"
#include "expr/interpret.h"

using namespace whittle;
using namespace whittle::halide;
using expr::Directive;
using expr::Expr;
using expr::Group;
using expr::GroupBuilder;
using expr::Index;
using expr::Value;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Expr number(DType dtype, double value) { return expr::constant(dtype, Scalar(value)); }

/// What a sum starts from.
enum class Start { zero, negative_zero, read };

using Input = std::function<Value(const Sizes& sizes, float value)>;
/// A sum in each element; the inputs of its terms have one value for all their elements.
struct SumCase {
    std::string name;
    DType dtype;
    Sizes sizes, domain;
    std::function<std::function<Expr(const Index&, const Index&)>(const Input&)> terms;
};

/// a b with `steps` in each sum, whose products are -0.
SumCase product_sum(std::int64_t steps) {
    return {"product, " + std::to_string(steps) + " steps", DType::f32, {19, 35}, {steps}, [=](const Input& input) {
                const Value a = input({19, steps}, 0), b = input({steps, 35}, -1);
                return [=](const Index& i, const Index& r) { return a({i[0], r[0]}) * b({r[0], i[1]}); };
            }};
}

/// Over 3 x 3 elements of an image.
SumCase depthwise_sum(std::int64_t columns) {
    return {"depthwise convolution, " + std::to_string(columns) + " columns",
            DType::f32,
            {5, 4, columns},
            {3, 3},
            [=](const Input& input) {
                const Value x = input({5, 6, columns + 2}, 0), w = input({5, 3, 3}, -1);
                return [=](const Index& i, const Index& r) {
                    return x({i[0], i[1] + r[0], i[2] + r[1]}) * w({i[0], r[0], r[1]});
                };
            }};
}

/// The same of an image with a border of zeros, which is not stored: 0 where a window lies across it.
Expr bordered(const Value& x, const Index& i, const Index& r) {
    std::vector<Expr> inside, at{i[0]};
    for (const std::size_t d : {std::size_t{1}, std::size_t{2}}) {
        const Expr place = i[d] + r[d - 1] - expr::index(1), last = expr::index(x.sizes()[d] - 1);
        inside.push_back(expr::index(0) <= place && place <= last);
        at.push_back(expr::binary(expr::Op::max, expr::binary(expr::Op::min, place, last), expr::index(0)));
    }
    return expr::select(inside[0] && inside[1], x(at), number(DType::f32, 0));
}

const std::vector<SumCase>& sum_cases() {
    static const std::vector<SumCase> list = {
        product_sum(1),
        product_sum(2),
        product_sum(3),
        product_sum(8),
        product_sum(37),
        depthwise_sum(3),
        depthwise_sum(37),
        {"depthwise convolution, 49 terms",
         DType::f32,
         {5, 4, 19},
         {7, 7},
         [](const Input& input) {
             const Value x = input({5, 10, 25}, 0), w = input({5, 7, 7}, -1);
             return [=](const Index& i, const Index& r) {
                 return x({i[0], i[1] + r[0], i[2] + r[1]}) * w({i[0], r[0], r[1]});
             };
         }},
        {"depthwise convolution, 40 terms down a column",
         DType::f32,
         {5, 6, 19},
         {40, 1},
         [](const Input& input) {
             const Value x = input({5, 45, 19}, 0), w = input({5, 40, 1}, -1);
             return [=](const Index& i, const Index& r) {
                 return x({i[0], i[1] + r[0], i[2] + r[1]}) * w({i[0], r[0], r[1]});
             };
         }},
        {"convolution in groups",
         DType::f32,
         {8, 5, 7},
         {4, 3, 3},
         [](const Input& input) {
             const Value x = input({8, 7, 9}, 0), w = input({8, 4, 3, 3}, -1);
             return [=](const Index& i, const Index& r) {
                 const Expr channel = i[0] / expr::index(4) * expr::index(4) + r[0];
                 return x({channel, i[1] + r[1], i[2] + r[2]}) * w({i[0], r[0], r[1], r[2]});
             };
         }},
        {"sums of windows with a border",
         DType::f32,
         {5, 6, 35},
         {3, 3},
         [](const Input& input) {
             const Value x = input({5, 6, 35}, -0.0F);
             return [=](const Index& i, const Index& r) { return bordered(x, i, r); };
         }},
        {"convolution with a border, by infinity",
         DType::f32,
         {5, 6, 35},
         {3, 3},
         [](const Input& input) {
             const Value x = input({5, 6, 35}, -1), w = input({5, 3, 3}, kInfinity);
             return [=](const Index& i, const Index& r) { return bordered(x, i, r) * w({i[0], r[0], r[1]}); };
         }},
        {"column sums",
         DType::f32,
         {67},
         {31},
         [](const Input& input) {
             const Value x = input({31, 67}, -0.0F);
             return [=](const Index& i, const Index& r) { return x({r[0], i[0]}); };
         }},
        {"row sums",
         DType::f32,
         {13},
         {211},
         [](const Input& input) {
             const Value x = input({13, 211}, -0.0F);
             return [=](const Index& i, const Index& r) { return x({i[0], r[0]}); };
         }},
        {"row sums in f64",
         DType::f64,
         {13},
         {211},
         [](const Input& input) {
             const Value x = input({13, 211}, -0.0F);
             return [=](const Index& i, const Index& r) { return expr::cast(DType::f64, x({i[0], r[0]})); };
         }},
        {"long sums in blocks",
         DType::f64,
         {17, 33},
         {4096},
         [](const Input& input) {
             const Value a = input({17, 4096}, 0), b = input({4096, 33}, -1);
             return [=](const Index& i, const Index& r) {
                 return expr::cast(DType::f64, a({i[0], r[0]})) * expr::cast(DType::f64, b({r[0], i[1]}));
             };
         }},
    };
    return list;
}

struct Made {
    Group group;
    std::vector<Tensor> inputs;
};

Made made(const SumCase& sum, Start start) {
    Made result;
    GroupBuilder builder("group");
    const auto input = [&](const Sizes& sizes, float value) {
        const std::vector<float> values(static_cast<std::size_t>(element_count(sizes)), value);
        result.inputs.push_back(Tensor::of(values, sizes));
        return builder.input("in" + std::to_string(result.inputs.size()), DType::f32, sizes, contiguous_strides(sizes));
    };
    const auto term = sum.terms(input);
    std::function<Expr()> first = [&] { return number(sum.dtype, start == Start::zero ? 0.0 : -0.0); };
    if (start == Start::read)
        first = [&sum, read = input({1}, -0.0F)] { return expr::cast(sum.dtype, read({expr::index(0)})); };
    const Value sums = builder.reduce(
        sum.dtype, sum.sizes, sum.domain, [&](const Index&) { return first(); },
        [&](const Index& i, const Index& r, const Expr& self) { return self + term(i, r); }, "sums");
    // Read in place, as a function behind the sum does.
    builder.output(Value(DType::f32, sums.sizes(),
                         [&](const Index& i) { return expr::cast(DType::f32, sums(i)) * number(DType::f32, 1.5); }),
                   "result");
    result.group = builder.finish();
    return result;
}

/// "" or the first element that is not exactly the same, a NaN being like any other.
std::string differing_at_all(const Tensor& got, const Tensor& expected) {
    const auto a = got.values<float>(), b = expected.values<float>();
    for (std::size_t i = 0; i < a.size(); i++) {
        const bool same =
            std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i] && std::signbit(a[i]) == std::signbit(b[i]);
        if (!same)
            return "element " + std::to_string(i) + ": " + std::to_string(a[i]) + ", not " + std::to_string(b[i]);
    }
    return {};
}

}  // namespace

TEST_CASE("sums by the rules keep the sign of a zero, and NaN", "[halide]") {
    for (const SumCase& sum : sum_cases())
        for (const Start start : {Start::zero, Start::negative_zero, Start::read}) {
            const Made plain = made(sum, start);
            Group group = plain.group;
            const expr::Schedule schedule = halide::schedule(group, RuleUse::always);
            INFO(sum.name << ", start " << static_cast<int>(start) << "\n" << print(group));
            CHECK(print(group) != print(plain.group));  // a rule had to do with it
            const std::vector<Tensor> expected = interpret(plain.group, plain.inputs);
            CHECK(differing_at_all(interpret(group, plain.inputs).at(0), expected.at(0)) == "");
            std::string error;
            const auto kernel = compile(group, schedule, error);
            REQUIRE(error == "");
            const std::vector<Tensor> got = run(*kernel, group, plain.inputs, error);
            REQUIRE(error == "");
            CHECK(differing_at_all(got.at(0), expected.at(0)) == "");
        }
}

TEST_CASE("only sums of products of loads are contracted", "[halide]") {
    std::string contracted;
    for (const SumCase& sum : sum_cases()) {
        Group group = made(sum, Start::zero).group;
        const expr::Schedule schedule = halide::schedule(group, RuleUse::always);
        if (std::ranges::count(schedule, Directive::Kind::contract, &Directive::kind) > 0)
            contracted += sum.name + "\n";
    }
    CHECK(contracted ==
          "product, 2 steps\n"
          "product, 3 steps\n"
          "product, 8 steps\n"
          "product, 37 steps\n"
          "depthwise convolution, 3 columns\n"
          "depthwise convolution, 37 columns\n"
          "depthwise convolution, 49 terms\n"
          "depthwise convolution, 40 terms down a column\n"
          "convolution in groups\n"
          "long sums in blocks\n");
}

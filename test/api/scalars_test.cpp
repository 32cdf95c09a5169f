// .capture_scalar_outputs: numbers that a program takes from tensors, as symbols of the graph.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>

#include "values.h"

using namespace whittle;
using test::values;

namespace {

const CompileOptions kSymbols{.fullgraph = true, .capture_scalar_outputs = true};

/// The function gives the same, whatever the numbers, by one graph.
void check_one_graph(const std::function<Tensor(const Tensor&)>& function, CompileOptions options = kSymbols) {
    const auto compiled = compile(function, std::move(options));
    for (const float number : {3.F, 5.F, -7.F}) {
        const Tensor x = tensor({1.F, number, 2.F});
        const Tensor got = compiled(x), expected = function(x);
        CHECK(got.dtype() == expected.dtype());
        CHECK(values(got) == values(expected));
    }
    CHECK(compiled.stats().graphs == 1);
    CHECK(compiled.stats().breaks == 0);
}

Tensor normalized(const Tensor& x) { return (x + 1) / x.abs().max().item(); }

}  // namespace

TEST_CASE("item() is a symbol that operations read in the graph", "[scalars]") {
    for (const char* backend : {"eager", "aot_eager", "halide"}) {
        INFO(backend);
        CompileOptions options = kSymbols;
        options.backend = backend;
        check_one_graph(normalized, options);
    }
    check_one_graph([](const Tensor& x) { return (x * 2 > x.sum().item()).to(kFloat); });
    check_one_graph([](const Tensor& x) { return x + x.index({1}).item(); });  // a view
    check_one_graph([](const Tensor& x) { return x * x.argmax().item(); });
    check_one_graph([](const Tensor& x) { return x * x.sum(0, true).item(); });
    CHECK_THROWS_AS(compile(normalized, {.fullgraph = true})(ones({3})), GraphBreakError);
    const auto plain = compile(normalized);
    CHECK(values(plain(ones({3}))) == values(normalized(ones({3}))));
    CHECK(plain.stats().breaks == 1);
}

TEST_CASE("a symbol is the number that was there, and no gradient flows through it", "[scalars]") {
    check_one_graph([](const Tensor& x) {
        Tensor y = x + 1;
        const Scalar first = y.index({1}).item();
        y.add_(10);
        y.mul_(first);
        return y * first;
    });
    const auto gradient = [](const auto& function) {
        const Tensor x = tensor({1.F, 4.F, 2.F}).requires_grad_();
        function(x).sum().backward();
        return values(x.grad());
    };
    CHECK(gradient(compile(normalized, kSymbols)) == gradient(normalized));
    CHECK(gradient(normalized) == std::vector<float>(3, 0.25F));
}

TEST_CASE("a symbol that is wanted as a number ends the graph", "[scalars]") {
    const auto told = [](const Tensor& x) {
        const Scalar most = x.max().item();
        const Tensor y = x * most;
        return most.to<float>() > 2 ? y + 1 : y - most;
    };
    const auto compiled = compile(told, {.capture_scalar_outputs = true});
    for (const float number : {1.F, 3.F}) {
        const Tensor x = tensor({number, 0.5F});
        CHECK(values(compiled(x)) == values(told(x)));
    }
    CHECK(compiled.stats().breaks == 2);
    // A number promotes otherwise than a tensor: here the results would be f64.
    const auto promotes = [](const Tensor& x) { return x * x.to(kDouble).mean().item(); };
    const Tensor numbers = tensor({1, 2, 6});
    const auto promoted = compile(promotes, {.capture_scalar_outputs = true});
    CHECK(promoted(numbers).dtype() == promotes(numbers).dtype());
    CHECK(values(promoted(numbers)) == values(promotes(numbers)));
    CHECK(promoted.stats().breaks > 0);
}

TEST_CASE("the break of a symbol names the operation that wants the number", "[scalars]") {
    const auto filled = compile([](const Tensor& x) { return full({2}, x.max().item()) + x; },
                                {.fullgraph = true, .capture_scalar_outputs = true});
    CHECK_THROWS_WITH(filled(ones({2})), Catch::Contains("aten.full.default needs the value of a tensor as a number"));
}

TEST_CASE("a number keeps its precision in an operation of f16", "[scalars]") {
    const auto f = [](const Tensor& x) { return ((x * 0.001).to(kHalf) * (x.max() * 1e5).item()).to(kFloat); };
    const Tensor x = tensor({1.F, 3.F, 2.F});
    const auto compiled = compile(f, {.capture_scalar_outputs = true});
    CHECK(values(compiled(x)) == values(f(x)));
    CHECK(compiled.stats().breaks == 1);
}

TEST_CASE("bodies of control flow have symbols", "[scalars]") {
    check_one_graph([](const Tensor& x) {
        const Scalar outside = x.min().item();
        return cond(
            x.sum() > 0, [&](const Tensor& y) { return y * y.max().item() + outside; },
            [](const Tensor& y) { return y - (y * 2).min().item(); }, x);
    });
    check_one_graph([](const Tensor& x) {
        return map([](const Tensor& row) { return row * (row + 1).item(); }, x.reshape({3, 1}));
    });
}

TEST_CASE("a symbol that a body keeps outside of it is a number there", "[scalars]") {
    const auto f = [](const Tensor& x) {
        Scalar kept = 0;
        const Tensor y = cond(
            x.sum() > 0,
            [&](const Tensor& v) {
                kept = v.max().item();
                return v * kept;
            },
            [&](const Tensor& v) {
                kept = 0;
                return v;
            },
            x);
        return y + kept;
    };
    const auto compiled = compile(f, {.capture_scalar_outputs = true});
    for (const Tensor& x : {tensor({1.F, 2.F}), tensor({-1.F, -2.F})}) CHECK(values(compiled(x)) == values(f(x)));
    CHECK(compiled.stats().breaks == 2);
}

TEST_CASE("what a symbol has to be is checked once its value is there", "[scalars]") {
    const auto sized = compile(
        [](const Tensor& x) {
            const Scalar count = x.sum().to(kLong).item();
            check_is_size(count);
            constrain_range(count, 1, 8);
            return x * count;
        },
        kSymbols);
    CHECK(values(sized(tensor({1.F, 2.F}))) == std::vector<float>{3, 6});
    CHECK_THROWS_WITH(sized(tensor({-1.F, 0.F})), Catch::Contains("a size is at least 0"));
    CHECK_THROWS_WITH(sized(tensor({8.F, 1.F})), Catch::Contains("the number is at most 8"));
    CHECK(sized.stats().graphs == 1);
    constrain_range(tensor({4}).item(), 1, 8);  // at once
    CHECK_THROWS_AS(constrain_range(tensor({9}).item(), 1, 8), CheckError);
    constrain_range(tensor({240}).to(kByte), 0, 1000);  // no bound of the number's own dtype
    CHECK_THROWS_AS(constrain_range(tensor({16777216.F}), 16777217), CheckError);
    CHECK_THROWS_WITH(constrain_range(tensor({8.5F}).item(), 1, 8), Catch::Contains("at most 8: found 8.5"));
}

TEST_CASE("a symbol outlives its graph as an input of the next", "[scalars]") {
    const auto compiled = compile(
        [](const Tensor& x) {
            const Scalar most = x.max().item();
            graph_break();
            return x * most;
        },
        {.capture_scalar_outputs = true});
    for (const float number : {2.F, 3.F, 4.F})
        CHECK(values(compiled(tensor({1.F, number}))) == std::vector<float>{number, number * number});
    CHECK(compiled.stats().graphs == 2);
}

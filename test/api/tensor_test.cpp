// The eager half of the API, as a program uses it.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>
#include <sstream>

#include "values.h"

using namespace whittle;
using test::Floats;
using test::values;

namespace {

Tensor ramp() { return arange(6, kFloat).reshape({2, 3}); }

}  // namespace

TEST_CASE("operations run at once outside of compile()") {
    const Tensor a = tensor({1.F, 2.F, 3.F}), b = a * 2 + 1;
    CHECK(values(b) == Floats{3, 5, 7});
    CHECK(values(1 - a) == Floats{0, -1, -2});
    CHECK(values(6 / a) == Floats{6, 3, 2});
    CHECK(values(-relu(a - 2)) == Floats{-0.F, -0.F, -1});
    CHECK((a.sum() == 6).item<bool>());
    CHECK(bool(a.max() > 2));
    CHECK(a.sum().item<double>() == 6);
    CHECK(values(ramp().sum(1)) == Floats{3, 12});
    CHECK(values(ramp().sum({0}, true)) == Floats{3, 5, 7});
    CHECK(ramp().mean({0, 1}).item<float>() == 2.5F);
    CHECK(std::get<1>(ramp().max(1)).to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 2});
    CHECK(values(matmul(ramp(), ramp().t())) == Floats{5, 14, 14, 50});
}

TEST_CASE("results keep the order of their operands' dimensions, through which views see") {
    const auto twice = [](const Tensor& x) { return x.transpose(0, 1) * 2; };
    const Tensor x = arange(12, kFloat).reshape({3, 2, 2});
    CHECK(values(twice(x).transpose(0, 1).view({6, 2})) == values(x * 2));
    CHECK_THROWS_WITH(twice(x).view({4, 3}), Catch::Contains("use reshape(), which copies"));
    const auto compiled = compile(twice, {.backend = "halide"});  // whose kernels write row by row
    CHECK(values(compiled(x).transpose(0, 1).view({6, 2})) == values(x * 2));
}

TEST_CASE("views alias, and writes in place are seen through them") {
    Tensor a = ramp();
    const Tensor row = a[1], column = a.index({Slice(), 2});
    a.add_(10);
    CHECK(values(row) == Floats{13, 14, 15});
    column.zero_();
    CHECK(values(a) == Floats{10, 11, 0, 13, 14, 0});
    a.t().mul_(2);
    CHECK(values(a) == Floats{20, 22, 0, 26, 28, 0});
    const Tensor copied = a.clone();
    a.fill_(1);
    CHECK(values(copied)[0] == 20);
    a += tensor({1.F, 2.F, 3.F});
    CHECK(values(a) == Floats{2, 3, 4, 2, 3, 4});
    CHECK_THROWS_WITH(row.add_(ramp()), Catch::Contains("to write into a tensor of sizes"));
}

TEST_CASE("indices are Python's") {
    Tensor a = arange(24, kFloat).reshape({2, 3, 4});
    CHECK(values(a.index({1, Slice(1, 3), -1})) == Floats{19, 23});
    CHECK(a.index({kEllipsis, 0}).sizes() == std::vector<std::int64_t>{2, 3});
    CHECK(a.index({None, Slice(), kEllipsis, Slice(std::nullopt, std::nullopt, 2)}).sizes() ==
          std::vector<std::int64_t>{1, 2, 3, 2});
    const Tensor picks = tensor(std::vector<std::int64_t>{2, 0}, {2});
    CHECK(values(a.index({0, picks, 1})) == Floats{9, 1});
    CHECK(values(a.index({a > 21})) == Floats{22, 23});
    a.index_put_({0, 0}, -1);
    CHECK(values(a[0][0]) == Floats{-1, -1, -1, -1});
    a.index_put_({1, picks}, tensor({7.F, 8.F, 9.F, 10.F}));
    CHECK(values(a[1][2]) == Floats{7, 8, 9, 10});
    CHECK_THROWS_WITH(a.index({0, 0, 0, 0}), Catch::Contains("found 4 indices, expected at most 3"));
}

TEST_CASE("metadata needs no values") {
    const Tensor a = zeros({4, 2}, kDouble).t();
    CHECK(a.sizes() == std::vector<std::int64_t>{2, 4});
    CHECK(a.strides() == std::vector<std::int64_t>{1, 2});
    CHECK(a.size(-1) == 4);
    CHECK(a.dtype() == kDouble);
    CHECK_FALSE(a.is_contiguous());
    CHECK_THROWS(a.size(2));
    CHECK_THROWS_WITH(Tensor().sizes(), Catch::Contains("undefined tensor"));
    CHECK_THROWS_WITH(relu(Tensor()), Catch::Contains("undefined tensor"));
}

TEST_CASE("gradient flags follow the operands, unless a guard says no") {
    Tensor w = ones({2});
    w.requires_grad_();
    CHECK((w * 2).requires_grad());
    CHECK_FALSE((w > 0).requires_grad());
    {
        const NoGradGuard no_grad;
        CHECK_FALSE((w * 2).requires_grad());
        w.sub_(1);
    }
    CHECK(grad_enabled());
    CHECK_THROWS_WITH(w.sub_(1), Catch::Contains("NoGradGuard"));
    CHECK_THROWS(arange(3).requires_grad_());
}

TEST_CASE("a seed fixes what is drawn") {
    manual_seed(7);
    const Tensor a = randn({5});
    manual_seed(7);
    CHECK(randn({5}).equal(a));
    CHECK_FALSE(randn({5}).equal(a));
}

TEST_CASE("tensors print like nested lists") {
    std::ostringstream out;
    out << ramp() << " " << tensor({true, false}) << " " << Tensor() << " " << arange(20);
    CHECK(out.str() ==
          "[[0, 1, 2],\n [3, 4, 5]] : f32[2, 3] [true, false] : bool[2] tensor(undefined) [0, 1, 2, ..., 17, 18, 19] : "
          "i64[20]");
}

TEST_CASE("values of other types do not pass as pointers") {
    const Tensor a = ramp();
    a.data_ptr<float>()[0] = 9;
    CHECK(a[0][0].item<int>() == 9);
    CHECK_THROWS_WITH(a.data_ptr<double>(), Catch::Contains("found a tensor of f32, expected a tensor of f64"));
    CHECK_THROWS_WITH(tensor(std::vector<float>{1, 2}, {3}), Catch::Contains("found 2 values"));
}

TEST_CASE("integers that a double does not tell apart are not close") {
    const Tensor odd = tensor({std::int64_t{9007199254740993}}), even = tensor({std::int64_t{9007199254740992}});
    CHECK_FALSE(odd.allclose(even, 0, 0));
    CHECK(odd.allclose(even, 0, 1));
    CHECK_FALSE(odd.equal(even));
    CHECK(odd.allclose(odd, 0, 0));
}

#include "tensor/compare.h"

#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <limits>

using namespace whittle;

namespace {
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
using Kind = Difference::Kind;

std::optional<Difference> compare(const Tensor& got, const Tensor& expected) {
    return whittle::compare(got, expected, default_tolerance(expected.dtype()));
}
}  // namespace

TEST_CASE("equal and close tensors have no difference") {
    CHECK_FALSE(compare(Tensor::of({1.f, kNaN, kInf, -kInf, 0.f}), Tensor::of({1.00005f, kNaN, kInf, -kInf, -0.f})));
    CHECK_FALSE(compare(Tensor(DType::f32, {0}), Tensor(DType::f32, {0})));
    CHECK_FALSE(compare(Tensor::of({INT64_MIN, INT64_MAX}), Tensor::of({INT64_MIN, INT64_MAX})));
}

TEST_CASE("dtype is compared before sizes, sizes before values") {
    CHECK(compare(Tensor::of({1.f}), Tensor::of({1.0, 2.0}))->kind == Kind::dtype);
    const auto sizes = compare(Tensor(DType::f32, {2, 3}), Tensor(DType::f32, {3, 2}));
    REQUIRE(sizes);
    CHECK(sizes->kind == Kind::sizes);
    CHECK(sizes->description == "got sizes [2, 3], expected [3, 2]");
}

TEST_CASE("a tolerance relative to an infinity accepts nothing") {
    for (const float wrong : {0.f, -kInf, kNaN, FLT_MAX}) {
        const auto difference = compare(Tensor::of({wrong}), Tensor::of({kInf}));
        REQUIRE(difference);
        CHECK(difference->kind == Kind::nan_or_inf);
    }
    CHECK(compare(Tensor::of({kNaN}), Tensor::of({0.f}))->kind == Kind::nan_or_inf);
    CHECK(compare(Tensor::of({0.f}), Tensor::of({kNaN}))->kind == Kind::nan_or_inf);
}

TEST_CASE("the description names the first difference, their number and the largest error") {
    const Tensor expected = Tensor::of(std::vector<float>{1, 2, 3, 4}, {2, 2});
    const auto difference = compare(Tensor::of(std::vector<float>{1, 2.5f, 3, 8}, {2, 2}), expected);
    REQUIRE(difference);
    CHECK(difference->kind == Kind::value);
    CHECK(difference->description == "[0, 1]: got 2.5, expected 2; 2 of 4 values differ, largest error 4 at [1, 1]");
    CHECK(difference->differing == 2);
    CHECK(difference->max_abs_error == 4);
    CHECK(difference->max_rel_error == 1);
    CHECK(compare(Tensor::of(std::vector<float>{kNaN, 2, 3, 4}, {2, 2}), expected)->description ==
          "[0, 0]: got nan, expected 1; 1 of 4 values differ");
    CHECK(compare(Tensor::of(Scalar(true), DType::boolean), Tensor::of(Scalar(false), DType::boolean))->description ==
          "[]: got true, expected false; 1 of 1 values differ, largest error 1 at []");
}

TEST_CASE("an infinity that differs is the largest error") {
    const auto of = [](std::vector<double> got, std::vector<double> expected) {
        const auto difference = compare(Tensor::of(got, {3}).to(DType::f16), Tensor::of(expected, {3}).to(DType::f16));
        return difference ? difference->description : "";
    };
    CHECK(of({1, 3, INFINITY}, {1.0009765625, 2, 65504}) ==
          "[1]: got 3, expected 2; 2 of 3 values differ, largest error inf at [2]");
    CHECK(of({0, 3, 65504}, {0, 2, -INFINITY}) ==
          "[1]: got 3, expected 2; 2 of 3 values differ, largest error inf at [2]");
    CHECK(of({INFINITY, 3, NAN}, {INFINITY, 2, INFINITY}) ==
          "[1]: got 3, expected 2; 2 of 3 values differ, largest error 1 at [1]");
    const Tensor got = Tensor::of<Complex64>({{1, kInf}, {2, 0}}), expected = Tensor::of<Complex64>({{1, 1}, {9, 0}});
    CHECK(compare(got, expected)->description ==
          "[0]: got 1+infj, expected 1+1j; 2 of 2 values differ, largest error inf at [0]");
}

TEST_CASE("the largest error is one of those that differ") {
    CHECK(whittle::compare(Tensor::of({1000.5f, 2.f}), Tensor::of({1000.f, 2.25f}), Tolerance{1e-3, 0})->description ==
          "[1]: got 2, expected 2.25; 1 of 2 values differ, largest error 0.25 at [1]");
}

TEST_CASE("integers have all digits") {
    const auto difference = compare(Tensor::of<std::int64_t>({9007199254740993, INT64_MAX}),
                                    Tensor::of<std::int64_t>({9007199254740993, INT64_MIN}));
    CHECK(difference->description ==
          "[1]: got 9223372036854775807, expected -9223372036854775808; 1 of 2 values differ, largest error "
          "18446744073709551615 at [1]");
    CHECK(compare(Tensor::of<std::int64_t>({9007199254740993}), Tensor::of<std::int64_t>({0}))->description ==
          "[0]: got 9007199254740993, expected 0; 1 of 1 values differ, largest error 9007199254740993 at [0]");
}

TEST_CASE("errors of extreme values neither overflow nor vanish") {
    CHECK(compare(Tensor::of({FLT_MAX}), Tensor::of({-FLT_MAX}))->max_abs_error == 2 * double(FLT_MAX));
    CHECK(compare(Tensor::of({INT64_MAX}), Tensor::of({INT64_MIN}))->max_abs_error == 0x1p64);
    // One apart, beyond the precision of double.
    CHECK(compare(Tensor::of({INT64_MAX}), Tensor::of({INT64_MAX - 1}))->differing == 1);
}

TEST_CASE("integers from 2^63 are compared as what they are") {
    const Tensor end = Tensor::of<std::uint64_t>({UINT64_MAX}), before = Tensor::of<std::uint64_t>({UINT64_MAX - 1});
    CHECK_FALSE(compare(end, end, Tolerance{0, 0}).has_value());
    const auto difference = compare(end, before, Tolerance{0, 0});
    REQUIRE(difference);
    CHECK(difference->description ==
          "[0]: got 18446744073709551615, expected 18446744073709551614; 1 of 1 values differ, largest error 1 at [0]");
    CHECK(compare(Tensor::of<std::uint64_t>({0}), end, Tolerance{0, 0})->max_abs_error == 0x1p64);
}

TEST_CASE("integers are measured as what they are") {
    constexpr std::int64_t kOdd = 9007199254740993;  // 2^53 + 1
    const ErrorFigures figures = measure(Tensor::of<std::int64_t>({kOdd, 4}), Tensor::of<std::int64_t>({kOdd - 1, 5}));
    CHECK(figures.max_abs == 1);
    CHECK(figures.max_ulp == 1);
    CHECK(figures.max_rel == Approx(0.2));
    CHECK(figures.rmse == 1);
    CHECK(measure(Tensor::of(Scalar(true), DType::boolean), Tensor::of(Scalar(false), DType::boolean)).max_abs == 1);
    const Tensor top = Tensor::of<std::uint64_t>({~std::uint64_t{0}}), bottom = Tensor::of<std::uint64_t>({1});
    CHECK(measure(top, bottom).max_abs == Approx(18446744073709551614.0));
}

TEST_CASE("positions of elements that are not close") {
    const auto positions = [](const Tensor& got, const Tensor& expected) {
        return differing_elements(got, expected, {.rtol = 0, .atol = 1});
    };
    CHECK(positions(Tensor::of<float>({1, 2.5f, NAN, NAN}), Tensor::of<float>({2, 1, NAN, 0})) ==
          std::vector<std::int64_t>{1, 3});
    CHECK(positions(Tensor::of<std::int64_t>({1, 5}), Tensor::of<std::int64_t>({2, 2})) ==
          std::vector<std::int64_t>{1});
}

TEST_CASE("tolerance grows with the expected value, not with what was got") {
    const Tolerance tolerance{0.1, 0};
    CHECK_FALSE(whittle::compare(Tensor::of({1.09f}), Tensor::of({1.f}), tolerance));
    CHECK(whittle::compare(Tensor::of({1.f}), Tensor::of({0.9f}), tolerance));
    CHECK(whittle::compare(Tensor::of({1.f}), Tensor::of({0.f}), tolerance));
}

TEST_CASE("steps of a dtype's number line") {
    CHECK(ulp_distance(1, std::nextafter(1.f, 2.f), DType::f32) == 1);
    CHECK(ulp_distance(1, std::nextafter(1., 2.), DType::f64) == 1);
    CHECK(ulp_distance(0., -0., DType::f32) == 0);
    CHECK(ulp_distance(-FLT_TRUE_MIN, FLT_TRUE_MIN, DType::f32) == 2);
    CHECK(ulp_distance(1, 1.0009765625, DType::f16) == 1);  // 1 + 2^-10
    CHECK(ulp_distance(1, 1.0078125, DType::bf16) == 1);    // 1 + 2^-7
    CHECK(ulp_distance(-3, 4, DType::i64) == 7);
    CHECK(ulp_distance(-DBL_MAX, DBL_MAX, DType::f64) == 2 * double(0x7fefffffffffffff));
}

TEST_CASE("values within the given number of steps are close") {
    const Tensor expected = Tensor::of({1e6f, kInf}), next = Tensor::of({std::nextafter(1e6f, 2e6f), kInf});
    CHECK(whittle::compare(next, expected, Tolerance{0, 0, 0}));
    CHECK_FALSE(whittle::compare(next, expected, Tolerance{0, 0, 1}));
    // The neighbour of the largest value is an infinity, and an infinity is close only to itself.
    CHECK(whittle::compare(Tensor::of({kInf}), Tensor::of({FLT_MAX}), Tolerance{0, 0, 5}));
    CHECK_FALSE(whittle::compare(Tensor::of({INT64_C(7)}), Tensor::of({INT64_C(6)}), Tolerance{0, 0, 1}));
}

TEST_CASE("strict: the same bits, every NaN being one") {
    const Accuracy strict{.mode = Accuracy::Mode::strict};
    const auto differs = [&](float got, float expected) {
        return whittle::compare(Tensor::of({got}), Tensor::of({expected}), strict).has_value();
    };
    CHECK_FALSE(differs(1, 1));
    CHECK_FALSE(differs(kNaN, -kNaN));
    CHECK(differs(0.f, -0.f));
    CHECK(differs(std::nextafter(1.f, 2.f), 1));
    const Accuracy one{.mode = Accuracy::Mode::strict, .tolerances = {{DType::f32, {1, 1, 1}}}};
    CHECK_FALSE(whittle::compare(Tensor::of({std::nextafter(1.f, 2.f)}), Tensor::of({1.f}), one));
    const auto two =
        whittle::compare(Tensor::of({std::nextafter(std::nextafter(1.f, 2.f), 2.f)}), Tensor::of({1.f}), one);
    REQUIRE(two);
    CHECK(two->description.find("(2 ulp)") != std::string::npos);
}

TEST_CASE("fp64: as near to the truth as the reference is") {
    const Accuracy fp64{.mode = Accuracy::Mode::fp64};
    const Tensor exact = Tensor::of({1.0, 2.0}), reference = Tensor::of({1.1f, 2.f});  // off by 0.1
    const auto judged = [&](float first) {
        return whittle::compare(Tensor::of({first, 2.f}), reference, fp64, [&] { return &exact; });
    };
    CHECK_FALSE(judged(1.f));    // nearer than the reference
    CHECK_FALSE(judged(0.81f));  // less than twice as far
    CHECK(judged(0.79f));        // more than twice
    CHECK(judged(kNaN)->kind == Kind::nan_or_inf);
    CHECK(whittle::compare(Tensor::of({0.9f, 2.f}), reference, fp64));  // nobody knows the truth
    int asked = 0;
    CHECK_FALSE(whittle::compare(reference, reference, fp64, [&] { return asked++, &exact; }));
    CHECK(asked == 0);
}

TEST_CASE("measure() says how far, where NaN and infinities are misplaced, and accepts what a dtype cannot hold") {
    const ErrorFigures figures = measure(Tensor::of({1.f, kNaN, kInf, 3.f}), Tensor::of({1.5, 1.0, 1e300, 3.0}));
    CHECK(figures.max_abs == 0.5);
    CHECK(figures.max_rel == Approx(1 / 3.));
    CHECK(figures.rmse == Approx(0.5 / std::sqrt(2.)));
    CHECK(figures.misplaced == 1);  // the NaN; 1e300 is infinite in f32
    CHECK(figures.nan == 1);
    CHECK(figures.inf == 1);
}

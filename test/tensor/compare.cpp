#include "tensor/compare.h"

#include <catch2/catch.hpp>
#include <cfloat>
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

TEST_CASE("errors of extreme values neither overflow nor vanish") {
    CHECK(compare(Tensor::of({FLT_MAX}), Tensor::of({-FLT_MAX}))->max_abs_error == 2 * double(FLT_MAX));
    CHECK(compare(Tensor::of({INT64_MAX}), Tensor::of({INT64_MIN}))->max_abs_error == 0x1p64);
    // One apart, beyond the precision of double.
    CHECK(compare(Tensor::of({INT64_MAX}), Tensor::of({INT64_MAX - 1}))->differing == 1);
}

TEST_CASE("tolerance grows with the expected value, not with what was got") {
    const Tolerance tolerance{0.1, 0};
    CHECK_FALSE(whittle::compare(Tensor::of({1.09f}), Tensor::of({1.f}), tolerance));
    CHECK(whittle::compare(Tensor::of({1.f}), Tensor::of({0.9f}), tolerance));
    CHECK(whittle::compare(Tensor::of({1.f}), Tensor::of({0.f}), tolerance));
}

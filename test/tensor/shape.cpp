#include "tensor/shape.h"

#include <catch2/catch.hpp>

#include "base/error.h"

using namespace whittle;

namespace {
constexpr std::int64_t kMax = INT64_MAX;
}

TEST_CASE("element_count multiplies, and refuses what does not fit") {
    CHECK(element_count(Sizes{}) == 1);
    CHECK(element_count(Sizes{2, 3, 4}) == 24);
    CHECK(element_count(Sizes{2, 0, 4}) == 0);
    CHECK(element_count(Sizes{kMax}) == kMax);
    CHECK_THROWS_AS(element_count(Sizes{kMax, 2}), Error);
    CHECK_THROWS_AS(element_count(Sizes{std::int64_t(1) << 32, std::int64_t(1) << 32}), Error);
    CHECK_THROWS_AS(element_count(Sizes{0, kMax, kMax}), Error);  // its strides would not fit
    CHECK_THROWS_WITH(element_count(Sizes{2, -1}), Catch::Contains("[2, -1]"));
    CHECK_THROWS_AS(element_count(Sizes{-1, 0}), Error);
}

TEST_CASE("contiguous strides are row-major; size 0 counts as 1") {
    CHECK(contiguous_strides(Sizes{}) == Strides{});
    CHECK(contiguous_strides(Sizes{2, 3, 4}) == Strides{12, 4, 1});
    CHECK(contiguous_strides(Sizes{2, 0, 4}) == Strides{4, 4, 1});
    CHECK_THROWS_AS(contiguous_strides(Sizes{kMax, kMax, 2}), Error);
}

TEST_CASE("contiguity ignores strides that are never stepped over") {
    CHECK(is_contiguous(Sizes{2, 1, 3}, Strides{3, 77, 1}));
    CHECK(is_contiguous(Sizes{2, 0}, Strides{5, 9}));
    CHECK(is_contiguous(Sizes{}, Strides{}));
    CHECK_FALSE(is_contiguous(Sizes{2, 3}, Strides{1, 2}));
    CHECK_FALSE(is_contiguous(Sizes{2, 3}, Strides{0, 1}));
    CHECK_FALSE(is_contiguous(Sizes{3}, Strides{-1}));
}

TEST_CASE("broadcasting is ATen's") {
    CHECK(broadcast_sizes(Sizes{3, 1}, Sizes{4}) == Sizes{3, 4});
    CHECK(broadcast_sizes(Sizes{}, Sizes{2, 0}) == Sizes{2, 0});
    CHECK(broadcast_sizes(Sizes{1}, Sizes{0}) == Sizes{0});
    CHECK_THROWS_WITH(broadcast_sizes(Sizes{2, 3}, Sizes{4}),
                      Catch::Contains("[2, 3]") && Catch::Contains("[4]") && Catch::Contains("dimension 1"));
    CHECK_THROWS_AS(broadcast_sizes(Sizes{0}, Sizes{2}), Error);
}

TEST_CASE("broadcast strides are 0 where the tensor is expanded") {
    CHECK(broadcast_strides(Sizes{3, 1}, Strides{1, 1}, Sizes{2, 3, 4}) == Strides{0, 1, 0});
    CHECK(broadcast_strides(Sizes{}, Strides{}, Sizes{2}) == Strides{0});
    CHECK(broadcast_strides(Sizes{1}, Strides{7}, Sizes{1}) == Strides{7});
}

TEST_CASE("wrap_dim counts from the end; a 0-d tensor has one dimension to name") {
    CHECK(wrap_dim(-1, 3) == 2);
    CHECK(wrap_dim(2, 3) == 2);
    CHECK(wrap_dim(-1, 0) == 0);
    CHECK_THROWS_WITH(wrap_dim(3, 3), Catch::Contains("-3 to 2"));
    CHECK_THROWS_AS(wrap_dim(1, 0), Error);
    CHECK_THROWS_AS(wrap_dim(INT64_MIN, 3), Error);
}

#include "base/checked.h"

#include <catch2/catch.hpp>
#include <limits>

#include "base/error.h"

namespace whittle {
namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max(), kLeast = -kMost - 1;

TEST_CASE("checked integers compute like plain ones where those can", "[checked]") {
    CHECK((Checked(7) - 1) * 3 + 2 == 20);
    CHECK((Checked(-7) / 2).value() == -3);
    CHECK(-Checked(kMost) == kLeast + 1);
    CHECK((Checked(kMost) - 1 + 1).value() == kMost);
    CHECK(2 * Checked(3) < 7);
}

TEST_CASE("checked integers refuse results beyond 64 bits", "[checked]") {
    CHECK_THROWS_AS(Checked(kMost) + 1, Error);
    CHECK_THROWS_AS(Checked(kLeast) - 1, Error);
    CHECK_THROWS_AS(Checked(kMost) * 2, Error);
    CHECK_THROWS_AS(-Checked(kLeast), Error);
    CHECK_THROWS_AS(Checked(kLeast) / -1, Error);
    CHECK_THROWS_AS(Checked(1) / 0, Error);
    CHECK_THROWS_WITH(Checked(kMost) * 2, Catch::Contains("9223372036854775807 * 2"));
}

}  // namespace
}  // namespace whittle

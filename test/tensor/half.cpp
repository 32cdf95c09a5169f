// The 16-bit floats against Eigen's: every code to float, and from float all codes, the middles between neighbors, and
// the floats beside these.
#include "tensor/reduced_floats.h"

#include <Eigen/Core>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "tensor/limits.h"

namespace whittle {
namespace {

template <class Ours, class Theirs>
int differences_from() {
    int wrong = 0;
    std::vector<float> numbers = {INFINITY, NAN, 0.f, 1e-45f, 1e38f, 0x1.fffffep127f, 65519.996f, 65520.f};
    for (std::uint32_t code = 0; code < 0x10000; ++code) {
        const auto bits = static_cast<std::uint16_t>(code);
        const auto ours = static_cast<float>(Ours::from_bits(bits));
        const auto theirs = static_cast<float>(Eigen::numext::bit_cast<Theirs>(bits));
        wrong += std::bit_cast<std::uint32_t>(ours) != std::bit_cast<std::uint32_t>(theirs);
        const auto next = static_cast<float>(Ours::from_bits(static_cast<std::uint16_t>(code + 1)));
        const float middle = ours + (next - ours) / 2;
        numbers.insert(numbers.end(), {ours, middle, std::nextafter(middle, 0.f), std::nextafter(middle, INFINITY)});
    }
    for (const float number : numbers)
        for (const float signed_number : {number, -number})
            wrong += Ours(signed_number).bits() != Eigen::numext::bit_cast<std::uint16_t>(Theirs(signed_number));
    return wrong;
}

template <class Ours, class Theirs>
void check_limits() {
    using L = std::numeric_limits<Ours>;
    using R = std::numeric_limits<Theirs>;
    const auto same = [](Ours ours, Theirs theirs) {
        return ours.bits() == Eigen::numext::bit_cast<std::uint16_t>(theirs);
    };
    CHECK(same(L::max(), R::max()));
    CHECK(same(L::lowest(), R::lowest()));
    CHECK(same(L::min(), R::min()));
    CHECK(same(L::denorm_min(), R::denorm_min()));
    CHECK(same(L::infinity(), R::infinity()));
    CHECK(same(L::quiet_NaN(), R::quiet_NaN()));
    CHECK(L::digits == int{R::digits});
}

}  // namespace

TEST_CASE("Half converts as Eigen's half") {
    CHECK(differences_from<Half, Eigen::half>() == 0);
    check_limits<Half, Eigen::half>();
}

TEST_CASE("BFloat16 converts as Eigen's bfloat16") {
    CHECK(differences_from<BFloat16, Eigen::bfloat16>() == 0);
    check_limits<BFloat16, Eigen::bfloat16>();
}

}  // namespace whittle

// A double rounded once to a reduced float, against a search among the values that lie around it; and cast_element(),
// which rounds to float before, against LibTorch 1.13.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "tensor/compare.h"
#include "tensor/convert.h"
#include "tensor/limits.h"

namespace whittle {
namespace {

/// The code of the value nearest to a positive number, of two the even one. Codes of positive values ascend with them,
/// and behind the largest come, as if the values went on, those of an infinity or NaN.
template <class T>
int nearest_code(double number) {
    const auto value = [](int code) {
        const int largest = std::numeric_limits<T>::max().bits();
        const auto at = [](int of) {
            return static_cast<double>(static_cast<float>(T::from_bits(static_cast<decltype(T().bits())>(of))));
        };
        return code <= largest ? at(code) : at(largest) + (at(largest) - at(largest - 1)) * (code - largest);
    };
    int low = 0, high = std::numeric_limits<T>::max().bits() + 1;
    if (number >= value(high)) return high;
    while (high - low > 1) (value((low + high) / 2) <= number ? low : high) = (low + high) / 2;
    const double below = number - value(low), above = value(high) - number;
    return below < above || (below == above && low % 2 == 0) ? low : high;
}

template <class T>
void check_nearest() {
    std::vector<double> numbers = {0,           0x1p-1074,   65519.999, 65520, 1 + 0x1p-11 + 0x1p-40,
                                   464.0000001, 463.9999999, 1e300};
    for (int code = 0; code < std::numeric_limits<T>::max().bits(); code += 1 + (code > 0x3000)) {
        const auto at = [](int of) {
            return static_cast<double>(static_cast<float>(T::from_bits(static_cast<decltype(T().bits())>(of))));
        };
        const double middle = (at(code) + at(code + 1)) / 2, step = at(code + 1) - at(code);
        for (const double beside : {0.0, step * 0x1p-30, step * 0x1p-18, std::nextafter(middle, INFINITY) - middle})
            numbers.insert(numbers.end(), {middle - beside, middle + beside});
    }
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> fraction(1, 2);
    std::uniform_int_distribution<int> exponent(-30, 20);
    for (int i = 0; i < 20000; ++i) numbers.push_back(std::ldexp(fraction(random), exponent(random)));
    int wrong = 0;
    for (const double number : numbers) {
        wrong += nearest<T>(number).bits() != nearest_code<T>(number);
        const int sign = 1 << (8 * sizeof(T) - 1);
        wrong += nearest<T>(-number).bits() != (nearest_code<T>(number) | sign);
    }
    CHECK(wrong == 0);
    CHECK(std::isnan(static_cast<float>(nearest<T>(NAN))));
    CHECK(nearest<T>(INFINITY).bits() == T(INFINITY).bits());
}

}  // namespace

TEST_CASE("nearest() rounds a double once") {
    check_nearest<Half>();
    check_nearest<BFloat16>();
    check_nearest<Float8E4M3FN>();
    check_nearest<Float8E5M2>();
    CHECK(nearest<float>(0.1) == 0.1f);
}

TEST_CASE("ATen's casts of doubles and wide integers to reduced floats round twice, through float") {
    // torch.tensor([65519.999, 1 + 2**-11 + 2**-40], dtype=torch.float64).half() is [inf, 1] in LibTorch 1.13, and
    // torch.tensor([2**40 + 2**32 + 1]).bfloat16() is [2**40].
    CHECK(Tensor::of<double>({65519.999, 1 + 0x1p-11 + 0x1p-40}).to(DType::f16).values<double>() ==
          std::vector<double>{INFINITY, 1});
    CHECK(Tensor::of<std::int64_t>({(std::int64_t{1} << 40) + (std::int64_t{1} << 32) + 1})
              .to(DType::bf16)
              .values<double>() == std::vector<double>{0x1p40});
}

TEST_CASE("steps of a reduced float are counted from the values nearest to doubles") {
    CHECK(ulp_distance(1 + 0x1p-11 + 0x1p-40, 1, DType::f16) == 1);
}

}  // namespace whittle

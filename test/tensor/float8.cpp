// The 8-bit floats against their definition: the value of each code by the formula, and of each number the nearest
// value by search, ties to the even code. Table 1 of the OCP 8-bit Floating Point Specification has the corner values.
#include "tensor/reduced_floats.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "tensor/compare.h"
#include "tensor/convert.h"
#include "tensor/limits.h"
#include "tensor/tensor.h"

namespace whittle {
namespace {

/// `kEnd`: the code behind that of the largest value, NaN or infinity.
struct E4M3FN {
    using Type = Float8E4M3FN;
    static constexpr int kFraction = 3, kBias = 7, kEnd = 0x7f;
    static constexpr double kAtEnd = std::numeric_limits<double>::quiet_NaN();
};
struct E5M2 {
    using Type = Float8E5M2;
    static constexpr int kFraction = 2, kBias = 15, kEnd = 0x7c;
    static constexpr double kAtEnd = std::numeric_limits<double>::infinity();
};

/// 2^(e - bias) (1 + f / 2^fraction), without the 1 and with the exponent of 1 where e is 0; beyond the end, too.
template <class F>
double magnitude_of(int code) {
    const int e = code >> F::kFraction, f = code & ((1 << F::kFraction) - 1);
    return std::ldexp((e ? 1 << F::kFraction : 0) + f, (e ? e : 1) - F::kBias - F::kFraction);
}

template <class F>
double value_of(int code) {
    const int positive = code & 0x7f;
    const double magnitude = positive < F::kEnd    ? magnitude_of<F>(positive)
                             : positive == F::kEnd ? F::kAtEnd
                                                   : std::nan("");
    return code & 0x80 ? -magnitude : magnitude;
}

/// The code whose value is nearest; as if the values went on beyond the largest.
template <class F>
int closest_code(double number) {
    const int sign = std::signbit(number) ? 0x80 : 0;
    const double magnitude = std::fabs(number);
    if (std::isnan(number)) return sign | 0x7f;
    if (magnitude >= magnitude_of<F>(F::kEnd)) return sign | F::kEnd;
    int best = 0;
    double distance = magnitude;
    for (int code = 1; code <= F::kEnd; ++code) {
        const double other = std::fabs(magnitude_of<F>(code) - magnitude);
        if (other < distance || (other == distance && code % 2 == 0)) {
            best = code;
            distance = other;
        }
    }
    return sign | best;
}

template <class F>
int code_of(float number) {
    return cast_element<typename F::Type>(number).bits();
}

}  // namespace

TEMPLATE_TEST_CASE("each code of an 8-bit float has the value of the formula", "", E4M3FN, E5M2) {
    for (int code = 0; code < 256; ++code) {
        INFO(code);
        const double expected = value_of<TestType>(code);
        const float got = cast_element<float>(TestType::Type::from_bits(static_cast<std::uint8_t>(code)));
        CHECK((std::isnan(got) ? std::isnan(expected) : static_cast<double>(got) == expected));
        CHECK(std::signbit(got) == (code >= 0x80));
        CHECK(code_of<TestType>(got) == (std::isnan(got) ? code | 0x7f : code));
    }
}

TEMPLATE_TEST_CASE("numbers become the nearest 8-bit float, ties to even", "", E4M3FN, E5M2) {
    std::vector<float> numbers = {463.99997f, 464.f,    464.00003f, 1e30f,    INFINITY, NAN,   0.f,
                                  1e-30f,     0x1p-10f, 500.f,      479.f,    448.f,    61440, 61439.996f,
                                  57344.f,    0x1p-17f, 65536.f,    0x1p-16f, 0x1p-9f};
    for (std::uint32_t bits = 0; bits < 0x8000;
         ++bits)  // every half: all of their binades, and eighths of theirs and finer
        numbers.push_back(static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(bits))));
    for (int code = 0; code < TestType::kEnd; ++code) {  // the middle between neighbours, and the floats beside it
        const auto middle = static_cast<float>((magnitude_of<TestType>(code) + magnitude_of<TestType>(code + 1)) / 2);
        numbers.insert(numbers.end(), {middle, std::nextafter(middle, 0.f), std::nextafter(middle, INFINITY)});
    }
    int wrong = 0;
    for (const float number : numbers) {
        wrong += code_of<TestType>(number) != closest_code<TestType>(static_cast<double>(number));
        wrong += code_of<TestType>(-number) != closest_code<TestType>(static_cast<double>(-number));
    }
    CHECK(wrong == 0);
}

TEST_CASE("Float8E4M3FN's limits and steps") {
    CHECK(lowest(DType::f8_e4m3fn) == Scalar(-448.0));
    CHECK(greatest(DType::f8_e4m3fn) == Scalar(448.0));
    const FloatLimits limits = float_limits(DType::f8_e4m3fn);
    CHECK(limits.largest == 448);
    CHECK(limits.normal == 0x1p-6);
    CHECK(limits.denormal == 0x1p-9);
    CHECK(limits.epsilon == 0.125);
    CHECK(ulp_distance(448, 416, DType::f8_e4m3fn) == 1);
    CHECK(ulp_distance(0x1p-9, -0x1p-9, DType::f8_e4m3fn) == 2);
}

TEST_CASE("Float8E5M2's limits and steps") {
    CHECK(greatest(DType::f8_e5m2) == Scalar(INFINITY));
    const FloatLimits limits = float_limits(DType::f8_e5m2);
    CHECK(limits.largest == 57344);
    CHECK(limits.normal == 0x1p-14);
    CHECK(limits.denormal == 0x1p-16);
    CHECK(limits.epsilon == 0.25);
    CHECK(ulp_distance(57344, 49152, DType::f8_e5m2) == 1);
}

TEST_CASE("tensors convert to Float8E5M2 and back") {
    const Tensor stored = Tensor::of<double>({0.1, -3.3, 57344, -1e9, NAN}, {5}).to(DType::f8_e5m2);
    CHECK(size_of(stored.dtype()) == 1);
    const std::vector<double> values = stored.values<double>();
    CHECK(values[0] == 0.09375);
    CHECK(values[1] == -3.5);
    CHECK(values[2] == 57344);
    CHECK(values[3] == -INFINITY);
    CHECK(std::isnan(values[4]));
}

TEST_CASE("tensors convert to Float8E4M3FN and back") {
    const Tensor stored = Tensor::of<double>({0.1, -3.3, 448, 1e9}, {4}).to(DType::f8_e4m3fn);
    CHECK(size_of(stored.dtype()) == 1);
    const std::vector<double> values = stored.values<double>();
    CHECK(values[0] == 0.1015625);
    CHECK(values[1] == -3.25);
    CHECK(values[2] == 448);
    CHECK(std::isnan(values[3]));
    CHECK(Tensor::of<std::int64_t>({17, 1000}, {2}).to(DType::f8_e4m3fn).values<double>()[0] == 16);
}

}  // namespace whittle

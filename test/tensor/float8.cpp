// Float8E4M3FN against its definition: the value of each code by the formula, and of each number the nearest value by
// search, ties to the even code. Table 1 of the OCP 8-bit Floating Point Specification has the corner values.
#include "tensor/reduced_floats.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "tensor/compare.h"
#include "tensor/convert.h"
#include "tensor/limits.h"
#include "tensor/tensor.h"

namespace whittle {
namespace {

/// (-1)^s 2^(e - 7) (1 + f / 8), without the 1 and with 2^-6 where e is 0.
double value_of(int code) {
    const int e = (code >> 3) & 15, f = code & 7;
    const double magnitude = e == 15 && f == 7 ? std::nan("")
                             : e == 0          ? std::pow(2.0, -6) * f / 8
                                               : std::pow(2.0, e - 7) * (1 + f / 8.0);
    return code & 0x80 ? -magnitude : magnitude;
}

/// The code whose value is nearest; as if the values went on beyond the largest, whose next code is NaN.
int nearest_code(double number) {
    const int sign = std::signbit(number) ? 0x80 : 0;
    const double magnitude = std::fabs(number);
    if (std::isnan(number) || magnitude >= 480) return sign | 0x7f;
    int best = 0;
    double distance = magnitude;
    for (int code = 1; code <= 0x7f; ++code) {
        const double other = std::fabs((code == 0x7f ? 480 : value_of(code)) - magnitude);
        if (other < distance || (other == distance && code % 2 == 0)) {
            best = code;
            distance = other;
        }
    }
    return sign | best;
}

int code_of(float number) { return cast_element<Float8E4M3FN>(number).bits(); }

}  // namespace

TEST_CASE("each code of Float8E4M3FN has the value of the formula") {
    for (int code = 0; code < 256; ++code) {
        INFO(code);
        const float got = cast_element<float>(Float8E4M3FN::from_bits(static_cast<std::uint8_t>(code)));
        CHECK((std::isnan(got) ? std::isnan(value_of(code)) : static_cast<double>(got) == value_of(code)));
        CHECK(std::signbit(got) == (code >= 0x80));
        CHECK(code_of(got) == code);
    }
}

TEST_CASE("numbers become the nearest Float8E4M3FN, ties to even") {
    std::vector<float> numbers = {463.99997f, 464.f,  464.00003f, 1e30f, INFINITY, NAN,
                                  0.f,        1e-30f, 0x1p-10f,   500.f, 479.f,    448.f};
    for (std::uint32_t bits = 0; bits < 0x8000;
         ++bits)  // every half: all of its binades, and eighths of ours and finer
        numbers.push_back(static_cast<float>(Half::from_bits(static_cast<std::uint16_t>(bits))));
    for (int code = 0; code < 0x7e; ++code) {  // the middle between neighbours, and the floats beside it
        const auto middle = static_cast<float>((value_of(code) + value_of(code + 1)) / 2);
        numbers.insert(numbers.end(), {middle, std::nextafter(middle, 0.f), std::nextafter(middle, INFINITY)});
    }
    int wrong = 0;
    for (const float number : numbers) {
        wrong += code_of(number) != nearest_code(static_cast<double>(number));
        wrong += code_of(-number) != nearest_code(static_cast<double>(-number));
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

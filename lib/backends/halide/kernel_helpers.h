// Functions that translated kernels call, see translate.h. What stands between the lines below is also what repro.cpp
// contains, as far as its kernels use it: texts.cmake makes strings of it.
#pragma once

#include <Halide.h>

#include <cstdint>
#include <vector>

namespace whittle::halide {

// ---- text of repro.cpp ----
// ---- libm ----
// The C library's function: Halide's own exp, log, pow … are approximations, wrong for NaN and
// infinities.
static Halide::Expr libm(const char* name, const std::vector<Halide::Expr>& arguments) {
    return Halide::Internal::Call::make(arguments[0].type(), name, arguments, Halide::Internal::Call::PureExtern);
}

// ---- exp_f32 ----
// e^x in single precision, within 1 ulp: 2^n p(x - n ln 2), Cephes' polynomial; 2^n in two steps, so
// that results as small or as large as floats can be come out right. NaN stays NaN.
static Halide::Expr exp_f32(const Halide::Expr& x) {
    using namespace Halide;
    const Expr low = select(strict_float(x < -104.f), -104.f, x), c = select(strict_float(low > 89.f), 89.f, low);
    const Expr magic = 12582912.f;  // 1.5 * 2^23: adding it rounds, and leaves n in the lowest bits
    const Expr n = c * 1.44269504f + magic - magic, f = c - n * 0.693359375f + n * 2.12194440e-4f;
    Expr p = f * 1.9875691500e-4f + 1.3981999507e-3f;
    for (const float a : {8.3334519073e-3f, 4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f}) p = p * f + a;
    const auto power = [](const Expr& rounded) {
        return reinterpret<float>((reinterpret<uint32_t>(rounded) << 23) + Expr(uint32_t(0x3f800000)));
    };
    const Expr half = n * 0.5f + magic;
    return strict_float((p * (f * f) + f + 1.f) * power(half) * power(n - (half - magic) + magic));
}

// ---- tanh_f32 ----
// tanh x in single precision, within 7 ulp: x p(x^2) / q(x^2), the minimax quotient that Eigen and XLA use.
static Halide::Expr tanh_f32(const Halide::Expr& x) {
    using namespace Halide;
    const float end = 7.90531110763549805f;  // from here on it is 1
    const Expr low = select(strict_float(x < -end), -end, x), c = select(strict_float(low > end), end, low);
    Expr p = -2.76076847742355e-16f, q = 1.19825839466702e-06f;
    for (const float a : {2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f, 1.48572235717979e-05f,
                          6.37261928875436e-04f, 4.89352455891786e-03f})
        p = c * c * p + a;
    for (const float a : {1.18534705686654e-04f, 2.26843463243900e-03f, 4.89352518554385e-03f}) q = c * c * q + a;
    return strict_float(c * (p / q));
}

// ---- erf_f32 ----
// erf x in single precision, within 8 ulp: x p(x^2) / q(x^2), the minimax quotient that Eigen and XLA use.
static Halide::Expr erf_f32(const Halide::Expr& x) {
    using namespace Halide;
    const Expr low = select(strict_float(x < -4.f), -4.f, x), c = select(strict_float(low > 4.f), 4.f, low);
    Expr p = -2.72614225801306e-10f, q = -1.45660718464996e-05f;
    for (const float a : {2.77068142495902e-08f, -2.10102402082508e-06f, -5.69250639462346e-05f, -7.34990630326855e-04f,
                          -2.95459980854025e-03f, -1.60960333262415e-02f})
        p = c * c * p + a;
    for (const float a :
         {-2.13374055278905e-04f, -1.68282697438203e-03f, -7.37332916720468e-03f, -1.42647390514189e-02f})
        q = c * c * q + a;
    const Expr y = c * (p / q), most = select(strict_float(y > 1.f), 1.f, y);
    return strict_float(select(strict_float(most < -1.f), -1.f, most));
}

// ---- float_bits ----
// A constant that is -0 or NaN: Halide 14 compares constants by value, so -0 is 0 and NaN is
// any number.
static Halide::Expr float_bits(uint32_t bits) { return Halide::reinterpret<float>(Halide::Expr(bits)); }

// ---- double_bits ----
// A constant that is -0 or NaN: Halide 14 compares constants by value, so -0 is 0 and NaN is
// any number.
static Halide::Expr double_bits(uint64_t bits) { return Halide::reinterpret<double>(Halide::Expr(bits)); }

// ---- integer_bits ----
// An integer of 2^62 or more: Halide 14 infers wrong multiples from two constants that are 2^63 apart.
static Halide::Expr integer_bits(uint64_t bits) {
    return Halide::reinterpret<int64_t>(Halide::reinterpret<double>(Halide::Expr(bits)));
}

// ---- to_half ----
// Halide 14 converts a NaN to infinity: give it the bits of a NaN.
static Halide::Expr to_half(Halide::Type type, const Halide::Expr& x) {
    const Halide::Expr nan = Halide::Expr(uint16_t(type.is_bfloat() ? 0x7fc0 : 0x7e00));
    return Halide::select(Halide::is_nan(x), Halide::reinterpret(type, nan), Halide::cast(type, x));
}
// ---- end ----

}  // namespace whittle::halide

#include "tensor/dtype.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "tensor/convert.h"
#include "tensor/limits.h"
#include "tensor/scalar.h"

using namespace whittle;

TEST_CASE("dtype names round-trip") {
    for (const DType dtype : kAllDTypes) {
        CHECK(dtype_from_name(name(dtype)) == dtype);
        CHECK(size_of(dtype) == visit_dtype(dtype, [](auto element) { return sizeof(element); }));
    }
    CHECK_FALSE(dtype_from_name("f8").has_value());
    CHECK_FALSE(dtype_from_name("").has_value());
}

TEST_CASE("dtypes are found by what other formats call them") {
    for (const DType dtype : kAllDTypes) {
        if (dtype != DType::c128) CHECK(dtype_with(&DTypeInfo::safetensors, info_of(dtype).safetensors) == dtype);
        CHECK(dtype_from_onnx(info_of(dtype).onnx) == dtype);
        CHECK(dtype_from_aten(info_of(dtype).aten) == dtype);
    }
    CHECK_FALSE(dtype_with(&DTypeInfo::npy, std::string_view()).has_value());
    CHECK_FALSE(dtype_from_onnx(8).has_value());   // STRING
    CHECK_FALSE(dtype_from_aten(12).has_value());  // QInt8
    CHECK(dtype_names().starts_with("f64, f32, f16, bf16, i64"));
    CHECK(dtype_names(&DTypeInfo::npy) == "<f8, <f4, <f2, <i8, <i4, <i2, |i1, |u1, |b1, <u2, <u4, <u8, <c8 or <c16");
}

TEST_CASE("limits are those of the formats") {
    CHECK(lowest(DType::u8) == Scalar(0));
    CHECK(greatest(DType::u8) == Scalar(255));
    CHECK(lowest(DType::i64) == Scalar(INT64_MIN));
    CHECK(greatest(DType::boolean) == Scalar(true));
    CHECK(lowest(DType::bf16) == Scalar(-INFINITY));
    CHECK(float_limits(DType::f64).epsilon == 0x1p-52);
    CHECK(float_limits(DType::f32).epsilon == 0x1p-23);
    CHECK(float_limits(DType::f16).epsilon == 0x1p-10);
    CHECK(float_limits(DType::bf16).epsilon == 0x1p-7);
    CHECK(float_limits(DType::f16).largest == 65504);
    CHECK(float_limits(DType::bf16).largest == 3.3895313892515355e38);
    CHECK(float_limits(DType::bf16).denormal == 0x1p-133);
    CHECK(float_limits(DType::i32).epsilon == 0);
    CHECK(greatest(DType::u16) == Scalar(65535));
    CHECK(greatest(DType::u64) == Scalar(UINT64_MAX));
    CHECK(lowest(DType::u64) == Scalar(0));
}

TEST_CASE("u16, u32 and u64 promote only to floating-point dtypes, as in PyTorch") {
    CHECK(promote(DType::u32, DType::u32) == DType::u32);
    CHECK(promote(DType::u32, DType::f16) == DType::f16);
    CHECK(promote(DType::f64, DType::u64) == DType::f64);
    for (const DType other : {DType::i64, DType::u8, DType::boolean, DType::u16})
        CHECK_THROWS_AS(promote(other, DType::u64), Error);
}

TEST_CASE("promotion is c10::promoteTypes") {
    // The upper triangle of the table in c10/core/ScalarType.cpp, in the order of the enumeration.
    const std::string expected[] = {
        "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128",  //
        "f32 f32 f32 f32 f32 f32 f32 f32 f32 c64 c128",       //
        "f16 f32 f16 f16 f16 f16 f16 f16 c64 c128",           //
        "bf16 bf16 bf16 bf16 bf16 bf16 bf16 c64 c128",        //
        "i64 i64 i64 i64 i64 i64 c64 c128",                   //
        "i32 i32 i32 i32 i32 c64 c128",                       //
        "i16 i16 i16 i16 c64 c128",                           //
        "i8 i16 i8 c64 c128",                                 //
        "u8 u8 c64 c128",                                     //
        "bool c64 c128",                                      //
        "c64 c128",                                           //
        "c128",
    };
    std::size_t row = 0;
    for (const DType a : kAllDTypes) {
        if (!is_computed(a)) continue;
        std::string got;
        for (const DType b : kAllDTypes) {
            if (b < a || !is_computed(b)) continue;
            got += (got.empty() ? "" : " ") + std::string(name(promote(a, b)));
            CHECK(promote(a, b) == promote(b, a));
        }
        CHECK(got == expected[row++]);
    }
}

TEST_CASE("float to integer casts are x86's, as ATen compiles them") {
    const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
    const std::int64_t min64 = INT64_MIN;
    CHECK(cast_element<std::int64_t>(-2.9) == -2);
    CHECK(cast_element<std::int64_t>(nan) == min64);
    CHECK(cast_element<std::int64_t>(inf) == min64);
    CHECK(cast_element<std::int64_t>(9223372036854775808.0) == min64);
    CHECK(cast_element<std::int64_t>(-9223372036854775808.0) == min64);
    CHECK(cast_element<std::int64_t>(0x1p62f) == std::int64_t(1) << 62);
    CHECK(cast_element<std::int32_t>(2147483647.5) == INT32_MAX);
    CHECK(cast_element<std::int32_t>(2147483648.0) == INT32_MIN);
    CHECK(cast_element<std::int32_t>(-2147483648.9) == INT32_MIN);
    CHECK(cast_element<std::int8_t>(300.0f) == 44);
    CHECK(cast_element<std::int8_t>(float(nan)) == 0);
    CHECK(cast_element<std::int16_t>(-40000.0) == 25536);
    CHECK(cast_element<std::uint8_t>(-1.0f) == 255);
    CHECK(cast_element<std::uint8_t>(4294967301.0) == 5);  // through int64_t
    CHECK(cast_element<std::uint16_t>(-1.5) == 65535);
    CHECK(cast_element<std::uint16_t>(3000000000.0) == 0);  // through int32_t
    CHECK(cast_element<std::uint32_t>(3000000000.0f) == 3000000000u);
    CHECK(cast_element<std::uint32_t>(-1.0) == UINT32_MAX);
    CHECK(cast_element<std::uint64_t>(0x1.8p63) == std::uint64_t(3) << 62);
    CHECK(cast_element<std::uint64_t>(-1.0) == UINT64_MAX);
    CHECK(cast_element<std::uint64_t>(0x1p64) == 0);
    CHECK(cast_element<std::uint64_t>(nan) == std::uint64_t(1) << 63);
    CHECK(cast_element<float>(UINT64_MAX) == 0x1p64f);
}

TEST_CASE("integers wrap, anything is a bool, halves round to nearest even") {
    CHECK(cast_element<std::int8_t>(std::int64_t(200)) == -56);
    CHECK(cast_element<std::uint8_t>(std::int64_t(-1)) == 255);
    CHECK(cast_element<bool>(std::nan("")) == true);
    CHECK(cast_element<bool>(-0.0f) == false);
    CHECK(cast_element<bool>(Half(0.5f)) == true);
    CHECK(cast_element<double>(true) == 1.0);
    CHECK(static_cast<float>(cast_element<Half>(2049.0)) == 2048.0f);  // halfway, to even
    CHECK(static_cast<float>(cast_element<Half>(2051.0)) == 2052.0f);
    CHECK(std::isinf(static_cast<float>(cast_element<Half>(70000.0f))));
    CHECK(static_cast<float>(cast_element<BFloat16>(257.0f)) == 256.0f);
    CHECK(std::isnan(static_cast<float>(cast_element<BFloat16>(std::nan("")))));
}

TEST_CASE("complex numbers are cast by their parts, to real ones by the real part alone") {
    CHECK(cast_element<Complex64>(Complex128(0.1, -3)) == Complex64(0.1f, -3.f));
    CHECK(cast_element<std::int8_t>(Complex64(300.f, 7.f)) == 44);
    CHECK(cast_element<bool>(Complex64(0.f, 7.f)) == false);
    CHECK(cast_element<Complex128>(Half(1.5f)) == Complex128(1.5, 0));
    CHECK(real_of(DType::c128) == DType::f64);
    CHECK(complex_of(DType::f32) == DType::c64);
    CHECK_THROWS_AS(complex_of(DType::f16), Error);
    CHECK(alignment_of(DType::c128) == 8);
}

TEST_CASE("scalars know their kind") {
    CHECK(Scalar(2.5).dtype() == DType::f32);
    CHECK(Scalar(2).dtype() == DType::i64);
    CHECK(Scalar(true).dtype() == DType::boolean);
    CHECK(Scalar(-2.9).to_integer() == -2);
    CHECK(Scalar(std::nan("")).to_integer() == INT64_MIN);
    CHECK(Scalar(0.0).to_bool() == false);
    CHECK_FALSE(Scalar(1) == Scalar(1.0));
    CHECK(Scalar(std::uint64_t(7)) == Scalar(7));
    CHECK(Scalar(UINT64_MAX).integer_text() == "18446744073709551615");
    CHECK(Scalar(UINT64_MAX).to_double() == 0x1p64);
    CHECK_FALSE(Scalar(UINT64_MAX) == Scalar(-1));
    CHECK(Scalar(UINT64_MAX).is_integer());
}

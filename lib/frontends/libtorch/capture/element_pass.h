// ElementPass: hash, sums, largest magnitude and NaNs of a tensor's elements in one pass over memory. The result is the
// same on every machine: the lanes, and the order in which they are added up, are fixed.
#pragma once

#include <emmintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "capture/hash_row.h"
#include "frontends/libtorch/capture/lane_hash.h"

namespace whittle::libtorch {

/// c10::ScalarType's numbers of types with numbers that can be added up; of others there is a hash alone.
enum class ElementType : std::int8_t {
    u8 = 0,
    i8 = 1,
    i16 = 2,
    i32 = 3,
    i64 = 4,
    f16 = 5,
    f32 = 6,
    f64 = 7,
    c64 = 9,
    c128 = 10,
    boolean = 11,
    bf16 = 15
};

class ElementPass {
  public:
    /// A multiple of every element's size.
    static constexpr std::size_t kBlock = 4096;

    explicit ElementPass(ElementType type) : type_(type) {}

    /// The next elements: whole ones, and before the last call a multiple of kBlock bytes.
    void add(const char* data, std::size_t bytes) {
        for (std::size_t at = 0; at < bytes; at += kBlock) {
            const std::size_t size = std::min(kBlock, bytes - at);
            mix(data + at, size);
            add_up(data + at, size);
        }
        size_ += bytes;
    }

    /// Fills in a row's members.
    void finish(HashRow& row) const {
        row.hash = hash(hash_.value(hash(0x77686974746c65ull, size_)), tail_);
        const auto added = [](const double(&lanes)[kLanes]) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); };
        row.sum = added(sums_.sum);
        row.absolute = added(sums_.absolute);
        row.largest = static_cast<float>(*std::max_element(sums_.largest, sums_.largest + kLanes));
        row.nans = static_cast<std::uint32_t>(std::min<std::int64_t>(sums_.nans, UINT32_MAX));
    }

  private:
    static constexpr int kLanes = 4, kWidth = 2;  ///< of a register

    void mix(const char* data, std::size_t size) {
        for (std::size_t at = hash_.add(data, size); at < size; ++at)
            tail_ = hash(tail_, static_cast<unsigned char>(data[at]));
    }

    void add_up(const char* data, std::size_t bytes) {
        switch (type_) {
            case ElementType::f32:
            case ElementType::c64:
                return add_numbers<float>(data, bytes / sizeof(float));
            case ElementType::f64:
            case ElementType::c128:
                return add_numbers<double>(data, bytes / sizeof(double));
            case ElementType::f16:
                return convert<std::uint16_t>(data, bytes, from_half);
            case ElementType::bf16:
                return convert<std::uint16_t>(data, bytes, from_bfloat16);
            case ElementType::u8:
            case ElementType::boolean:
                return convert<std::uint8_t>(data, bytes, to_double<std::uint8_t>);
            case ElementType::i8:
                return convert<std::int8_t>(data, bytes, to_double<std::int8_t>);
            case ElementType::i16:
                return convert<std::int16_t>(data, bytes, to_double<std::int16_t>);
            case ElementType::i32:
                return convert<std::int32_t>(data, bytes, to_double<std::int32_t>);
            case ElementType::i64:
                return convert<std::int64_t>(data, bytes, to_double<std::int64_t>);
        }
    }

    template <class T>
    static double to_double(T value) {
        return static_cast<double>(value);
    }
    static float from_bits(std::uint32_t bits) {
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
    }
    static double from_bfloat16(std::uint16_t bits) { return from_bits(std::uint32_t{bits} << 16); }
    static double from_half(std::uint16_t bits) {
        const std::uint32_t magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
        if (magnitude >= 0x7c00u) return from_bits(sign | 0x7f800000u | (magnitude & 0x3ffu) << 13);
        const float value = from_bits(magnitude << 13) * 0x1p112f;  // the exponents' biases are 112 apart
        return sign ? -value : value;
    }

    template <class T, class To>
    void convert(const char* data, std::size_t bytes, To to) {
        constexpr std::size_t kPart = 512;
        double part[kPart];
        const std::size_t count = bytes / sizeof(T);
        for (std::size_t at = 0; at < count; at += kPart) {
            const std::size_t size = std::min(kPart, count - at);
            for (std::size_t i = 0; i < size; ++i) {
                T value;
                std::memcpy(&value, data + (at + i) * sizeof value, sizeof value);
                part[i] = to(value);
            }
            add_numbers<double>(reinterpret_cast<const char*>(part), size);
        }
    }

    static __m128d load(const double* from) { return _mm_loadu_pd(from); }
    static __m128d load(const float* from) {
        return _mm_cvtps_pd(_mm_castsi128_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
    }

    /// What is added up, in lanes: the compiler may not reorder sums of floating-point numbers, so it is told how.
    struct Sums {
        double sum[kLanes] = {}, absolute[kLanes] = {}, largest[kLanes] = {};
        std::int64_t nans = 0;
    };

    /// NaNs are looked for only where there is one.
    template <class T>
    void add_numbers(const char* data, std::size_t count) {
        const Sums before = sums_;
        add_numbers<false, T>(data, count);
        if (std::none_of(sums_.absolute, sums_.absolute + kLanes, [](double lane) { return lane != lane; })) return;
        sums_ = before;
        add_numbers<true, T>(data, count);
    }

    template <bool kNans, class T>
    void add_numbers(const char* data, std::size_t count) {
        constexpr int kRegisters = kLanes / kWidth;
        const __m128d sign = _mm_set1_pd(-0.0);
        __m128d sum[kRegisters], absolute[kRegisters], largest[kRegisters];
        __m128i nans = _mm_setzero_si128();
        for (int i = 0; i < kRegisters; ++i) {
            sum[i] = _mm_loadu_pd(sums_.sum + kWidth * i);
            absolute[i] = _mm_loadu_pd(sums_.absolute + kWidth * i);
            largest[i] = _mm_loadu_pd(sums_.largest + kWidth * i);
        }
        const auto add_four = [&](const T* from) {
            for (int i = 0; i < kRegisters; ++i) {
                __m128d value = load(from + kWidth * i);
                if constexpr (kNans) {
                    const __m128d nan = _mm_cmpunord_pd(value, value);
                    nans = _mm_sub_epi64(nans, _mm_castpd_si128(nan));
                    value = _mm_andnot_pd(nan, value);
                }
                const __m128d magnitude = _mm_andnot_pd(sign, value);
                sum[i] = _mm_add_pd(sum[i], value);
                absolute[i] = _mm_add_pd(absolute[i], magnitude);
                largest[i] = _mm_max_pd(largest[i], magnitude);
            }
        };
        std::size_t at = 0;
        for (; at + kLanes <= count; at += kLanes) add_four(reinterpret_cast<const T*>(data) + at);
        if (at < count) {
            T four[kLanes] = {};
            std::memcpy(four, data + at * sizeof(T), (count - at) * sizeof(T));
            add_four(four);
        }
        std::int64_t counts[kWidth];
        _mm_storeu_si128(reinterpret_cast<__m128i*>(counts), nans);
        sums_.nans += counts[0] + counts[1];
        for (int i = 0; i < kRegisters; ++i) {
            _mm_storeu_pd(sums_.sum + kWidth * i, sum[i]);
            _mm_storeu_pd(sums_.absolute + kWidth * i, absolute[i]);
            _mm_storeu_pd(sums_.largest + kWidth * i, largest[i]);
        }
    }

    ElementType type_;
    LaneHash hash_;
    std::uint64_t tail_ = 0, size_ = 0;
    Sums sums_;
};

}  // namespace whittle::libtorch

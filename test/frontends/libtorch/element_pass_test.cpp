#include "frontends/libtorch/capture/element_pass.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace whittle::libtorch {
namespace {

template <class T>
HashRow row_of(ElementType type, const std::vector<T>& elements) {
    ElementPass pass(type);
    pass.add(reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T));
    HashRow row{};
    pass.finish(row);
    return row;
}

std::vector<float> waves(std::size_t count) {
    std::vector<float> elements(count);
    for (std::size_t i = 0; i < count; ++i) elements[i] = std::sin(static_cast<float>(i)) * 100;
    return elements;
}

}  // namespace

TEST_CASE("a pass adds up elements of every count", "[libtorch]") {
    for (const std::size_t count : {0, 1, 2, 3, 4, 5, 7, 8, 31, 1023, 1024, 1025, 3001}) {
        const std::vector<float> elements = waves(count);
        double sum = 0, absolute = 0;
        float largest = 0;
        for (const float element : elements) {
            sum += element;
            absolute += std::fabs(element);
            largest = std::max(largest, std::fabs(element));
        }
        const HashRow row = row_of(ElementType::f32, elements);
        CAPTURE(count);
        CHECK(row.sum == Approx(sum).margin(1e-9));
        CHECK(row.absolute == Approx(absolute));
        CHECK(row.largest == largest);
        CHECK(row.nans == 0);
    }
}

TEST_CASE("a pass does not depend on how the elements are handed to it", "[libtorch]") {
    const std::vector<float> elements = waves(5000);
    const HashRow whole = row_of(ElementType::f32, elements);
    ElementPass pass(ElementType::f32);
    const char* const data = reinterpret_cast<const char*>(elements.data());
    const std::size_t bytes = elements.size() * sizeof(float);
    for (std::size_t at = 0; at < bytes; at += ElementPass::kBlock)
        pass.add(data + at, std::min(ElementPass::kBlock, bytes - at));
    HashRow parts{};
    pass.finish(parts);
    CHECK(parts.hash == whole.hash);
    CHECK(parts.sum == whole.sum);
    CHECK(parts.absolute == whole.absolute);
}

TEST_CASE("each bit of each element changes the hash", "[libtorch]") {
    for (const std::size_t count : {1, 9, 1300}) {
        std::vector<float> elements = waves(count);
        const std::uint64_t hash = row_of(ElementType::f32, elements).hash;
        for (std::size_t i = 0; i < count; i += 7)
            for (int bit = 0; bit < 32; bit += 31) {
                std::uint32_t bits = 0;
                std::memcpy(&bits, &elements[i], sizeof bits);
                const std::uint32_t changed = bits ^ (std::uint32_t{1} << bit);
                std::memcpy(&elements[i], &changed, sizeof bits);
                CHECK(row_of(ElementType::f32, elements).hash != hash);
                std::memcpy(&elements[i], &bits, sizeof bits);
            }
        elements.push_back(0);
        CHECK(row_of(ElementType::f32, elements).hash != hash);
    }
}

TEST_CASE("a pass counts NaNs, and adds up the other elements", "[libtorch]") {
    std::vector<float> elements(3000, 1);
    elements[5] = elements[1500] = elements[2999] = std::numeric_limits<float>::quiet_NaN();
    const HashRow row = row_of(ElementType::f32, elements);
    CHECK(row.nans == 3);
    CHECK(row.sum == 2997);
    CHECK(row.absolute == 2997);
    CHECK(row.largest == 1);
    const HashRow infinite = row_of<double>(ElementType::f64, {1, -std::numeric_limits<double>::infinity()});
    CHECK(infinite.nans == 0);
    CHECK(std::isinf(infinite.largest));
}

TEST_CASE("a pass reads each type of element", "[libtorch]") {
    const HashRow half = row_of<std::uint16_t>(ElementType::f16, {0x3c00, 0xc000, 0x0001, 0x7bff, 0x7e00});
    CHECK(half.sum == 1.0 - 2.0 + std::ldexp(1.0, -24) + 65504.0);
    CHECK(half.largest == 65504);
    CHECK(half.nans == 1);
    CHECK(row_of<std::uint16_t>(ElementType::bf16, {0x3f80, 0xc000}).sum == -1);
    CHECK(row_of<std::int64_t>(ElementType::i64, {-5, 2}).absolute == 7);
    CHECK(row_of<std::int32_t>(ElementType::i32, {-5, 2}).sum == -3);
    CHECK(row_of<std::int16_t>(ElementType::i16, {-300, 2}).sum == -298);
    CHECK(row_of<std::int8_t>(ElementType::i8, {-5, 2}).sum == -3);
    CHECK(row_of<std::uint8_t>(ElementType::u8, {250, 2}).sum == 252);
    CHECK(row_of<std::uint8_t>(ElementType::boolean, {1, 0, 1}).sum == 2);
    CHECK(row_of<double>(ElementType::c128, {3, -4}).absolute == 7);
    const HashRow unknown = row_of<std::uint8_t>(static_cast<ElementType>(12), {1, 2});
    CHECK(unknown.sum == 0);
    CHECK(unknown.hash != row_of<std::uint8_t>(static_cast<ElementType>(12), {1, 3}).hash);
}

}  // namespace whittle::libtorch

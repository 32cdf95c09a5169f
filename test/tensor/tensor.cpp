#include "tensor/tensor.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "tensor/compute.h"
#include "tensor/random.h"
#include "tensor/reach.h"

using namespace whittle;

namespace {

Tensor iota(Sizes sizes, DType dtype = DType::f32) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(element_count(sizes)));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i);
    return store(values, dtype, std::move(sizes));
}

using Ints = std::vector<std::int64_t>;

/// The element of a view by the definition of strides: what every copy is checked against.
Ints by_definition(const Tensor& view) {
    const Ints memory = Tensor(view.storage(), view.dtype(),
                               {static_cast<std::int64_t>(view.storage()->bytes().size() / size_of(view.dtype()))}, {1})
                            .values<std::int64_t>();
    Ints result;
    for (std::int64_t i = 0; i < view.numel(); ++i) {
        std::int64_t at = view.offset(), rest = i;
        for (std::size_t d = view.sizes().size(); d-- > 0; rest /= view.sizes()[d])
            at += rest % view.sizes()[d] * view.strides()[d];
        result.push_back(memory[static_cast<std::size_t>(at)]);
    }
    return result;
}

}  // namespace

TEST_CASE("a new tensor is zeros, contiguous and aligned") {
    for (const DType dtype : kAllDTypes) {
        const Tensor tensor(dtype, {2, 3});
        CHECK(tensor.numel() == 6);
        CHECK(tensor.is_contiguous());
        CHECK(reinterpret_cast<std::uintptr_t>(tensor.raw()) % 64 == 0);
        for (const std::byte byte : tensor.contiguous_bytes()) CHECK(byte == std::byte{0});
        CHECK(tensor.contiguous_bytes().size() == 6 * size_of(dtype));
    }
    CHECK(Tensor().sizes() == Sizes{0});
    CHECK(Tensor(DType::f32, {}).numel() == 1);
    CHECK(Tensor(DType::f32, {3, 0}).values<float>().empty());
}

TEST_CASE("a tensor beyond the machine is refused before memory is touched") {
    CHECK_THROWS_AS(Tensor(DType::u8, {std::int64_t(1) << 50}), Error);
    CHECK_THROWS_AS(Tensor(DType::f64, {std::int64_t(1) << 61}), Error);  // bytes do not fit 64 bits
    CHECK_THROWS_AS(Tensor(DType::f64, {std::int64_t(1) << 62, 4}), Error);
    // A view of one element may be expanded to any size, but not be read out.
    const Tensor expanded = Tensor::of({1.f}).as_strided({std::int64_t(1) << 60}, {0}, 0);
    CHECK_THROWS_AS(expanded.values<float>(), Error);
    CHECK_THROWS_AS(expanded.contiguous(), Error);
}

TEST_CASE("views inside their storage are allowed, others refused") {
    const Tensor base = iota({12});
    struct Case {
        Sizes sizes;
        Strides strides;
        std::int64_t offset;
        bool allowed;
    };
    const std::int64_t big = INT64_MAX;
    const Case cases[] = {
        {{12}, {1}, 0, true},           {{12}, {1}, 1, false},
        {{12}, {-1}, 11, true},         {{12}, {-1}, 10, false},
        {{3, 4}, {4, 1}, 0, true},      {{4, 4}, {4, 1}, 0, false},
        {{4, 3}, {1, 4}, 0, true},      {{2, 2}, {-4, 4}, 4, true},
        {{100, 100}, {0, 0}, 11, true}, {{1, 12}, {big, 1}, 0, true},  // never stepped over
        {{2}, {big}, 0, false},         {{3}, {big}, 0, false},        // 2 * big overflows
        {{2}, {-big - 1}, 0, false},    {{big}, {2}, 0, false},
        {{2, 2}, {big, big}, 0, false}, {{2, 2}, {big, -big}, 0, false},
        {{1}, {1}, -1, false},          {{1}, {1}, 12, false},
        {{2}, {1}, big, false},         {{0}, {1}, big, true},  // nothing is reached
        {{5, 0}, {big, big}, -3, true}, {{2, 2}, {1}, 0, false},
        {{-1}, {1}, 0, false},
    };
    for (const Case& c : cases) {
        CAPTURE(c.sizes, c.strides, c.offset);
        if (c.allowed) {
            const Tensor view = base.as_strided(c.sizes, c.strides, c.offset);
            CHECK(view.values<std::int64_t>() == by_definition(view));
            CHECK(view.clone().is_contiguous());
        } else {
            CHECK_THROWS_AS(base.as_strided(c.sizes, c.strides, c.offset), Error);
        }
    }
}

TEST_CASE("copies of random views agree with the definition of strides") {
    Random random(7);
    for (int round = 0; round < 300; ++round) {
        // Start contiguous, then permute, reverse, skip and expand dimensions.
        Sizes sizes;
        for (std::int64_t d = random.below(5); d > 0; --d) sizes.push_back(1 + random.below(4));
        const DType dtype = kAllDTypes[random.below(10)];
        Tensor view = iota(sizes, dtype);
        Strides strides = view.strides();
        std::int64_t offset = 0;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            const auto other = static_cast<std::size_t>(random.below(static_cast<std::int64_t>(sizes.size())));
            std::swap(sizes[d], sizes[other]);
            std::swap(strides[d], strides[other]);
            if (random.below(3) == 0) {
                offset += strides[d] * (sizes[d] - 1);
                strides[d] = -strides[d];
            }
            if (random.below(4) == 0) {
                sizes[d] = (sizes[d] + 1) / 2;
                strides[d] *= 2;
            }
            if (random.below(6) == 0) {
                strides[d] = 0;
                sizes[d] = 3;
            }
        }
        view = view.as_strided(sizes, strides, offset);
        CAPTURE(name(dtype), sizes, strides, offset);
        const Ints expected = by_definition(view);
        CHECK(view.values<std::int64_t>() == expected);
        CHECK(view.contiguous().values<std::int64_t>() == expected);
        CHECK(view.contiguous().is_contiguous());
        CHECK(same_bits(view, view.clone()));
        CHECK(content_hash(view) == content_hash(view.clone()));
    }
}

TEST_CASE("to converts and shares memory when nothing changes") {
    const Tensor tensor = Tensor::of({1.5f, -2.5f, 0.f, std::numeric_limits<float>::quiet_NaN()});
    CHECK(tensor.to(DType::f32).storage() == tensor.storage());
    CHECK(tensor.to(DType::boolean).values<bool>() == std::vector<bool>{true, true, false, true});
    CHECK(tensor.to(DType::i64).values<std::int64_t>() == Ints{1, -2, 0, INT64_MIN});
    CHECK(tensor.to(DType::f16).to(DType::f64).values<double>()[1] == -2.5);
    CHECK_FALSE(tensor.with_requires_grad(true).to(DType::i32).requires_grad());
    CHECK(tensor.with_requires_grad(true).to(DType::f64).requires_grad());
}

TEST_CASE("clone has memory of its own") {
    Tensor a = Tensor::of({1.f, 2.f});
    Tensor b = a.clone(), alias = a;
    a.mutable_data<float>()[0] = 9;
    CHECK(b.values<float>()[0] == 1);
    CHECK(alias.values<float>()[0] == 9);
}

TEST_CASE("of checks the number of values") {
    CHECK_THROWS_AS(Tensor::of(std::vector<float>{1, 2, 3}, {2}), Error);
    CHECK(Tensor::of(std::vector<bool>{true, false}, {2, 1}).dtype() == DType::boolean);
    CHECK(Tensor::of(Scalar(300), DType::u8).item() == Scalar(44));
    CHECK(Tensor::of(Scalar(UINT64_MAX), DType::u64).item() == Scalar(UINT64_MAX));
    CHECK(Tensor::of(Scalar(UINT64_MAX), DType::f64).item() == Scalar(0x1p64));
    CHECK(Tensor::of(Scalar(-1), DType::u64).item() == Scalar(UINT64_MAX));
    CHECK(Tensor::of(Scalar(2.5), DType::f16).item() == Scalar(2.5));
}

TEST_CASE("item reads exactly one element") {
    CHECK(Tensor::of({7}).item() == Scalar(7));
    CHECK(Tensor::of(std::vector<bool>{true}, {1, 1}).item() == Scalar(true));
    CHECK_THROWS_AS(Tensor::of({1.f, 2.f}).item(), Error);
    CHECK_THROWS_AS(Tensor(DType::f32, {0}).item(), Error);
}

TEST_CASE("same_bits tells -0 from 0 and NaNs by their bits") {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(same_bits(Tensor::of({nan}), Tensor::of({nan})));
    CHECK_FALSE(same_bits(Tensor::of({0.f}), Tensor::of({-0.f})));
    CHECK_FALSE(same_bits(Tensor::of({0.f}), Tensor::of({0})));
    CHECK_FALSE(same_bits(Tensor(DType::f32, {2, 0}), Tensor(DType::f32, {0, 2})));
    CHECK(same_bits(Tensor(DType::f32, {0}), Tensor(DType::f32, {0})));
    CHECK(content_hash(Tensor(DType::f32, {1, 2})) != content_hash(Tensor(DType::f32, {2, 1})));
    CHECK(content_hash(Tensor(DType::f32, {1})) != content_hash(Tensor(DType::i32, {1})));
}

TEST_CASE("what is expanded is one element along each dimension of stride 0, and itself where there is none") {
    const Tensor numbers = Tensor::of<float>({1, 2, 3, 4, 5, 6});
    const Tensor expanded = numbers.as_strided({4, 1, 3}, {0, 9, 2}, 1), once = unexpanded(expanded);
    CHECK(once.sizes() == Sizes{1, 1, 3});
    CHECK(once.strides() == Strides{3, 3, 2});
    CHECK(once.values<float>() == std::vector<float>{2, 4, 6});
    CHECK(unexpanded(numbers.as_strided({2, 2}, {1, 2}, 0)).strides() == Strides{1, 2});
    CHECK(unexpanded(numbers.as_strided({0, 2}, {0, 1}, 0)).sizes() == Sizes{0, 2});
}

TEST_CASE("load_broadcast expands, store rounds") {
    const Tensor column = Tensor::of(std::vector<float>{1, 2}, {2, 1});
    CHECK(load_broadcast<double>(column, {2, 2, 2}) == std::vector<double>{1, 1, 2, 2, 1, 1, 2, 2});
    CHECK(load_broadcast<bool>(Tensor::of({0, 3}), {2}) == std::vector<bool>{false, true});
    CHECK(store(std::vector<double>{2049, 0.1}, DType::f16, {2}).values<float>()[0] == 2048);
    CHECK(store(std::vector<std::int64_t>{-1, 256}, DType::u8, {2}).values<std::int64_t>() == Ints{255, 0});
    CHECK(store(std::vector<bool>{true}, DType::bf16, {}).item() == Scalar(1.0));
}

TEST_CASE("random data depends on the seed alone") {
    // splitmix64's published sequence for seed 1234567.
    Random random(1234567);
    CHECK(random.next() == 6457827717110365317u);
    CHECK(random.next() == 3203168211198807973u);
    Random a(1), b(1), c(2);
    const Tensor x = random_tensor(DType::f32, {64}, a);
    CHECK(same_bits(x, random_tensor(DType::f32, {64}, b)));
    CHECK_FALSE(same_bits(x, random_tensor(DType::f32, {64}, c)));
    double sum = 0, squares = 0;
    for (const double v : random_tensor(DType::f64, {10000}, a).values<double>()) sum += v, squares += v * v;
    CHECK(std::fabs(sum / 10000) < 0.05);
    CHECK(std::fabs(squares / 10000 - 1) < 0.06);
    std::vector<bool> seen(2, false);
    for (const std::int64_t v : random_tensor(DType::i32, {200}, a).values<std::int64_t>()) {
        REQUIRE((v == 0 || v == 1));
        seen[static_cast<std::size_t>(v)] = true;
    }
    CHECK(seen == std::vector<bool>(2, true));
}

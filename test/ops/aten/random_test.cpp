// What random ops promise beyond dtype and sizes: a seed fixes them, and values are in range.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "base/error.h"
#include "ops/aten/random.h"
#include "ops/samples/run_op.h"

namespace whittle {
namespace {

Tensor drawn_by(std::string_view target, const std::vector<Tensor>& tensors, ArgList args,
                std::vector<std::pair<std::string, Arg>> kwargs = {}) {
    return samples::run_op(target, tensors, std::move(args), std::move(kwargs))[0];
}

TEST_CASE("a seed fixes the draws that follow", "[ops]") {
    const auto draw = [] { return drawn_by("aten.randn.default", {}, {Arg::ints({8})}); };
    seed_random_ops(7);
    const Tensor first = draw(), second = draw();
    CHECK_FALSE(same_bits(first, second));
    seed_random_ops(7);
    CHECK(same_bits(draw(), first));
    CHECK(same_bits(draw(), second));
}

TEST_CASE("uniform draws stay below 1 in every dtype", "[ops]") {
    seed_random_ops(0);
    for (const DType dtype : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        const Tensor drawn = drawn_by("aten.rand.default", {}, {Arg::ints({4096})}, {{"dtype", dtype}});
        double sum = 0;
        for (const double value : drawn.values<double>()) {
            CHECK((value >= 0 && value < 1));
            sum += value;
        }
        CHECK(sum / 4096 == Approx(0.5).margin(0.05));
    }
}

TEST_CASE("a permutation holds every number once", "[ops]") {
    const std::vector<std::int64_t> order = drawn_by("aten.randperm.default", {}, {100}).values<std::int64_t>();
    CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == 100);
    CHECK(*std::max_element(order.begin(), order.end()) == 99);
}

TEST_CASE("dropout keeps and scales what its mask says", "[ops]") {
    const Tensor ones = Tensor::of(std::vector<float>(1000, 1.0F), {1000});
    const Tensor dropped = drawn_by("aten.native_dropout.default", {ones}, {Arg(NodeRef{0}), 0.75, true});
    int kept = 0;
    for (const float value : dropped.values<float>()) {
        CHECK((value == 0 || value == 4));
        kept += value != 0;
    }
    CHECK((kept > 150 && kept < 350));
}

TEST_CASE("bernoulli follows certain probabilities and refuses impossible ones", "[ops]") {
    const Tensor certain = Tensor::of<float>({0, 1, 1, 0});
    CHECK(same_bits(drawn_by("aten.bernoulli.default", {certain}, {Arg(NodeRef{0})}), certain));
    CHECK_THROWS_AS(drawn_by("aten.bernoulli.default", {Tensor::of<float>({1.5F})}, {Arg(NodeRef{0})}), Error);
}

}  // namespace
}  // namespace whittle

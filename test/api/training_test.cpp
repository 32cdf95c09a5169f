// What training programs call beyond the registry's ops: batch norm that writes its running statistics, losses.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>

#include "values.h"

using namespace whittle;
using test::Floats;

namespace {

/// One channel with the values 1, 2, 3, 6 (mean 3, unbiased variance 14/3), one with 0, 0, 4, 4 (2 and 16/3).
Tensor batch() { return tensor({1.F, 0.F, 2.F, 0.F, 3.F, 4.F, 6.F, 4.F}).reshape({4, 2}); }

}  // namespace

TEST_CASE("batch norm in training normalizes by the batch and updates the running statistics") {
    const auto step = [](const Tensor& x, const Tensor& mean, const Tensor& variance) {
        const Tensor y = batch_norm(x, OptionalTensor(), OptionalTensor(), mean, variance, true, 0.25, 0.0, false);
        return batch_norm(y, OptionalTensor(), OptionalTensor(), mean, variance, false, 0.25, 0.0, false);
    };
    const auto compiled = compile(step);
    for (const bool captured : {false, true}) {
        const Tensor mean = zeros({2}), variance = ones({2});
        const Tensor y = captured ? compiled(batch(), mean, variance) : step(batch(), mean, variance);
        CHECK(mean.to_vector<float>() == Floats{0.75F, 0.5F});
        CHECK(variance.to_vector<float>()[0] == Approx(0.75 + 0.25 * 14 / 3));
        CHECK(variance.to_vector<float>()[1] == Approx(0.75 + 0.25 * 16 / 3));
        // The second call uses what the first one wrote. The batch's own variance is the biased one, 3.5 and 4.
        const double normal = (1 - 3) / std::sqrt(3.5);
        CHECK(y.to_vector<float>()[0] == Approx((normal - 0.75) / std::sqrt(0.75 + 0.25 * 14 / 3)));
    }
    CHECK(compiled.stats().breaks == 0);
    CHECK(compiled.stats().graphs == 1);
    const Tensor only_mean = zeros({2});
    native_batch_norm(batch(), OptionalTensor(), OptionalTensor(), only_mean, OptionalTensor(), true, 1.0, 1e-5);
    CHECK(only_mean.to_vector<float>() == Floats{3, 2});
}

TEST_CASE("cross entropy of equal scores is the logarithm of the number of classes") {
    const auto loss = compile([](const Tensor& x, const Tensor& y) { return cross_entropy_loss(x, y); });
    const Tensor labels = tensor({std::int64_t{0}, std::int64_t{4}});
    CHECK(loss(zeros({2, 5}), labels).item<float>() == Approx(std::log(5.0)));
    const Tensor x = rand({2, 5});
    CHECK(loss(x, labels).item<float>() == Approx(nll_loss(log_softmax(x, 1), labels).item<float>()));
    CHECK_THROWS_WITH(cross_entropy_loss(x, labels.reshape({2, 1})), Catch::Contains("found targets of sizes [2, 1]"));
}

TEST_CASE("an op that fails before anything was recorded ends capture: a break") {
    const auto first = compile([](const Tensor& x) { return x + ones({3}); });
    CHECK_THROWS_WITH(first(ones({2})), Catch::Contains("[3]"));
    CHECK(first.stats().breaks == 1);
    const auto checks = compile([](const Tensor& x) -> Tensor {
        if (x.dim() != 2) throw std::runtime_error("rank");  // no op: nothing was captured that could break
        return x * 2;
    });
    CHECK_THROWS(checks(ones({2})));
    CHECK(checks.stats().breaks == 0);
}

TEST_CASE("data that is copied, and the times of compilations") {
    double data[] = {1, 2, 3, 4};
    const Tensor copy = from_data(data, {2, 2}, kDouble);
    data[1] = 9;
    CHECK(copy.to_vector<double>() == std::vector<double>{1, 2, 3, 4});
    const auto timed = compile([](const Tensor& x) { return x * 2 + 1; }, {.name = "timed_function"});
    timed(copy);
    CHECK_THAT(compile_times(), Catch::Contains("timed_function: 1 graphs, 2 ops, 0 breaks, 0 recompiles"));
}

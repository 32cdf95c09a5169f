// Sizes that vary: what is compiled for them, and sizes that were marked so and cannot vary.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/files.h"

using namespace whittle;

namespace {

Tensor softmax_of_rows(const Tensor& x) { return (x.view({x.size(0) * 3}) * 2).view({-1, 3}).softmax(-1); }

/// With a gradient that expands to the size, and one that is viewed in it.
Tensor loss(const Tensor& x, const Tensor& w) {
    const Tensor y = tanh(x.mm(w)).reshape({x.size(0) * 2, 2});
    return (y * y).sum() / static_cast<double>(x.size(0)) + y.exp().mean();
}

/// The loss, then the gradients.
std::vector<std::vector<float>> loss_and_gradients(const std::function<Tensor(const Tensor&, const Tensor&)>& function,
                                                   const Tensor& x, const Tensor& w) {
    const Tensor a = x.clone().requires_grad_(), b = w.clone().requires_grad_();
    const Tensor value = function(a, b);
    value.backward();
    return {value.to_vector<float>(), a.grad().to_vector<float>(), b.grad().to_vector<float>()};
}

void check_all_close(const std::vector<std::vector<float>>& got, const std::vector<std::vector<float>>& expected) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t k = 0; k < got.size(); ++k) {
        REQUIRE(got[k].size() == expected[k].size());
        for (std::size_t i = 0; i < got[k].size(); ++i) CHECK(got[k][i] == Approx(expected[k][i]).margin(1e-5));
    }
}

}  // namespace

TEST_CASE("one graph of the reference serves all sizes of a symbol", "[dynamic]") {
    const auto compiled = compile(softmax_of_rows, {.dynamic = true});
    for (std::int64_t batch = 2; batch < 12; ++batch) {
        const Tensor x = rand({batch, 3});
        CHECK(compiled(x).equal(softmax_of_rows(x)));
    }
    CHECK(compiled.stats().graphs == 1);
    CHECK(compiled.stats().recompiles == 0);
    const auto automatic = compile(softmax_of_rows);
    for (std::int64_t batch = 2; batch < 12; ++batch) static_cast<void>(automatic(rand({batch, 3})));
    CHECK(automatic.stats().graphs == 2);
    CHECK(automatic.stats().recompiles == 1);
}

TEST_CASE("backends that interpret compile one graph for all sizes, forward and backward", "[dynamic]") {
    std::vector<std::string> backends = {"eager",
                                         "eager_noexcept",
                                         "eager_debug",
                                         "eager_with_modes",
                                         "pre_dispatch_eager",
                                         "roundtrip",
                                         "aot_eager",
                                         "aot_eager_default_partitioner",
                                         "aot_eager_decomp_partition",
                                         "aot_eager_decomp_partition_with_mode",
                                         "aot_eager_decomp_partition_crossref",
                                         "explain(aot_eager)"};
    manual_seed(3);
    const Tensor w = rand({3, 4});
    for (const std::string& backend : backends) {
        INFO(backend);
        const auto plain = compile(softmax_of_rows, {.backend = backend, .dynamic = true});
        const auto trained = compile(loss, {.backend = backend, .verify = true, .dynamic = true});
        for (int round = 0; round < 2; ++round)
            for (const std::int64_t batch : {5, 2, 7, 12, 3, 4}) {
                const Tensor x = rand({batch, 3});
                CHECK(plain(x).allclose(softmax_of_rows(x)));
                check_all_close(loss_and_gradients(trained, x, w), loss_and_gradients(loss, x, w));
            }
        CHECK(plain.stats().graphs == 1);
        CHECK(trained.stats().graphs == 1);
        CHECK(trained.stats().recompiles == 0);
    }
    const auto halide =
        compile(softmax_of_rows, {.backend = "halide", .dynamic = true});  // its kernels are made for sizes
    for (const std::int64_t batch : {5, 2, 5}) CHECK(halide(rand({batch, 3})).size(0) == batch);
    CHECK(halide.stats().graphs == 2);
}

TEST_CASE("so many sizes are kept compiled as are bounded, and all are right", "[dynamic]") {
    const auto compiled = compile(softmax_of_rows, {.backend = "aot_eager", .dynamic = true});
    for (int round = 0; round < 2; ++round)
        for (std::int64_t batch = 2; batch < 42; ++batch) {
            const Tensor x = rand({batch, 3});
            CHECK(compiled(x).equal(softmax_of_rows(x)));
        }
    CHECK(compiled.stats().recompiles == 0);
}

TEST_CASE("a size outside what the graph was made for is a recompile that tells why", "[dynamic]") {
    const auto first = [](const Tensor& x) { return x.size(0) < 5 ? x * 2 : x.narrow(0, 0, 5).clone(); };
    const auto used = compile(first, {.dynamic = true, .arg_names = {"x"}});
    for (const std::int64_t batch : {8, 5, 9}) CHECK(used(ones({batch, 2})).size(0) == 5);
    CHECK(used.stats().recompiles == 0);
    CHECK(used(ones({4, 2})).size(0) == 4);
    CHECK(used.stats().recompile_reasons == std::vector<std::string>{"s0 > 4, now L['x'].size(0) is 4, was 8"});

    const auto twice = [](const Tensor& x) { return x * 2; };
    const auto marked = compile(twice, {.arg_names = {"x"}});
    for (const std::int64_t batch : {4, 6, 3, 16, 17, 18}) {
        const Tensor x = ones({batch, 2});
        mark_dynamic(x, 0, 3, 16);
        CHECK(marked(x).size(0) == batch);
    }
    CHECK(marked.stats().recompile_reasons == std::vector<std::string>{"s0 <= 16, now L['x'].size(0) is 17, was 4"});
    CHECK(marked.stats().graphs == 1);  // what interprets it serves all
    CHECK_THROWS_WITH(mark_dynamic(ones({4}), 1), Catch::Contains("mark_dynamic: found dimension 1, expected -1 to 0"));
    CHECK_THROWS_WITH(mark_dynamic(ones({}), 0),
                      Catch::Contains("mark_dynamic: found dimension 0 of a tensor without dimensions, expected a "
                                      "tensor of at least 1 dimension"));
    CHECK_THROWS_WITH(mark_dynamic(ones({4}), 0, 6, 5), Catch::Contains("found the minimum 6 and the maximum 5"));

    const auto said = compile(
        [](const Tensor& x) {
            constrain_range(x.size(0), 3, 16);
            return x * 2;
        },
        {.dynamic = true, .arg_names = {"x"}});
    CHECK(said(ones({4, 2})).size(0) == 4);
    CHECK_THROWS_AS(said(ones({17, 2})), CheckError);
    CHECK_THROWS_AS(said(ones({2, 2})), CheckError);
    CHECK(said(ones({16, 2})).size(0) == 16);
    CHECK(said.stats().recompile_reasons == std::vector<std::string>{"s0 <= 16, now L['x'].size(0) is 17, was 4"});
}

TEST_CASE("sizes go into nested graphs", "[dynamic]") {
    const auto branches = [](const Tensor& x) {
        const Tensor y = cond(
            x.sum() > 4, [](const Tensor& a) { return a.reshape({a.size(0) * 3}).sin(); },
            [](const Tensor& a) { return a.reshape({-1}) * 2; }, x);
        const Tensor rows = map([](const Tensor& row, const Tensor& w) { return row * w; }, x, x.index({0}));
        const auto [i, z] = while_loop([](const Tensor& n, const Tensor&) { return n < 3; },
                                       [](const Tensor& n, const Tensor& v) { return std::tuple(n + 1, v * 2); },
                                       scalar_tensor(0), rows);
        return z.reshape({-1}) + y;
    };
    for (const char* backend : {"eager", "aot_eager"}) {
        INFO(backend);
        const auto compiled = compile(branches, {.backend = backend, .fullgraph = true, .dynamic = true});
        for (const std::int64_t batch : {4, 2, 7, 3, 5}) {
            const Tensor x = rand({batch, 3});
            CHECK(compiled(x).allclose(branches(x)));
        }
        CHECK(compiled.stats().graphs == 1);
        CHECK(compiled.stats().recompiles == 0);
    }
    const auto first = [](const Tensor& x) {
        return cond(
            x.sum() > 0, [](const Tensor& a) { return a.narrow(0, 0, 4) * 1; },
            [](const Tensor& a) { return a.narrow(0, 1, 4) * 1; }, x);
    };
    const auto bounded = compile(first, {.dynamic = true, .arg_names = {"x"}});
    for (const std::int64_t batch : {8, 5}) CHECK(bounded(ones({batch})).size(0) == 4);
    CHECK(bounded(ones({4})).size(0) == 4);  // the other branch refuses it: a graph break
    CHECK(bounded.stats().recompile_reasons == std::vector<std::string>{"s0 > 4, now L['x'].size(0) is 4, was 8"});
}

TEST_CASE("fixing a size that was marked dynamic is told with the operation, its line and the constraint",
          "[dynamic]") {
    const auto f = [](const Tensor& x) { return (x + 1).view({3, 8}).sum(); };
    const Tensor x = rand({6, 4});
    mark_dynamic(x, 0);
    CHECK_THROWS_AS(compile(f, {.fullgraph = true, .arg_names = {"x"}})(x), ConstraintError);
    CHECK_THROWS_WITH(compile(f, {.fullgraph = true, .arg_names = {"x"}})(x),
                      Catch::Contains("L['x'].size(0)") &&
                          Catch::Contains("aten.view.default allows only one size: s0 == 6") &&
                          Catch::Contains("dynamic_test.cpp"));
    CHECK(compile(f)(x).equal(f(x)));  // a warning
    const Tensor y = rand({4, 6}), rows = rand({4, 3});
    mark_dynamic(y, 0);
    mark_dynamic(rows, 0);
    CHECK(compile(softmax_of_rows, {.fullgraph = true})(rows).equal(softmax_of_rows(rows)));  // a multiple of the size
    const auto free = compile([](const Tensor& v) { return v.view({v.size(0), 3, 2}).sum(-1); }, {.fullgraph = true});
    CHECK(free(y).sizes() == std::vector<std::int64_t>{4, 3});
}

TEST_CASE("the log of a graph whose sizes vary says which, and their values in this call", "[dynamic]") {
    const TempDir folder;
    const auto log = folder.path() / "log";
    for (const char* artifact : {"graph_code", "graph_sizes"}) {
        INFO(artifact);
        set_logs(artifact, log.string());
        compile([](const Tensor& x) { return x * 2; }, {.dynamic = true, .arg_names = {"x"}})(ones({4, 3}));
        set_logs("", "");
        const std::string text = read_file(log);
        CHECK_THAT(text,
                   Catch::Contains("s0 = L['x'].size(0), here 4") && Catch::Contains("s1 = L['x'].size(1), here 3"));
        CHECK_THAT(text, Catch::Contains("inputs: [s0, s1]") && Catch::Contains("outputs: [s0, s1]"));
        std::filesystem::remove(log);
    }
}

// Sizes that vary: what is compiled for them, and sizes that were marked so and cannot vary.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>

using namespace whittle;

namespace {

Tensor scaled(const Tensor& x) { return (x.view({x.size(0) * 3}) * 2).view({-1, 3}).softmax(-1); }

}  // namespace

TEST_CASE("one graph of the reference serves all sizes of a symbol", "[dynamic]") {
    const auto compiled = compile(scaled, {.dynamic = true});
    for (std::int64_t batch = 2; batch < 12; ++batch) {
        const Tensor x = rand({batch, 3});
        CHECK(compiled(x).equal(scaled(x)));
    }
    CHECK(compiled.stats().graphs == 1);
    CHECK(compiled.stats().recompiles == 0);
    const auto automatic = compile(scaled);
    for (std::int64_t batch = 2; batch < 12; ++batch) static_cast<void>(automatic(rand({batch, 3})));
    CHECK(automatic.stats().graphs == 2);
    CHECK(automatic.stats().recompiles == 1);
}

TEST_CASE("so many sizes are kept compiled as are bounded, and all are right", "[dynamic]") {
    const auto compiled = compile(scaled, {.backend = "aot_eager", .dynamic = true});
    for (int round = 0; round < 2; ++round)
        for (std::int64_t batch = 2; batch < 42; ++batch) {
            const Tensor x = rand({batch, 3});
            CHECK(compiled(x).equal(scaled(x)));
        }
    CHECK(compiled.stats().recompiles == 0);
}

TEST_CASE("fixing a size that was marked dynamic is told with the operation, its line and the constraint",
          "[dynamic]") {
    const auto f = [](const Tensor& x) { return (x + 1).view({2, 12}).sum(); };
    const Tensor x = rand({4, 6});
    mark_dynamic(x, 0);
    CHECK_THROWS_AS(compile(f, {.fullgraph = true, .arg_names = {"x"}})(x), ConstraintError);
    CHECK_THROWS_WITH(compile(f, {.fullgraph = true, .arg_names = {"x"}})(x),
                      Catch::Contains("L['x'].size(0)") && Catch::Contains("aten.view.default fixes it: s0 == 4") &&
                          Catch::Contains("dynamic_test.cpp"));
    CHECK(compile(f)(x).equal(f(x)));  // a warning
    const Tensor y = rand({4, 6});
    mark_dynamic(y, 0);
    const auto free = compile([](const Tensor& v) { return v.view({v.size(0), 3, 2}).sum(-1); }, {.fullgraph = true});
    CHECK(free(y).sizes() == std::vector<std::int64_t>{4, 3});
}

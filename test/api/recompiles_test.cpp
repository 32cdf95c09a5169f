// Why functions are compiled again: RecompileProfiler, cache limits, reset().
#include <whittle/whittle.h>

#include <catch2/catch.hpp>
#include <thread>

#include "environment_variable.h"
#include "values.h"

using namespace whittle;
using test::values;

namespace {

Tensor plus(const Tensor& x, int n) { return x + n; }

}  // namespace

TEST_CASE("the environment sets the cache limit, a function's own wins", "[recompiles]") {
    const auto graphs_of = [](int limit) {
        const auto compiled = compile(plus, {.cache_limit = limit});
        for (int n = 0; n < 12; ++n)
            CHECK(values(compiled(zeros({1}), n)) == std::vector<float>{static_cast<float>(n)});
        CHECK(compiled.stats().eager_calls == 12 - compiled.stats().graphs);
        return compiled.stats().graphs;
    };
    CHECK(graphs_of(0) == 8);
    {
        const test::EnvironmentVariable variable("WHITTLE_CACHE_SIZE_LIMIT", "3");
        CHECK(graphs_of(0) == 3);
        CHECK(graphs_of(5) == 5);
    }
    for (const char* wrong : {"0", "-1", "many", "3x", "99999999999"}) {
        const test::EnvironmentVariable variable("WHITTLE_CACHE_SIZE_LIMIT", wrong);
        CHECK_THROWS_WITH(compile(plus), Catch::Contains("WHITTLE_CACHE_SIZE_LIMIT") && Catch::Contains(wrong));
        CHECK_NOTHROW(compile(plus, {.cache_limit = 2}));
    }
}

TEST_CASE("reset() makes functions forget graphs, guards and counts", "[recompiles]") {
    const auto compiled = compile(plus, {.cache_limit = 2});
    for (int n = 0; n < 4; ++n) compiled(zeros({1}), n);
    CHECK(compiled.stats().eager_calls == 2);
    reset();
    CHECK(cache_entries(compiled).empty());
    CHECK(compiled.stats().graphs == 0);
    CHECK(compiled.stats().recompile_reasons.empty());
    CHECK(values(compiled(zeros({1}), 3)) == std::vector<float>{3});
    CHECK(compiled.stats().graphs == 1);
    CHECK(compiled.stats().eager_calls == 0);

    const auto sizes = compile([](const Tensor& x) { return x * 2; });
    for (int n = 2; n < 5; ++n) sizes(ones({n}));
    CHECK(cache_entries(sizes).back().symbols.size() == 1);
    reset();
    sizes(ones({3}));
    REQUIRE(cache_entries(sizes).size() == 1);
    CHECK(cache_entries(sizes).back().symbols.empty());
}

TEST_CASE("a function that is running is reset when it returns", "[recompiles]") {
    const auto compiled = compile([](const Tensor& x, bool now) {
        const Tensor y = x + 1;
        if (now) reset();
        return y.sum().item<float>() > 0 ? y * 2 : y;
    });
    CHECK(values(compiled(ones({1}), false)) == std::vector<float>{4});
    CHECK(values(compiled(ones({1}), true)) == std::vector<float>{4});
    CHECK(cache_entries(compiled).empty());
    CHECK(values(compiled(ones({1}), false)) == std::vector<float>{4});
    CHECK(cache_entries(compiled).size() == 1);
}

TEST_CASE("the profiler counts what a limit of 1 would meet, over calls and threads", "[recompiles]") {
    RecompileProfiler profiler;
    CHECK(profiler.report() == "No compiled function was called.\n");
    const auto observed =
        compile([](const Tensor& x, int, int n) { return x * n; },
                {.backend = profiler, .cache_limit = 1, .name = "scale", .arg_names = {"x", "step", "n"}});
    const auto calls = [&] {
        for (int i = 0; i < 6; ++i) CHECK(values(observed(ones({2 + i}), i, 3)).back() == 3);
    };
    calls();
    std::thread(calls).join();
    CHECK(values(observed(ones({2}), 0, 4)) == std::vector<float>{4, 4});

    const std::vector<RecompileCause> causes = profiler.causes();
    std::int64_t failed = 0;
    for (const RecompileCause& cause : causes) {
        CHECK(cause.function == "scale");
        REQUIRE_FALSE(cause.call.empty());
        CHECK_THAT(cause.call.front(), Catch::Contains("recompiles_test.cpp:"));
        failed += cause.calls;
    }
    CHECK(failed == 11);          // of 13: the step makes no other graph
    REQUIRE(causes.size() == 3);  // sizes by two places of a thread, n by one
    CHECK(causes[0].reasons == std::vector<std::string>{"L['x'] size 0 == 2, now 3", "L['x'] size 0 == 2, now 4",
                                                        "L['x'] size 0 == 2, now 5", "L['x'] size 0 == 2, now 6",
                                                        "L['x'] size 0 == 2, now 7"});
    CHECK(causes[2].reasons == std::vector<std::string>{"L['n'] == 3, now 4"});
    const std::string report = profiler.report();
    CHECK_THAT(report, Catch::Contains("scale: 13 calls; the first specialization did not fit 11 of these calls"));
    CHECK_THAT(report, Catch::Contains("hint: call mark_dynamic(x, 0) before the first call"));
    CHECK_THAT(report, Catch::Contains("round or pad this value to a few sizes (buckets): found 5 different values"));
    CHECK_THAT(report, Catch::Contains("hint: set .cache_limit = 3, which is enough for these calls"));
}

TEST_CASE("the profiler says when no limit would do", "[recompiles]") {
    RecompileProfiler profiler;
    const auto observed = compile(plus, {.backend = profiler, .name = "plus", .arg_names = {"x", "n"}});
    for (int n = 0; n < 70; ++n) observed(zeros({1}), n);
    REQUIRE(profiler.causes().size() == 1);
    CHECK(profiler.causes()[0].calls == 69);
    CHECK(profiler.causes()[0].reasons.size() == 16);
    CHECK_THAT(profiler.report(), Catch::Contains("no cache limit below 64 is enough for these calls"));
    CHECK_THAT(profiler.report(), Catch::Contains("16 or more different values"));
    CHECK(observed.stats().eager_calls == 6);
}

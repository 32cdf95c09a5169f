// OnCompile, cache_entries() and PrepareDebug: what tools see of compile().
#include <whittle/whittle.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/files.h"

using namespace whittle;

namespace {

Tensor step(Tensor x, int n) {
    x = x * n;
    graph_break();
    return x + 1;
}

}  // namespace

TEST_CASE("a hook is told of each compilation as long as it lives", "[hooks]") {
    std::vector<CompiledGraphInfo> seen;
    const auto compiled = compile(step, {.name = "step", .arg_names = {"x", "n"}});
    {
        const OnCompile hook([&](const CompiledGraphInfo& graph) { seen.push_back(graph); });
        compiled(ones({2}), 2);
        compiled(ones({2}), 2);
    }
    compiled(ones({3}), 5);
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].function == "step");
    CHECK(seen[0].backend == "eager");
    CHECK_THAT(seen[0].captured, Catch::Contains("aten.mul.Tensor") && Catch::Contains("L['x']"));
    CHECK_THAT(seen[1].functional, Catch::Contains("aten.add.Tensor"));
    CHECK(std::find(seen[0].guards.begin(), seen[0].guards.end(), "L['n'] == 2") != seen[0].guards.end());
}

TEST_CASE("a hook sees the graphs of gradients", "[hooks]") {
    std::vector<CompiledGraphInfo> seen;
    const OnCompile hook([&](const CompiledGraphInfo& graph) { seen.push_back(graph); });
    const auto compiled = compile([](const Tensor& x) { return x.tanh().sum(); });
    Tensor x = ones({2});
    compiled(x);
    compiled(x.requires_grad_());
    REQUIRE(seen.size() == 2);
    CHECK(seen[1].compile_id == seen[0].compile_id + 1);
    CHECK(seen[0].joint.empty());
    CHECK(seen[0].backward.empty());
    CHECK_THAT(seen[1].joint, Catch::Contains("aten.tanh.default") && Catch::Contains("tangent_"));
    CHECK_THAT(seen[1].forward, Catch::Contains("aten.tanh.default") && !Catch::Contains("tangent_"));
    CHECK_THAT(seen[1].backward, Catch::Contains("tangent_"));
}

TEST_CASE("a hook's exception leaves the compiled function, and the graph can be used afterwards", "[hooks]") {
    const auto compiled = compile(step, {.name = "step"});
    {
        const OnCompile hook([](const CompiledGraphInfo&) { throw std::runtime_error("stop"); });
        CHECK_THROWS_WITH(compiled(ones({2}), 2), "stop");
    }
    CHECK(compiled(ones({2}), 2).equal(full({2}, 3.0)));
}

TEST_CASE("cache entries show guards and how often each fitted", "[hooks]") {
    const auto compiled = compile(step, {.name = "step", .arg_names = {"x", "n"}});
    for (const int n : {2, 2, 2, 3}) compiled(ones({2}), n);
    const std::vector<CacheEntry> entries = cache_entries(compiled);
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].hits == 2);
    CHECK(entries[1].hits == 0);
    CHECK(entries[0].graphs == 2);
    CHECK(std::find(entries[1].guards.begin(), entries[1].guards.end(), "L['n'] == 3") != entries[1].guards.end());
}

TEST_CASE("what runs in a scope is written as by trace", "[hooks]") {
    const TempDir folder("hooks");
    const std::filesystem::path debug = folder.path() / "debug";
    const auto compiled = compile(step, {.name = "step"});
    {
        const PrepareDebug scope(debug.string());
        compiled(ones({2}), 2);
    }
    compiled(ones({3}), 4);
    CHECK(std::filesystem::exists(debug / "graphs/step_0.json"));
    CHECK(std::filesystem::exists(debug / "graphs/step_1.json"));
    CHECK_FALSE(std::filesystem::exists(debug / "graphs/step_2.json"));
    CHECK(std::filesystem::exists(debug / "records/step_0.json"));
    CHECK(std::filesystem::exists(debug / "code/step/full_code.cpp"));
    CHECK_THROWS_WITH(PrepareDebug(debug.string()), Catch::Contains("found a folder with a trace"));
}

// OnCompile, cache_entries() and PrepareDebug: what tools see of compile().
#include <sys/wait.h>
#include <unistd.h>
#include <whittle/whittle.h>

#include <algorithm>
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

namespace {

/// What a hook is told when a function whose input requires a gradient is compiled for the backend.
CompiledGraphInfo told_of_training(const std::string& backend) {
    std::vector<CompiledGraphInfo> seen;
    const OnCompile hook([&](const CompiledGraphInfo& graph) { seen.push_back(graph); });
    const auto compiled = compile([](Tensor x, int n) { return (x.softmax(0) * n + 0 * x).sum(); },
                                  {.backend = backend, .name = "f", .arg_names = {"x", "n"}});
    Tensor x = ones({4}).requires_grad_();
    compiled(x, 3).backward();
    REQUIRE(seen.size() == 1);
    return seen[0];
}

}  // namespace

TEST_CASE("a hook is given the graph of each stage, as text and as a file has it", "[hooks]") {
    const CompiledGraphInfo info = told_of_training("halide");
    struct Expected {
        const char *stage, *part, *has, *has_not;
    };
    for (const Expected& expected :
         {Expected{"captured", "", "aten.softmax.int", "tangent_"},
          Expected{"functional", "", "aten.softmax.int", "tangent_"},
          Expected{"joint", "", "tangent_", "aten.softmax.int"},
          Expected{"forward", "", "aten._softmax.default", "tangent_"},
          Expected{"backward", "", "aten._softmax_backward_data.default", "aten.softmax.int"},
          Expected{"functional", "forward", "aten._softmax.default", "tangent_"},
          Expected{"decomposed", "forward", "aten.sum.default", "tangent_"},
          Expected{"folded", "forward", "aten.sum.default", "tangent_"},
          Expected{"core", "forward", "aten.sum.default", "tangent_"},
          Expected{"plan", "forward", "aten.sum.default", "tangent_"},
          Expected{"functional", "backward", "tangent_", "aten.sum.default"},
          Expected{"core", "backward", "tangent_", "aten.sum.default"},
          Expected{"plan", "backward", "tangent_", "aten.sum.default"}}) {
        CAPTURE(expected.stage, expected.part);
        const StageGraph* const graph = info.graph(expected.stage, expected.part);
        REQUIRE(graph != nullptr);
        CHECK_THAT(graph->text, Catch::Contains(expected.has) && !Catch::Contains(expected.has_not));
        CHECK_THAT(graph->json,
                   Catch::Contains(R"("format": "whittle.graph")") && Catch::Contains('"' + std::string(expected.has)));
    }
    CHECK(info.graph("captured")->text == info.captured);
    CHECK(info.graph("joint")->text == info.joint);
    CHECK(info.graph("core") == nullptr);  // it was cut: its parts have one each
    CHECK(info.compile_id > 0);
}

TEST_CASE("a hook is given the kernels of both parts, with schedules and source", "[hooks]") {
    const CompiledGraphInfo info = told_of_training("halide");
    for (const std::string part : {"forward", "backward"}) {
        const auto of = std::find_if(info.kernels.begin(), info.kernels.end(),
                                     [&](const KernelInfo& kernel) { return kernel.part == part; });
        REQUIRE(of != info.kernels.end());
        CHECK_FALSE(of->calls.empty());
        CHECK_THAT(of->expressions, Catch::Contains("exp(") || Catch::Contains("tangent_"));
        CHECK_THAT(of->source, Catch::Contains("Func ") && Catch::Contains(of->name));
        for (const std::string& call : of->calls)
            CHECK_THAT(info.graph("plan", part)->text, Catch::Contains('%' + call + " ="));
    }
    CHECK(told_of_training("eager").kernels.empty());
}

TEST_CASE("a hook is given guards as trees beside their texts", "[hooks]") {
    const CompiledGraphInfo info = told_of_training("eager");
    REQUIRE(info.conditions.size() == info.guards.size());
    const auto about = [&](const std::string& source) {
        const auto found = std::find_if(info.conditions.begin(), info.conditions.end(),
                                        [&](const GuardInfo& guard) { return guard.source == source; });
        REQUIRE(found != info.conditions.end());
        return *found;
    };
    CHECK(about("L['x']").kind == "tensor_match");
    CHECK_THAT(about("L['x']").json, Catch::Contains(R"("dtype": "f32")") && Catch::Contains(R"("sizes": [4])") &&
                                         Catch::Contains(R"("requires_grad": true)"));
    CHECK(about("L['n']").kind == "scalar_equal");
    CHECK(about("L['n']").text == "L['n'] == 3");
    CHECK_THAT(about("L['n']").json, Catch::Contains(R"("local": "n")") && Catch::Contains(R"("equals": 3)"));
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

TEST_CASE("a scope replaces the trace of an earlier run of the program, and no other program's", "[hooks][process]") {
    const TempDir folder("hooks");
    const auto compiled = compile(step, {.name = "step"});
    const auto run_before = [&](const std::filesystem::path& debug) {
        const pid_t child = ::fork();
        if (child == 0) {
            {
                const PrepareDebug scope(debug.string());
                compile([](const Tensor& x) { return x + 1; }, {.name = "before"})(ones({2}));
            }
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
        REQUIRE(std::filesystem::exists(debug / "graphs/before_0.json"));
    };
    const std::filesystem::path own = folder.path() / "own", other = folder.path() / "other";
    run_before(own);
    {
        const PrepareDebug scope(own.string());
        compiled(ones({2}), 2);
    }
    CHECK(std::filesystem::exists(own / "graphs/step_0.json"));
    CHECK_FALSE(std::filesystem::exists(own / "graphs/before_0.json"));

    run_before(other);
    std::string index = read_file(other / "index.json");
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    REQUIRE(index.find(program) != std::string::npos);
    write_file(other / "index.json", index.replace(index.find(program), program.size(), "/usr/bin/other"));
    CHECK_THROWS_WITH(PrepareDebug(other.string()), Catch::Contains("found a folder with a trace"));
    CHECK(std::filesystem::exists(other / "graphs/before_0.json"));
}

TEST_CASE("what is stepped through is what ran before, its views and pure functions too", "[hooks]") {
    const TempDir folder("hooks");
    int ran = 0;
    const auto pure =
        compile([&](const Tensor& x) { return ++ran, x * 3; }, {.backend = "eager", .pure = true, .name = "pure"});
    const auto view = compile([](const Tensor& x) { return x.view({2, 1}); }, {.backend = "eager", .name = "view"});
    const Tensor x = tensor({1.F, -2.F});
    static_cast<void>(pure(x));
    static_cast<void>(pure(x));
    REQUIRE(ran == 1);
    {
        const Debug scope(folder.path().string());
        CHECK(pure(x).equal(x * 3));
        CHECK(ran == 2);
        Tensor column = view(x);
        column.add_(1);
        CHECK(x.equal(tensor({2.F, -1.F})));
    }
    std::string files;
    for (const auto& file : std::filesystem::recursive_directory_iterator(folder.path()))
        files += file.path().filename().string() + " ";
    CHECK_THAT(files, Catch::Contains("pure_0.step.cpp"));
    CHECK_THAT(files, Catch::Contains("view_0.step.cpp"));
}

TEST_CASE("graphs say where inputs begin, and which of them the program computed with gradients", "[hooks]") {
    std::vector<CompiledGraphInfo> seen;
    const OnCompile hook([&](const CompiledGraphInfo& graph) { seen.push_back(graph); });
    const auto compiled =
        compile([](const Tensor& x, const Tensor& h) { return x + h; }, {.name = "sum", .arg_names = {"x", "h"}});
    const Tensor w = ones({2}).requires_grad_();
    compiled(ones({4}).narrow(0, 2, 2), w * 2);
    compiled(ones({2}), w);
    REQUIRE(seen.size() == 1);  // neither is guarded
    CHECK_THAT(seen[0].captured, Catch::Contains("placeholder[\"L['x']\"] : f32[2] offset 2\n"));
    CHECK_THAT(seen[0].captured, Catch::Contains("placeholder[\"L['h']\"] : f32[2] grad nonleaf\n"));
}

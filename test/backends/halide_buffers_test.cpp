// Where the values of a plan lie while it runs.
#include <array>
#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "backends/halide/buffers.h"
#include "backends/halide/halide_backend.h"
#include "backends/halide/planned.h"
#include "backends/halide/scratch.h"
#include "compile/compile.h"
#include "frontends/onnx/load.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"

using namespace whittle;
using namespace whittle::halide;

namespace {

/// Nothing that is alive together lies together, and all of it in the block.
void check_plan(const std::vector<Lifetime>& lifetimes, const BufferPlan& plan) {
    REQUIRE(plan.offsets.size() == lifetimes.size());
    for (std::size_t i = 0; i < lifetimes.size(); i++) {
        const Lifetime& a = lifetimes[i];
        CHECK(plan.offsets[i] % kBufferAlignment == 0);
        CHECK(plan.offsets[i] + a.bytes <= plan.bytes);
        for (std::size_t k = 0; k < i; k++) {
            const Lifetime& b = lifetimes[k];
            if (a.last < b.first || b.last < a.first) continue;
            INFO("values " << k << " and " << i);
            CHECK((plan.offsets[i] + a.bytes <= plan.offsets[k] || plan.offsets[k] + b.bytes <= plan.offsets[i]));
        }
    }
    CHECK(plan.bytes >= most_alive(lifetimes));
}

std::vector<Lifetime> temporaries_of(const Graph& graph) {
    program::CompiledProgram program(graph, {{"rules", "plain"}});
    const auto plan = planned(program);
    REQUIRE(std::holds_alternative<const program::Plan*>(plan));
    std::vector<Lifetime> lifetimes;
    for (const ValueLife& life : lives_of(*std::get<const program::Plan*>(plan)))
        if (life.is_temporary()) lifetimes.push_back(life);
    return lifetimes;
}

std::vector<Tensor> random_inputs(const Graph& graph, unsigned seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<Tensor> inputs;
    for (const NodeId id : graph.placeholders()) {
        const ValueMeta& meta = graph.node({id}).meta();
        Tensor& tensor = inputs.emplace_back(meta.dtype, meta.sizes);
        for (std::int64_t i = 0; i < tensor.numel(); i++) tensor.mutable_data<float>()[i] = uniform(engine);
    }
    return inputs;
}

}  // namespace

TEST_CASE("values that are alive together share no memory", "[halide]") {
    std::mt19937 engine(3);
    for (int round = 0; round < 200; round++) {
        std::vector<Lifetime> lifetimes(engine() % 30);
        for (Lifetime& life : lifetimes) {
            life.first = engine() % 20;
            life.last = life.first + engine() % 6;
            life.bytes = engine() % (engine() % 2 ? 300 : 100'000);
        }
        check_plan(lifetimes, plan_buffers(lifetimes));
    }
    // A chain needs two buffers, and a value that fits into a gap gets the smallest.
    const std::vector<Lifetime> chain = {{640, 0, 1}, {640, 1, 2}, {640, 2, 3}, {640, 3, 4}};
    CHECK(plan_buffers(chain).bytes == 1280);
    const std::vector<Lifetime> gaps = {{1024, 0, 9}, {512, 0, 3}, {256, 0, 9}, {192, 0, 3}, {128, 0, 9}, {64, 4, 9}};
    CHECK(plan_buffers(gaps).offsets[5] == plan_buffers(gaps).offsets[3]);
}

TEST_CASE("networks take at most a tenth and a page more memory than what is alive", "[halide]") {
    for (const char* name : {"bert_2l_d128", "gpt2_2l_d128", "lstm2_d64", "mobilenet_v2_w025", "squeezenet1_1"}) {
        INFO(name);
        const auto folder = std::filesystem::path(WHITTLE_SOURCE_DIR) / "share/models" / name;
        const std::vector<Lifetime> lifetimes = temporaries_of(load_onnx(folder / "model.onnx", {}));
        REQUIRE(lifetimes.size() > 5);
        const BufferPlan plan = plan_buffers(lifetimes);
        check_plan(lifetimes, plan);
        CHECK(10 * plan.bytes <= 11 * most_alive(lifetimes) + 10 * 4096);
    }
}

TEST_CASE("outputs, and what the host checks, are no temporaries", "[halide]") {
    const Graph graph = parse(R"(graph kinds {
  %x = placeholder["x"] : f32[8, 8]
  %p = placeholder["p"] : i64[3]
  %y = aten.mm.default(%x, %x) : f32[8, 8]
  %z = aten.mm.default(%y, %x) : f32[8, 8]
  %q = aten.add.Scalar(%p, 1) : i64[3]
  %w = aten.index_select.default(%z, 0, %q) : f32[3, 8]
  return (%w, %x)
}
)");
    program::CompiledProgram program(graph);
    const auto plan = planned(program);
    std::map<std::string, ValueLife> lives;
    for (const ValueLife& life : lives_of(*std::get<const program::Plan*>(plan)))
        lives[std::get<const program::Plan*>(plan)->graph.node({life.value.node}).name] = life;
    CHECK(lives.at("y").is_temporary());
    CHECK(lives.at("y").bytes == 256);
    CHECK(lives.at("y").last > lives.at("y").first);
    CHECK_FALSE(lives.at("q").is_temporary());
    CHECK_FALSE(lives.at("w").is_temporary());
    CHECK_FALSE(lives.at("x").is_temporary());
    CHECK(lives.at("x").last == std::get<const program::Plan*>(plan)->kernels.size());
}

TEST_CASE("a program runs again, and in several threads, in memory of its own", "[halide]") {
    const Graph graph = parse(R"(graph chain {
  %x = placeholder["x"] : f32[16, 24]
  %w = placeholder["w"] : f32[24, 24]
  %a = aten.mm.default(%x, %w) : f32[16, 24]
  %b = aten.mm.default(%a, %w) : f32[16, 24]
  %c = aten.mm.default(%b, %w) : f32[16, 24]
  %d = aten.mm.default(%c, %w) : f32[16, 24]
  %e = aten.add.Tensor(%d, %a) : f32[16, 24]
  return (%e, %b)
}
)");
    const auto backend = make_halide_backend();
    auto compiled = program::compile(*backend, graph, {});
    REQUIRE(std::holds_alternative<std::unique_ptr<Executable>>(compiled));
    const auto& executable = std::get<std::unique_ptr<Executable>>(compiled);
    std::array<std::vector<Values>, 4> got;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < got.size(); t++)
        threads.emplace_back([&, t] {
            for (unsigned round = 0; round < 20; round++)
                got[t].push_back(std::get<Values>(executable->run(random_inputs(graph, t * 100 + round))));
        });
    for (std::thread& thread : threads) thread.join();
    for (unsigned t = 0; t < got.size(); t++)
        for (unsigned round = 0; round < 20; round++) {
            const std::vector<Tensor> expected = evaluate(graph, random_inputs(graph, t * 100 + round));
            for (std::size_t i = 0; i < expected.size(); i++)
                for (std::int64_t k = 0; k < expected[i].numel(); k++)
                    REQUIRE(got[t][round][i].data<float>()[k] == Approx(expected[i].data<float>()[k]).margin(1e-4));
        }
}

TEST_CASE("large scratch memory is taken again, aligned, and no block by two", "[halide][process]") {
    constexpr std::size_t kSize = 7'300'000;
    void* const first = take_scratch(nullptr, kSize);
    void* const second = take_scratch(nullptr, kSize);
    REQUIRE(first);
    REQUIRE(second);
    CHECK(first != second);
    for (void* block : {first, second}) {
        CHECK(reinterpret_cast<std::uintptr_t>(block) % 128 == 0);
        std::memset(block, 1, kSize);
    }
    give_scratch(nullptr, first);
    CHECK(take_scratch(nullptr, kSize - 1000) == first);
    void* const third = take_scratch(nullptr, kSize - 1000);
    CHECK(third != first);
    void* const small = take_scratch(nullptr, 100);
    CHECK(small != first);
    give_scratch(nullptr, first);
    void* const larger = take_scratch(nullptr, 2 * kSize);
    CHECK(larger != first);
    for (void* block : {second, third == first ? nullptr : third, larger, small, static_cast<void*>(nullptr)})
        give_scratch(nullptr, block);
    CHECK(take_scratch(nullptr, static_cast<std::size_t>(-1)) == nullptr);
}

#include "replay/profile.h"

#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "formats/json_io.h"
#include "graph/text.h"
#include "planted_backend.h"

using namespace whittle;

namespace {

const Graph kProduct = parse(
    "graph chain {\n  %x = placeholder[\"x\"] : f32[256, 256]\n  %a = aten.neg.default(%x) : f32[256, 256]\n"
    "  %b = aten.matmul.default(%a, %x) : f32[256, 256]\n  %c = aten.relu.default(%b) : f32[256, 256]\n"
    "  return (%c)\n}\n");
constexpr std::int64_t kValue = 4 * 256 * 256;

Profile profiled(const std::string& backend, const ProfileOptions& how = {}) {
    const Tensor x(DType::f32, {256, 256});
    return profile(kProduct, {&x, 1}, *find_backend(backend), {}, how);
}

}  // namespace

TEST_CASE("an interpreted graph is measured call by call", "[profile]") {
    const Profile found = profiled("eager");
    REQUIRE(found.graphs.size() == 1);
    CHECK(found.graphs[0].failure == "");
    CHECK(found.graphs[0].runs >= 3);
    CHECK(found.graphs[0].seconds > 0);
    REQUIRE(found.memory.size() == 1);
    const MemoryProfile& memory = found.memory[0];
    CHECK(memory.how == "measured");
    CHECK(memory.at == std::vector<std::string>{"a", "b", "c"});
    CHECK(memory.bytes == std::vector<std::int64_t>{2 * kValue, 3 * kValue, 2 * kValue});  // x is read no more
    CHECK(memory.peak_at == "b");
    CHECK(memory.alive.size() == 3);
    CHECK(found.kernels.empty());
}

TEST_CASE("what nobody sees run has its memory by liveness, and a failure has its words", "[profile]") {
    CHECK(memory_by_liveness(kProduct).how == "liveness");
    CHECK(memory_by_liveness(kProduct).peak == 3 * kValue);
    PlantedBackend failing;
    failing.on_compile = [](const Graph&) { throw Error("no such thing"); };
    const Tensor x(DType::f32, {256, 256});
    const Profile found = profile(kProduct, {&x, 1}, failing, {});
    REQUIRE(found.graphs.size() == 1);
    CHECK(found.graphs[0].failure == "no such thing");
    REQUIRE(found.memory.size() == 1);
    CHECK(found.memory[0].how == "liveness");
}

TEST_CASE("the roof is the slower of arithmetic and memory", "[profile]") {
    const MachineSpeed machine{.flops_per_second = 100, .bytes_per_second = 10, .threads = 1};
    CHECK(least_seconds(machine, 1000, 10) == Approx(10));
    CHECK(least_seconds(machine, 10, 1000) == Approx(100));
    CHECK(machine_speed().flops_per_second > 1e7);
    CHECK(machine_speed().bytes_per_second > 1e6);
}

// Bugs planted in the backend halide end with the guilty directive or op; what is innocent is not accused.
#include "reduce/culprit.h"

#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "tensor/random.h"

using namespace whittle;
using namespace whittle::reduce;

namespace {

Graph product(const std::string& plant) {
    Graph graph = parse(
        "graph product {\n  %x = placeholder[\"x\"] : f32[16, 16]\n  %y = placeholder[\"y\"] : f32[16, 16]\n"
        "  %p = aten.mm.default(%x, %y) : f32[16, 16]\n  %q = aten.relu.default(%p) : f32[16, 16]\n"
        "  return (%q)\n}\n");
    Random random(3);
    Failure failure;
    failure.backend = "halide";
    if (!plant.empty()) failure.options["plant_TESTING_ONLY"] = plant;
    failure.signature = {"mismatch", "run", "value"};
    for (int i = 0; i < 2; i++) failure.inputs.push_back(random_tensor(DType::f32, {16, 16}, random));
    graph.failure = failure;
    return graph;
}

std::optional<Culprit> culprit(const std::string& plant) {
    return find_culprit(product(plant), *find_backend("halide"), {});
}

}  // namespace

TEST_CASE("the directive that breaks a schedule is found, with those that it takes", "[culprit]") {
    const auto found = culprit("schedule");
    REQUIRE(found);
    CHECK(found->component == "schedule");
    CHECK_THAT(found->directive, Catch::Contains(".update(0).vectorize("));
    REQUIRE(found->together.size() >= 1);
    CHECK_THAT(found->together.back(), Catch::Contains("allow_race_conditions()"));

    // Switched off by the option that the search uses, it is gone.
    Graph graph = product("schedule");
    graph.failure->options["disable"] = found->directive;
    CHECK_FALSE(find_culprit(graph, *find_backend("halide"), {}));
}

TEST_CASE("the op whose lowering is wrong is found, not its neighbour in the kernel", "[culprit]") {
    for (const std::string op : {"aten.relu.default", "aten.mm.default"}) {
        const auto found = culprit("lowering=" + op);
        REQUIRE(found);
        CHECK(found->component == "lowering");
        CHECK(found->op == op);
        CHECK(found->directive.empty());
    }
}

TEST_CASE("the application of a pass with which it begins to fail is bisected", "[culprit]") {
    Graph graph = parse(
        "graph chain {\n  %x = placeholder[\"x\"] : f32[16, 16]\n  %a = aten.relu.default(%x) : f32[16, 16]\n"
        "  %b = aten.neg.default(%a) : f32[16, 16]\n  %c = aten.abs.default(%b) : f32[16, 16]\n"
        "  %d = aten.neg.default(%c) : f32[16, 16]\n  return (%d)\n}\n");
    graph.failure = product("").failure;
    graph.failure->inputs.resize(1);
    for (const std::string pass : {"inline", "fuse"}) {
        graph.failure->options = {{"plant_TESTING_ONLY", "pass=" + pass}};
        const auto found = find_culprit(graph, *find_backend("halide"), {});
        REQUIRE(found);
        CHECK(found->component == "pass");
        CHECK(found->op == pass);
        CHECK(found->together == std::vector<std::string>{"pass-limit=" + pass + "=1", "pass-limit=" + pass + "=2"});
        CHECK_THAT(found->text(), Catch::Contains("first bad: --backend-option pass-limit=" + pass + "=2"));
        // The limit that is called good is, and so is the pass switched off.
        for (const auto& [key, value] :
             {std::pair<std::string, std::string>{"pass-limit", pass + "=1"}, {"disable", pass}}) {
            Graph good = graph;
            good.failure->options[key] = value;
            CHECK_FALSE(find_culprit(good, *find_backend("halide"), {}));
        }
    }
    graph.failure->options = {{"pass-limit", "inlin=1"}};
    CHECK_THROWS_WITH(find_culprit(graph, *find_backend("halide"), {}), Catch::Contains("share, fuse, inline"));
}

TEST_CASE("what does not fail has no culprit, nor has a backend that we cannot look into", "[culprit]") {
    CHECK_FALSE(culprit(""));
    Graph graph = product("schedule");
    graph.failure->backend = "eager";
    CHECK_FALSE(find_culprit(graph, *find_backend("eager"), {}));
}

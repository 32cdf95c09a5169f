// Kinds of finds: by how they fail and on which ops.
#include "fuzz/fuzz.h"

#include <catch2/catch.hpp>

#include "graph/text.h"

namespace whittle::fuzz {

TEST_CASE("a find is named after its failure and its first four ops", "[fuzz]") {
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[3]\n  %a = aten.relu.default(%x) : f32[3]\n"
        "  %b = aten.add.Tensor(%a, %a) : f32[3]\n  %c = aten.relu.default(%b) : f32[3]\n  return (%c)\n}\n");
    CHECK(kind_of(graph) == "failure-add+relu");
    graph.failure.emplace().signature.kind = "mismatch";
    CHECK(kind_of(graph) == "mismatch-add+relu");
    const Graph several = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[3]\n  %a = aten.sin.default(%x) : f32[3]\n"
        "  %b = aten.cos.default(%a) : f32[3]\n  %c = aten.exp.default(%b) : f32[3]\n"
        "  %d = aten.abs.default(%c) : f32[3]\n  %e = aten.neg.default(%d) : f32[3]\n  return (%e)\n}\n");
    CHECK(kind_of(several) == "failure-abs+cos+exp+neg");
}

TEST_CASE("what never occurred is not counted, but failures are", "[fuzz]") {
    CHECK(to_text(Counts{.models = 6, .right = 6, .ops = 9, .pairs = 2, .seconds = 2}) ==
          "models 6: 6 right, 0 failing; 9 ops, 2 pairs of ops, 3 models per second\n");
    CHECK(to_text(Counts{.models = 4, .right = 1, .refused = 2, .failing = 1, .ops = 9, .pairs = 2, .seconds = 1}) ==
          "models 4: 1 right, 2 refused by the reference, 1 failing; 9 ops, 2 pairs of ops, 4 models per second\n");
}

TEST_CASE("a run with a time limit ends by time, unless a number of models is given", "[fuzz]") {
    constexpr std::chrono::seconds kTime{600};
    CHECK(Options{}.last() == kDefaultCount);
    CHECK(Options{.count = 3}.last() == 3U);
    CHECK(Options{.time_limit = kTime}.last() == std::nullopt);
    CHECK(Options{.count = 3, .time_limit = kTime}.last() == 3U);
}

}  // namespace whittle::fuzz

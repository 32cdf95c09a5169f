// The reductions of minimize(): what they make of a model, and where a search stops.
#include <catch2/catch.hpp>
#include <set>

#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/interpreter.h"
#include "reduce/minimize.h"

using namespace whittle;
using namespace whittle::reduce;

namespace {

/// Fails where a matmul is followed, anywhere later, by a softmax and the matmul adds up at least five products. Every
/// candidate that it sees is held to what a candidate promises.
class Strict final : public Oracle {
  public:
    std::set<std::string> seen = {};
    std::set<std::string> asked_twice = {};

    Observation observe(const Case& candidate) override {
        verify(candidate.graph, Stage::registered, Registry::instance());
        Graph inferred = candidate.graph;
        infer_all(inferred);
        CHECK(print(inferred) == print(candidate.graph));
        const std::vector<Tensor> outputs = evaluate(candidate.graph, candidate.inputs);
        REQUIRE(outputs.size() == candidate.expected.size());
        for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(same_bits(outputs[i], candidate.expected[i]));
        const std::string identity = Identity(*this)(candidate);
        if (!seen.insert(identity).second) asked_twice.insert(identity);
        bool found = false, failed = false;
        for (const Node& node : candidate.graph.nodes) {
            if (node.target == "aten.mm.default")
                found |= candidate.graph.node(*node.args.at(0).node()).meta().sizes[1] >= 5;
            failed |= found && node.target == "aten.softmax.int";
        }
        return {failed, false, {failed ? "exception" : "", "compile", "boom"}, failed ? "boom" : ""};
    }
    void describe(Failure& failure) const override { failure.backend = "strict"; }
    std::string name() const override { return "strict"; }
};

const char* const kAttention = R"(graph attention {
  %x = placeholder["x"] : f64[8, 16]
  %w = get_attr["w"] : f64[16, 12]
  %b = get_attr["b"] : f64[12]
  %r = aten.relu.default(%x) : f64[8, 16]
  %m = aten.mm.default(%r, %w) : f64[8, 12]
  %a = aten.add.Tensor(%m, %b, alpha=2) : f64[8, 12]
  %t = aten.tanh.default(%a) : f64[8, 12]
  %s = aten.softmax.int(%t, 1) : f64[8, 12]
  %n = aten.neg.default(%s) : f64[8, 12]
  return (%n)
}
)";

Minimized minimized(Strict& oracle, const Strategy& how = {}) {
    const Graph graph = parse(kAttention);
    const std::vector<Tensor> input = {Tensor::of(std::vector<double>(128, 0.3), {8, 16})};
    return minimize(graph, input, oracle, how);
}

}  // namespace

TEST_CASE("what deletion leaves is made simpler until nothing changes", "[minimize]") {
    Strict oracle;
    const Minimized result = minimized(oracle);
    REQUIRE(result.ending == Minimized::Ending::minimized);
    CHECK(result.confirmed);
    CHECK(result.search.one_minimal);
    CHECK(print(result.smallest.graph) == R"(graph attention {
  %r = placeholder["r"] : f32[1, 5]
  %t = placeholder["t"] : f32[1, 1]
  %w = get_attr["w"] : f32[5, 1]
  %m = aten.mm.default(%r, %w) : f32[1, 1]
  %s = aten.softmax.int(%t, 1) : f32[1, 1]
  return (%m, %s)
}
)");
    // The baseline and the last run ask again on purpose: the original and the result.
    CHECK(oracle.asked_twice.size() == 2);
    CHECK(oracle.seen.size() == result.search.queries);
    const auto pass = [&](const std::string& name) {
        for (const ReductionReport& report : result.passes)
            if (report.name == name) return report;
        return ReductionReport{};
    };
    CHECK(pass("calls").accepted > 0);
    CHECK(pass("calls").before.calls == 6);
    CHECK(pass("calls").after.calls == 2);
    CHECK(pass("dims").accepted > 0);
    CHECK(pass("dims").after.elements < pass("dims").before.elements);
    CHECK(pass("dtype").accepted > 0);
    CHECK(pass("data").accepted > 0);
    std::size_t tried = 0;
    for (const ReductionReport& report : result.passes) {
        tried += report.tried;
        CHECK(report.accepted <= report.tried);
    }
    CHECK(result.search.queries == 1 + tried);  // the original, and every candidate that was judged
}

TEST_CASE("reductions can be left out, and the step limit counts theirs too", "[minimize]") {
    Strict oracle;
    const Minimized deleted = minimized(oracle, {.passes = {"calls"}});
    CHECK(deleted.after.elements > 100);
    CHECK(deleted.search.one_minimal);
    const Minimized only = minimized(oracle, {.passes = {"dims"}});
    CHECK(only.after.calls == 6);
    CHECK_FALSE(only.search.one_minimal);
    CHECK(only.search.reservation == "the pass 'calls' is not in --delta-passes");
    CHECK(only.after.elements < deleted.after.elements);
    for (const std::int64_t limit : {1, 3, 9, 12}) {
        Strict counted;
        const Minimized stopped = minimized(counted, {.step_limit = limit});
        INFO(limit);
        CHECK(stopped.ending == Minimized::Ending::interrupted);
        CHECK(std::ssize(counted.seen) == limit);
        CHECK_FALSE(stopped.search.one_minimal);
        CHECK(stopped.smallest.graph.failure->signature == stopped.signature);
    }
}

TEST_CASE("a search ends with the best so far when its time is up", "[minimize]") {
    Strict oracle;
    const Minimized stopped = minimized(oracle, {.end = std::chrono::steady_clock::now()});
    CHECK(stopped.ending == Minimized::Ending::interrupted);
    CHECK(oracle.seen.size() == 1);  // the original
    CHECK(stopped.smallest.graph.calls().size() == 6);
}

// A compilation by the backend halide takes its graph through each stage once.
#include <catch2/catch.hpp>
#include <map>

#include "backends/halide/halide_backend.h"
#include "compile/hooks.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"

using namespace whittle;

namespace {

/// Counts what is asked for while it lives.
struct Counted {
    Counted() {
        program::set_after_pass([this](const Application& done) { ++times[done.pass]; });
    }
    ~Counted() { program::set_after_pass({}); }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    std::map<PassId, int> times;
};

/// Two composites, and a call that joins the kernel of the first.
Graph two_matmuls() {
    return parse(R"(graph example {
  %x = placeholder["x"] : f32[4, 4]
  %a = aten.matmul.default(%x, %x) : f32[4, 4]
  %b = aten.neg.default(%a) : f32[4, 4]
  %c = aten.matmul.default(%b, %x) : f32[4, 4]
  return (%c)
}
)");
}

constexpr int kKernels = 2;  // each matmul is an anchor
constexpr int kLowered = 4;  // three calls, and the second anchor again in its own kernel

}  // namespace

TEST_CASE("halide decomposes and plans a graph once", "[halide]") {
    const auto backend = halide::make_halide_backend();
    Counted count;
    const CompileResult compiled = backend->compile(two_matmuls(), {});
    REQUIRE(std::holds_alternative<std::unique_ptr<Executable>>(compiled));
    CHECK(count.times[PassId::decompose] == 2);
    CHECK(count.times[PassId::lower] == kLowered);
    CHECK(count.times[PassId::schedule] == kKernels);
}

TEST_CASE("what is to blame is asked of one plan", "[halide]") {
    const auto backend = halide::make_halide_backend();
    Graph graph = two_matmuls();
    graph.failure = Failure{};
    graph.failure->inputs = {Tensor::of(std::vector<float>(16, 1), {4, 4})};
    Counted count;
    const auto inspection = offered<Switchable>(*backend)->inspect(graph, {});
    REQUIRE(inspection);
    CHECK_FALSE(inspection->parts().passes.empty());
    CHECK_FALSE(inspection->wrong_before(evaluate(graph, graph.failure->inputs)));
    CHECK(count.times[PassId::decompose] == 2);
    CHECK(count.times[PassId::schedule] == kKernels + 3);  // and each of the three calls alone
}

TEST_CASE("a stored stage of which a part is read is computed whole", "[halide]") {
    // The search never asks for the first boundary: the last vector, shifted inwards, began one before the input.
    const Graph graph = parse(R"(graph part {
  %x = placeholder["x"] : bool[4]
  %y = placeholder["y"] : i64[]
  %edges = aten.add.Scalar(%x, 300) : i64[4]
  %place = aten.bucketize.Tensor(%y, %edges) : i64[]
  return (%place)
}
)");
    const std::vector<Tensor> inputs = {Tensor(DType::boolean, {4}), Tensor::of(Scalar(7), DType::i64)};
    const auto backend = halide::make_halide_backend();
    CompileResult compiled = backend->compile(graph, {});
    REQUIRE(std::holds_alternative<std::unique_ptr<Executable>>(compiled));
    const RunResult result = (*std::get<std::unique_ptr<Executable>>(compiled)).run(inputs);
    REQUIRE(std::holds_alternative<Values>(result));
    CHECK(same_bits(std::get<Values>(result).at(0), evaluate(graph, inputs).at(0)));
}

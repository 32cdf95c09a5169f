#include "graph/failure_file.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "graph/text.h"

using namespace whittle;

TEST_CASE("a failure is stored beside an ONNX file and read back", "[failure]") {
    const TempDir folder;
    const auto model = folder.path() / "m.onnx";
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"in\"] : f32[2]\n  %y = aten.relu.default(%x) : f32[2]\n  return (%y)\n}\n");
    CHECK_FALSE(load_failure(graph, model));
    Failure recorded;
    recorded.backend = "halide";
    recorded.signature = {"mismatch", "run", "value"};
    recorded.inputs = {Tensor::of<float>({1, NAN})};
    graph.failure = recorded;
    save_failure(graph, model);
    const auto failure = load_failure(graph, model);
    REQUIRE(failure);
    CHECK(failure->backend == "halide");
    CHECK(failure->signature == graph.failure->signature);
    REQUIRE(failure->inputs.size() == 1);
    CHECK(same_bits(failure->inputs[0], graph.failure->inputs[0]));

    const Graph other = parse("graph g {\n  %x = placeholder[\"in\"] : f32[3]\n  return (%x)\n}\n");
    CHECK_THROWS_AS(load_failure(other, model), Error);
}

// Dtypes that Halide does not have are refused by name, wherever in a graph they occur.
#include <catch2/catch.hpp>

#include "backends/halide/planned.h"
#include "ops/core/builder.h"

namespace whittle {

TEST_CASE("halide names a dtype that it does not have", "[halide]") {
    Graph graph;
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {4}));
    GraphBuilder builder(graph);
    const V stored = builder.convert({x, graph.node(x).meta()}, DType::f8_e4m3fn);
    graph.output({builder.convert(stored, DType::f32).ref});

    program::CompiledProgram program(graph);
    const auto planned = halide::planned(program);
    const auto* failure = std::get_if<BackendFailure>(&planned);
    REQUIRE(failure);
    CHECK(failure->unsupported);
    CHECK(failure->op == "aten._to_copy.default");
    CHECK_THAT(failure->message, Catch::Contains("halide has no element type f8_e4m3fn"));
    CHECK(program::not_lowered(graph) == std::vector<std::string>{"aten._to_copy.default"});
}

TEST_CASE("halide names complex numbers, made of real ones and read again", "[halide]") {
    Graph graph;
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {4}));
    GraphBuilder builder(graph);
    const V spectrum = builder.call("aten.fft_rfft.default", {x});
    graph.output({builder.call("aten.abs.default", {arg(spectrum)}).ref});
    CHECK(program::not_lowered(graph) ==
          std::vector<std::string>{"aten.fft_rfft.default", "aten.abs.default", "aten._fft_r2c.default"});
}

}  // namespace whittle

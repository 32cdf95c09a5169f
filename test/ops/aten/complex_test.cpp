// What complex numbers are, beyond single calls: views of their parts, and what is refused by name.
#include <catch2/catch.hpp>
#include <functional>

#include "base/error.h"
#include "base/files.h"
#include "graph/json.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "passes/functionalize.h"
#include "passes/joint.h"

namespace whittle {
namespace {

using Catch::Contains;

std::string message(const std::function<void()>& f) {
    try {
        f();
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was refused";
}

constexpr const char* kWriteThroughPart =
    "graph g {\n  %x = placeholder[\"x\"] : c64[2]\n  %y = aten.clone.default(%x) : c64[2]\n"
    "  %r = aten.imag.default(%y) : f32[2] strides [2]\n  %w = aten.mul_.Scalar(%r, 3) : f32[2] strides [2]\n"
    "  return (%y)\n}\n";

TEST_CASE("a write to the imaginary parts is seen in the numbers, and has no functional form", "[ops]") {
    const Graph graph = parse(kWriteThroughPart);
    const Tensor x = Tensor::of({Complex64(1, 2), Complex64(-3, 0.5f)});
    const Tensor y = evaluate(graph, std::vector{x}).at(0);
    CHECK(same_bits(y, Tensor::of({Complex64(1, 6), Complex64(-3, 1.5f)})));
    CHECK_THAT(message([&] { functionalize(graph); }), Contains("which shows the c64 of %y as f32"));
}

TEST_CASE("a gradient that goes through complex numbers is refused by name", "[ops]") {
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[4]\n  %f = aten.fft_rfft.default(%x) : c64[3]\n"
        "  %a = aten.abs.default(%f) : f32[3]\n  %s = aten.sum.default(%a) : f32[]\n  return (%s)\n}\n");
    graph.nodes[0].results[0].requires_grad = true;
    CHECK_THAT(message([&] { joint(graph, {}); }), Contains("goes through complex numbers"));
}

TEST_CASE("a graph of complex numbers keeps them in its file", "[ops]") {
    Graph graph;
    Tensor large(DType::c128, {40});
    for (int i = 0; i < 40; ++i) large.mutable_data<Complex128>()[i] = Complex128(i, -0.5 * i);
    graph.output({graph.get_attr("small", Tensor::of({Complex64(1, -0.0f)})), graph.get_attr("large", large)});
    const TempDir folder;
    save_graph(graph, folder.path() / "g.json");
    const Graph loaded = load_graph(folder.path() / "g.json");
    for (const char* name : {"small", "large"}) CHECK(same_bits(loaded.attributes.at(name), graph.attributes.at(name)));
}

}  // namespace
}  // namespace whittle

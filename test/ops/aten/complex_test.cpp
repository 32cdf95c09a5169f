// What complex numbers are, beyond single calls: views of their parts, and what is refused by name.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "base/error.h"
#include "base/files.h"
#include "formats/json.h"
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
    CHECK_THAT(message([&] { functionalize(graph); }), Contains("which views the c64 tensor %y as f32"));
}

TEST_CASE("the gradient of a magnitude of a spectrum is real, as the signal is", "[ops]") {
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f64[3]\n  %f = aten.fft_rfft.default(%x) : c128[2]\n"
        "  %a = aten.abs.default(%f) : f64[2]\n  %s = aten.sum.default(%a) : f64[]\n  return (%s)\n}\n");
    graph.nodes[0].results[0].requires_grad = true;
    const Joint made = joint(graph, {});
    REQUIRE(made.gradients == std::vector<std::string>{"x"});
    // |1 + 2 - 3| has no slope; |1 + 2 w - 3 w^2|, w a third root of 1, has the parts 3/2 and -5 sqrt(3)/2.
    const auto results = evaluate(made.graph, std::vector{Tensor::of({1.0, 2.0, -3.0}), Tensor::of({1.0}, {})});
    const std::vector<double> slopes = results.at(made.outputs).values<double>();
    const double magnitude = std::sqrt(21.0), u = 1.5 / magnitude, v = -2.5 * std::sqrt(3.0) / magnitude;
    CHECK(slopes.at(0) == Approx(u));
    CHECK(slopes.at(1) == Approx(-u / 2 - v * std::sqrt(3.0) / 2));
    CHECK(slopes.at(2) == Approx(-u / 2 + v * std::sqrt(3.0) / 2));
}

TEST_CASE("a gradient for which an op has no rule of complex numbers is refused by name", "[ops]") {
    Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[4]\n  %f = aten.fft_rfft.default(%x) : c64[3]\n"
        "  %p = aten.pow.Tensor_Tensor(%f, %f) : c64[3]\n  %a = aten.abs.default(%p) : f32[3]\n"
        "  %s = aten.sum.default(%a) : f32[]\n  return (%s)\n}\n");
    graph.nodes[0].results[0].requires_grad = true;
    CHECK_THAT(message([&] { joint(graph, {}); }),
               Contains("found a complex gradient in aten.pow.Tensor_Tensor, expected a real gradient"));
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

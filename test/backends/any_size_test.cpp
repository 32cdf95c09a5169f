// What interprets serves the graph that it was compiled of at other sizes; what makes code for sizes says that it does
// not.
#include "graph/abilities.h"

#include <catch2/catch.hpp>

#include "backends/built_in/built_in.h"
#include "backends/registry.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "ops/samples/sample.h"
#include "tensor/compare.h"

using namespace whittle;

namespace {

/// With a write, and an argument that follows from the size.
Graph graph_of(std::int64_t rows) {
    const std::string n = std::to_string(rows), twice = std::to_string(2 * rows);
    return parse("graph g {\n  %x = placeholder[\"x\"] : f32[" + n + ", 2]\n  %y = aten.neg.default(%x) : f32[" + n +
                 ", 2]\n  %w = aten.add_.Tensor(%y, %x) : f32[" + n + ", 2]\n  %v = aten.view.default(%w, [" + twice +
                 "]) : f32[" + twice + "]\n  %z = aten.sigmoid.default(%v) : f32[" + twice + "]\n  return (%z)\n}\n");
}

std::unique_ptr<Executable> compiled(Backend& backend, const BackendOptions& options, const Graph& graph) {
    CompileResult result = backend.compile(graph, options);
    auto* const executable = std::get_if<std::unique_ptr<Executable>>(&result);
    REQUIRE(executable);
    return std::move(*executable);
}

}  // namespace

TEST_CASE("interpreting backends serve other sizes than they compiled for", "[any_size]") {
    for (const BuiltInBackend& row : built_in_backends()) {
        if (!row.needs.empty()) continue;  // those compile
        INFO(row.name);
        const std::unique_ptr<Backend> backend = find_backend(row.name);
        const auto first = compiled(*backend, {}, graph_of(3));
        auto second = at_other_sizes(first.get(), graph_of(5));
        REQUIRE(second);
        second = at_other_sizes(second.get(), graph_of(7));
        REQUIRE(second);
        const Tensor x = Tensor::of(std::vector<float>(14, 0.5F), {7, 2});
        const RunResult result = second->run(std::vector<Tensor>{x});
        REQUIRE(std::holds_alternative<Values>(result));
        const std::vector<Tensor> expected = evaluate(graph_of(7), {{x.clone()}});
        CHECK(same_bits(std::get<Values>(result).at(0), expected.at(0)));
    }
}

TEST_CASE("what was compiled for its sizes serves no others", "[any_size]") {
    const std::unique_ptr<Backend> halide = find_backend("halide"), aot = find_backend("aot_eager");
    const Graph without_write = parse(R"(graph g {
  %x = placeholder["x"] : f32[3, 2]
  %y = aten.neg.default(%x) : f32[3, 2]
  return (%y)
}
)");
    CHECK_FALSE(at_other_sizes(nullptr, without_write));
    // A part that another backend compiles is that backend's.
    CHECK_FALSE(at_other_sizes(compiled(*aot, {{"fw", "halide"}}, without_write).get(), without_write));
    const std::unique_ptr<Backend> checked = find_backend("pre_dispatch_eager");
    Graph wrong = without_write;
    wrong.nodes[1].results[0].sizes = {2, 3};
    CHECK_FALSE(at_other_sizes(compiled(*checked, {}, without_write).get(), wrong));
}

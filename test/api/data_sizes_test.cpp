// .capture_dynamic_shapes: results whose sizes are data, in a graph.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>

#include "values.h"

using namespace whittle;
using test::values;

namespace {

const CompileOptions kInGraph{.fullgraph = true, .capture_dynamic_shapes = true};

/// Several counts of positive elements, none among them.
std::vector<Tensor> inputs() {
    return {tensor({1.F, -2.F, 3.F, 4.F}), tensor({-1.F, 2.F, -3.F, -4.F}), tensor({1.F, 2.F, 3.F, 4.F}),
            tensor({-1.F, -2.F, -3.F, -4.F}), tensor({1.F, 2.F, -3.F, -4.F})};
}

/// The function gives the same for all of them, by one graph without a break.
void check_one_graph_for_counts(const std::function<Tensor(const Tensor&)>& function, const char* backend = "eager") {
    CompileOptions options = kInGraph;
    options.backend = backend;
    const auto compiled = compile(function, options);
    for (int round = 0; round < 2; ++round)
        for (const Tensor& x : inputs()) {
            const Tensor got = compiled(x), expected = function(x);
            CHECK(got.sizes() == expected.sizes());
            CHECK(values(got.to(kFloat)) == values(expected.to(kFloat)));
        }
    CHECK(compiled.stats().graphs == 1);
    CHECK(compiled.stats().breaks == 0);
    CHECK(compiled.stats().recompiles == 0);
}

Tensor positive_elements(const Tensor& x) { return masked_select(x * 2, x > 0) + 1; }

}  // namespace

TEST_CASE("results whose sizes are data stay in the graph, whatever their sizes", "[data_sizes]") {
    for (const char* backend : {"eager", "eager_noexcept", "aot_eager"}) {
        INFO(backend);
        check_one_graph_for_counts(positive_elements, backend);
    }
    check_one_graph_for_counts([](const Tensor& x) { return nonzero(relu(x)) * 2; });
    check_one_graph_for_counts(
        [](const Tensor& x) { return std::get<0>(_unique2((x > 0).to(kFloat), true, true, true)) + 1; });
    check_one_graph_for_counts([](const Tensor& x) { return x.index({x > 0}).sum() + x; });
    check_one_graph_for_counts([](const Tensor& x) {
        Tensor y = x + 1;
        y.mul_(2);
        const Tensor some = masked_select(y, y > 3);
        y.add_(some.sum());
        return cat({y, some, full({some.size(0)}, 7.F)});  // a size that the program reads
    });
}

TEST_CASE("by default they break the graph, and the hint names the option", "[data_sizes]") {
    const auto compiled = compile(positive_elements);
    for (const Tensor& x : inputs()) CHECK(values(compiled(x)) == values(positive_elements(x)));
    CHECK(compiled.stats().breaks == 5);
    CHECK_THROWS_WITH(compile(positive_elements, {.fullgraph = true})(inputs()[0]),
                      Catch::Contains("aten.masked_select.default has a result whose sizes depend on values"));
}

TEST_CASE("the graph has symbols for such sizes", "[data_sizes]") {
    std::string captured;
    const OnCompile hook([&](const CompiledGraphInfo& graph) { captured = graph.captured; });
    const auto compiled = compile(positive_elements, kInGraph);
    compiled(inputs()[0]);
    CHECK_THAT(captured, Catch::Contains("aten.masked_select.default(%mul, %gt) : f32[3]"));
}

TEST_CASE("a backend for fixed sizes says that it has no such operation", "[data_sizes]") {
    CompileOptions options = kInGraph;
    options.backend = "halide";
    CHECK_THROWS_WITH(compile(positive_elements, options)(inputs()[0]), Catch::Contains("aten.masked_select.default"));
}

TEST_CASE("what requires a gradient breaks the graph", "[data_sizes]") {
    const auto compiled = compile(positive_elements, {.capture_dynamic_shapes = true});
    Tensor x = inputs()[0].clone();
    x.requires_grad_();
    const Tensor kept = compiled(x);
    CHECK(values(kept) == values(positive_elements(inputs()[0])));
    CHECK(compiled.stats().breaks == 1);
    kept.sum().backward();
    CHECK(values(x.grad()) == std::vector<float>{2, 0, 2, 2});
}

TEST_CASE("a pure function whose sizes are data runs its code", "[data_sizes]") {
    CompileOptions options = kInGraph;
    options.pure = true;
    const auto compiled = compile(positive_elements, options);
    for (const Tensor& x : inputs()) CHECK(values(compiled(x)) == values(positive_elements(x)));
}

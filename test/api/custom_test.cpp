// allow_in_graph(): a function of the program's own is one operation of a graph.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>

using namespace whittle;

namespace {

/// Reads its operand's numbers, which would break a graph.
Tensor scaled(Tensor x, double by) {
    std::vector<float> values = x.to_vector<float>();
    for (float& value : values) value *= static_cast<float>(by);
    return tensor(values, x.sizes());
}

}  // namespace

TEST_CASE("an allowed function is one operation and breaks no graph", "[custom]") {
    const auto scale = allow_in_graph("test.scale", scaled);
    const auto f = [&](const Tensor& x) { return scale(x + 1, 3.0) - 1; };
    const auto compiled = compile(f, {.fullgraph = true, .verify = true});
    for (const float start : {1.F, 5.F}) {
        const Tensor x = full({2, 3}, start);
        CHECK(compiled(x).equal(f(x)));
        CHECK(compiled(x)[0][0].item<float>() == 3 * (start + 1) - 1);
    }
    CHECK(compiled.stats().graphs == 1);
    CHECK(compiled.stats().ops == 3);
}

TEST_CASE("allowed functions take numbers and words, and return tuples", "[custom]") {
    const auto both = allow_in_graph("test.both", [](Tensor x, int by, bool negate, std::string word) {
        const Tensor y = x * by + static_cast<int>(word.size());
        return std::make_tuple(negate ? -y : y, y.to(kDouble).sum());
    });
    const auto f = [&](const Tensor& x) {
        const auto [y, sum] = both(x * 2, 3, true, "four");
        return y.to(kDouble) + sum;
    };
    const auto compiled = compile(f, {.fullgraph = true});
    CHECK(compiled(ones({2})).equal(tensor({10.0, 10.0})));
    CHECK(f(ones({2})).equal(tensor({10.0, 10.0})));
}

TEST_CASE("its results share no memory with its operands", "[custom]") {
    const auto same = allow_in_graph("test.same", [](Tensor x) { return x; });
    const auto f = [&](Tensor x) {
        Tensor y = same(x);
        y.add_(1);
        return x + y;
    };
    CHECK(compile(f)(ones({1})).item<float>() == 3);
    CHECK(f(ones({1})).item<float>() == 3);
}

TEST_CASE("a backend that cannot compile an allowed function fails, and the graph does not break", "[custom]") {
    const auto scale = allow_in_graph("test.scale", scaled);
    const auto compiled = compile([&](const Tensor& x) { return scale(x, 2.0); }, {.backend = "halide"});
    REQUIRE_THROWS_WITH(compiled(ones({2})), Catch::Contains("halide") && Catch::Contains("test.scale"));
    CHECK(compiled.stats().breaks == 0);
}

TEST_CASE("the name of an allowed function has a namespace of its own and one kind of function", "[custom]") {
    REQUIRE_THROWS_WITH(allow_in_graph("scale", scaled), Catch::Contains("NAMESPACE.NAME"));
    REQUIRE_THROWS_WITH(allow_in_graph("aten.scale", scaled), Catch::Contains("a namespace other than aten"));
    allow_in_graph("test.scale", scaled);
    REQUIRE_THROWS_WITH(allow_in_graph("test.scale", [](Tensor x) { return x; }),
                        Catch::Contains("scale(Tensor x0, float x1) -> Tensor"));
    const auto replaced = allow_in_graph("test.scale", [](Tensor x, double) { return x * 7; });
    CHECK(replaced(ones({1}), 1).item<float>() == 7);
}

// Global state: the default dtype; what backends leave as it was.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>

using namespace whittle;

namespace {

struct DefaultDtype {
    explicit DefaultDtype(ScalarType type) { set_default_dtype(type); }
    ~DefaultDtype() { set_default_dtype(kFloat); }
};

Tensor thirds(const Tensor& counts) { return counts / 3 + ones({2}) * rand({2}) * 0 + scalar_tensor(0.1); }

}  // namespace

TEST_CASE("the default dtype is that of what is made without one, and of quotients", "[global_state]") {
    const Tensor counts = tensor<std::int64_t>({1, 2});
    CHECK(thirds(counts).dtype() == kFloat);
    const DefaultDtype state(kDouble);
    CHECK(get_default_dtype() == kDouble);
    CHECK(thirds(counts).dtype() == kDouble);
    CHECK(thirds(counts).to_vector<double>()[0] == 1.0 / 3 + 0.1);
    CHECK(sin(counts).dtype() == kDouble);
    CHECK((counts * 0.5).dtype() == kDouble);
    CHECK(arange(3.0).dtype() == kDouble);
    CHECK(arange(3).dtype() == kLong);
    CHECK((counts < 1.5).dtype() == kBool);
    CHECK((ones({2}, kFloat) * 2).dtype() == kFloat);
    CHECK(zeros({2}, kHalf).dtype() == kHalf);
    CHECK_THROWS_WITH(set_default_dtype(kLong), Catch::Contains("i64"));
}

TEST_CASE("compiled functions are guarded by the default dtype, and restore it", "[global_state]") {
    const auto compiled = compile(thirds);
    const Tensor counts = tensor<std::int64_t>({1, 2});
    CHECK(compiled(counts).equal(thirds(counts)));
    {
        const DefaultDtype state(kDouble);
        CHECK(compiled(counts).dtype() == kDouble);
        CHECK(compiled(counts).equal(thirds(counts)));
    }
    CHECK(compiled(counts).dtype() == kFloat);
    CHECK(compiled.stats().recompile_reasons == std::vector<std::string>{"___default_dtype == 'f32', now 'f64'"});
    const auto sets = compile([](const Tensor& x) {
        set_default_dtype(kDouble);
        return x.sum().item<float>() > 0 ? ones({1}) : zeros({1});
    });
    CHECK(sets(ones({2})).dtype() == kDouble);
    CHECK(get_default_dtype() == kFloat);
}

TEST_CASE("a function as backend leaves global state and the program's draws as they were", "[global_state]") {
    const auto disturb = [] {
        set_grad_enabled(false);
        set_default_dtype(kDouble);
    };
    int compiled_graphs = 0, runs = 0;
    const auto backend = [&](const BackendGraph& graph) -> BackendAnswer {
        ++compiled_graphs;
        disturb();
        static_cast<void>(rand({3}));
        manual_seed(99);
        return [&, graph](const TensorList& inputs) {
            ++runs;
            disturb();
            return graph(inputs);
        };
    };
    const auto f = [](const Tensor& x) {
        const Tensor y = x + 1;
        CHECK(y.sum().item<float>() > 0);  // a break: the graph is compiled and runs
        CHECK(grad_enabled());
        CHECK(get_default_dtype() == kFloat);
        return y + rand({2});
    };
    manual_seed(7);
    const Tensor first = f(ones({2})), second = f(ones({2}));
    CHECK_FALSE(first.equal(second));
    manual_seed(7);
    const auto compiled = compile(f, {.backend = backend});
    CHECK(compiled(ones({2})).equal(first));
    CHECK(compiled(ones({2})).equal(second));
    CHECK(compiled_graphs == 2);
    CHECK(runs == 4);
}

TEST_CASE("who asks for the deterministic mode is guarded by it, others are not", "[global_state]") {
    const auto asks = compile([](const Tensor& x) { return deterministic_algorithms() ? x + 1 : x - 1; });
    const auto ignores = compile([](const Tensor& x) { return x * 2; });
    for (const bool mode : {false, true, false}) {
        use_deterministic_algorithms(mode);
        CHECK(asks(ones({1})).item<float>() == (mode ? 2 : 0));
        CHECK(ignores(ones({1})).item<float>() == 2);
    }
    CHECK(asks.stats().recompile_reasons == std::vector<std::string>{"___deterministic == false, now true"});
    CHECK(ignores.stats().recompiles == 0);
    const auto sets = compile([](const Tensor& x) {
        use_deterministic_algorithms(true);
        CHECK(x.sum().item<float>() == 1);  // a break
        CHECK(deterministic_algorithms());
        return x;
    });
    sets(ones({1}));
    CHECK_FALSE(deterministic_algorithms());
}

TEST_CASE("memory that arguments share is seen in each call: no guard has to be about addresses", "[global_state]") {
    const auto written = [](Tensor a, const Tensor& b) {
        a.add_(1);
        return a * b;
    };
    const auto compiled = compile(written);
    for (int call = 0; call < 4; ++call) {
        Tensor a = tensor({1.F, 2.F}), other = tensor({1.F, 2.F});
        const Tensor b = call % 2 ? a.view({2}) : tensor({3.F, 4.F});
        const Tensor c = call % 2 ? other.view({2}) : tensor({3.F, 4.F});
        CHECK(compiled(a, b).equal(written(other, c)));
        CHECK(a.equal(other));
    }
}

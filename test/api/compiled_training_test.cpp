// Gradients through compile(): the backend's graphs, forwards and backwards, against eager autograd.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>

#include "values.h"

using namespace whittle;
using test::Floats;
using test::values;

namespace {

struct Step {
    Floats result;
    std::vector<Floats> gradients;
};

/// The function's sum, and the gradients of its arguments.
template <class F>
Step step_of(const F& function, const TensorList& arguments) {
    TensorList leaves;
    for (const Tensor& argument : arguments) leaves.push_back(argument.clone().requires_grad_());
    const Tensor result = function(leaves);
    (result * result).sum().backward();
    Step step{values(result), {}};
    for (const Tensor& leaf : leaves) step.gradients.push_back(leaf.grad().defined() ? values(leaf.grad()) : Floats());
    return step;
}

void check_close(const Floats& got, const Floats& expected) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-4).margin(1e-5));
}

void check_like_eager(const std::function<Tensor(const TensorList&)>& function, const TensorList& arguments,
                      int graphs = 1) {
    const Step expected = step_of(function, arguments);
    for (const char* backend : {"eager", "aot_eager", "aot_eager_default_partitioner", "halide"}) {
        INFO(backend);
        const auto compiled = compile(function, {.backend = backend, .verify = true});
        for (int call = 0; call < 2; ++call) {  // the second repeats what the first recorded
            const Step got = step_of(compiled, arguments);
            check_close(got.result, expected.result);
            for (std::size_t i = 0; i < expected.gradients.size(); ++i) {
                INFO("gradient " << i << ", call " << call);
                check_close(got.gradients[i], expected.gradients[i]);
            }
        }
        CHECK(compiled.stats().graphs == graphs);
    }
}

}  // namespace

TEST_CASE("compiled functions have eager's gradients with every backend") {
    manual_seed(2);
    const Tensor x = rand({3, 4}), w = rand({5, 4}), b = rand({5});
    check_like_eager([](const TensorList& a) { return tanh(linear(a[0], a[1], a[2])).softmax(1); }, {x, w, b});
    check_like_eager([](const TensorList& a) { return a[0].t().matmul(a[0]) + a[0].sum(); }, {x});
}

TEST_CASE("forward and backward of a compiled function are each compiled by the backend that is named for it") {
    register_backend("training_test_refuses_tanh", [](const BackendGraph& graph) -> BackendAnswer {
        for (const BackendNode& node : graph.nodes)
            if (node.target == "aten.tanh.default") throw std::out_of_range("no tanh");
        return graph;
    });
    const auto function = [](const TensorList& a) { return tanh(a[0] * a[1]); };
    const TensorList arguments = {tensor({1.F, 2.F}), tensor({-0.5F, 0.25F})};
    const auto run = [&](std::map<std::string, std::string> parts) {
        parts.insert({"partition", "default"});  // so that backward computes nothing again
        return step_of(compile(function, {.backend = "explain(aot_eager)", .backend_options = parts, .verify = true}),
                       arguments);
    };
    const Step expected = step_of(function, arguments);
    for (const auto& parts : {std::map<std::string, std::string>{{"fw", "halide"}},
                              {{"bw", "halide"}, {"decompositions", "backend"}},
                              {{"bw", "training_test_refuses_tanh"}}}) {
        const Step got = run(parts);
        check_close(got.result, expected.result);
        for (std::size_t i = 0; i < 2; ++i) check_close(got.gradients[i], expected.gradients[i]);
    }
    CHECK_THROWS_WITH(run({{"fw", "training_test_refuses_tanh"}}), Catch::Contains("no tanh"));
}

TEST_CASE("a graph that writes, views and detaches has eager's gradients") {
    const Tensor x = tensor({1.F, 2.F, 3.F, 4.F}).reshape({2, 2});
    check_like_eager(
        [](const TensorList& a) {
            const Tensor y = a[0] * 2;
            y.mul_(y + 1);
            return y * a[0].detach();
        },
        {x});
    check_like_eager(
        [](const TensorList& a) {
            Tensor scale;
            {
                const NoGradGuard no_grad;
                scale = a[0].sum() * 2;
            }
            return a[0] * scale;
        },
        {x});
    // Eager refuses the write through a view: two rows written are one written with both.
    const auto rows = compile([](const Tensor& a) {
        const Tensor y = zeros({2, 2});
        const Tensor row = y[1];
        row.add_(a);
        return y * 3;
    });
    const Tensor a = tensor({1.F, 2.F}).requires_grad_();
    rows(a).sum().backward();
    CHECK(values(a.grad()) == Floats{3, 3});
}

TEST_CASE("gradients go back through several graphs, and through what is between them") {
    const Tensor x = tensor({1.F, 2.F});
    check_like_eager(
        [](const TensorList& a) {
            Tensor y = a[0] * 3;
            if (y.sum().item<float>() > 0) y = y * a[0];
            return y + y.detach();
        },
        {x}, 2);
    const Tensor w = tensor({2.F}).requires_grad_();
    const auto doubled = compile([](const Tensor& a) { return a * 2; });
    (doubled(doubled(w) * 3) * w).sum().backward();
    CHECK(values(w.grad()) == Floats{48});
}

TEST_CASE("a module's parameters get gradients, and the optimizer's step is seen by the next call") {
    manual_seed(5);
    Linear layer(3, 1);
    for (const Tensor& parameter : layer.parameters()) Tensor(parameter).requires_grad_();
    const Tensor x = rand({4, 3});
    const auto loss_of = compile([&](const Tensor& input) { return (layer(input) * layer(input)).sum(); });
    float before = 0;
    for (int i = 0; i < 5; ++i) {
        const Tensor loss = loss_of(x);
        if (i > 0) CHECK(loss.item<float>() < before);
        before = loss.item<float>();
        loss.backward();
        const NoGradGuard no_grad;
        for (const Tensor& parameter : layer.parameters()) {
            parameter.sub_(parameter.grad() * 0.05);
            parameter.mutable_grad() = Tensor();
        }
    }
    CHECK(loss_of.stats().graphs == 1);
}

TEST_CASE("a whole step under compile() breaks at backward() and is right") {
    Tensor w = tensor({3.F}).requires_grad_();
    const auto step = compile([&](const Tensor& x) {
        const Tensor loss = (w * x).sum();
        loss.backward();
        const NoGradGuard no_grad;
        w.sub_(w.grad() * 0.5);
        w.mutable_grad() = Tensor();
        return loss;
    });
    CHECK(step(tensor({2.F})).item<float>() == 6);
    CHECK(values(w) == Floats{2});
    CHECK(step(tensor({2.F})).item<float>() == 4);
    CHECK(values(w) == Floats{1});
    CHECK(step.stats().breaks == 2);
}

TEST_CASE("a write under no_grad to a leaf is not differentiated: what is read afterwards is the new leaf") {
    Tensor w = tensor({3.F}).requires_grad_();
    const auto scaled = compile([&](const Tensor& x) {
        {
            const NoGradGuard no_grad;
            w.mul_(2);
        }
        return w * x;
    });
    const Tensor y = scaled(tensor({5.F}));
    CHECK(y.item<float>() == 30);
    y.backward();
    CHECK(values(w.grad()) == Floats{5});
}

TEST_CASE("an input that the graph overwrites is saved as it was") {
    const Tensor w = tensor({3.F}).requires_grad_();
    const auto f = compile([](const Tensor& a, const Tensor& state) {
        const Tensor y = a * state;
        const NoGradGuard no_grad;
        state.add_(a);
        return y;
    });
    Tensor state = tensor({2.F});
    f(w, state).backward();
    CHECK(values(state) == Floats{5});
    CHECK(values(w.grad()) == Floats{2});
    CHECK_FALSE(state.requires_grad());
}

TEST_CASE("gradients go through cond and map as in eager") {
    manual_seed(4);
    const Tensor w = rand({3});
    const auto branching = [](const TensorList& a) {
        const Tensor& other = a[1];
        return cond(
            a[0].sum() > 0, [&](const Tensor& v) { return (v * other).tanh(); },
            [&](const Tensor& v) { return v.exp() - other; }, a[0]);
    };
    check_like_eager(branching, {rand({3}) + 0.5, w});
    check_like_eager(branching, {rand({3}) - 2, w});
    check_like_eager(
        [](const TensorList& a) {
            return map([&](const Tensor& row) { return row.softmax(0) * a[1] + row.max(); }, a[0]);
        },
        {rand({4, 3}), w});
    // What is computed without gradients in a branch is a number for them.
    check_like_eager(
        [](const TensorList& a) {
            return cond(
                a[0].sum() > 0,
                [](const Tensor& v) {
                    Tensor scale;
                    {
                        const NoGradGuard no_grad;
                        scale = v * v;
                    }
                    return v * scale;
                },
                [](const Tensor& v) { return v; }, a[0]);
        },
        {rand({3}) + 0.5});
    const auto looping = compile([](const Tensor& x) {
        return while_loop([](const Tensor& v) { return v.sum() < 20; }, [](const Tensor& v) { return v * 2; }, x).sum();
    });
    const Tensor loss = looping(rand({3}).requires_grad_());
    CHECK_THROWS_WITH(loss.backward(),
                      Catch::Contains("no gradient of higher_order.while_loop") && Catch::Contains("detach()"));
}

TEST_CASE("what a compiled graph cannot do says so when gradients are asked for") {
    const Tensor w = tensor({1.F, 2.F}).requires_grad_();
    const auto twice = compile([](const Tensor& x) { return (x * x).sum(); });
    CHECK_THROWS_WITH(autograd::grad({twice(w)}, {w}, {}, std::nullopt, true),
                      Catch::Contains("a compiled graph has no double backward"));
    const Tensor loss = twice(w);
    loss.backward();
    CHECK_THROWS_WITH(loss.backward(), Catch::Contains("backward through the graph a second time"));
    const auto opaque = allow_in_graph("test.no_gradient_of_it", [](Tensor x) { return x * 2; });
    const auto calls = compile([&](const Tensor& x) { return opaque(x).sum(); });
    const Tensor y = calls(w);
    CHECK(y.item<float>() == 6);
    CHECK_THROWS_WITH(y.backward(), Catch::Contains("test.no_gradient_of_it"));
    const Tensor late = twice(w);
    {
        const NoGradGuard no_grad;
        w.add_(1);
    }
    CHECK_THROWS_WITH(late.backward(), Catch::Contains("has been modified by an inplace operation"));
}

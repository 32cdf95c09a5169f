// compile(): what a program sees of it.
#include <whittle/whittle.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <iostream>
#include <limits>
#include <sstream>
#include <thread>

#include "base/sanitizer.h"
#include "values.h"

using namespace whittle;
using test::Floats;
using test::values;

namespace {

Tensor toy(Tensor a, Tensor b) {
    Tensor x = a / (abs(a) + 1);
    if (b.sum() < 0) b = b * -1;
    return x * b;
}

struct State {
    Tensor h;
    std::vector<Tensor> cache;
    int step = 0;
    WHITTLE_FIELDS(h, cache, step)
};

}  // namespace

TEST_CASE("a compiled function computes what the function computes") {
    const auto compiled = compile(toy);
    const Tensor a = tensor({1.F, -3.F}), b = tensor({2.F, -5.F});
    CHECK(compiled(a, b).equal(toy(a, b)));
    CHECK(compiled(a, -b).equal(toy(a, -b)));
    const CompileStats stats = compiled.stats();
    CHECK(stats.name == "toy");
    CHECK(stats.calls == 2);
    CHECK(stats.breaks == 2);
    CHECK(stats.graphs == 3);  // up to the branch, and either way from it
    CHECK(stats.recompiles == 0);
    CHECK(stats.ops == 5 + 2 + 1);
}

TEST_CASE("graphs are found again") {
    const auto compiled = compile([](const Tensor& x) { return relu(x) + 1; });
    for (int i = 0; i < 5; ++i) CHECK(values(compiled(full({2}, i - 2))) == Floats(2, std::max(i - 2, 0) + 1.F));
    CHECK(compiled.stats().graphs == 1);
    CHECK(compiled.stats().calls == 5);
}

TEST_CASE("what shares memory shares it again after a break") {
    Tensor kept, view;
    const auto compiled = compile([&](const Tensor& x) {
        kept = x * 2;
        view = kept.t();
        graph_break();
        view.add_(1);
        return kept.sum();
    });
    const Tensor x = arange(4, kFloat).reshape({2, 2});
    CHECK(compiled(x).item<float>() == 16);
    CHECK(values(kept) == Floats{1, 3, 5, 7});
    CHECK(values(view) == Floats{1, 5, 3, 7});
    kept.zero_();
    CHECK(values(view) == Floats{0, 0, 0, 0});
}

TEST_CASE("a view of an input is a view of it after the call") {
    const auto compiled = compile([](const Tensor& x) {
        const Tensor row = x[1];
        row.mul_(10);
        return row;
    });
    Tensor x = arange(4, kFloat).reshape({2, 2});
    const Tensor row = compiled(x);
    CHECK(values(x) == Floats{0, 1, 20, 30});
    x.add_(1);
    CHECK(values(row) == Floats{21, 31});
}

TEST_CASE("inputs that share memory are written in order") {
    const auto compiled = compile([](const Tensor& a, const Tensor& b) {
        const Tensor before = b * 1;
        a.add_(1);
        const Tensor after = b * 1;
        b.mul_(2);
        return cat({before, after, a * 1});
    });
    Tensor a = zeros({2});
    const Tensor b = a.index({Slice(0, 1)});
    CHECK(values(compiled(a, b)) == Floats{0, 1, 2, 1});
    CHECK(values(a) == Floats{2, 1});
}

TEST_CASE("writes to inputs in a graph without results happen") {
    const auto compiled = compile([](const Tensor& w, const Tensor& g) { w.sub_(g * 0.5); });
    Tensor w = ones({2});
    compiled(w, ones({2}));
    compiled(w, ones({2}));
    CHECK(values(w) == Floats{0, 0});
    CHECK(compiled.stats().graphs == 1);
}

TEST_CASE("a guard that fails is told, and sizes become dynamic at their second value") {
    const auto compiled = compile([](const Tensor& x, int n) { return x * n; }, {.arg_names = {"x", "n"}});
    compiled(ones({2, 3}), 3);
    compiled(ones({2, 3}), 4);
    compiled(ones({5, 3}), 4);
    compiled(ones({6, 3}), 4);
    compiled(ones({7, 3}), 4);
    const CompileStats stats = compiled.stats();
    CHECK(stats.recompiles == 2);
    REQUIRE(stats.recompile_reasons.size() == 2);
    CHECK(stats.recompile_reasons[0] == "L['n'] == 3, now 4");
    CHECK(stats.recompile_reasons[1] == "L['x'] size 0 == 2, now 5");
    compiled(ones({1, 3}), 4);  // graphs are specialized for 1
    CHECK(compiled.stats().recompiles == 3);

    const auto fixed = compile([](const Tensor& x) { return x * 2; }, {.dynamic = false});
    for (int n = 2; n < 6; ++n) fixed(ones({n}));
    CHECK(fixed.stats().recompiles == 3);
    const auto open = compile([](const Tensor& x) { return x * 2; }, {.dynamic = true});
    for (int n = 2; n < 6; ++n) open(ones({n}));
    CHECK(open.stats().recompiles == 0);
}

TEST_CASE("a tensor that is passed twice is one input, and two tensors are another call") {
    const auto f = [](const Tensor& a, const Tensor& b) { return a * b + a; };
    const auto compiled = compile(f, {.arg_names = {"a", "b"}});
    const Tensor x = full({2}, 3.0), y = full({2}, 4.0);
    CHECK(compiled(x, x).equal(f(x, x)));
    CHECK(compiled(x, y).equal(f(x, y)));
    CHECK(compiled(y, y).equal(f(y, y)));
    CHECK(compiled(y, x).equal(f(y, x)));
    CHECK(compiled.stats().graphs == 2);
    CHECK(compiled.stats().recompile_reasons == std::vector<std::string>{"L['b'] is L['a'], now a different tensor"});
    CHECK(compiled.stats().recompiles == 1);
}

TEST_CASE("an operation that cannot be recorded leaves nothing behind") {
    const Tensor wrong = ones({5, 5}), right = full({3}, 2.0);
    int failures = 0;
    const auto f = [&](const Tensor& x) {
        Tensor y = x + 1;
        try {
            y = y.matmul(wrong);
        } catch (const std::exception&) {
            ++failures;
        }
        try {
            y.add_(wrong);
        } catch (const std::exception&) {
            ++failures;
        }
        return y * right;
    };
    const auto compiled = compile(f);
    const Tensor x = ones({3});
    for (int i = 0; i < 3; ++i) CHECK(compiled(x).equal(f(x)));
    CHECK(failures == 12);
    CHECK(compiled.stats().graphs == 1);
    // Nor a name: what it read is no input that was.
    const Explanation told = explain_with({.name = "f"}, f, x);
    REQUIRE(told.graphs.size() == 1);
    CHECK(told.graphs[0].find("G['tensor_0']") != std::string::npos);
    CHECK(told.graphs[0].find("G['tensor_1']") == std::string::npos);
}

TEST_CASE("a size that is marked dynamic takes no recompile, and what relations need is guarded") {
    const auto compiled = compile(
        [](const Tensor& x, const Tensor& y) {
            return x.reshape({-1, 3}).sum(1) + y;
        },
        {.arg_names = {"x", "y"}});
    for (const std::int64_t n : {2, 3, 5}) {
        const Tensor x = ones({3 * n}), y = ones({n});
        mark_dynamic(x, 0);
        mark_dynamic(y, -1);
        CHECK(values(compiled(x, y)) == Floats(static_cast<std::size_t>(n), 4.F));
    }
    CHECK(compiled.stats().recompiles == 0);
    CHECK(compiled.stats().graphs == 1);  // the reference takes it at all sizes
    CHECK_THROWS_WITH(compiled(ones({6}), ones({3})), Catch::Contains("[2]"));
    CHECK(compiled.stats().recompile_reasons ==
          std::vector<std::string>{"s0 == 3*s1, now L['x'].size(0) is 6 and L['y'].size(0) is 3, was 6 and 2"});
    CHECK_THROWS_WITH(mark_dynamic(ones({1, 4}), 0), Catch::Contains("found size 1 at dimension 0"));
}

TEST_CASE("scalars are guarded where they make other graphs") {
    const auto compiled = compile([](const Tensor& x, int step, int factor) { return step > 90 ? x : x * factor; },
                                  {.arg_names = {"x", "step", "factor"}});
    for (int step = 0; step < 20; ++step) compiled(ones({2}), step, 3);
    CHECK(compiled.stats().recompiles == 0);
    CHECK(compiled.stats().eager_calls == 0);
    compiled(ones({2}), 5, 4);
    CHECK(compiled.stats().recompile_reasons == std::vector<std::string>{"L['factor'] == 3, now 4"});
}

TEST_CASE("beyond the cache limit the function runs eagerly") {
    const auto compiled = compile([](const Tensor& x, int n) { return x + n; }, {.cache_limit = 2});
    for (int n = 0; n < 5; ++n) CHECK(values(compiled(zeros({1}), n)) == Floats{static_cast<float>(n)});
    CHECK(compiled.stats().graphs == 2);
    CHECK(compiled.stats().eager_calls == 3);
}

TEST_CASE("global state is guarded, and restored when the function leaves") {
    const auto compiled = compile([](const Tensor& x) {
        set_grad_enabled(false);
        return x * 2;
    });
    compiled(ones({1}));
    CHECK(grad_enabled());
    const NoGradGuard no_grad;
    compiled(ones({1}));
    CHECK(compiled.stats().recompile_reasons == std::vector<std::string>{"___grad_mode == true, now false"});
}

TEST_CASE("arguments and results may be lists, structs, optionals") {
    const auto compiled = compile(
        [](const State& state, std::optional<Tensor> bias, const std::array<Tensor, 2>& pair) {
            Tensor sum = state.h + pair[0] * pair[1];
            for (const Tensor& t : state.cache) sum = sum + t;
            if (bias) sum = sum + *bias;
            return std::make_tuple(sum, State{sum * 2, {sum}, state.step + 1});
        },
        {.arg_names = {"state", "bias", "pair"}});
    const Tensor one = ones({1});
    auto [sum, state] = compiled(State{one, {one, one}}, one, std::array<Tensor, 2>{one, one});
    CHECK(values(sum) == Floats{5});
    CHECK(values(state.h) == Floats{10});
    CHECK(state.step == 1);
    compiled(State{one, {one}}, one, std::array<Tensor, 2>{one, one});
    CHECK(compiled.stats().recompile_reasons.at(0) == "L['state'].cache.size() == 2, now 1");
    const auto optional = compile([](std::optional<Tensor> x) { return x ? *x + 1 : ones({1}); }, {.arg_names = {"x"}});
    optional(std::optional<Tensor>());
    optional(std::optional(one));
    CHECK(optional.stats().recompile_reasons.at(0) == "L['x'].has_value() == false, now true");
}

TEST_CASE("what was done before an exception has happened") {
    Tensor kept;
    const Tensor weight = ones({1});
    const auto compiled = compile([&](const Tensor& x, bool fail) {
        kept = x * 2;
        weight.add_(kept);
        if (fail) throw std::runtime_error("from user code");
        return kept;
    });
    CHECK_THROWS_WITH(compiled(ones({1}), true), "from user code");
    CHECK(kept.item<float>() == 2);
    CHECK(weight.item<float>() == 3);
    CHECK(compiled(ones({1}), false).item<float>() == 2);
    CHECK(compiled.stats().breaks == 1);
    CHECK_THROWS_WITH(compile([](const Tensor& x) { return x + ones({3}); })(ones({2})), Catch::Contains("[3]"));
    CHECK((ones({1}) * 3).item<float>() == 3);  // eager again
}

TEST_CASE("a pending tensor may be demanded by another thread") {
    const auto compiled = compile([](const Tensor& x) {
        const Tensor y = x * 2;
        float seen = 0;
        std::thread([&] { seen = y.item<float>() + (y + 1).item<float>(); }).join();
        return y + seen;
    });
    CHECK(compiled(ones({1})).item<float>() == 7);
}

TEST_CASE("what the host reads is what was written before, and a graph reads what the host has not yet written") {
    const auto read = compile([](const Tensor& x) {
        x.mul_(3);
        const float item = x.item<float>(), first = x.to_vector<float>()[0];
        x.sub_(3);
        return ones({1}) * item + first + (x ? 100 : 0);
    });
    for (int call = 0; call < 3; ++call) CHECK(values(read(ones({1}))) == Floats{6});
    CHECK(read.stats().breaks == 6);
    const auto written = compile([](const Tensor& x) {
        const Tensor y = x * 2;
        x.data_ptr<float>()[0] = 9;
        return y + x;
    });
    CHECK(values(written(ones({1}))) == Floats{11});
    const auto after_break = compile([](const Tensor& x) {
        const Tensor y = x + 1;
        graph_break();
        y.mul_(5);
        std::ostringstream text;
        text << y;
        return text.str();
    });
    CHECK(after_break(ones({1})).find("10") != std::string::npos);
    const auto unwritten = compile([](const Tensor& x, const Tensor& n) {
        const Tensor y = x * 2;
        return y * n.item<float>();
    });
    CHECK(values(unwritten(ones({1}), ones({1}))) == Floats{2});
    CHECK(unwritten.stats().breaks == 0);
}

TEST_CASE("comparisons tell infinities and large integers apart") {
    const float infinity = std::numeric_limits<float>::infinity();
    CHECK_FALSE(tensor({1.F}).allclose(tensor({infinity})));
    CHECK(tensor({infinity}).allclose(tensor({infinity})));
    const std::int64_t large = (std::int64_t{1} << 53);
    CHECK_FALSE(tensor({large}).equal(tensor({large + 1})));
    CHECK(tensor({large + 1}).equal(tensor({large + 1})));
}

TEST_CASE("what is made of random operations draws before the graph, too") {
    const auto f = [](const Tensor& x) { return dropout(x * 2, 0.5, true) + 1; };
    const auto compiled = compile(f, {.backend = "halide", .fullgraph = true});
    for (int call = 0; call < 3; ++call) {
        manual_seed(call);
        const Tensor expected = f(ones({20}));
        manual_seed(call);
        CHECK(compiled(ones({20})).equal(expected));
    }
    CHECK(compiled.stats().graphs == 1);
    CHECK_FALSE(rand_like(ones({2}).requires_grad_()).requires_grad());
}

TEST_CASE("fullgraph names the first break") {
    const auto compiled = compile(toy, {.fullgraph = true});
    CHECK_THROWS_AS(compiled(ones({1}), ones({1})), GraphBreakError);
    CHECK_THROWS_WITH(compiled(ones({1}), ones({1})),
                      Catch::Contains("branch on a tensor's value") && Catch::Contains("if (b.sum() < 0) b = b * -1;"));
    CHECK(compile([](const Tensor& x) { return x * 2; }, {.fullgraph = true})(ones({1})).item<float>() == 2);
}

TEST_CASE("random values are drawn in program order, compiled or not") {
    const auto f = [](const Tensor& x) {
        const Tensor noise = randn({3});
        return x + noise * rand({3});
    };
    manual_seed(3);
    const Tensor eager = f(zeros({3}));
    manual_seed(3);
    CHECK(compile(f)(zeros({3})).equal(eager));
}

TEST_CASE("compiled functions within compiled functions are one graph") {
    const auto inner = compile([](const Tensor& x) { return x + 1; });
    const auto outer = compile([&](const Tensor& x) { return inner(x) * 2; });
    CHECK(outer(ones({1})).item<float>() == 4);
    CHECK(outer.stats().graphs == 1);
    CHECK(inner.stats().graphs == 0);
}

TEST_CASE("threads share a compiled function") {
    const auto compiled = compile([](const Tensor& x, const Tensor& y) { return (x + y).sum(); });
    std::vector<float> sums(4);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (int i = 0; i < 20; ++i)
                sums[static_cast<std::size_t>(t)] += compiled(full({3}, t), ones({3})).item<float>();
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(sums == Floats{60, 120, 180, 240});
    CHECK(compiled.stats().calls == 80);
    CHECK(compiled.stats().graphs == 1);
}

TEST_CASE("output through the C and C++ libraries is a break") {
    const auto compiled = compile([](Tensor x) {
        x = x + 1;
        std::printf("%d", 3);
        x = x + 1;
        std::puts("puts");
        x = x + 1;
        std::fprintf(stdout, "%s %d", "fprintf", 1);  // none that the compiler makes an fwrite
        x = x + 1;
        std::cout << 3.5;
        x = x + 1;
        std::cout << "text" << std::endl;
        x = x + 1;
        std::cout.put('c');
        x = x + 1;
        std::ostringstream() << "no output of the program";
        return x;
    });
    CHECK(compiled(zeros({1})).item<float>() == 7);
    const bool sanitized = kAddressSanitizer || kThreadSanitizer;  // whose own printf comes before ours
    CHECK(compiled.stats().breaks == (sanitized ? 4 : 6));
}

TEST_CASE("printing and pointers are breaks") {
    const auto compiled = compile([](const Tensor& x) {
        std::ostringstream out;
        const Tensor y = x + 1;
        out << y;
        const float first = *(y * 3).data_ptr<float>();
        return y * first;
    });
    CHECK(compiled(ones({1})).item<float>() == 12);
    CHECK(compiled.stats().breaks == 2);
    CHECK(compiled.stats().graphs == 3);
}

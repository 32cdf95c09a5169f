// .pure: a call like an earlier one runs that one's graph, and none of the function's code.
#include <whittle/whittle.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <tuple>

using namespace whittle;

namespace {

using Pair = std::pair<Tensor, std::vector<Tensor>>;

}  // namespace

TEST_CASE("the code of a pure function runs once for each kind of call", "[pure]") {
    int ran = 0;
    const auto f = [&](const Tensor& x, std::int64_t n, const std::vector<Tensor>& list) {
        ++ran;
        return Pair(x * n + list.at(0), {x, (list.at(1) - x).relu()});
    };
    const auto compiled = compile(f, {.pure = true});
    const auto same = [&](const Tensor& x, std::int64_t n, const std::vector<Tensor>& list, int runs) {
        const int before = ran;
        const Pair got = compiled(x, n, list);
        CHECK(ran - before == runs);
        const Pair expected = f(x, n, list);
        CHECK(got.first.equal(expected.first));
        CHECK(got.second.at(0).equal(expected.second.at(0)));
        CHECK(got.second.at(1).equal(expected.second.at(1)));
    };
    const Tensor a = tensor({1.F, -2.F}), b = tensor({3.F, 5.F}), c = tensor({0.F, 7.F});
    same(a, 2, {b, c}, 1);
    same(a, 2, {b, c}, 0);
    same(b, 2, {c, a}, 0);  // other values
    same(a, 3, {b, c}, 1);  // another number
    same(a, 2, {a, c}, 1);  // one tensor twice
    same(a, 2, {a, c}, 0);
    same(ones({3}), 2, {ones({3}), ones({3})}, 1);  // other sizes
    same(ones({3}), 2, {zeros({3}), zeros({3})}, 0);
    same(a.to(kDouble), 2, {b.to(kDouble), c.to(kDouble)}, 1);
    same(a, 2, {b, c}, 0);
    set_default_dtype(kDouble);
    same(a, 2, {b, c}, 1);
    set_default_dtype(kFloat);
    CHECK(compiled.stats().code_skipped >= 4);
    // Of two arguments that are the same memory nothing says which one the graph was given.
    const auto sum = compile([](const Tensor& x, const Tensor& y) { return x * 10 + y; }, {.pure = true});
    static_cast<void>(sum(a, a.view({2})));
    CHECK(sum(a, b).equal(a * 10 + b));
    reset();
    same(a, 2, {b, c}, 1);
}

TEST_CASE("a pure function that is reset while its graph runs gives the result of that run", "[pure]") {
    bool now = false;
    const auto resets = [&](const BackendGraph& graph) {
        return [&now, graph](const TensorList& inputs) {
            if (now) reset();
            return graph(inputs);
        };
    };
    const auto compiled =
        compile([](const Tensor& x) { return std::vector<Tensor>{x * 2}; }, {.backend = resets, .pure = true});
    const Tensor x = tensor({1.F, -2.F});
    CHECK(compiled(x).at(0).equal(x * 2));
    now = true;
    CHECK(compiled(x).at(0).equal(x * 2));
    CHECK(cache_entries(compiled).empty());
}

TEST_CASE("what a graph does not tell keeps the code running", "[pure]") {
    int ran = 0;
    const auto runs = [&](const auto& compiled, const Tensor& x) {
        const int before = ran;
        static_cast<void>(compiled(x));
        static_cast<void>(compiled(x));
        return ran - before;
    };
    const Tensor x = tensor({1.F, -2.F});
    Tensor global = tensor({1.F, 1.F});
    CHECK(runs(compile([&](const Tensor& v) { return ++ran, v + 1; }, {.pure = true}), x) == 1);
    CHECK(runs(compile([&](const Tensor& v) { return ++ran, v + global; }, {.pure = true}), x) == 2);
    CHECK(runs(compile([&](const Tensor& v) { return ++ran, v + rand({2}); }, {.pure = true}), x) == 2);
    CHECK(runs(compile([&](const Tensor& v) { return ++ran, (v.sum() < 0 ? v : v * 2) + 1; }, {.pure = true}), x) == 2);
    CHECK(runs(compile([&](Tensor v) { return ++ran, v.add_(1); }, {.pure = true}), x) == 2);
    CHECK(runs(compile([&](const Tensor& v) { return ++ran, (v + 1).view({2, 1}); }, {.pure = true}), x) >= 1);
    CHECK(runs(compile([&](const Tensor& v) { return ++ran, v + 1; }), x) == 2);
    Tensor leaf = tensor({1.F, 2.F}).requires_grad_();
    CHECK(runs(compile([&](const Tensor& v) { return ++ran, v * v; }, {.pure = true}), leaf) == 2);
}

namespace {

/// Microseconds of a call, the best of several rounds.
double best_time(const std::function<void()>& call) {
    constexpr int kRounds = 50, kCalls = 200;
    double best = 1e9;
    for (int round = 0; round < kRounds; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 0; i < kCalls; ++i) call();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / kCalls);
    }
    return best * 1e6;
}

}  // namespace

TEST_CASE("what a hit costs beyond its graph, for ten tensors", "[.][bench]") {
    std::array<Tensor, 10> t;
    for (Tensor& tensor : t) tensor = rand({4, 4});
    int ran = 0;
    const auto ten =
        compile([&](const Tensor& a, const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&,
                    const Tensor&, const Tensor&, const Tensor&, const Tensor&) { return ++ran, -a; },
                {.pure = true});
    const auto call_ten = [&] { static_cast<void>(std::apply(ten, t)); };
    const auto one = compile([&](const Tensor& a) { return ++ran, -a; }, {.pure = true});
    const auto code = compile([](const Tensor& a) { return -a; });
    call_ten();
    static_cast<void>(one(t[0]));
    const double of_ten = best_time(call_ten), of_one = best_time([&] { static_cast<void>(one(t[0])); }),
                 uncompiled = best_time([&] { static_cast<void>(-t[0]); }),
                 of_code = best_time([&] { static_cast<void>(code(t[0])); });
    CHECK(ran == 2);
    WARN("ten tensors: " << of_ten << " us, one: " << of_one << " us; with its code " << of_code << " us, uncompiled "
                         << uncompiled << " us");
}

// cond(), while_loop(), map() and scan(): what is captured computes what the program computes, whichever way the data
// goes.
#include <whittle/whittle.h>

#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/sanitizer.h"

using namespace whittle;

namespace {

/// f's results agree uncompiled and compiled (one graph, no breaks) for each of the inputs, which share it.
template <class F>
void check_one_graph_for_all(const F& f, const std::vector<Tensor>& inputs) {
    const auto compiled = compile(f, {.fullgraph = true, .verify = true});
    for (const Tensor& x : inputs) {
        const TensorList expected = f(x), got = compiled(x);
        REQUIRE(got.size() == expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
            INFO(got[i] << " " << expected[i]);
            CHECK(got[i].dtype() == expected[i].dtype());
            CHECK(got[i].is_contiguous());
            CHECK(got[i].equal(expected[i]));
        }
    }
    CHECK(compiled.stats().graphs == 1);
    CHECK(compiled.stats().breaks == 0);
}

std::vector<Tensor> both_ways() { return {tensor({1.F, 2.F}), tensor({-1.F, -2.F})}; }

}  // namespace

TEST_CASE("cond captures both branches", "[control]") {
    check_one_graph_for_all(
        [](const Tensor& x) {
            const Tensor around = x + 1;
            return TensorList{cond(
                x.sum() > 0, [&](const Tensor& a) { return a.sin() * around; }, [](const Tensor& a) { return a.cos(); },
                x)};
        },
        both_ways());
}

TEST_CASE("a tensor that a branch keeps outside of it is that of the branch that ran", "[control]") {
    const auto f = [](const Tensor& x) {
        Tensor kept;
        const Tensor y = cond(
            x.sum() > 0, [&](const Tensor& v) { return (kept = v * 2) + 1; },
            [&](const Tensor& v) { return (kept = v * 3) + 1; }, x);
        return y * kept;
    };
    const auto compiled = compile(f);
    for (const Tensor& x : both_ways()) CHECK(compiled(x).equal(f(x)));
    CHECK(compiled.stats().breaks == 2);
}

TEST_CASE("a table that is made at its first use, in a body, is a table from then on", "[control]") {
    Tensor table;
    const auto row = [&](const Tensor& x) {
        if (!table.defined()) table = (arange(3) + 1) * 2;
        return x * table;
    };
    const auto compiled = compile([&](const Tensor& xs) { return map(row, xs); });
    const Tensor xs = ones({2, 3});
    CHECK(compiled(xs).equal(xs * (arange(3) + 1) * 2));
    CHECK(compiled.stats().breaks == 1);
    CHECK(table.equal((arange(3) + 1) * 2));
    const auto again = compile([&](const Tensor& x) { return map(row, x); }, {.fullgraph = true});
    CHECK(again(xs).equal(xs * table));

    Tensor doubled;  // of the argument
    const auto known =
        compile([&](const Tensor& x) { return map([&](const Tensor& r) { return doubled = r * 2; }, x); });
    CHECK(known(xs).equal(xs * 2));
    CHECK(doubled.equal(ones({3}) * 2));
}

TEST_CASE("branches may return tuples and lists, write to what they made, nest, and read constants", "[control]") {
    const Tensor weight = tensor({2.F, 3.F});
    check_one_graph_for_all(
        [&](const Tensor& x) {
            const auto [a, rest] = cond(
                x.sum() > 0,
                [&](const Tensor& v, const std::vector<Tensor>& list) {
                    Tensor made = v * weight;
                    made.add_(1);
                    made[0].mul_(2);
                    return std::make_tuple(made, std::vector<Tensor>{list[0] + ones({2}), list[1].to(kDouble)});
                },
                [&](const Tensor& v, const std::vector<Tensor>& list) {
                    const Tensor inner = cond(
                        v.sum() < -2.5, [&] { return weight * list[0]; }, [&] { return list[1] - weight; });
                    return std::make_tuple(inner, std::vector<Tensor>{list[1], list[0].to(kDouble)});
                },
                x, std::vector<Tensor>{x * 2, x * 3});
            return TensorList{a, rest[0], rest[1]};
        },
        {tensor({1.F, 2.F}), tensor({-1.F, -2.F}), tensor({-1.F, -1.F})});
}

TEST_CASE("while_loop runs as often as the data says", "[control]") {
    const Tensor step = tensor({0.5F});
    check_one_graph_for_all(
        [&](const Tensor& limit) {
            const auto [i, v] =
                while_loop([&](const Tensor& i, const Tensor&) { return i < limit; },
                           [&](const Tensor& i, const Tensor& v) { return std::tuple(i + 1, v * 2 + step); },
                           zeros({}, kLong), ones({3, 2}).t());
            return TensorList{i, v};
        },
        {scalar_tensor(0, kLong), scalar_tensor(1, kLong), scalar_tensor(25, kLong)});
}

TEST_CASE("map runs on each slice", "[control]") {
    const auto f = [](const Tensor& x) {
        const auto [sum, scaled] = map(
            [](const std::tuple<Tensor, Tensor>& rows, const Tensor& w, double factor) {
                const auto& [row, other] = rows;
                return std::make_tuple(row.dot(w), (row + other) * factor);
            },
            std::tuple(x, x * 2), tensor({1.F, 2.F}), 3.0);
        return TensorList{sum, scaled};
    };
    for (const std::int64_t rows : {3, 1, 0}) check_one_graph_for_all(f, {arange(rows * 2, kFloat).reshape({rows, 2})});
}

TEST_CASE("scan carries values from slice to slice", "[control]") {
    const auto f = [](const Tensor& x) {
        const Tensor around = tensor({1.F, 10.F});
        const auto [last, sums] = scan(
            [&](const Tensor& sum, const Tensor& row, double factor) {
                const Tensor next = sum + row * around;
                return std::pair(next, next * factor);
            },
            zeros({2}), x, 2.0);
        const auto [state, both] = scan(
            [](const std::vector<Tensor>& carried, const std::tuple<Tensor, Tensor>& slices) {
                const auto& [a, b] = slices;
                return std::tuple(std::vector<Tensor>{carried[1], carried[0] + a}, std::vector<Tensor>{b, a.sum()});
            },
            std::vector<Tensor>{ones({2}), ones({2}).mul(3)}, std::tuple(x, x * x));
        return TensorList{last, sums, state[0], state[1], both[0], both[1]};
    };
    for (const std::int64_t rows : {3, 1, 0}) check_one_graph_for_all(f, {arange(rows * 2, kFloat).reshape({rows, 2})});
    const TensorList values = f(tensor(std::vector<float>{1, 2, 3, 4}, {2, 2}));
    CHECK(values[0].to_vector<float>() == std::vector<float>{4, 60});
    CHECK(values[1].to_vector<float>() == std::vector<float>{2, 40, 8, 120});
    CHECK(values[3].to_vector<float>() == std::vector<float>{6, 7});
}

TEST_CASE("a function of scan that cannot be recorded breaks on the operation, and runs", "[control]") {
    const auto f = [](const Tensor& x) {
        const auto [last, ys] =
            scan([](const Tensor& sum,
                    const Tensor& row) { return std::pair(sum.sum().item<float>() > 3 ? sum : sum + row, row * sum); },
                 zeros({2}), x);
        return last + ys.sum();
    };
    const Tensor x = tensor(std::vector<float>{1, 2, 3, 4}, {2, 2});
    const auto compiled = compile(f);
    CHECK(compiled(x).equal(f(x)));
    CHECK(compiled.stats().breaks >= 1);
    CHECK_THROWS_WITH(compile(f, {.fullgraph = true})(x),
                      Catch::Contains("scan(): the body has a graph break: item()"));
    CHECK_THROWS_WITH(
        scan([](const TensorList& none, const Tensor& row) { return std::pair(none, row); }, TensorList(), x),
        Catch::Contains("found no tensor to carry"));
}

TEST_CASE("results share no memory", "[control]") {
    const auto f = [](const Tensor& x) {
        Tensor same = cond(
            x.sum() > -100, [](const Tensor& a) { return a; }, [](const Tensor& a) { return a * 2; }, x);
        same.add_(1);
        const Tensor y = x * 2;
        auto [a, b] = while_loop([](const Tensor& i, const Tensor&) { return i.sum() < 0; },
                                 [](const Tensor& i, const Tensor& j) { return std::tuple(j, i + 100); }, y, y);
        a.add_(1);
        return TensorList{same, a, b, y, x * 1};
    };
    check_one_graph_for_all(f, both_ways());
}

TEST_CASE("a break inside a body rolls back and breaks on the operation", "[control]") {
    int calls = 0;
    const auto compiled = compile([&](const Tensor& x) {
        const Tensor before = x * 2;
        const Tensor chosen = cond(
            x.sum() > 0,
            [&](const Tensor& a) {
                ++calls;
                const Tensor c = a + before;
                return c.sum().item<float>() > 8 ? c * 10 : c;
            },
            [](const Tensor& a) { return a - 1; }, x);
        return chosen + 1;
    });
    CHECK(compiled(tensor({1.F, 2.F})).to_vector<float>() == std::vector<float>{31, 61});
    CHECK(calls == 2);
    CHECK(compiled.stats().breaks == 2);  // at cond(), then at item() in the branch taken
    CHECK(compiled(tensor({-1.F, -2.F})).to_vector<float>() == std::vector<float>{-1, -2});
    CHECK(compiled.stats().breaks == 3);
}

TEST_CASE("what cannot be recorded breaks on the operation", "[control]") {
    const auto breaks_with = [](const auto& body, const std::string& reason) {
        INFO(reason);
        const auto f = [&](const Tensor& x) { return cond(x.sum() > 0, body, body, x * 2) + 1; };
        const Tensor x = tensor({1.F, 2.F});
        manual_seed(1);
        const Tensor expected = f(x);
        const auto compiled = compile(f);
        manual_seed(1);
        CHECK(compiled(x).equal(expected));
        CHECK(compiled.stats().breaks >= 1);
        CHECK_THROWS_WITH(compile(f, {.fullgraph = true})(x),
                          Catch::Contains("cond(): the body has a graph break: " + reason));
    };
    breaks_with([](const Tensor& a) { return a + rand({2}); }, "random values");
    breaks_with(
        [](const Tensor& a) {
            a.add_(1);
            return a * 2;
        },
        "a write to an outside tensor");
    breaks_with(
        [](const Tensor& a) {
            graph_break("by wish");
            return a * 2;
        },
        "by wish");
    if (!kThreadSanitizer)  // its own puts() comes first, and no exception passes it
        breaks_with(
            [](const Tensor& a) {
                std::puts("body");
                return a * 2;
            },
            "print: puts \"body\"");
    const Tensor outer = ones({2});
    breaks_with([&](const Tensor& a) { return (outer * 2).equal(outer) ? a : a + 1; }, "equal()");
    // Branches and carried values of several types.
    const auto f = [](const Tensor& x) {
        return cond(
            x.sum() > 0, [](const Tensor& a) { return a.sum(); }, [](const Tensor& a) { return a * 2; }, x);
    };
    for (const Tensor& x : both_ways()) CHECK(compile(f)(x).equal(f(x)));
    CHECK_THROWS_WITH(compile(f, {.fullgraph = true})(ones({2})), Catch::Contains("f32[] and f32[2]"));
    const auto grow = [](const Tensor& x) {
        return while_loop([](const Tensor& a) { return a.sum() < 10; }, [](const Tensor& a) { return cat({a, a}); }, x);
    };
    CHECK(compile(grow)(ones({3})).sizes() == std::vector<std::int64_t>{12});
    // A mistake in the branch that is not taken is no mistake of this run.
    const auto wrong = [](const Tensor& x) {
        return cond(
            x.sum() > 0, [](const Tensor& a) { return a * 2; }, [](const Tensor& a) { return a + ones({7}); }, x);
    };
    CHECK(compile(wrong)(ones({2})).to_vector<float>() == std::vector<float>{2, 2});
    CHECK_THROWS_WITH(compile(wrong)(ones({2}) * -1), Catch::Contains("[7]"));
}

namespace {

/// All that a call leaves in a folder, as one text.
template <class F>
std::string traced(const F& f, const Tensor& x) {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("control_test_" + std::to_string(::getpid()));
    {
        const PrepareDebug scope(folder.string());
        compile(f, {.name = "f"})(x);
    }
    std::ostringstream text;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().extension() == ".json") text << std::ifstream(entry.path()).rdbuf();
    std::filesystem::remove_all(folder);
    return text.str();
}

}  // namespace

TEST_CASE("nothing is left of a body that cannot be recorded", "[control]") {
    const Tensor table = ones({2});
    const Tensor x = tensor({1.F, 2.F});
    const auto f = [&](const Tensor& a) {
        const Tensor y = a * 2;
        const auto tried = [&](const Tensor& b) {
            Tensor made = (b + y).sinh() * table;  // nodes, an input
            made[0].add_(1);
            try {
                made = made + ones({7});
            } catch (const std::exception&) {
            }
            made = cond(
                made.sum() > 0, [&] { return made * 2; }, [&] { return made; });  // nested graphs
            return made.sum().item<float>() > 0 ? made : b;
        };
        return cond(
                   a.sum() < 0, tried, [](const Tensor& b) { return b.abs(); }, y) +
               1;
    };
    const std::string left = traced(f, x);
    CHECK_THAT(left, Catch::Contains("aten.abs"));
    CHECK_THAT(left, Catch::Contains("the body has a graph break: item()"));
    for (const char* of_body : {"sinh", "add_", "tensor_0", "true_graph", "[7]", "argument"}) {
        INFO(of_body);
        CHECK_THAT(left, !Catch::Contains(of_body));
    }
    // Each call goes on as the first one did, on what that left.
    const auto compiled = compile(f);
    for (int i = 0; i < 4; ++i) CHECK(compiled(x).equal(f(x)));
    CHECK(compiled.stats().graphs == 2);
}

TEST_CASE("another thread that demands a value ends the body that is recorded", "[control]") {
    const auto compiled = compile([](const Tensor& x) {
        const Tensor before = x * 2;
        float seen = 0;
        const Tensor chosen = cond(
            x.sum() > 0,
            [&](const Tensor& a) {
                const Tensor kept = a + before;
                std::thread([&] { seen = before.item<float>(); }).join();
                return kept + before;
            },
            [](const Tensor& a) { return a - 1; }, x);
        return chosen + seen;
    });
    for (int i = 0; i < 3; ++i) CHECK(compiled(ones({1})).item<float>() == 7);
    CHECK(compiled.stats().breaks >= 6);  // in each call at item(), and at cond()
}

TEST_CASE("mistakes in control flow are told", "[control]") {
    const auto same = [](const Tensor& a) { return a; };
    CHECK_THROWS_WITH(cond(ones({2}) > 0, same, same, ones({1})), Catch::Contains("expected a boolean of one element"));
    CHECK_THROWS_WITH(cond(ones({}), same, same, ones({1})), Catch::Contains("f32[]"));
    CHECK_THROWS_WITH(map(same, ones({})), Catch::Contains("without dimensions"));
    CHECK_THROWS_WITH(map([](const std::array<Tensor, 2>& x) { return x[0]; }, std::array{ones({2}), ones({3})}),
                      Catch::Contains("2 and 3 slices"));
    Tensor leaked;
    const auto leak = compile([&](const Tensor& x) {
        return cond(
            x.sum() > 0,
            [&](const Tensor& a) {
                leaked = a * 2;
                return leaked + 1;
            },
            same, x);
    });
    CHECK(leak(ones({1})).item<float>() == 3);
    CHECK(leaked.item<float>() == 2);  // the operation broke
    CHECK(leak(ones({1}) * -1).item<float>() == -1);
    CHECK_THROWS_WITH(leaked.item<float>(),
                      Catch::Contains("return the tensor from this function"));  // the branch that did not run
}

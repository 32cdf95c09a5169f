// Mode: what is around each operation of a program.
#include <whittle/whittle.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <stdexcept>

using namespace whittle;
using Catch::Contains;

namespace {

using Words = std::vector<std::string>;
using Compute = Mode::Compute;

/// Says when it is entered and left.
struct Saying : Mode {
    explicit Saying(Words& words, std::string name = {}) : said(words), who(std::move(name)) {}
    TensorList call(const OpCall& op, const Compute& compute) override {
        said.push_back(who + op.target);
        TensorList results = compute();
        if (!who.empty()) said.push_back(who + "done");
        return results;
    }
    Words& said;
    std::string who;
};

struct Doing : Mode {
    explicit Doing(std::function<TensorList(const OpCall&, const Compute&)> action) : what(std::move(action)) {}
    TensorList call(const OpCall& op, const Compute& compute) override { return what(op, compute); }
    std::function<TensorList(const OpCall&, const Compute&)> what;
};

template <class F>
Words seen(const F& f) {
    Words words;
    Saying mode(words);
    const ModeScope scope(mode);
    f();
    return words;
}

}  // namespace

TEST_CASE("a mode is around each operation, eager and interpreted, as long as its scope lives", "[modes]") {
    const auto f = [](Tensor x) {
        Tensor y = x.relu() + 1;
        return y.mul_(2);
    };
    const Words expected = {"aten.ones.default", "aten.relu.default", "aten.add.Tensor", "aten.mul_.Scalar"};
    CHECK(seen([&] { f(ones({2})); }) == expected);
    const auto compiled = compile(f, {.backend = "eager", .verify = true});
    for (int i = 0; i < 2; ++i) CHECK(seen([&] { compiled(ones({2})); }) == expected);
    CHECK(seen([&] { compile(f, {.backend = "halide"})(Tensor(ones({2}))); }) == Words{"aten.ones.default"});
    Words words;
    {
        Saying mode(words);
        const ModeScope scope(mode);
    }
    f(ones({2}));
    CHECK(words.empty());
}

TEST_CASE("modes stack, and what one computes itself only those below see", "[modes]") {
    Words words;
    Saying outer(words, "outer "), inner(words, "inner ");
    Doing asks([](const OpCall& op, const Compute& compute) {
        CHECK(op.operands.size() == 1);
        CHECK(op.operands[0].sum().item<float>() == 2);
        return compute();
    });
    const Tensor x = ones({2});
    const ModeScope first(outer);
    {
        const ModeScope second(inner);
        x.neg();
        CHECK(words == Words{"inner aten.neg.default", "outer aten.neg.default", "outer done", "inner done"});
    }
    words.clear();
    const ModeScope second(asks);
    x.neg();
    CHECK(words == Words{"outer aten.sum.default", "outer done", "outer aten.neg.default", "outer done"});
}

TEST_CASE("a scope of a mode may end before those that were entered behind it", "[modes]") {
    Words words;
    Saying outer(words, "outer "), inner(words, "inner ");
    const Tensor x = ones({2});
    auto first = std::make_unique<ModeScope>(outer), second = std::make_unique<ModeScope>(inner);
    first.reset();
    x.neg();
    CHECK(words == Words{"inner aten.neg.default", "inner done"});
    second.reset();
    words.clear();
    x.neg();
    CHECK(words.empty());
}

TEST_CASE("what a mode returns is the result, and what it throws fails the operation", "[modes]") {
    const Tensor x = ones({2});
    const Tensor threefold = full({2}, -3.F);
    const auto f = [](const Tensor& a) { return a.neg(); };
    const auto compiled = compile(f, {.backend = "eager"});
    const auto with = [&](auto action, auto check) {
        Doing mode(action);
        const ModeScope scope(mode);
        check(f);
        check(compiled);
    };
    with([&](const OpCall&, const Compute& compute) { return TensorList{compute()[0] * 3}; },
         [&](const auto& g) { CHECK(g(x).equal(threefold)); });
    with([&](const OpCall&, const Compute&) -> TensorList { throw std::logic_error("not now"); },
         [&](const auto& g) { CHECK_THROWS_AS(g(x), std::logic_error); });
    with([&](const OpCall&, const Compute& compute) { return TensorList{compute()[0].sum()}; },
         [&](const auto& g) {
             CHECK_THROWS_WITH(g(x),
                               Contains("a mode returned f32[] as result 0 of aten.neg.default, expected f32[2]"));
         });
    with([&](const OpCall&, const Compute& compute) { return compute(), TensorList{}; },
         [&](const auto& g) { CHECK_THROWS_WITH(g(x), Contains("0 results for aten.neg.default, expected 1")); });
    with([&](const OpCall&, const Compute&) { return TensorList{Tensor()}; },
         [&](const auto& g) { CHECK_THROWS_WITH(g(x), Contains("an undefined tensor")); });
    CHECK((f(x) * 3).equal(threefold));
}

TEST_CASE("modes do not look into operations", "[modes]") {
    const Tensor x = ones({2, 2});
    const auto choose = [](const Tensor& a) {
        return cond(
            a.sum() > 0, [](Tensor v) { return v.sin(); }, [](Tensor v) { return v.cos(); }, a);
    };
    CHECK(seen([&] { choose(x); }) == Words{"aten.sum.default", "aten.gt.Scalar"});
    const auto compiled = compile(choose, {.backend = "eager"});
    CHECK(seen([&] { compiled(x); }) == Words{"aten.sum.default", "aten.gt.Scalar", "higher_order.cond"});
    const auto rows = [](const Tensor& a) { return map([](Tensor row) { return row * 2; }, a); };
    CHECK(seen([&] { rows(x); }).empty());
    const auto own = register_op("my::seen(Tensor x) -> Tensor", [](Tensor a) { return a.sin().cos(); });
    CHECK(seen([&] { own(x); }) == Words{"my.seen.default"});
    const auto uses = compile([&](const Tensor& a) { return own(a); }, {.backend = "eager"});
    CHECK(seen([&] { uses(x); }) == Words{"my.seen.default"});
}

TEST_CASE("modes see what backward computes", "[modes]") {
    Tensor x = ones({2});
    x.requires_grad_();
    const auto f = [](const Tensor& a) { return a.sin().sum(); };
    const auto compiled = compile(f, {.backend = "eager"});
    const auto has_cos = [](const Words& words) {
        return std::count(words.begin(), words.end(), "aten.cos.default") == 1;
    };
    CHECK(has_cos(seen([&] { f(x).backward(); })));
    CHECK(has_cos(seen([&] { compiled(x).backward(); })));
}

TEST_CASE("the shipped modes are entered by name", "[modes]") {
    const Tensor x = tensor({1.F, -1.F});
    const ModeScope scope("nan");
    CHECK(x.exp().defined());
    CHECK_THROWS_WITH(x.log(), Contains("result 0 of aten.log.default has NaN: 1 of 2 values"));
    CHECK_THROWS_WITH(compile([](const Tensor& a) { return a.log(); }, {.backend = "eager"})(x),
                      Contains("aten.log.default has NaN"));
    CHECK_THROWS_WITH(ModeScope("nans"), Contains("one of log, nan, time, memory"));
}

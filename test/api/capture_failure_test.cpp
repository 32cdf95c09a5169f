// Where capture itself fails, the function runs uncompiled and the program goes on.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>
#include <stdexcept>

using namespace whittle;

namespace {

int fakes = 0, calls = 0;

/// An operation that capture cannot take at first: what tells of its results fails once.
Tensor bad(const Tensor& x) {
    static const auto op = register_op("capture_failure::bad(Tensor x) -> Tensor",
                                       [](Tensor v) {
                                           ++calls;
                                           return v * 3;
                                       })
                               .register_fake([](Tensor v) {
                                   if (++fakes == 1) throw std::runtime_error("no kind for it");
                                   return v;
                               })
                               .register_autograd([](Tensor grad, Tensor) { return grad * 3; });
    return op(x);
}

}  // namespace

TEST_CASE("a function that capture fails on runs uncompiled, with what it had recorded", "[capture_failure]") {
    fakes = calls = 0;
    const auto f = [](Tensor x, Tensor state) {
        const Tensor y = (x + 1).relu();
        Tensor row = y.view({1, 2});
        row.mul_(2);
        state.add_(y);
        return bad(y) + row + 1;
    };
    const auto compiled = compile(f, {.fullgraph = true});
    const Tensor x = tensor({1.F, -2.F});
    const Tensor ours = zeros({2}), theirs = zeros({2});
    const Tensor expected = f(x, theirs);
    for (int i = 0; i < 2; ++i) {
        CHECK(compiled(x, ours).equal(expected));
        CHECK(fakes == 1);  // not tried again
        CHECK(calls == i + 2);
    }
    CHECK(ours.equal(theirs * 2));  // written once in each call
    CHECK(compiled.stats().graphs == 0);
    reset();
    CHECK(compiled(x, ours).equal(expected));
    CHECK(fakes > 1);
    CHECK(compiled.stats().graphs == 1);
}

TEST_CASE("gradients go through what was recorded before capture failed", "[capture_failure]") {
    fakes = 0;
    const auto f = [](Tensor x) {
        const Tensor y = x * x;
        return (bad(y) * 2).sum();
    };
    Tensor x = tensor({1.F, -2.F}).requires_grad_();
    compile(f)(x).backward();
    CHECK(x.grad().to_vector<float>() == std::vector<float>{12, -24});
}

TEST_CASE("capture that fails in a body breaks the graph at the operation", "[capture_failure]") {
    fakes = 0;
    const auto f = [](Tensor x) {
        return cond(
            x.sum() < 0, [](Tensor v) { return bad(v); }, [](Tensor v) { return v * 2; }, x);
    };
    const auto compiled = compile(f);
    const Tensor x = tensor({1.F, -2.F});
    CHECK(compiled(x).equal(f(x)));
    CHECK(compiled.stats().breaks >= 1);
}

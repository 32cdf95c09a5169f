// Gradients of eager operations: LibTorch's rules and words.
#include <whittle/whittle.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

#include "values.h"

using namespace whittle;
using test::Floats;
using test::values;

namespace {

using Doubles = std::vector<double>;
Tensor leaf(const Floats& numbers) {
    return tensor(numbers, {static_cast<std::int64_t>(numbers.size())}).requires_grad_();
}

/// d sum(f(x)) / dx, element by element.
Doubles by_differences(const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
    const NoGradGuard no_grad;
    constexpr double kStep = 1e-6;
    Doubles gradient;
    const Doubles at = x.to_vector<double>();
    for (std::size_t i = 0; i < at.size(); ++i) {
        const auto sum_at = [&](double shift) {
            Doubles moved = at;
            moved[i] += shift;
            return f(tensor(moved, IntList(x.sizes()))).sum().item<double>();
        };
        gradient.push_back((sum_at(kStep) - sum_at(-kStep)) / (2 * kStep));
    }
    return gradient;
}

void check_like_differences(const Doubles& got, const Doubles& expected) {
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-7));
}

}  // namespace

TEST_CASE("gradients go through complex numbers to real ones", "[api][autograd]") {
    const auto energy = [](const Tensor& x) { return fft_rfft(x).mul(fft_rfft(x.mul(x))).abs(); };
    const Tensor x = tensor(Doubles{1, 2, -3, 0.5, 4}, {5}).requires_grad_();
    energy(x).sum().backward();
    check_like_differences(x.grad().to_vector<double>(), by_differences(energy, x));
    const Tensor spectrum = fft_rfft(x).sum();
    CHECK_THROWS_WITH(spectrum.backward(), Catch::Contains("real scalar outputs but got c128"));
}

TEST_CASE("backward() gives leaves their gradients, and adds to them") {
    const Tensor w = leaf({1, 2, 3});
    CHECK(w.is_leaf());
    CHECK_FALSE(w.grad().defined());
    (w * w).sum().backward();
    CHECK(values(w.grad()) == Floats{2, 4, 6});
    const Tensor seen = w.grad();
    (w * 2).sum().backward();
    CHECK(values(w.grad()) == Floats{4, 6, 8});
    CHECK(values(seen) == Floats{4, 6, 8});  // in place, as LibTorch's
    w.mutable_grad() = Tensor();
    const Tensor y = w * w;
    CHECK_FALSE(y.is_leaf());
    y.backward(tensor({1.F, 0.F, -1.F}));
    CHECK(values(w.grad()) == Floats{2, 0, -6});
    CHECK_FALSE(w.grad().requires_grad());
    CHECK_FALSE(y.grad().defined());
}

TEST_CASE("gradients of values that are read twice, of views, of several results and of composites are right") {
    const auto check = [](const std::function<Tensor(const Tensor&)>& f, const Tensor& x) {
        const Tensor at = x.clone().requires_grad_();
        f(at).sum().backward();
        check_like_differences(at.grad().to_vector<double>(), by_differences(f, x));
    };
    manual_seed(3);
    const Tensor x = rand({3, 4}, kDouble);
    check([](const Tensor& a) { return tanh(a) * a + a.exp(); }, x);
    check([](const Tensor& a) { return a.t()[1] * a.reshape({2, 6})[0].sum(); }, x);
    check([](const Tensor& a) { return a.unbind(1).at(2) * 3; }, x);
    check([](const Tensor& a) { return std::get<0>(a.max(1)) * a.select(1, 0); }, x);
    check([](const Tensor& a) { return linear(a, a, a.select(1, 1)).log_softmax(1) * a.sum(); }, x);
    const Tensor labels = tensor({std::int64_t{0}, std::int64_t{3}, std::int64_t{1}});
    check([&](const Tensor& a) { return cross_entropy_loss(a, labels); }, x);
    check([](const Tensor& a) { return cat({a, a * a}, 1).index({Slice(), Slice(2, 6)}); }, x);
    check([](const Tensor& a) { return layer_norm(a, {4}, OptionalTensor(), OptionalTensor(), 1e-5) * a; }, x);
}

TEST_CASE("a dropout's gradient has the mask that was drawn") {
    manual_seed(1);
    const Tensor x = ones({64}).requires_grad_();
    const Tensor y = dropout(x, 0.5, true);
    y.sum().backward();
    CHECK(values(x.grad()) == values(y));
}

TEST_CASE("autograd::grad() returns gradients, and needs no leaves") {
    const Tensor x = leaf({3}), unused = leaf({1});
    const Tensor y = x * x, z = y * y;
    const TensorList gradients = autograd::grad({z.sum()}, {y, x}, {}, true);
    CHECK(values(gradients.at(0)) == Floats{18});
    CHECK(values(gradients.at(1)) == Floats{108});
    CHECK_FALSE(x.grad().defined());
    CHECK_THROWS_WITH(autograd::grad({z.sum()}, {unused}, {}, true),
                      Catch::Contains("appears to not have been used in the graph"));
    CHECK_FALSE(autograd::grad({z.sum()}, {unused}, {}, true, false, true).at(0).defined());
    autograd::backward({z, y}, {ones({1}), ones({1})}, true, false, {x});
    CHECK(values(x.grad()) == Floats{108 + 6});
    CHECK_FALSE(unused.grad().defined());
    CHECK_THROWS_WITH(autograd::grad({z}, {tensor({1.F})}), Catch::Contains("does not require grad"));
}

TEST_CASE("threads may read one tensor and add to one leaf's gradient") {
    constexpr int kTimes = 200;
    const Tensor shared = tensor<float>({1, 2, 3}).requires_grad_(), constant = tensor<float>({3, 2, 1});
    const auto work = [&] {
        for (int i = 0; i < kTimes; ++i) {
            { const Tensor view = constant[1]; }
            (shared * constant).sum().backward();
        }
    };
    std::thread other(work);
    work();
    other.join();
    CHECK(values(shared.grad()) == Floats{6 * kTimes, 4 * kTimes, 2 * kTimes});
}

TEST_CASE("gradients have gradients") {
    const Tensor x = tensor({0.5, 2.0}).requires_grad_();
    const auto third = [](const Tensor& a) { return a * a * a + tanh(a); };
    const Tensor first = autograd::grad({third(x).sum()}, {x}, {}, std::nullopt, true).at(0);
    CHECK(first.requires_grad());
    const Tensor second = autograd::grad({first.sum()}, {x}, {}, std::nullopt, true).at(0);
    second.sum().backward();
    const Doubles at = x.to_vector<double>();
    for (std::size_t i = 0; i < at.size(); ++i) {
        const double t = std::tanh(at[i]), slope = 1 - t * t;
        CHECK(first.to_vector<double>()[i] == Approx(3 * at[i] * at[i] + slope));
        CHECK(second.to_vector<double>()[i] == Approx(6 * at[i] - 2 * t * slope));
        CHECK(x.grad().to_vector<double>()[i] == Approx(6 - 2 * slope * (slope - 2 * t * t)));
    }
}

TEST_CASE("what must not be asked is refused in LibTorch's words") {
    const Tensor w = leaf({1, 2});
    CHECK_THROWS_WITH((w * 2).backward(), Catch::Contains("grad can be implicitly created only for scalar outputs"));
    CHECK_THROWS_WITH(ones({1}).backward(),
                      Catch::Contains("element 0 of tensors does not require grad and does not have a grad_fn"));
    CHECK_THROWS_WITH((w * 2).backward(ones({3})), Catch::Contains("invalid gradient at index 0 - got"));
    const Tensor loss = (w * w).sum();
    loss.backward({}, true);
    loss.backward();
    CHECK_THROWS_WITH(loss.backward(), Catch::Contains("Trying to backward through the graph a second time"));
    CHECK_THROWS_WITH(w.add_(1), Catch::Contains("a leaf Variable that requires grad is being used in an in-place"));
    CHECK_THROWS_WITH(w[0].add_(1), Catch::Contains("a view of a leaf Variable that requires grad"));
    CHECK_THROWS_WITH((w * 2).requires_grad_(false), Catch::Contains("only change requires_grad flags of leaf"));
    CHECK_THROWS_WITH(ones({2}).register_hook([](const Tensor&) {}), Catch::Contains("doesn't require gradient"));
    const Tensor y = w.exp();
    const Tensor sum = y.sum();
    y.mul_(2);
    CHECK_THROWS_WITH(sum.backward(), Catch::Contains("has been modified by an inplace operation"));
    const auto opaque = allow_in_graph("test.opaque_gradient", [](Tensor x) { return x * 2; });
    CHECK_THROWS_WITH(opaque(w).sum().backward(),
                      Catch::Contains("derivative for test.opaque_gradient is not implemented"));
}

TEST_CASE("detach() and NoGradGuard end gradients") {
    const Tensor w = leaf({2});
    const Tensor cut = w.detach();
    CHECK_FALSE(cut.requires_grad());
    (w * cut).sum().backward();
    CHECK(values(w.grad()) == Floats{2});
    Tensor view;
    {
        const NoGradGuard no_grad;
        view = w.view({1, 1});
        w.sub_(1);
    }
    CHECK_FALSE(view.requires_grad());
    CHECK(values(cut) == Floats{1});  // the same memory
}

TEST_CASE("writes have gradients where one tensor has the memory") {
    const Tensor w = leaf({2, 3});
    const Tensor y = w * 1;
    y.mul_(w);
    y.add_(1);
    y.backward(ones({2}));
    CHECK(values(w.grad()) == Floats{4, 6});
    const Tensor buffer = zeros({2});
    buffer.add_(w * w);
    CHECK(buffer.requires_grad());
    CHECK_FALSE(buffer.is_leaf());
    w.mutable_grad() = Tensor();
    buffer.sum().backward();
    CHECK(values(w.grad()) == Floats{4, 6});
    const Tensor rows = zeros({2, 2});
    CHECK_THROWS_WITH(rows[0].add_(w), Catch::Contains("memory that several tensors share"));
}

TEST_CASE("hooks see whole gradients, later operations first, and may change them") {
    const Tensor w = leaf({1, 2});
    std::vector<std::string> order;
    const Tensor y = w * 3;
    const Tensor z = y * y + y;
    z.register_hook([&](const Tensor& g) { order.push_back("z" + std::to_string(g.sum().item<int>())); });
    y.register_hook([&](const Tensor& g) {
        order.push_back("y" + std::to_string(g.sum().item<int>()));
        return g * 2;
    });
    const unsigned gone = y.register_hook([&](const Tensor&) { order.push_back("gone"); });
    y.remove_hook(gone);
    w.register_hook([&](const Tensor& g) { order.push_back("w" + std::to_string(g.sum().item<int>())); });
    y.retain_grad();
    z.sum().backward();
    CHECK(order == std::vector<std::string>{"z2", "y20", "w120"});
    CHECK(values(y.grad()) == Floats{14, 26});
    CHECK(values(w.grad()) == Floats{42, 78});
    CHECK_THROWS(y.remove_hook(gone));
}

TEST_CASE("long chains neither go back nor end by recursion") {
    const Tensor w = leaf({1});
    Tensor x = w;
    for (int i = 0; i < 20000; ++i) x = x * 1;
    x.backward();
    CHECK(values(w.grad()) == Floats{1});
}

// Small training programs that mean the same in LibTorch and in our own API: compiled once with each.
// training_test.cpp demands that both print the same numbers and words.
//   training NAME [BACKEND]    runs one of them; with a backend, what has a forward() is compiled for it
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#ifdef WHITTLE
#include <whittle/whittle.h>
namespace t = whittle;
#else
#include <torch/torch.h>
namespace t = torch;
#endif

using t::Tensor;

namespace {

std::string backend;

/// The loss as a function of input and labels.
using Loss = std::function<Tensor(const Tensor&, const Tensor&)>;
Loss compiled(const Loss& loss) {
#ifdef WHITTLE
    if (!backend.empty()) return t::compile(loss, {.backend = backend, .verify = true});
#endif
    return loss;
}

/// Numbers between -scale and scale that look random enough.
Tensor numbers(std::vector<std::int64_t> sizes, double scale, double seed) {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    return t::sin(t::arange(count).to(t::kFloat32) * (2.1 + seed) + seed).reshape(sizes) * scale;
}

class Network {
  public:
    Tensor parameter(std::vector<std::int64_t> sizes, double scale) {
        const Tensor value = numbers(std::move(sizes), scale, 0.1 * static_cast<double>(++count_)).detach();
        return keep(value);
    }
    Tensor ones(std::int64_t size) { return keep(t::ones({size})); }

    /// Gradient descent with momentum; prints the loss before each step.
    void train(const Loss& loss_of, const Tensor& input, const Tensor& labels, double rate, int steps) {
        const Loss loss = compiled(loss_of);
        std::vector<Tensor> speeds;
        for (const Tensor& parameter : parameters_) speeds.push_back(t::zeros_like(parameter).detach());
        for (int step = 0; step < steps; ++step) {
            const Tensor now = loss(input, labels);
            std::printf("%.5f ", now.item<float>());
            now.backward();
            const t::NoGradGuard no_grad;
            for (std::size_t i = 0; i < parameters_.size(); ++i) {
                speeds[i].mul_(0.9).add_(parameters_[i].grad());
                parameters_[i].sub_(speeds[i] * rate);
                parameters_[i].mutable_grad() = Tensor();
            }
        }
        std::printf("\n");
    }

  private:
    Tensor keep(Tensor value) {
        value.requires_grad_();
        parameters_.push_back(value);
        return value;
    }

    int count_ = 0;
    std::vector<Tensor> parameters_;
};

void mlp() {
    Network net;
    const Tensor w1 = net.parameter({16, 4}, 0.5), b1 = net.parameter({16}, 0.1);
    const Tensor w2 = net.parameter({16, 16}, 0.3), b2 = net.parameter({16}, 0.1), w3 = net.parameter({1, 16}, 0.3);
    const auto loss = [&](const Tensor& x, const Tensor& y) {
        const Tensor h = t::tanh(t::linear(x, w1, b1));
        const Tensor error = t::linear(t::relu(t::linear(h, w2, b2)), w3) - y;
        return (error * error).mean();
    };
    net.train(loss, numbers({12, 4}, 1, 0.7), numbers({12, 1}, 1, 0.3), 0.05, 20);
}

void cnn() {
    Network net;
    const Tensor filter = net.parameter({4, 2, 3, 3}, 0.3), scale = net.ones(4), shift = net.parameter({4}, 0.1);
    const Tensor wider = net.parameter({6, 4, 3, 3}, 0.2), bias = net.parameter({6}, 0.1);
    const Tensor head = net.parameter({5, 6 * 2 * 2}, 0.2);
    const Tensor mean = t::zeros({4}), variance = t::ones({4});
    const auto loss = [&](const Tensor& x, const Tensor& labels) {
        Tensor y = t::conv2d(x, filter, Tensor(), 1, 1);
        y = t::relu(t::batch_norm(y, scale, shift, mean, variance, true, 0.1, 1e-5, false));
        y = t::max_pool2d(y, {2, 2});
        y = t::relu(t::conv2d(y, wider, bias, 1, 1));
        y = t::avg_pool2d(y, {2, 2});
        return t::cross_entropy_loss(t::linear(y.flatten(1), head), labels);
    };
    const Tensor labels = t::arange(6).remainder(5);
    net.train(loss, numbers({6, 2, 8, 8}, 1, 0.2), labels, 0.05, 12);
    for (int i = 0; i < 4; ++i)
        std::printf("%.5f %.5f ", mean.select(0, i).item<float>(), variance.select(0, i).item<float>());
}

/// Instance norm, whose running statistics are averages over samples.
void style() {
    Network net;
    const Tensor filter = net.parameter({4, 2, 3, 3}, 0.3), scale = net.ones(4), shift = net.parameter({4}, 0.1);
    const Tensor mean = t::zeros({4}), variance = t::ones({4});
    const auto loss = [&](const Tensor& x, const Tensor& target) {
        Tensor y = t::conv2d(x, filter, Tensor(), 1, 1);
        y = t::tanh(t::instance_norm(y, scale, shift, mean, variance, true, 0.1, 1e-5, false)) - target;
        return (y * y).mean();
    };
    net.train(loss, numbers({3, 2, 5, 4}, 1, 0.2), numbers({3, 4, 5, 4}, 1, 0.5), 0.05, 8);
    for (int i = 0; i < 4; ++i)
        std::printf("%.5f %.5f ", mean.select(0, i).item<float>(), variance.select(0, i).item<float>());
}

void transformer() {
    constexpr std::int64_t kWords = 9, kWidth = 8, kHeads = 2, kLength = 5, kBatch = 3;
    Network net;
    const Tensor words = net.parameter({kWords, kWidth}, 0.7), places = net.parameter({kLength, kWidth}, 0.3);
    const Tensor scale = net.ones(kWidth), shift = net.parameter({kWidth}, 0.05);
    const Tensor qkv = net.parameter({3 * kWidth, kWidth}, 0.4), out = net.parameter({kWidth, kWidth}, 0.4);
    const Tensor up = net.parameter({4 * kWidth, kWidth}, 0.3), up_bias = net.parameter({4 * kWidth}, 0.1);
    const Tensor down = net.parameter({kWidth, 4 * kWidth}, 0.2);
    const auto loss = [&](const Tensor& ids, const Tensor& next) {
        const Tensor x = t::embedding(words, ids) + places;
        const Tensor normed = t::layer_norm(x, {kWidth}, scale, shift, 1e-5);
        const std::vector<Tensor> parts = t::linear(normed, qkv).chunk(3, -1);
        const auto heads = [&](const Tensor& part) {
            return part.reshape({kBatch, kLength, kHeads, kWidth / kHeads}).transpose(1, 2);
        };
        const Tensor scores = t::matmul(heads(parts[0]), heads(parts[1]).transpose(-2, -1)) * 0.5;
        const Tensor mixed =
            t::matmul(scores.softmax(-1), heads(parts[2])).transpose(1, 2).reshape({kBatch, kLength, kWidth});
        const Tensor y = x + t::linear(mixed, out);
        const Tensor z = y + t::linear(t::gelu(t::linear(y, up, up_bias)), down);
        return t::cross_entropy_loss(t::matmul(z, words.t()).reshape({kBatch * kLength, kWords}), next);
    };
    const Tensor ids = (t::arange(kBatch * kLength) * 7).remainder(kWords);
    net.train(loss, ids.reshape({kBatch, kLength}), (ids + 7).remainder(kWords), 0.05, 12);
}

void print(const char* name, const Tensor& value) {
    std::printf("\n%s%s", name, value.requires_grad() ? " grad" : "");
    const Tensor flat = value.detach().reshape({-1});
    for (std::int64_t i = 0; i < flat.numel(); ++i) std::printf(" %.4f", flat.select(0, i).item<float>());
}

/// The first line, up to what each says in its own way.
template <class F>
void print_error(const F& function) {
    try {
        function();
        std::printf("\nno error");
    } catch (const std::exception& error) {
        const std::string text = error.what();
        std::printf("\n%s", text.substr(0, text.find_first_of(".:;\n")).c_str());
    }
}

/// Of normalizations, whose statistics depend on the input.
void gradients_of_gradients() {
    const Tensor x = numbers({3, 4}, 1, 0.7).requires_grad_(), w = numbers({4}, 1, 0.2).requires_grad_();
    const Tensor b = numbers({4}, 1, 0.3).requires_grad_();
    const auto twice = [&](const char* name, const Tensor& y) {
        const Tensor first = t::autograd::grad({(y * y * y).sum()}, {x}, {}, {}, true)[0];
        print(name, first);
        const auto second = t::autograd::grad({(first * first).sum()}, {x, w}, {}, {}, false, true);
        for (const Tensor& gradient : second) print(name, gradient);
    };
    twice("layer_norm", t::layer_norm(x, {4}, w, b));
    twice("batch_norm", t::batch_norm(x, w, b, {}, {}, true, 0.1, 1e-5, false));
    twice("group_norm", t::group_norm(x.reshape({3, 4, 1}), 2, w, b));
}

void retained() {
    const Tensor x = numbers({3}, 1, 0.7).requires_grad_();
    const Tensor y = x * 2, given = t::ones({3});
    y.retain_grad();
    y.backward(given, true);
    y.backward(given);
    print("added", y.grad());
    print("given", given);
    const Tensor z = x * 2;
    z.retain_grad();
    z.mul_(3);
    (z * z).sum().backward();
    print("of what was written", z.grad());
}

void rules() {
    const Tensor w = numbers({3}, 1, 0.4).requires_grad_(), unused = t::ones({1}).requires_grad_();
    const auto grad = [](const Tensor& of, const Tensor& by, bool create) {
        return t::autograd::grad({of}, {by}, {}, {}, create)[0];
    };
    const Tensor first = grad((t::tanh(w) * w.exp()).sum(), w, true);
    print("first", first);
    const Tensor second = grad((first * first).sum(), w, true);
    print("second", second);
    print("third", grad(second.sum(), w, false));
    const Tensor y = w * 2;
    y.register_hook([](const Tensor& g) { print("hook of y", g); });
    w.register_hook([](const Tensor& g) {
        print("hook of w", g);
        return g * 10;
    });
    y.retain_grad();
    (y * y + w).sum().backward();
    print("y", y.grad());
    print("w", w.grad());
    y.add_(w).mul_(w);
    print("written", y);
    y.backward(t::ones({3}));
    print("w", w.grad());
    std::printf("\n%d%d%d%d", w.is_leaf(), y.is_leaf(), w.detach().requires_grad(), (w > 0).requires_grad());
    print_error([&] { (w * 2).backward(); });
    print_error([&] { t::ones({1}).backward(); });
    print_error([&] { w.add_(1); });
    print_error([&] { w.select(0, 0).add_(1); });
    print_error([&] { (w * 2).requires_grad_(false); });
    print_error([&] { grad(w.sum(), unused, false); });
    print_error([&] { grad(w.sum(), t::ones({1}), false); });
    print_error([&] { y.backward(t::ones({3})); });
    print_error([&] { (w * 2).backward(t::ones({4})); });
    print_error([&] {
        const Tensor e = w.exp();
        const Tensor sum = e.sum();
        e.mul_(2);
        sum.backward();
    });
    print_error([&] {
        const Tensor written = w * 1;
        Tensor view;
        {
            const t::NoGradGuard no_grad;
            view = written.select(0, 0);
            view.mul_(2);
        }
        print("written without history", written);
        view.mul_(100);
    });
    gradients_of_gradients();
    retained();
    const Tensor m = numbers({3, 3}, 1, 0.5);
    print("a number is a dimension", m.var(0));
    print("and in a list", m.std({1}));
    print("a flag is none", m.var(false));
    const Tensor v = numbers({2}, 1, 0.5).requires_grad_();
    (v * 2).backward(t::ones({2}).to(t::kFloat64));
    std::printf(" %d", v.grad().scalar_type() == t::kFloat32);
    v.register_hook([](const Tensor& g) { return g.to(t::kFloat64); });
    try {
        (v * 2).sum().backward();
        std::printf("\nno error");
    } catch (const std::exception&) {
        std::printf("\na hook that changes the dtype is refused");
    }
}

}  // namespace

int main(int argc, char** argv) {
    const std::string name = argc > 1 ? argv[1] : "";
    if (argc > 2) backend = argv[2];
    if (name == "mlp") mlp();
    if (name == "cnn") cnn();
    if (name == "style") style();
    if (name == "transformer") transformer();
    if (name == "rules") rules();
    std::printf("\n");
}

// A LibTorch program for the tests of capture: ways of training. What it does is its first argument.
#include <torch/csrc/api/include/torch/torch.h>

#include <cstdio>
#include <string>

namespace {

struct Net : torch::nn::Module {
    Net() {
        body = register_module("body", torch::nn::Linear(4, 8));
        head = register_module("head", torch::nn::Linear(8, 1));
    }
    torch::Tensor forward(const torch::Tensor& x) { return head(torch::relu(body(x))); }
    torch::nn::Linear body{nullptr}, head{nullptr};
};

double evaluate(Net& net, const torch::Tensor& x, const torch::Tensor& y) {
    const torch::NoGradGuard guard;
    return torch::mse_loss(net.forward(x), y).item<double>();
}

/// The optimizer's first step is unlike the others, and each epoch ends with an evaluation.
void evaluates() {
    Net net;
    torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
    const torch::Tensor x = torch::randn({16, 4}), y = x.sum(1, true);
    for (int epoch = 0; epoch < 4; ++epoch) {
        for (int i = 0; i < 2; ++i) {
            const torch::Tensor part = x.slice(0, 8 * i, 8 * i + 8), wanted = y.slice(0, 8 * i, 8 * i + 8);
            optimizer.zero_grad();
            const torch::Tensor loss = torch::mse_loss(net.forward(part), wanted);
            loss.backward();
            optimizer.step();
        }
        std::printf("%.4f\n", evaluate(net, x, y));
    }
}

/// The gradient of an input alone: nobody asks for the weight's.
torch::Tensor penalty(const torch::Tensor& w, const torch::Tensor& x) {
    const torch::Tensor y = torch::tanh(x.matmul(w)).sum();
    const torch::Tensor gradient = torch::autograd::grad({y}, {x}, {}, true, true)[0];
    return (gradient.norm(2, 1) - 1).pow(2).mean();
}

void penalized() {
    torch::Tensor w = torch::randn({3, 3}, torch::requires_grad());
    const torch::Tensor x = torch::randn({3, 3}, torch::requires_grad());
    for (int i = 0; i < 3; ++i) {
        penalty(w, x).backward();
        const torch::NoGradGuard guard;
        w.sub_(w.grad(), 0.1);
        w.mutable_grad().zero_();
    }
    std::printf("%.4f\n", w.sum().item<double>());
}

/// One step of several backward passes, the loss a part of them.
void accumulates() {
    Net net;
    torch::optim::Adam optimizer(net.parameters(), 0.01);
    for (int step = 0; step < 3; ++step) {
        optimizer.zero_grad();
        for (int micro = 0; micro < 2; ++micro) {
            const torch::Tensor x = torch::randn({5, 4});
            (torch::mse_loss(net.forward(x), x.sum(1, true)) / 2).backward();
        }
        torch::nn::utils::clip_grad_norm_(net.parameters(), 0.5);
        optimizer.step();
    }
    std::printf("%.4f\n", evaluate(net, torch::ones({2, 4}), torch::zeros({2, 1})));
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    torch::manual_seed(1);
    if (what == "evaluates") evaluates();
    if (what == "penalized") penalized();
    if (what == "accumulates") accumulates();
    if (what == "loop") {  // main's own, whose first step is unlike the others in its middle
        torch::nn::Linear net(3, 1);
        torch::optim::RMSprop optimizer(net->parameters(), 0.01);
        torch::Tensor loss;
        for (int i = 0; i < 6; ++i) {
            const torch::Tensor x = torch::full({2, 3}, 1.0 * i);
            optimizer.zero_grad();
            loss = torch::mse_loss(net(x), x.sum(1, true));
            loss.backward();
            optimizer.step();
        }
        std::printf("%.4f\n", loss.item<double>());
    }
}

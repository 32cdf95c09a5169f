// A LibTorch program for the tests of capture: ways of training. What it does is its first argument.
#include <torch/csrc/api/include/torch/torch.h>
#include <torch/csrc/api/include/torch/version.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

// LibTorch 1 keeps the tensors of gradients, LibTorch 2 where it is told to. A macro: a function would be captured.
#if TORCH_VERSION_MAJOR >= 2
#define KEEPING /*set_to_none=*/ false
#else
#define KEEPING
#endif

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
            optimizer.zero_grad(KEEPING);
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
        optimizer.zero_grad(KEEPING);
        for (int micro = 0; micro < 2; ++micro) {
            const torch::Tensor x = torch::randn({5, 4});
            (torch::mse_loss(net.forward(x), x.sum(1, true)) / 2).backward();
        }
        torch::nn::utils::clip_grad_norm_(net.parameters(), 0.5);
        optimizer.step();
    }
    std::printf("%.4f\n", evaluate(net, torch::ones({2, 4}), torch::zeros({2, 1})));
}

/// Ways that networks of images shrink, move and enlarge them.
struct Images : torch::nn::Module {
    Images() {
        down = register_module("down", torch::nn::Conv2d(torch::nn::Conv2dOptions(2, 4, 3).stride(2)));
        up = register_module("up", torch::nn::Conv2d(torch::nn::Conv2dOptions(4, 2, 3)));
        place = register_parameter("place", torch::tensor({1.1, 0.2, -0.1, 0.1, 0.9, 0.3}).view({1, 2, 3}));
    }
    torch::Tensor forward(const torch::Tensor& x) {
        namespace F = torch::nn::functional;
        const auto resized = [](const torch::Tensor& image, const torch::Tensor& like, auto mode) {
            return F::interpolate(image, F::InterpolateFuncOptions()
                                             .size(std::vector<std::int64_t>{like.size(2), like.size(3)})
                                             .mode(mode)
                                             .align_corners(false));
        };
        const torch::Tensor small = torch::relu(down(torch::reflection_pad2d(x, {1, 1, 1, 1})));
        const torch::Tensor mean = torch::adaptive_avg_pool2d(small, {2, 3});
        const torch::Tensor most = std::get<0>(torch::adaptive_max_pool2d(small, {2, 2}));
        const torch::Tensor grid = F::affine_grid(place.expand({small.size(0), 2, 3}), small.sizes(), false);
        const torch::Tensor moved =
            F::grid_sample(small, grid, F::GridSampleFuncOptions().padding_mode(torch::kBorder).align_corners(false));
        const torch::Tensor columns = torch::im2col(small, {2, 2}, {1, 1}, {0, 0}, {2, 2});
        const torch::Tensor tiles =
            torch::col2im(columns, {small.size(2), small.size(3)}, {2, 2}, {1, 1}, {0, 0}, {2, 2});
        const torch::Tensor all =
            resized(mean, small, torch::kBicubic) + resized(most, small, torch::kBilinear) + moved + tiles;
        return up(torch::replication_pad2d(resized(all, x, torch::kBilinear), {1, 1, 1, 1}));
    }
    torch::nn::Conv2d down{nullptr}, up{nullptr};
    torch::Tensor place;
};

void resizes() {
    Images net;
    torch::optim::SGD optimizer(net.parameters(), 0.05);
    const torch::Tensor x = torch::randn({2, 2, 8, 12});
    torch::Tensor loss;
    for (int step = 0; step < 2; ++step) {
        optimizer.zero_grad(KEEPING);
        loss = torch::mse_loss(net.forward(x), x);
        loss.backward();
        optimizer.step();
    }
    std::printf("%.4f\n", loss.item<double>());
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    torch::manual_seed(1);
    if (what == "evaluates") evaluates();
    if (what == "penalized") penalized();
    if (what == "accumulates") accumulates();
    if (what == "resizes") resizes();
    if (what == "loop") {  // main's own, whose first step is unlike the others in its middle
        torch::nn::Linear net(3, 1);
        torch::optim::RMSprop optimizer(net->parameters(), 0.01);
        torch::Tensor loss;
        for (int i = 0; i < 6; ++i) {
            const torch::Tensor x = torch::full({2, 3}, 1.0 * i);
            optimizer.zero_grad(KEEPING);
            loss = torch::mse_loss(net(x), x.sum(1, true));
            loss.backward();
            optimizer.step();
        }
        std::printf("%.4f\n", loss.item<double>());
    }
}

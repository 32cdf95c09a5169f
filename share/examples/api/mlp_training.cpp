// Trains a network of two layers, with gradients computed by hand. explain ./mlp_training reports 1 graph for all 1000
// steps. The program updates the parameters in place: the graph returns the new values, which are then written back.
#include <whittle/whittle.h>

#include <cstdio>

struct Network : whittle::Module {
    whittle::Tensor w1 = register_parameter("w1", whittle::randn({2, 16}));
    whittle::Tensor b1 = register_parameter("b1", whittle::zeros({16}));
    whittle::Tensor w2 = register_parameter("w2", whittle::randn({16, 1}) * 0.5);
    whittle::Tensor b2 = register_parameter("b2", whittle::zeros({1}));
};

/// One step of gradient descent on the squared error; returns the error before it.
whittle::Tensor train_step(Network& net, whittle::Tensor x, whittle::Tensor y, double rate) {
    const whittle::Tensor hidden = whittle::tanh(whittle::addmm(net.b1, x, net.w1));
    const whittle::Tensor error = whittle::addmm(net.b2, hidden, net.w2) - y;
    const whittle::Tensor loss = (error * error).mean();

    const whittle::Tensor d_out = error * (2.0 / static_cast<double>(error.numel()));
    const whittle::Tensor d_hidden = whittle::matmul(d_out, net.w2.t()) * (1 - hidden * hidden);
    net.w2 -= whittle::matmul(hidden.t(), d_out) * rate;
    net.b2 -= d_out.sum(0) * rate;
    net.w1 -= whittle::matmul(x.t(), d_hidden) * rate;
    net.b1 -= d_hidden.sum(0) * rate;
    return loss;
}

int main() {
    whittle::manual_seed(1);
    Network net;
    const whittle::Tensor x = whittle::tensor(std::vector<float>{0, 0, 0, 1, 1, 0, 1, 1}, {4, 2});
    const whittle::Tensor y = whittle::tensor(std::vector<float>{0, 1, 1, 0}, {4, 1});  // exclusive or
    const auto step = whittle::compile(train_step, {.arg_names = {"net", "x", "y", "rate"}});
    float loss = 0;
    for (int i = 0; i < 1000; ++i) loss = step(net, x, y, 0.2).item<float>();
    std::printf("loss after 1000 steps: %s 0.01\n", loss < 0.01F ? "below" : "above");
    std::printf("graphs: %d\n", static_cast<int>(step.stats().graphs));
}

// Uses Conv2d, BatchNorm, LSTM, custom autograd, a thread, an exception. Try: trace -o DIR ./networks; replay DIR
#include <torch/torch.h>

#include <cstdio>
#include <exception>
#include <thread>

struct Cube : torch::autograd::Function<Cube> {
    static torch::Tensor forward(torch::autograd::AutogradContext* context, torch::Tensor x) {
        context->save_for_backward({x});
        return x * x * x;
    }
    static torch::autograd::tensor_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::tensor_list grads) {
        const torch::Tensor x = context->get_saved_variables()[0];
        return {grads[0] * 3 * x * x};
    }
};

struct Net : torch::nn::Module {
    Net() {
        features = register_module(
            "features", torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).padding(1)),
                                              torch::nn::BatchNorm2d(8), torch::nn::ReLU(), torch::nn::MaxPool2d(2)));
        lstm = register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(8, 16).batch_first(true)));
        head = register_module("head", torch::nn::Linear(16, 4));
    }
    torch::Tensor forward(const torch::Tensor& images) {
        torch::Tensor x = features->forward(images);
        x = x.flatten(2).transpose(1, 2);  // [batch, pixels, 8]
        x = std::get<0>(lstm->forward(x)).select(1, -1);
        return torch::log_softmax(head->forward(Cube::apply(x)), 1);
    }

    torch::nn::Sequential features{nullptr};
    torch::nn::LSTM lstm{nullptr};
    torch::nn::Linear head{nullptr};
};

torch::Tensor classify(Net& net, const torch::Tensor& images) { return net.forward(images); }

torch::Tensor normalize(const torch::Tensor& x) { return (x - x.mean()) / (x.std() + 1e-5); }

torch::Tensor train_step(Net& net, torch::optim::SGD& optimizer, const torch::Tensor& images,
                         const torch::Tensor& labels) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::nll_loss(net.forward(images), labels);
    loss.backward();
    optimizer.step();
    return loss;
}

torch::Tensor mismatched(const torch::Tensor& a, const torch::Tensor& b) {
    const torch::Tensor c = a.exp();
    return torch::mm(c, b) + 1;
}

int main() {
    torch::manual_seed(7);
    const auto net = std::make_shared<Net>();
    const torch::Tensor images = torch::rand({2, 3, 8, 8});
    net->eval();
    {
        torch::NoGradGuard no_grad;
        const torch::Tensor scores = classify(*net, images);
        std::printf("classes: %d\n", static_cast<int>(scores.size(1)));
    }
    net->train();
    torch::optim::SGD optimizer(net->parameters(), 0.1);
    const torch::Tensor labels = torch::arange(2);
    for (int step = 0; step < 2; ++step) {
        const torch::Tensor loss = train_step(*net, optimizer, images, labels);
        std::printf("step %d: loss is %s\n", step, loss.item<float>() < 10 ? "small" : "large");
    }
    torch::Tensor normalized;
    std::thread worker([&] { normalized = normalize(images); });
    worker.join();
    try {
        mismatched(torch::ones({2, 3}), torch::ones({2, 3}));
    } catch (const std::exception&) {
        std::fprintf(stderr, "caught a mismatch\n");
    }
    return 0;
}

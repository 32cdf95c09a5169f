// A small convolutional network. explain --fullgraph --guards ./small_cnn reports 1 graph, 3 guards and no graph break.
#include <whittle/whittle.h>

#include <cstdio>

using whittle::Tensor;

struct Classifier : whittle::Layer {
    std::shared_ptr<whittle::Layer> features, head;

    Classifier() {
        const auto relu = [] { return std::make_shared<whittle::Function>([](const Tensor& x) { return x.relu(); }); };
        const auto pool = [] {
            return std::make_shared<whittle::Function>([](const Tensor& x) { return max_pool2d(x, {2, 2}); });
        };
        features = register_module(
            "features",
            std::make_shared<whittle::Sequential>(std::vector<std::shared_ptr<whittle::Layer>>{
                std::make_shared<whittle::Conv2d>(1, 8, 3, whittle::Conv2dOptions{.padding = 1}), relu(), pool(),
                std::make_shared<whittle::Conv2d>(8, 16, 3, whittle::Conv2dOptions{.padding = 1}), relu(), pool()}));
        head = register_module("head", std::make_shared<whittle::Linear>(16 * 7 * 7, 10));
    }
    Tensor forward(const Tensor& images) override { return (*head)((*features)(images).flatten(1)).log_softmax(1); }
};

int main() {
    whittle::manual_seed(0);
    Classifier net;
    const auto classify = whittle::compile([&](const Tensor& images) { return net(images); },
                                           {.name = "classify", .arg_names = {"images"}});
    const Tensor scores = classify(whittle::rand({4, 1, 28, 28}));
    std::printf("%d parameters; probabilities sum to %.3f\n", static_cast<int>(net.parameter_count()),
                scores.exp().sum().item<double>() / 4);
}

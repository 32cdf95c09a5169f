// The toy_example of TorchDynamo's troubleshooting guide, as a LibTorch program without any code for Whittle.
// explain ./toy_example reports 3 graphs, and 2 graph breaks: at the print, and at the branch on a tensor's value.
#include <ATen/ATen.h>

#include <iostream>

at::Tensor toy_example(const at::Tensor& a, at::Tensor b) {
    at::Tensor x = a / (at::abs(a) + 1);
    std::cout << "woo" << std::endl;
    if ((b.sum() < 0).item<bool>()) b = b * -1;
    return x * b;
}

int main() {
    const at::Tensor a = at::ones({10}), b = at::ones({10});
    const at::Tensor result = toy_example(a, b);
    return result.sizes() == a.sizes() ? 0 : 1;
}

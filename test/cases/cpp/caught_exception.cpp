// Right: the report says that f throws at line 8. The caller catches the exception.
#include <torch/torch.h>

#include <iostream>

torch::Tensor f(const torch::Tensor& a) {
    torch::Tensor b = a * 2;
    if (b.numel() > 1) throw std::runtime_error("too large");
    return b;
}

int main() {
    const torch::Tensor a = torch::ones(2);
    try {
        f(a);
    } catch (const std::runtime_error& error) {
        std::cout << error.what() << "\n";
    }
}

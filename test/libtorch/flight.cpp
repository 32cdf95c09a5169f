// flight nan|crash|check|plain: many operations, and an end as the argument says.
#include <torch/torch.h>

#include <csignal>
#include <iostream>
#include <string>

namespace {

constexpr int kLast = 3000;

torch::Tensor step(const torch::Tensor& weight, const torch::Tensor& x) { return torch::sin(torch::mv(weight, x)); }

torch::Tensor loss(const torch::Tensor& x, double shift) { return torch::log(x + shift).sum(); }

}  // namespace

int main(int, char** argv) {
    const std::string end = argv[1];
    const torch::Tensor weight = torch::full({16, 16}, 0.0625);  // written long before it is read last
    torch::Tensor x = torch::ones({16});
    torch::Tensor sum = loss(x, 2);
    for (int i = 1; i <= kLast; ++i) {
        x = step(weight, x);
        sum = loss(x, end == "nan" && i == kLast ? -2 : 2);
    }
    if (end == "crash") std::raise(SIGSEGV);
    TORCH_CHECK(end != "check", "the loss is wrong");
    std::cout << "ended\n";
}

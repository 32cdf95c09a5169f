// two_runs [threads] [flush] [random]: results that differ as the arguments say.
#include <torch/torch.h>

#include <iostream>
#include <set>
#include <string>

namespace {

torch::Tensor total(const torch::Tensor& x) { return (x * 0.1).sum(); }

torch::Tensor tiny(const torch::Tensor& x) {
    const torch::Tensor square = x * x;
    return square.sum();
}

torch::Tensor noise() { return (torch::rand({4}) + 1).sum(); }

}  // namespace

int main(int argc, char** argv) {
    const std::set<std::string> options(argv + 1, argv + argc);
    torch::set_num_threads(options.count("threads") ? 2 : 1);
    at::globalContext().setFlushDenormal(options.count("flush") > 0);
    torch::manual_seed(options.count("random") ? 1 : 0);
    const torch::Tensor results[] = {total(torch::linspace(0, 1, 1 << 20)), tiny(torch::full({4}, 1e-20)), noise()};
    double sum = 0;
    for (const torch::Tensor& result : results) sum += result.item<double>();
    std::cout << (sum > 0) << "\n";
}

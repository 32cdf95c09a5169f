// LibTorch 1.13.0, CPU: div(add(mul(x, 1), mul(x, 1)), 2) of bool[1] in TorchScript gives 0.5, expected 1, where x =
// true.
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -DNDEBUG -I/usr/include/torch/csrc/api/include -ltorch_cpu -lc10 && ./repro
#include <torch/script.h>

#include <cstdio>

int main(int argc, char **) {
    torch::NoGradGuard no_grad;
    const bool optimized = argc == 1;
    torch::jit::setGraphExecutorOptimize(optimized);

    torch::Tensor x = torch::tensor({true}, torch::kBool);

    torch::jit::Module module("Graph");
    module.define(R"(
def forward(self, x):
    mul = torch.mul(x, 1)
    add = torch.add(mul, mul)
    y = torch.div(add, 2)
    return y
)");
    torch::Tensor y;
    for (int run = 0; run < 2; run++) y = module.forward({x}).toTensor();

    torch::Tensor expected = torch::tensor({1.0});
    if (!torch::allclose(y, expected, 0.0001, 1e-05, /*equal_nan=*/true)) {
        printf("element 0: %g, expected %g\n", y.flatten()[0].item<double>(),
               expected.flatten()[0].item<double>());
        return 1;
    }
    printf("ok\n");
    return 0;
}

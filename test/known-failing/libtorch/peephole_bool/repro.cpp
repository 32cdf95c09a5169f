// LibTorch 1.13.0, CPU: add(mul(x, 1), mul(x, 1)) of bool[1] in TorchScript gives bool, expected int64.
// Right with TorchScript's optimizer switched off (./repro control).
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
    y = torch.add(mul, mul)
    return y
)");
    torch::Tensor y = module.forward({x}).toTensor();

    if (y.scalar_type() != torch::kInt64) {
        printf("%s, expected %s\n", toString(y.scalar_type()), toString(torch::kInt64));
        return 1;
    }
    printf("ok\n");
    return 0;
}

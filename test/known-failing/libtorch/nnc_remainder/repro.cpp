// LibTorch 1.13.0, CPU: remainder(abs(x), 67108864) of float[1] in TorchScript with the fuser NNC gives 0, expected
// 1, where x = 1.
// Right with TorchScript's optimizer switched off (./repro control).
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -DNDEBUG -I/usr/include/torch/csrc/api/include -ltorch_cpu -lc10 && ./repro
#include <torch/script.h>
#include <torch/csrc/jit/tensorexpr/kernel.h>

#include <cstdio>

namespace torch::jit {
void overrideCanFuseOnCPU(bool);  // exported, but in no installed header
}

int main(int argc, char **) {
    torch::NoGradGuard no_grad;
    const bool optimized = argc == 1;
    torch::jit::overrideCanFuseOnCPU(true);
    torch::jit::tensorexpr::getTEMustUseLLVMOnCPU() = false;
    torch::jit::setGraphExecutorOptimize(optimized);

    torch::Tensor x = torch::tensor({1.0});
    torch::Tensor w0 = torch::tensor({67108864.0});

    torch::jit::Module module("Graph");
    module.register_buffer("w0", w0);
    module.define(R"(
def forward(self, x):
    abs = torch.abs(x)
    y = torch.remainder(abs, self.w0)
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

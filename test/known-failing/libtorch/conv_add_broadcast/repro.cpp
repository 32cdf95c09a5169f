// LibTorch 1.13.0, CPU: add(conv2d(x, w1[2, 1, 1, 1]), w0[1, 2]) of float[1, 1, 1, 2] in TorchScript, optimized for
// inference, gives 14, expected 15.
// Right without optimize_for_inference(), and with TorchScript's optimizer switched off (./repro control).
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -DNDEBUG -I/usr/include/torch/csrc/api/include -ltorch_cpu -lc10 && ./repro
#include <torch/script.h>

#include <cstdio>

int main(int argc, char **) {
    torch::NoGradGuard no_grad;
    const bool optimized = argc == 1;
    torch::jit::setGraphExecutorOptimize(optimized);

    torch::Tensor x = torch::tensor({-3.0, 3.0}).reshape({1, 1, 1, 2});
    torch::Tensor w1 = torch::full({2, 1, 1, 1}, 4.0);
    torch::Tensor w0 = torch::tensor({2.0, 3.0}).reshape({1, 2});

    torch::jit::Module module("Graph");
    module.register_buffer("w1", w1);
    module.register_buffer("w0", w0);
    module.register_attribute("training", c10::BoolType::get(), false);
    module.define(R"(
def forward(self, x):
    conv2d = torch.conv2d(x, self.w1)
    y = torch.add(conv2d, self.w0)
    return y
)");
    if (optimized) module = torch::jit::optimize_for_inference(module);
    torch::Tensor y = module.forward({x}).toTensor();

    torch::Tensor expected = torch::tensor({-10.0, 15.0, -10.0, 15.0}).reshape({1, 2, 1, 2});
    if (!torch::allclose(y, expected, 0.0001, 1e-05, /*equal_nan=*/true)) {
        printf("element 1: %g, expected %g\n", y.flatten()[1].item<double>(),
               expected.flatten()[1].item<double>());
        return 1;
    }
    printf("ok\n");
    return 0;
}

// LibTorch 1.13.0, CPU: _softmax_backward_data(grad_output, output, dim=1, input_dtype=f32) of float[2, 3] gives 1,
// expected 0.5, where output[2, 3] has strides [1, 2].
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -I/usr/include/torch/csrc/api/include -ltorch_cpu -lc10 && ./repro
#include <torch/types.h>

#include <cstdio>

int main() {
    torch::Tensor grad_output = torch::tensor({-4.0, 4.0, 4.0, 0.0, 4.0, 8.0}).reshape({2, 3});
    torch::Tensor output = torch::empty_strided({2, 3}, {1, 2});
    output.copy_(torch::tensor({0.25, 0.25, 0.5, 0.5, 0.25, 0.25}).reshape({2, 3}));

    auto y = torch::_softmax_backward_data(grad_output, output, 1, torch::kFloat32);

    torch::Tensor expected = torch::tensor({-1.5, 0.5, 1.0, -1.5, 0.25, 1.25}).reshape({2, 3});
    if (!torch::allclose(y, expected, 0.0001, 1e-05, /*equal_nan=*/true)) {
        printf("element 1: %g, expected %g\n", y.flatten()[1].item<double>(),
               expected.flatten()[1].item<double>());
        return 1;
    }
    printf("ok\n");
    return 0;
}

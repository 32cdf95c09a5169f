// LibTorch 1.13.0, CPU: native_layer_norm_backward(grad_out, input, mean, rstd, weight, weight) gives other values in
// each run, expected 32, where mean[2, 1] has strides [2, 1], rstd[2, 1] has strides [2, 1].
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -I/usr/include/torch/csrc/api/include -ltorch_cpu -lc10 && ./repro
#include <torch/types.h>

#include <cstdio>

int main() {
    torch::Tensor grad_out = torch::tensor({-3.0, 3.0, 3.0, -1.0}).reshape({2, 2});
    torch::Tensor input = torch::tensor({-2.0, -3.0, -1.0, 2.0}).reshape({2, 2});
    torch::Tensor weight = torch::full({2}, -4.0);
    torch::Tensor mean = torch::empty_strided({2, 1}, {2, 1});
    mean.copy_(torch::tensor({2.0, -1.0}).reshape({2, 1}));
    torch::Tensor rstd = torch::empty_strided({2, 1}, {2, 1});
    rstd.copy_(torch::tensor({3.0, -4.0}).reshape({2, 1}));

    auto native_layer_norm_backward = torch::native_layer_norm_backward(grad_out, input, {2}, mean, rstd, weight, weight, {true, true, true});

    torch::Tensor expected = torch::tensor({684.0, 774.0, 32.0, 1120.0}).reshape({2, 2});
    if (!torch::allclose(std::get<0>(native_layer_norm_backward), expected, 0.0001, 1e-05, /*equal_nan=*/true)) {
        printf("element 2: %g, expected %g\n", std::get<0>(native_layer_norm_backward).flatten()[2].item<double>(),
               expected.flatten()[2].item<double>());
        return 1;
    }
    printf("ok\n");
    return 0;
}

// LibTorch 1.13.0, CPU: native_layer_norm_backward(grad_out, input, normalized_shape=[4], mean, rstd,
// output_mask=[true, false, false]) gives 0, expected -0.25, where mean[2, 1] has strides [2, 1], rstd[2, 1] has
// strides [2, 1].
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -I/usr/include/torch/csrc/api/include -ltorch_cpu -lc10 && ./repro
#include <torch/types.h>

#include <cstdio>

int main() {
    torch::Tensor grad_out = torch::tensor({-3.0, 3.0, 3.0, -1.0, 1.0, 2.0, 0.0, 4.0}).reshape({2, 4});
    torch::Tensor input = torch::tensor({1.0, 1.0, 3.0, 3.0, -3.0, -3.0, 1.0, 1.0}).reshape({2, 4});
    torch::Tensor mean = torch::zeros({3}).as_strided({2, 1}, {2, 1});
    mean.copy_(torch::tensor({2.0, -1.0}).reshape({2, 1}));
    torch::Tensor rstd = torch::zeros({3}).as_strided({2, 1}, {2, 1});
    rstd.copy_(torch::tensor({1.0, 0.5}).reshape({2, 1}));

    auto native_layer_norm_backward = torch::native_layer_norm_backward(grad_out, input, {4}, mean, rstd, c10::nullopt, c10::nullopt, {true, false, false});

    torch::Tensor expected = torch::tensor({-3.0, 3.0, 2.0, -2.0, -0.25, 0.25, -1.0, 1.0}).reshape({2, 4});
    if (!torch::allclose(std::get<0>(native_layer_norm_backward), expected, 0.0001, 1e-05, /*equal_nan=*/true)) {
        printf("element 4: %g, expected %g\n", std::get<0>(native_layer_norm_backward).flatten()[4].item<double>(),
               expected.flatten()[4].item<double>());
        return 1;
    }
    printf("ok\n");
    return 0;
}

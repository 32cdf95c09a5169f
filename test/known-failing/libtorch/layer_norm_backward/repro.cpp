// LibTorch 1.13.0, CPU: native_layer_norm_backward(x0, x1, normalized_shape=[2], x3, x4, x2, x2, output_mask=[true,
// true, true]) gives -10, expected 32, where x3[2, 1] has strides [2, 1], x4[2, 1] has strides [2, 1].
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -I/usr/include/torch/csrc/api/include -ltorch_cpu -lc10 && ./repro
#include <torch/types.h>

#include <cstdio>

int main() {
    torch::Tensor x0 = torch::tensor({-3.0, 3.0, 3.0, -1.0}).reshape({2, 2});
    torch::Tensor x1 = torch::tensor({-2.0, -3.0, -1.0, 2.0}).reshape({2, 2});
    torch::Tensor x2 = torch::full({2}, -4.0);
    torch::Tensor x3 = torch::empty_strided({2, 1}, {2, 1});
    x3.copy_(torch::tensor({2.0, -1.0}).reshape({2, 1}));
    torch::Tensor x4 = torch::empty_strided({2, 1}, {2, 1});
    x4.copy_(torch::tensor({3.0, -4.0}).reshape({2, 1}));

    auto native_layer_norm_backward = torch::native_layer_norm_backward(x0, x1, {2}, x3, x4, x2, x2, {true, true, true});

    torch::Tensor expected = torch::tensor({684.0, 774.0, 32.0, 1120.0}).reshape({2, 2});
    if (!torch::allclose(std::get<0>(native_layer_norm_backward), expected, 0.0001, 1e-05, /*equal_nan=*/true)) {
        printf("element 2: %g, expected %g\n", std::get<0>(native_layer_norm_backward).flatten()[2].item<double>(),
               expected.flatten()[2].item<double>());
        return 1;
    }
    printf("ok\n");
    return 0;
}

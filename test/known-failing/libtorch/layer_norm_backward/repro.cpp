// LibTorch 1.13.0, CPU: aten.native_layer_norm_backward.default gives 3.455665, expected 2.797671, where x3 and x4
// are not contiguous.
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -I/usr/include/torch/csrc/api/include -ltorch_cpu -lc10 && ./repro
#include <torch/types.h>

#include <cstdio>

int main() {
    torch::Tensor x0 = torch::tensor({1.53125, -0.28125, -1.90625, 1.875}).reshape({2, 2});
    torch::Tensor x1 = torch::tensor({0.265625, 0.96875, 1.875, -0.234375}).reshape({2, 2});
    torch::Tensor x2 = torch::tensor({0.359375, 0.984375});
    torch::Tensor x3 = torch::empty_strided({2, 1}, {2, 1});
    x3.copy_(torch::tensor({-1.546875, 0.4375}).reshape({2, 1}));
    torch::Tensor x4 = torch::empty_strided({2, 1}, {2, 1});
    x4.copy_(torch::tensor({-0.28125, 1.421875}).reshape({2, 1}));

    auto native_layer_norm_backward = torch::native_layer_norm_backward(x0, x1, {2}, x3, x4, x2, x2, {true, true, true});

    torch::Tensor expected = torch::tensor({-0.11025028, 0.12473898, 2.7976706, -0.34933013}).reshape({2, 2});
    if (!torch::allclose(std::get<0>(native_layer_norm_backward), expected, 0.0001, 1e-05, /*equal_nan=*/true)) {
        printf("element 2: %g, expected %g\n", std::get<0>(native_layer_norm_backward).flatten()[2].item<double>(),
               expected.flatten()[2].item<double>());
        return 1;
    }
    printf("ok\n");
    return 0;
}

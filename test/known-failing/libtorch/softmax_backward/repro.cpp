// LibTorch 1.13.0, CPU: aten._softmax_backward_data.default gives 1.320473, expected 0.3200989, where x1 is not
// contiguous.
//
//   g++ -std=c++17 -O1 repro.cpp -o repro -I/usr/include/torch/csrc/api/include -ltorch_cpu -lc10 && ./repro
#include <torch/types.h>

#include <cstdio>

int main() {
    torch::Tensor x0 = torch::tensor({1.53125, -0.28125, -1.90625, 1.875, -1.578125, -0.703125}).reshape({2, 3});
    torch::Tensor x1 = torch::empty_strided({2, 3}, {1, 2});
    x1.copy_(torch::tensor({0.265625, 1.875, -0.234375, 0.96875, -0.234375, 1.046875}).reshape({2, 3}));

    auto y = torch::_softmax_backward_data(x0, x1, 1, torch::kFloat32);

    torch::Tensor expected = torch::tensor({0.32009888, -1.138916, 0.5232239, 0.41152954, 0.7097626, -2.2542572}).reshape({2, 3});
    if (!torch::allclose(y, expected, 0.0001, 1e-05, /*equal_nan=*/true)) {
        printf("element 0: %g, expected %g\n", y.flatten()[0].item<double>(),
               expected.flatten()[0].item<double>());
        return 1;
    }
    printf("ok\n");
    return 0;
}

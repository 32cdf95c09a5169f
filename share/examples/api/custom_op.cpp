// Registers an operation with a schema, a function, a rule for the sizes and types of its results, and a gradient.
//   explain ./custom_op
// reports one graph with the call my.gelu_tanh.default, and no graph break, although the function reads elements.
// With the argument "wrong", the function also writes to its operand, and the schema does not declare this. The
// backend eager_debug checks each operation against its schema, so that
//   WHITTLE_BACKEND=eager_debug ./custom_op wrong
// reports the error.
#include <whittle/whittle.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>

using whittle::Tensor;

constexpr double kSlope = 0.7978845608028654;  // of tanh: sqrt(2 / pi)

Tensor gelu_tanh(const Tensor& x, double cubic) {
    std::vector<float> values = x.to_vector<float>();
    for (float& v : values) v = static_cast<float>(0.5 * v * (1 + std::tanh(kSlope * (v + cubic * v * v * v))));
    return whittle::tensor(values, x.sizes());
}

Tensor gelu_tanh_backward(const Tensor& grad, const Tensor& x, double cubic) {
    const Tensor t = whittle::tanh((x + x * x * x * cubic) * kSlope);
    const Tensor inner = (x * x * (3 * cubic) + 1) * kSlope;
    return grad * ((t + 1) * 0.5 + x * 0.5 * (1 - t * t) * inner);
}

int main(int argc, char** argv) {
    const bool wrong = argc > 1 && std::string(argv[1]) == "wrong";
    const auto gelu =
        whittle::register_op("my::gelu_tanh(Tensor x, float cubic=0.044715) -> Tensor", [wrong](Tensor x,
                                                                                                double cubic) {
            const Tensor y = gelu_tanh(x, cubic);
            if (wrong) x.zero_();
            return y;
        }).register_fake([](Tensor x, double) {
              return whittle::empty_like(x);
          }).register_autograd(gelu_tanh_backward);
    const auto layer =
        whittle::compile([&](Tensor x) { return (gelu(x * 2) - 1).sum(); }, {.name = "layer", .arg_names = {"x"}});
    Tensor x = whittle::tensor({-1.0F, 0.5F, 2.0F});
    x.requires_grad_();
    try {
        const Tensor y = layer(x);
        y.backward();
        std::printf("%.4f, %.4f\n", y.item<float>(), x.grad().sum().item<float>());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

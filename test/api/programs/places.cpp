// Where reports say that things happen: in a method, a lambda, a function that an exception leaves, one with arguments
// that may be missing; all of it also without symbols.
#include <whittle/whittle.h>

#include <cstdio>
#include <stdexcept>

using whittle::Tensor;

struct Block {
    Tensor weight = whittle::ones({3});
    Tensor forward(const Tensor& x) const {
        const Tensor y = x * weight;
        return y.sum().item<float>() > 2 ? y + 1 : y;
    }
};

Tensor checked(const Tensor& x, const std::optional<Tensor>& bias) {
    const Tensor y = x * 2;
    if (x.size(0) > 2 && !bias) throw std::runtime_error("found no bias");
    return y + *bias;
}

int main() {
    const Tensor x = whittle::ones({3});
    const auto forward = whittle::compile(&Block::forward);
    forward(Block(), x);
    const auto lambda = whittle::compile([](const Tensor& a) { return a.sum() > 2 ? a : a * 2; });
    lambda(x);
    const auto function = whittle::compile(checked, {.arg_names = {"x", "bias"}});
    function(x, x);
    try {
        function(x, std::nullopt);
    } catch (const std::exception& error) {
        std::printf("%s\n", error.what());
    }
}

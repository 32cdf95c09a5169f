// A program that compiles nothing: traced all the same, main's own operations and each function that it calls.
#include <whittle/whittle.h>

#include <iostream>

using whittle::Tensor;

Tensor toy_example(Tensor a, Tensor b) {
    Tensor x = a / (abs(a) + 1);
    std::cout << "woo" << std::endl;
    if (b.sum().item<float>() < 0) b = b * -1;
    return x * b;
}

int main() {
    Tensor a = whittle::ones({10}), b = whittle::ones({10});
    const Tensor y = toy_example(a, b);
    std::cout << y << "\n";
}

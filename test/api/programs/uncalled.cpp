// A program that compiles a function and never calls it: its operations outside are not captured, and the report says
// so.
#include <whittle/whittle.h>

#include <cstdio>

int main() {
    const auto compiled = whittle::compile([](const whittle::Tensor& x) { return x * 2; });
    std::printf("%g\n", (whittle::ones({2}) + 1).sum().item<double>());
}

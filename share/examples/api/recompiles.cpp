// Calls a function that is recompiled too often: it takes a number, `step`, which is a constant of the graph.
//   explain --recompiles ./recompiles
// reports the guard that fails, and how to avoid the recompiles. With the argument "fixed" of the program, `step` is a
// tensor, and the function is not recompiled.
#include <whittle/whittle.h>

#include <cstdio>
#include <string>

using whittle::Tensor;

Tensor decay(Tensor x, int step) { return x * (1.0 / (1 + step)); }
Tensor decay_fixed(Tensor x, Tensor step) { return x * (1 / (step + 1)); }

int main(int argc, char** argv) {
    const bool fixed = argc > 1 && std::string(argv[1]) == "fixed";
    const Tensor x = whittle::ones({4});
    const auto compiled = whittle::compile(decay, {.arg_names = {"x", "step"}});
    const auto compiled_fixed = whittle::compile(decay_fixed, {.arg_names = {"x", "step"}});
    float sum = 0;
    for (int step = 0; step < 12; ++step) {
        const Tensor y = fixed ? compiled_fixed(x, whittle::scalar_tensor(step, whittle::kFloat)) : compiled(x, step);
        sum += y.sum().item<float>();
    }
    std::printf("%.3f\n", sum);
}

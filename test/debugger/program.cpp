// What debugger/*.txt stop in: a function with a gradient, whose graphs are stepped through.
#include <whittle/api/hooks.h>
#include <whittle/whittle.h>

#include <cstring>
#include <iostream>
#include <optional>

using namespace whittle;

static Tensor step(const Tensor& x, const Tensor& w) { return relu(x * w).sum(); }

int main(int argc, char** argv) {
    const auto compiled = compile(step, {.name = "step", .arg_names = {"x", "w"}});
    const bool scope = argc > 1 && std::strcmp(argv[1], "scope") == 0;
    const Tensor x = tensor({-1.0f, 2.0f, 3.0f});
    for (const float factor : {1.0f, 2.0f, 3.0f}) {
        std::optional<Debug> debug;
        if (scope && factor == 2.0f) debug.emplace("scoped");
        Tensor w = full({3}, factor).requires_grad_();
        const Tensor loss = compiled(x, w);
        loss.backward();
        std::cout << loss.item<float>() << " " << w.grad() << "\n";
    }
}

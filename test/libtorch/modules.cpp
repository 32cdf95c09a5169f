// A LibTorch program for the tests of capture that makes TorchScript modules and runs them: `save FILE` writes one,
// `main FILE` calls it from main, `function FILE` from a function of its own, and `define` one that is in no file.
#include <torch/script.h>

#include <cstdio>
#include <string>

namespace {

torch::jit::Module block() {
    torch::jit::Module module("__torch__.Block");
    module.register_parameter("weight", torch::full({4, 4}, 0.25), false);
    module.register_buffer("scale", torch::full({4}, 0.5));
    module.define(R"(
def forward(self, x):
    return torch.relu(torch.mm(x, self.weight)) * self.scale
)");
    return module;
}

torch::jit::Module made() {
    torch::jit::Module net("__torch__.Net");
    net.register_module("first", block());
    net.register_module("second", block());
    net.register_parameter("bias", torch::ones({4}), false);
    net.define(R"(
def shifted(self, x):
    return x + self.bias

def forward(self, x, n: int, check: bool = True):
    x = self.second.forward(self.first.forward(x))
    for i in range(n):
        x = self.shifted(x)
    if check:
        if bool(x.sum() > 100):
            x = torch.tanh(x)
    return x * 2
)");
    return net;
}

at::Tensor classify(torch::jit::Module& module, const at::Tensor& x) {
    return module.forward({x * 2, 1}).toTensor().softmax(1);
}

}  // namespace

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    if (argc != (what == "define" ? 2 : 3)) return 2;
    if (what == "save") return made().save(argv[2]), 0;
    const torch::NoGradGuard inference;
    torch::jit::Module module = what == "define" ? made() : torch::jit::load(argv[2]);
    const at::Tensor x = torch::ones({2, 4});
    for (int i = 0; i < 2; ++i) {
        const at::Tensor y = what != "function" ? module.forward({x, 2}).toTensor() : classify(module, x);
        std::printf("%.4f\n", y.sum().item<double>());
    }
    return 0;
}

// Calls ops of op_library.cpp, by the dispatcher, between others.
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/torch.h>

#include <cstdio>
#include <string>

namespace {

at::Tensor call(const std::string& op, const at::Tensor& x) {
    return c10::Dispatcher::singleton()
        .findSchemaOrThrow(("op_library::" + op).c_str(), "")
        .typed<at::Tensor(const at::Tensor&)>()
        .call(x);
}

at::Tensor scaled(const at::Tensor& x, double by) {
    return c10::Dispatcher::singleton()
        .findSchemaOrThrow("op_library::scaled", "")
        .typed<at::Tensor(const at::Tensor&, double)>()
        .call(x, by);
}

}  // namespace

int main(int argc, char** argv) {
    const torch::NoGradGuard no_grad;
    const at::Tensor x = torch::arange(6.0F).reshape({2, 3}) - 2;
    at::Tensor y = scaled(x.relu(), 3).add(1);
    for (int i = 1; i < argc; ++i) y = call(argv[i], y).neg();
    std::printf("%g\n", y.sum().item().toDouble());
    return 0;
}

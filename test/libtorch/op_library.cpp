// Ops that a library registers with LibTorch, for --op-library: one that is right, and one for each promise that can be
// broken; and a pass of TorchScript that is wrong.
#include <ATen/ATen.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/passes/pass_manager.h>
#include <torch/library.h>

namespace {

/// By memory, so that no other op is seen inside.
at::Tensor scaled(const at::Tensor& x, double by) {
    const at::Tensor from = x.contiguous(), to = at::empty(from.sizes(), from.options());
    for (int64_t i = 0; i < from.numel(); ++i)
        to.data_ptr<float>()[i] = from.data_ptr<float>()[i] * static_cast<float>(by);
    return to;
}
at::Tensor writes(const at::Tensor& x) {
    at::Tensor y = scaled(x, 2);
    if (x.numel() > 0) x.data_ptr<float>()[0] += 1;
    return y;
}
at::Tensor keeps(const at::Tensor& x) { return x.alias(); }

at::Tensor as_it_is(const at::Tensor& x, double) { return at::empty_like(x); }
at::Tensor as_doubles(const at::Tensor& x) { return at::empty(x.sizes(), x.options().dtype(at::kDouble)); }

/// Takes every relu for what it is given.
void drop_relus(std::shared_ptr<torch::jit::Graph>& graph) {
    for (auto node = graph->nodes().begin(); node != graph->nodes().end(); ++node)
        if (node->kind() == c10::aten::relu) node->output()->replaceAllUsesWith(node->input());
}
const torch::jit::RegisterPostPass registered(drop_relus);

}  // namespace

TORCH_LIBRARY(op_library, library) {
    library.def("scaled(Tensor x, float by=2.) -> Tensor");
    library.def("writes(Tensor x) -> Tensor");
    library.def("keeps(Tensor x) -> Tensor");
    library.def("lies(Tensor x) -> Tensor");
    library.def("described(Tensor x, Device device) -> Tensor");
}
TORCH_LIBRARY_IMPL(op_library, CPU, library) {
    library.impl("scaled", scaled);
    library.impl("writes", writes);
    library.impl("keeps", keeps);
    library.impl("lies", [](const at::Tensor& x) { return scaled(x, 2); });
}
TORCH_LIBRARY_IMPL(op_library, Meta, library) {
    library.impl("scaled", as_it_is);
    library.impl("lies", as_doubles);
}

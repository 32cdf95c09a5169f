// Gradients of the program's tensors, as LibTorch's autograd has them: results of operations on tensors that require a
// gradient know how they came to be, and backward() goes that way back.
//
//   whittle::Tensor w = whittle::randn({3}).requires_grad_();
//   (w * w).sum().backward();
//   w.grad();  // 2 w
//
// What a compiled function computes goes back through one graph, which its backend compiled beside the one that runs
// forwards. A write to memory that several tensors show, where a gradient flows through it, is only for compiled
// functions.
// https://pytorch.org/docs/stable/notes/autograd.html
#ifndef WHITTLE_API_AUTOGRAD_H
#define WHITTLE_API_AUTOGRAD_H

#include <whittle/api/tensor.h>

WHITTLE_API_BEGIN

namespace autograd {

/// Adds to grad() of every leaf that the tensors depend on (of `inputs` only, if there are some) the gradient of their
/// sum, weighted with `grad_tensors`; of a tensor with one element, undefined stands for 1. `retain_graph` keeps what a
/// second call needs (default: `create_graph`); with `create_graph` the gradients have gradients themselves.
WHITTLE_API_CALL void backward(const TensorList& tensors, const TensorList& grad_tensors = {},
                               std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                               const TensorList& inputs = {});

/// The same gradients, of `inputs`, as a result; undefined, if `allow_unused`, where no output depends on an input.
WHITTLE_API_CALL TensorList grad(const TensorList& outputs, const TensorList& inputs,
                                 const TensorList& grad_outputs = {}, std::optional<bool> retain_graph = std::nullopt,
                                 bool create_graph = false, bool allow_unused = false);

}  // namespace autograd

WHITTLE_API_END

#endif

// Gradients, as in LibTorch's autograd: the results of operations on tensors that require a gradient remember these
// operations, and backward() differentiates them in reverse order.
//
//   whittle::Tensor w = whittle::randn({3}).requires_grad_();
//   (w * w).sum().backward();
//   w.grad();  // 2 w
//
// A compiled function has a backward graph, which its backend compiled together with the forward graph. Only compiled
// functions support differentiable writes to memory that several tensors share.
// https://pytorch.org/docs/stable/notes/autograd.html
#ifndef WHITTLE_API_AUTOGRAD_H
#define WHITTLE_API_AUTOGRAD_H

#include <whittle/api/tensor.h>

WHITTLE_API_BEGIN

namespace autograd {

/// Computes the gradients of the sum of the tensors, weighted with `grad_tensors`, and adds them to grad() of every
/// leaf that the tensors depend on, or of `inputs` only, if given. For a tensor with one element, an undefined weight
/// means 1. `retain_graph` keeps what a second call needs (default: `create_graph`); with `create_graph` the gradients
/// can be differentiated themselves.
WHITTLE_API_CALL void backward(const TensorList& tensors, const TensorList& grad_tensors = {},
                               std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                               const TensorList& inputs = {});

/// Returns these gradients for `inputs`. With `allow_unused`, that of an input that no output depends on is undefined.
WHITTLE_API_CALL TensorList grad(const TensorList& outputs, const TensorList& inputs,
                                 const TensorList& grad_outputs = {}, std::optional<bool> retain_graph = std::nullopt,
                                 bool create_graph = false, bool allow_unused = false);

}  // namespace autograd

WHITTLE_API_END

#endif

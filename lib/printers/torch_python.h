// How PyTorch's Python spells what graphs of ATen's calls hold: names, tensors, calls.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "text/language.h"

namespace whittle::printers {

/// A node's name, where it is neither one of Python's words nor what our scripts call something else; otherwise with
/// `_` behind it.
std::string python_variable(const std::string& name);

/// Broken behind commas where it is longer than a line should be; what follows is indented by four columns more.
std::string python_wrapped(const std::string& line);

/// An expression that is the tensor, with its strides: nested lists, "torch.full((8,), 1.0)" where all of many are the
/// same. For few elements. Throws Error for a
/// dtype that PyTorch does not have.
std::string torch_tensor(const Tensor& tensor);

/// "named": torch.ops.aten.add.Tensor; "left to the arguments": torch.ops.aten.add, which TorchScript takes, too.
enum class Overload { named, by_arguments };
/// The call of a node, of the op as PyTorch from 1.13 on has it (ops/aten/earlier.h); `value`: what a node is called.
/// A getitem is `VALUE[0]`. Throws Error for a call that is none of ATen's, and for nested graphs.
std::string torch_call(const Node& node, Overload overload, const std::function<std::string(NodeId)>& value);
/// An argument of such a call.
std::string torch_argument(const Arg& arg, const std::function<std::string(NodeId)>& value);

}  // namespace whittle::printers

// A module of TorchScript as something to call: what a user gives for forward(), as LibTorch's boxed values. Includes
// LibTorch's headers: for this folder, and for the program that runs a module.
#pragma once

#include <ATen/core/ivalue.h>  // which Clang 14 has to know before it reads module.h
#include <torch/csrc/jit/api/module.h>

#include <map>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace whittle::aten {

/// The arguments of forward() behind self, copies of what is given: by the parameter's name, or "#0", "#1" … by its
/// place. A number is given as a tensor of one element. Throws Error for a parameter that is not given and has no
/// default, for one that cannot be made of what is given, for what is given and no parameter, and for a module without
/// forward().
std::vector<c10::IValue> arguments_of_forward(const torch::jit::Module& module,
                                              const std::map<std::string, Tensor>& given);

/// The first line of what LibTorch says: a stack of its own functions follows.
std::string first_line(const c10::Error& error);

}  // namespace whittle::aten

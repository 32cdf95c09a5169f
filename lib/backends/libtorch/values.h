// Arguments of a call as LibTorch's boxed values. Includes LibTorch's headers: for the files of this folder.
#pragma once

#include <ATen/core/function_schema.h>

#include "backends/libtorch/boxed_call.h"
#include "backends/libtorch/memory.h"

namespace whittle::aten {

/// The argument as the parameter's type wants it. `lend` makes LibTorch's tensor of an operand. Throws Error naming the
/// parameter, its type and what was found.
using Lend = std::function<at::Tensor(NodeRef)>;
c10::IValue boxed(const Arg& arg, const c10::Argument& parameter, const Lend& lend);

}  // namespace whittle::aten

// The part of a repro that calls LibTorch: a program of ATen's operators, as a user of LibTorch can run it.
#pragma once

#include "graph/emitter.h"

namespace whittle::aten {

/// Calls by name through LibTorch's dispatcher, one after the other; where gradients are asked for, LibTorch's autograd
/// behind them. `scripted`: the same is traced and runs as TorchScript, with the options of the backend ts. Throws
/// Error for nested graphs, for an op that LibTorch has not, and for arguments that C++ cannot be written of.
SuspectCode libtorch_code(const EmitRequest& request, bool scripted);

/// The flags by which a user builds a program, with the C++ standard that the headers of this LibTorch need, if that is
/// newer than C++17.
std::vector<std::string> with_standard(std::vector<std::string> flags);

}  // namespace whittle::aten

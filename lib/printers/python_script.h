// A graph of ATen calls as a script of PyTorch calls, with its inputs and what is expected of them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/emitter.h"

namespace whittle::printers {

/// `inputs`: one per placeholder; `expected`: one per output. `about`: lines of the header, without '#'; `stem`: first
/// part of the names of large tensors' files. The script ends with 0 where PyTorch computes what is expected, within
/// the dtype's tolerances, else with 1; an argument names a backend of torch.compile. Throws Error for a call that is
/// none of ATen's, and for a dtype that PyTorch 1.13 does not have.
ReproProgram python_script(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected,
                           const std::vector<std::string>& about, const std::string& stem);

}  // namespace whittle::printers

// State dicts as torch.save() writes them: a zip archive with a pickle that names the tensors. Pickles are programs;
// this reader knows data and the functions that tensors are rebuilt with, runs nothing, and refuses all else by
// name. https://github.com/python/cpython/blob/main/Lib/pickletools.py,
// https://pytorch.org/docs/stable/notes/serialization.html
#pragma once

#include <map>
#include <string>

#include "frontends/pt2/archive.h"
#include "tensor/tensor.h"

namespace whittle::pt2 {

/// The tensors by name. Throws Error naming the archive, what was found and where.
std::map<std::string, Tensor> read_state_dict(const Archive& archive);

}  // namespace whittle::pt2

// Ops that a shared library registers with LibTorch (TORCH_LIBRARY), as ops of the registry: so any backend that
// interprets runs them, and each of them is held to its schema.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace whittle::aten {

/// Loads the library, which stays, and registers each op that it brings: by its schema, inferred by its kernel for Meta
/// tensors (else it is tried on zeros), computed by LibTorch's dispatcher. What has a schema that the registry cannot
/// have, a warning names. A library that is loaded already brings nothing again. Gives the targets,
/// "mylib.scale.default". Throws Error, with the linker's words, for one that cannot be loaded (it is tried in a copy
/// of this process first, for its constructors may do anything), and for one that registers no op.
std::vector<std::string> load_op_library(const std::filesystem::path& file);

}  // namespace whittle::aten

// Which LibTorch the tests of this folder run.
#pragma once

#include <torch/csrc/api/include/torch/version.h>

#include "version_sections.h"

namespace whittle::test {

/// Of lists of what LibTorch computes otherwise.
inline VersionSections of_libtorch() { return {"LibTorch", TORCH_VERSION}; }

}  // namespace whittle::test

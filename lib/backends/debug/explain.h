// explain(B): a backend that prints what another one is given. The other debug backends are in built_in.h: each runs a
// graph in a way that only differs from its neighbor's by one part of the stack, so that the first one that fails names
// the part.
#pragma once

#include <memory>

#include "graph/backend.h"

namespace whittle {

/// Prints each graph's ops on stderr, as the inner backend is given it, and compiles it by the inner backend.
std::unique_ptr<Backend> make_explain_backend(std::unique_ptr<Backend> inner);

}  // namespace whittle

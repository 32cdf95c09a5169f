// The reference backend: the interpreter over every op's own kernel, on the graph as it was captured. It shares no pass
// with what it is the reference for, so that a wrong pass does not agree with itself.
#pragma once

#include <memory>

#include "graph/backend.h"

namespace whittle {

/// Compiling checks that every op is registered, has a kernel and fits its schema; running interprets node by node. It
/// has no options.
std::unique_ptr<Backend> make_eager_backend();

}  // namespace whittle

// The backend libtorch: runs any graph through LibTorch's dispatcher, call by call: the reference that is not ours.
#pragma once

#include <memory>

#include "graph/backend.h"

namespace whittle {

/// An op that LibTorch has not (another dialect's, a later PyTorch's) runs as its decomposition; one without is
/// unsupported. Nested graphs are run as eager runs them, their calls by LibTorch. Ops that the registry does not
/// know run when LibTorch has them.
std::unique_ptr<Backend> make_libtorch_backend();

}  // namespace whittle

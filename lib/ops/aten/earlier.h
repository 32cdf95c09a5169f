// Ops of the core ATen set by the names that PyTorch had for what they do before 2.0, which later versions have, too.
#pragma once

#include <string_view>

#include "graph/graph.h"

namespace whittle {

/// "aten.native_batch_norm.default" for a batch norm that says what it reads; empty for an op without another name.
std::string_view earlier_target(std::string_view target);

/// The call by that name; the call itself where there is none.
Node with_earlier_target(const Node& call);

}  // namespace whittle

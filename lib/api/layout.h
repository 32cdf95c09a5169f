// Values under the strides that a graph promised: a backend may lay them out differently.
#pragma once

#include <memory>

#include "graph/graph.h"

namespace whittle::api {

/// Memory of its own that holds `value` under the strides of `meta`, starting at element 0.
std::shared_ptr<Storage> laid_out(const whittle::Tensor& value, const ValueMeta& meta);

/// The value itself where it has the strides of `meta`.
whittle::Tensor with_layout(const whittle::Tensor& value, const ValueMeta& meta);

}  // namespace whittle::api

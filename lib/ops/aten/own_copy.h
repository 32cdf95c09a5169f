// own_copy(): for decompositions of ops whose results are no views in ATen.
#pragma once

#include "ops/core/builder.h"

namespace whittle {

/// A contiguous copy with memory of its own.
inline NodeValue own_copy(GraphBuilder& builder, const NodeValue& value) {
    return builder.call("aten.clone.default", {value.ref}, {{"memory_format", "contiguous_format"}});
}

}  // namespace whittle

// fold_constants(): what can be computed before any input is known, is.
#pragma once

#include <cstdint>
#include <functional>

#include "passes/origins.h"
#include "passes/pass.h"

namespace whittle {

struct FoldOptions {
    std::int64_t max_elements = 1 << 16;  ///< of a call's results together
    /// Asked before each call is folded; false: it stays.
    std::function<bool()> allow = {};
    AfterPass after = {};
};

/// Replaces every call whose operands are all constants by its value, computed by the reference kernels, as an
/// attribute named like the call; then dce. A call without operands (full, arange) counts as a constant of those that
/// read it, but is none itself: what fills a tensor is less to keep than the tensor. Random ops, calls with nested
/// graphs, results of more than `max_elements` elements and calls that cannot be evaluated stay as they are.
Graph fold_constants(const Graph& graph, const FoldOptions& options = {}, Origins* origins = nullptr);

}  // namespace whittle

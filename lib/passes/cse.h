// cse(): what is computed twice is computed once.
#pragma once

#include <functional>

#include "passes/origins.h"
#include "passes/pass.h"

namespace whittle {

struct CseOptions {
    /// Asked before each merge of two calls; false: they stay two.
    std::function<bool()> allow = {};
    AfterPass after = {};  ///< of each key that a call is compared by
};

/// Merges calls of equal target, operands, arguments and results into the first of them, and get_attr nodes of one
/// attribute. Random ops, ops that mutate and calls with nested graphs are left alone; so are calls of unregistered
/// ops, of which nothing is known. Values that a mutating op may have changed are not told apart: run it on functional
/// graphs.
Graph cse(const Graph& graph, const CseOptions& options = {}, Origins* origins = nullptr);

}  // namespace whittle

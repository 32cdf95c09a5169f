// cse(): what is computed twice is computed once.
#pragma once

#include <functional>
#include <string>

#include "passes/origins.h"

namespace whittle {

struct CseOptions {
    /// Asked before each merge of two calls; false: they stay two.
    std::function<bool()> allow = {};
    /// Called with what a call is compared by (calls of equal keys are merged); may change it.
    std::function<void(const Node& call, std::string& key)> compared = {};
};

/// Merges calls of equal target, operands, arguments and results into the first of them, and get_attr nodes of one
/// attribute. Random ops, ops that mutate and calls with nested graphs are left alone; so are calls of unregistered
/// ops, of which nothing is known. Values that a mutating op may have changed are not told apart: run it on functional
/// graphs.
Graph cse(const Graph& graph, const CseOptions& options = {}, Origins* origins = nullptr);

}  // namespace whittle

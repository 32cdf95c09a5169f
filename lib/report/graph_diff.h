// What differs between two graphs. A call is known again by what it computes and by who reads it, never by its name or
// its place in the list: one that was renamed or moved is the same call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::report {

/// A node that only one of the graphs has, or that both have, but not alike.
struct NodeDiff {
    static constexpr const char* kName = "node";
    std::string before = {}, after = {};
    std::vector<std::string> changes = {};

    static void fields(auto& field) {
        field.maybe("before", &NodeDiff::before, "The line of the node in the first graph; absent if the node is new.");
        field.maybe("after", &NodeDiff::after, "The line of the node in the second graph; absent if the node is gone.");
        field.maybe("changes", &NodeDiff::changes,
                    "The changes of a node that both graphs have, as in: argument 'dim': 0, was 1");
    }
};

struct GraphDiff {
    std::vector<NodeDiff> nodes = {};  ///< those that are gone, in order, then the second graph's, in order
    std::int64_t resized = 0;          ///< others whose results have other dtypes or sizes, for what they read has

    bool same() const { return nodes.empty() && resized == 0; }
};

/// Structure, dtypes, sizes, strides, the elements of parameters, the order of calls that write to memory, and nested
/// graphs. Not names, stacks and module paths, nor the order of what can be computed in any order. Time and memory grow
/// linearly with the graphs.
GraphDiff diff(const Graph& before, const Graph& after);

/// Equal for graphs with equal calls on equal inputs, whatever their names, order and sizes are.
std::uint64_t shape_hash(const Graph& graph);

}  // namespace whittle::report
